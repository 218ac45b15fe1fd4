package orchestrator

import (
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Refused is an error that says why a person's command changes nothing. Why
// is a sentence for that person.
type Refused struct{ Code, Why string }

func (r *Refused) Error() string { return r.Code + ": " + r.Why }

// unjudged reports whether nobody decided the message: its latest Decision is
// unavailable, and it was not put back (EV-4, EV-5).
func (m *Message) unjudged() bool {
	return m.State == StateDecided && len(m.Decided) > 0 && m.Decided[len(m.Decided)-1].Action == ""
}

// EvaluateAgain sends those of the messages that nobody decided to the gate
// again (EV-9, PA-2). If the gate admits none of them, nothing changes and the
// error says why. What is queued or under evaluation already is left.
func EvaluateAgain(s State, id gate.ThreadID, ids []gate.TriggerID, by string, f Facts) (Changes, error) {
	w := begin(s, f)
	th := w.threads[id]
	if th == nil {
		return Changes{}, ErrNotFound
	}
	why := &Refused{"nothing_to_evaluate", "Every message of the thread has been decided."}
	again := 0
	for _, id := range ids {
		m := w.messages[id]
		switch {
		case m == nil || !m.unjudged() || m.Recalled || m.Thread != th.ID:
		case !w.admit(m).Admitted():
			why = &Refused{"not_admitted", "The gate would not admit it: " + m.Admission.Reason}
		default:
			rode := m.Rode
			w.rejudge(m)
			w.rideAgain(rode)
			again++
		}
	}
	if again == 0 && len(th.Queue) == 0 && th.Eval == "" {
		return Changes{}, why
	}
	w.log("thread.evaluate", "", map[string]any{"thread": th.ID, "by": by})
	return w.done(), nil
}

// rideAgain sends to the gate what shared the end of a message that is
// evaluated again: it is one candidate with it again (EV-1).
func (w *work) rideAgain(rode []gate.TriggerID) {
	for _, id := range rode {
		if r := w.messages[id]; r != nil && r.unjudged() && !r.Recalled {
			w.rejudge(r)
		}
	}
}

// Dismiss marks the unavailable Decisions given as seen: the Thread asks for
// nobody any more (EV-9).
func Dismiss(s State, id gate.ThreadID, decisions []Decision, by string, f Facts) (Changes, error) {
	w := begin(s, f)
	th := w.threads[id]
	if th == nil {
		return Changes{}, ErrNotFound
	}
	for _, d := range decisions {
		if d.Outcome != Unavailable || d.Dismissed {
			continue
		}
		d.Dismissed = true
		w.c.Decisions = append(w.c.Decisions, d)
	}
	if d := th.Latest; d != nil && d.Outcome == Unavailable {
		seen := *d
		seen.Dismissed = true
		th.Latest = &seen
	}
	w.log("thread.dismissed", "", map[string]any{"thread": th.ID, "by": by})
	return w.done(), nil
}

// SendToEval takes an owned follow-up from those who own it and sends it to
// the gate (PA-1). If the gate would not admit it nothing changes, and the
// error says why.
func SendToEval(s State, id gate.TriggerID, by string, f Facts) (Changes, error) {
	w := begin(s, f)
	m := w.messages[id]
	switch {
	case m == nil:
		return Changes{}, ErrNotFound
	case m.Recalled:
		return Changes{}, &Refused{"recalled", "Its author took the message back."}
	case !w.owned(m):
		return Changes{}, &Refused{"not_owned", "No ticket owns this message, so there is nothing to take it from."}
	case slices.ContainsFunc(m.Owners, func(t gate.TicketID) bool { return w.startedBy(t, id) }):
		return Changes{}, &Refused{"started_ticket", "A ticket was started or resumed by this message; stop the ticket instead."}
	case !w.admit(m).Admitted():
		return Changes{}, &Refused{"not_admitted", "The gate would not admit it: " + m.Admission.Reason}
	}
	for _, owner := range m.Owners {
		if t := w.tickets[owner]; t != nil {
			t.forget(id)
			t.Waiting = drop(t.Waiting, id)
		}
	}
	w.rejudge(m)
	w.log("trigger.to_eval", "", map[string]any{"trigger": id, "by": by})
	return w.done(), nil
}

// startedBy: the Ticket was accepted, or its present work resumed, by the
// message.
func (w *work) startedBy(id gate.TicketID, by gate.TriggerID) bool {
	t := w.tickets[id]
	return t != nil && t.Active() && (t.Mandate.Trigger == by ||
		slices.ContainsFunc(t.Held, func(h Held) bool { return h.Trigger == by && h.Root }))
}

// UnresolvedFor is how long an unavailable Decision counts in the health entry
// evals (EV-8).
const UnresolvedFor = time.Hour

// Unresolved reports whether an unavailable Decision still needs somebody at
// now (EV-8): it is of the last hour, was not dismissed, and its Trigger is
// neither queued, under evaluation nor owned, was not taken back, and was not
// decided since.
func Unresolved(d *Decision, m *Message, now time.Time) bool {
	if d.Outcome != Unavailable || d.Dismissed || now.Sub(d.At) >= UnresolvedFor {
		return false
	}
	switch m.State {
	case StateQueued, StateEvaluating, StateOwned, StateWaiting, StateRecalled:
		return false
	case StateReceived, StateDelivered, StateDecided, StateNotAdmitted, StateDropped:
	}
	return !slices.ContainsFunc(m.Decided, func(x Decided) bool {
		return x.Decision != d.ID && !x.At.Before(d.At)
	})
}
