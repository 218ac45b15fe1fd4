package orchestrator

import (
	"context"
	"maps"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// neighbourhood loads the records named and all that hang together with them:
// a message's Thread and owners, a Thread's Tickets, candidates and Eval, an Eval's Threads, a
// Ticket's messages and open questions. A transition finds there all that it
// may look at or change.
func neighbourhood(ctx context.Context, store States, want Want) (State, error) {
	st := State{
		Threads: map[gate.ThreadID]Thread{}, Tickets: map[gate.TicketID]Ticket{},
		Messages: map[gate.TriggerID]Message{}, Evals: map[gate.EvalID]Eval{},
		Chats: map[string]Chat{}, Reaches: map[gate.PlaceID]Reach{}, Questions: map[approvals.ID]approvals.Question{},
	}
	asked := newAsked()
	for {
		want = asked.fresh(want)
		if want.empty() {
			return st, nil
		}
		want.Questions = len(want.Tickets) > 0
		got, err := store.Load(ctx, want)
		if err != nil {
			return State{}, err
		}
		st.add(got)
		want = got.neighbours()
	}
}

func (s *State) add(o State) {
	maps.Copy(s.Threads, o.Threads)
	maps.Copy(s.Tickets, o.Tickets)
	maps.Copy(s.Messages, o.Messages)
	maps.Copy(s.Evals, o.Evals)
	maps.Copy(s.Chats, o.Chats)
	maps.Copy(s.Reaches, o.Reaches)
	maps.Copy(s.Questions, o.Questions)
}

// neighbours names what the State's records point to.
func (s *State) neighbours() Want {
	var w Want
	for _, m := range s.Messages {
		w.message(&m)
	}
	for _, t := range s.Threads {
		w.Messages = append(w.Messages, t.Queue...)
		w.Messages = append(w.Messages, t.Companions...)
		w.Messages = append(w.Messages, t.Notices...)
		w.Evals = append(w.Evals, t.Eval)
		for i := range t.Incidents {
			w.Messages = append(w.Messages, t.Incidents[i].Triggers...)
		}
		for _, k := range t.Tickets {
			w.Tickets = append(w.Tickets, k.Ticket)
		}
	}
	for _, t := range s.Tickets {
		for _, h := range t.Held {
			w.Messages = append(w.Messages, h.Trigger)
		}
		w.Messages = append(append(w.Messages, t.Waiting...), t.LastOwned, t.Root)
		for _, id := range t.ownThreads() {
			w.Reaches = append(w.Reaches, id.Places()...)
		}
	}
	for _, e := range s.Evals {
		w.Messages = append(w.Messages, e.Undecided...)
		w.Threads = append(w.Threads, e.Threads()...)
	}
	for _, c := range s.Chats {
		w.Threads = append(w.Threads, c.Open)
	}
	return w
}

func (w *Want) message(m *Message) {
	w.Threads = append(w.Threads, m.Thread)
	w.Reaches = append(w.Reaches, m.Thread.Places()...)
	w.Tickets = append(w.Tickets, m.Owners...)
	w.Messages = append(append(w.Messages, m.With, m.Earlier), m.Rode...)
	if m.Addressing == gate.Direct && m.State == StateReceived {
		w.Chats = append(w.Chats, DirectLane(m.Source, m.Place.Chat))
	}
}

func (w *Want) empty() bool {
	return len(w.Threads)+len(w.Tickets)+len(w.Messages)+len(w.Evals)+len(w.Chats)+len(w.Reaches) == 0
}

// asked remembers what was loaded, or found not to exist.
type asked struct {
	threads  map[gate.ThreadID]bool
	tickets  map[gate.TicketID]bool
	messages map[gate.TriggerID]bool
	evals    map[gate.EvalID]bool
	chats    map[string]bool
	reaches  map[gate.PlaceID]bool
}

func newAsked() asked {
	return asked{
		map[gate.ThreadID]bool{}, map[gate.TicketID]bool{}, map[gate.TriggerID]bool{},
		map[gate.EvalID]bool{}, map[string]bool{}, map[gate.PlaceID]bool{},
	}
}

func (a asked) fresh(w Want) Want {
	return Want{
		Threads: first(a.threads, w.Threads), Tickets: first(a.tickets, w.Tickets),
		Messages: first(a.messages, w.Messages), Evals: first(a.evals, w.Evals), Chats: first(a.chats, w.Chats),
		Reaches: first(a.reaches, w.Reaches),
	}
}

// first returns the ids that are asked for the first time.
func first[K ~string](seen map[K]bool, ids []K) []K {
	var fresh []K
	for _, id := range ids {
		if id != "" && !seen[id] {
			seen[id] = true
			fresh = append(fresh, id)
		}
	}
	return fresh
}
