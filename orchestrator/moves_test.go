package orchestrator_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// moveKind is one of the pure transitions.
type moveKind string

const (
	mvArrive  moveKind = "Arrive"
	mvForm    moveKind = "FormEval"
	mvAckNote moveKind = "AckNotices"
	mvRoute   moveKind = "Route"
	mvTurn    moveKind = "OpenTurn"
	mvPerform moveKind = "Perform"
	mvStop    moveKind = "StopByCommand"
	mvResume  moveKind = "ResumeWaiting"
	mvAnswer  moveKind = "AnswerArrived"
	mvExpire  moveKind = "ExpireEval"
	mvFail    moveKind = "FailEval"
	mvReturn  moveKind = "ReturnEval"
	mvAgain   moveKind = "EvaluateAgain"
	mvDismiss moveKind = "Dismiss"
	mvToEval  moveKind = "SendToEval"
	mvChanged moveKind = "Changed"
	mvReached moveKind = "Reached"
	mvLook    moveKind = "LookAround"
	mvWitness moveKind = "Witnessed"
	mvSwept   moveKind = "Swept"
)

// move is one call of a transition.
type move struct {
	kind     moveKind
	message  gate.TriggerID
	of       gate.TriggerID // mvChanged: what the news message is of
	thread   gate.ThreadID
	beside   []gate.ThreadID // mvForm: what may come with it
	ticket   gate.TicketID
	seen     []gate.TriggerID
	item     orchestrator.Item
	ruling   orchestrator.Ruling
	cmd      orchestrator.Command
	question approvals.Question
	decided  []orchestrator.Decision
	reach    gate.Reached
	at       time.Time
	runs     []gate.Run // mvSwept: what was found green
}

func (m move) String() string {
	switch m.kind {
	case mvChanged:
		return fmt.Sprintf("Changed(%s by %s)", m.of, m.message)
	case mvArrive:
		return fmt.Sprintf("Arrive(%s)", m.message)
	case mvForm:
		return fmt.Sprintf("FormEval(%s %s)", m.thread, m.beside)
	case mvAckNote:
		return fmt.Sprintf("AckNotices(%s, %v)", m.thread, m.seen)
	case mvRoute:
		return fmt.Sprintf("Route(%s %s %s)", m.item.Action, m.item.Trigger, m.item.Ticket)
	case mvPerform:
		var on string
		for _, in := range m.cmd.Inputs {
			on += " " + string(in.Trigger)
		}
		return fmt.Sprintf("Perform(%s, %s%s %s upto %d)", m.ticket, m.cmd.Verb, on, m.cmd.Kind, m.cmd.Upto)
	case mvExpire, mvFail, mvReturn, mvAgain, mvDismiss:
		return fmt.Sprintf("%s(%s)", m.kind, m.thread)
	case mvWitness:
		return fmt.Sprintf("Witnessed(%s)", m.message)
	case mvSwept:
		return fmt.Sprintf("Swept(%s)", m.thread)
	case mvToEval:
		return fmt.Sprintf("SendToEval(%s)", m.message)
	case mvReached:
		return fmt.Sprintf("Reached(%s, %q)", m.reach.Place, m.reach.Lost)
	case mvTurn, mvStop, mvResume, mvAnswer, mvLook:
	}
	return fmt.Sprintf("%s(%s)", m.kind, m.ticket)
}

// answer is what a move gave besides its Changes.
type answer struct {
	result    orchestrator.Result
	performed orchestrator.Performed
	err       error
}

func (m move) run(s orchestrator.State, f orchestrator.Facts) (c orchestrator.Changes, a answer) {
	switch m.kind {
	case mvArrive:
		c = orchestrator.Arrive(s, m.message, f)
	case mvChanged:
		c = orchestrator.Changed(s, m.message, m.of, f)
	case mvReached:
		c = orchestrator.Reached(s, []gate.Reached{m.reach}, m.at, f)
	case mvWitness:
		c = orchestrator.Witnessed(s, m.message, f)
	case mvSwept:
		c = orchestrator.Swept(s, m.thread, m.runs, f)
	case mvLook:
		c = orchestrator.LookAround(s, m.ticket, f)
	case mvForm:
		c = orchestrator.FormEval(s, m.thread, m.beside, "main", f)
	case mvAckNote:
		c = orchestrator.AckNotices(s, m.thread, m.seen, f)
	case mvRoute:
		c, a.result = orchestrator.Route(s, m.item, m.ruling, f)
	case mvTurn:
		c = orchestrator.OpenTurn(s, m.ticket, f)
	case mvPerform:
		c, a.performed = orchestrator.Perform(s, m.ticket, m.cmd, f)
	case mvStop:
		c, a.err = orchestrator.StopByCommand(s, m.ticket, "op", f)
	case mvResume:
		c = orchestrator.ResumeWaiting(s, m.ticket, f)
	case mvExpire:
		c = orchestrator.ExpireEval(s, s.Threads[m.thread].Eval, f)
	case mvFail:
		c = orchestrator.FailEval(s, s.Threads[m.thread].Eval, "no valid answer", f)
	case mvReturn:
		c = orchestrator.ReturnEval(s, s.Threads[m.thread].Eval, f)
	case mvAgain:
		c, a.err = orchestrator.EvaluateAgain(s, m.thread, m.seen, "op", f)
	case mvDismiss:
		c, a.err = orchestrator.Dismiss(s, m.thread, m.decided, "op", f)
	case mvToEval:
		c, a.err = orchestrator.SendToEval(s, m.message, "op", f)
	case mvAnswer:
		c = orchestrator.AnswerArrived(s, m.ticket, m.question, f)
	}
	return c, a
}

