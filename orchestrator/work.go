package orchestrator

import (
	"reflect"
	"slices"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// work is a transition under way: copies of the State's records, which may be
// changed freely, and the Changes so far. done compares the copies with what
// was read: what differs is written, the rest is guarded (RS-4).
type work struct {
	Facts
	read     State
	threads  map[gate.ThreadID]*Thread
	tickets  map[gate.TicketID]*Ticket
	messages map[gate.TriggerID]*Message
	evals    map[gate.EvalID]*Eval
	chats    map[string]*Chat
	reaches  map[gate.PlaceID]*Reach
	// looked are the places that the transition asked about: they are guarded,
	// also where there is no record.
	looked    map[gate.PlaceID]bool
	questions map[approvals.ID]*approvals.Question
	// stopper clicked a Stop button, or is nobody.
	stopper gate.Sender
	c       Changes
}

func begin(s State, f Facts) *work {
	w := &work{
		Facts: f, read: s,
		threads: map[gate.ThreadID]*Thread{}, tickets: map[gate.TicketID]*Ticket{},
		messages: map[gate.TriggerID]*Message{}, evals: map[gate.EvalID]*Eval{},
		chats: map[string]*Chat{}, reaches: map[gate.PlaceID]*Reach{}, looked: map[gate.PlaceID]bool{},
		questions: map[approvals.ID]*approvals.Question{},
	}
	for id, t := range s.Threads {
		w.threads[id] = t.clone()
	}
	for id, t := range s.Tickets {
		w.tickets[id] = t.clone()
	}
	for id, m := range s.Messages {
		w.messages[id] = m.clone()
	}
	for id, e := range s.Evals {
		w.evals[id] = e.clone()
	}
	for k, c := range s.Chats {
		w.chats[k] = &c
	}
	for p, r := range s.Reaches {
		w.reaches[p] = &r
	}
	for id, q := range s.Questions {
		w.questions[id] = &q
	}
	return w
}

// done returns the Changes: records that differ from what was read, in the
// order of their ids, and guards for the others.
func (w *work) done() Changes {
	w.tally()
	w.places()
	w.c.Threads = settle(w, KindThread, w.threads, w.read.Threads, func(t *Thread) int64 { return t.Version })
	w.c.Tickets = settle(w, KindTicket, w.tickets, w.read.Tickets, func(t *Ticket) int64 { return t.Version })
	w.c.Messages = settle(w, KindMessage, w.messages, w.read.Messages, func(m *Message) int64 { return m.Version })
	w.c.Evals = settle(w, KindEval, w.evals, w.read.Evals, func(e *Eval) int64 { return e.Version })
	w.c.Chats = settle(w, KindChat, w.chats, w.read.Chats, func(c *Chat) int64 { return c.Version })
	w.settleReaches()
	w.c.Questions = settle(w, KindQuestion, w.questions, w.read.Questions,
		func(q *approvals.Question) int64 { return q.Version })
	return w.c
}

func settle[K ~string, V any](w *work, kind string, now map[K]*V, was map[K]V, version func(*V) int64) []V {
	var changed []V
	for _, id := range sortedKeys(now) {
		old, existed := was[id]
		switch {
		case existed && reflect.DeepEqual(old, *now[id]):
			w.c.Read = append(w.c.Read, approvals.Guard{Kind: kind, ID: string(id), Version: version(now[id])})
		default:
			changed = append(changed, *now[id])
		}
	}
	return changed
}

func sortedKeys[K ~string, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (t *Thread) clone() *Thread {
	c := *t
	c.Queue, c.Companions = slices.Clone(t.Queue), slices.Clone(t.Companions)
	c.Notices, c.Tickets = slices.Clone(t.Notices), slices.Clone(t.Tickets)
	c.Incidents = slices.Clone(t.Incidents)
	for i := range c.Incidents {
		c.Incidents[i].Triggers = slices.Clone(c.Incidents[i].Triggers)
	}
	return &c
}

func (t *Ticket) clone() *Ticket {
	c := *t
	c.Subs, c.Held, c.Waiting = slices.Clone(t.Subs), slices.Clone(t.Held), slices.Clone(t.Waiting)
	c.Acked, c.Lost = slices.Clone(t.Acked), slices.Clone(t.Lost)
	return &c
}

func (m *Message) clone() *Message {
	c := *m
	c.Owners, c.HandBacks, c.Decided = slices.Clone(m.Owners), slices.Clone(m.HandBacks), slices.Clone(m.Decided)
	c.Rode = slices.Clone(m.Rode)
	return &c
}

func (e *Eval) clone() *Eval {
	c := *e
	c.Undecided, c.Decided, c.More = slices.Clone(e.Undecided), slices.Clone(e.Decided), slices.Clone(e.More)
	return &c
}

// thread returns the message's Thread, a new one if there is none yet.
func (w *work) thread(m *Message) *Thread {
	if t := w.threads[m.Thread]; t != nil {
		return t
	}
	t := &Thread{ID: m.Thread, Source: m.Source, Scope: m.Scope, Place: m.Place, Title: m.Title}
	w.threads[t.ID] = t
	return t
}

func (w *work) due(kind approvals.DueKind, key string) {
	w.c.Due = append(w.c.Due, approvals.Due{Kind: kind, Key: key, At: w.Now})
}

func (w *work) log(kind string, session approvals.SessionID, data any) {
	w.c.Log = append(w.c.Log, approvals.Record{Type: kind, At: w.Now, Session: session, Data: data})
}

func drop[T comparable](list []T, x T) []T {
	return slices.DeleteFunc(list, func(y T) bool { return y == x })
}