// apply is what a store's commit makes of a State. Evals that are over are
// forgotten.
func apply(s orchestrator.State, c orchestrator.Changes) orchestrator.State {
	s = copyState(s)
	for _, t := range c.Threads {
		s.Threads[t.ID] = t
	}
	for _, t := range c.Tickets {
		s.Tickets[t.ID] = t
	}
	for _, m := range c.Messages {
		s.Messages[m.ID] = m
	}
	for _, e := range c.Evals {
		s.Evals[e.ID] = e
		if !e.Open() {
			delete(s.Evals, e.ID)
		}
	}
	for _, k := range c.Chats {
		s.Chats[k.Key] = k
	}
	for _, r := range c.Reaches {
		s.Reaches[r.Place] = r
	}
	for _, q := range c.Questions {
		s.Questions[q.ID] = q
		if q.Status.Terminal() {
			delete(s.Questions, q.ID)
		}
	}
	return s
}

func copyState(s orchestrator.State) orchestrator.State {
	return orchestrator.State{
		Threads: maps.Clone(s.Threads), Tickets: maps.Clone(s.Tickets), Messages: maps.Clone(s.Messages),
		Evals: maps.Clone(s.Evals), Chats: maps.Clone(s.Chats), Reaches: maps.Clone(s.Reaches), Questions: maps.Clone(s.Questions),
	}
}

func emptyState() orchestrator.State {
	return orchestrator.State{
		Threads: map[gate.ThreadID]orchestrator.Thread{}, Tickets: map[gate.TicketID]orchestrator.Ticket{},
		Messages: map[gate.TriggerID]orchestrator.Message{}, Evals: map[gate.EvalID]orchestrator.Eval{},
		Chats: map[string]orchestrator.Chat{}, Reaches: map[gate.PlaceID]orchestrator.Reach{}, Questions: map[approvals.ID]approvals.Question{},
	}
}

// deepCopy shares nothing with the State, so that a transition which writes to
// its input is found out.
func deepCopy(s orchestrator.State) orchestrator.State {
	return deep(reflect.ValueOf(s)).Interface().(orchestrator.State)
}

func deep(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if out.Field(i).CanSet() {
				out.Field(i).Set(deep(v.Field(i)))
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			break
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(deep(v.Index(i)))
		}
	case reflect.Map:
		out.Set(reflect.MakeMap(v.Type()))
		for _, k := range v.MapKeys() {
			out.SetMapIndex(k, deep(v.MapIndex(k)))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(deep(v.Elem()))
		}
	default:
	}
	return out
}

// unchanged reports whether a commit would change no record and do nothing.
func unchanged(c orchestrator.Changes) bool {
	return len(c.Threads)+len(c.Tickets)+len(c.Messages)+len(c.Evals)+len(c.Chats)+len(c.Reaches)+len(c.Questions) == 0 &&
		len(c.Decisions)+len(c.Inputs)+len(c.Out)+len(c.Due)+len(c.Cancel)+len(c.Log) == 0
}

// live reports whether a Ticket owns a message now (SU-2, SU-4).
func live(s *orchestrator.State, m *orchestrator.Message) bool { return len(liveOwners(s, m)) > 0 }

func liveOwners(s *orchestrator.State, m *orchestrator.Message) []gate.TicketID {
	var ids []gate.TicketID
	for _, id := range m.Owners {
		t, ok := s.Tickets[id]
		if ok && (t.Active() || slices.Contains(t.Waiting, m.ID)) {
			ids = append(ids, id)
		}
	}
	return ids
}
