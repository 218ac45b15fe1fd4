package storetest

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func dueKinds() []approvals.DueKind {
	return []approvals.DueKind{orchestrator.DueInbox, orchestrator.DueOutbox, orchestrator.DueTurn}
}

// Compare drives a store and Mem side by side with random operations and fails
// on the first answer that differs.
func Compare(t *testing.T, open func(t *testing.T) orchestrator.Store) {
	t.Helper()
	rapid.Check(t, func(r *rapid.T) {
		p := &pair{t: t, r: r, mem: NewMem(), other: open(t)}
		r.Repeat(map[string]func(*rapid.T){
			"receive": p.receive, "commit": p.commit, "claim": p.claim, "finish": p.finish,
			"extend": p.extend, "lists": p.lists, "": p.invariant,
		})
	})
}

// pair is the store in question and its model.
type pair struct {
	t          *testing.T
	r          *rapid.T
	mem, other orchestrator.Store
	claims     []held
	n          int
}

// held is one piece of work as each of the two stores claimed it.
type held struct{ mem, other orchestrator.Claim }

// both asks the two and fails unless they answer alike.
func both[T any](p *pair, what string, ask func(s orchestrator.Store, other bool) (T, error)) (a, b T) {
	a, errA := ask(p.mem, false)
	b, errB := ask(p.other, true)
	if (errA == nil) != (errB == nil) {
		p.r.Fatalf("%s: model %v, store %v", what, errA, errB)
	}
	return a, b
}

func same[T any](p *pair, what string, ask func(s orchestrator.Store) (T, error)) {
	a, b := both(p, what, func(s orchestrator.Store, _ bool) (T, error) { return ask(s) })
	if d := diff(b, a); d != "" {
		p.r.Fatalf("%s (-store +model):\n%s", what, d)
	}
}

func (p *pair) at(r *rapid.T) time.Time {
	return start.Add(time.Duration(rapid.IntRange(0, 40).Draw(r, "at")) * time.Second)
}

func pick(r *rapid.T, what, prefix string, n int) string {
	return fmt.Sprintf("%s%d", prefix, rapid.IntRange(1, n).Draw(r, what))
}

func (p *pair) receive(r *rapid.T) {
	a := arrival(gate.TriggerID(pick(r, "id", "trg_", 12)), gate.ThreadID(pick(r, "thread", "th_", 3)), pick(r, "key", "k", 8))
	a.Trigger.ReceivedAt = p.at(r)
	a.OnlyIfLive = rapid.Bool().Draw(r, "only if live")
	same(p, "Receive", func(s orchestrator.Store) (orchestrator.Receipt, error) { return s.Receive(p.t.Context(), a) })
}

// version of a record is right most of the time.
func (p *pair) version(r *rapid.T, current int64) int64 {
	if rapid.IntRange(0, 9).Draw(r, "stale") == 0 {
		return current + 1
	}
	return current
}

func (p *pair) changes(r *rapid.T) orchestrator.Changes {
	var c orchestrator.Changes
	s, _ := p.mem.Load(p.t.Context(), orchestrator.Want{Threads: []gate.ThreadID{"th_1", "th_2", "th_3"}, Tickets: []gate.TicketID{"tkt_1", "tkt_2"}})
	th := liveThread(gate.ThreadID(pick(r, "thread", "th_", 3)))
	th.Version, th.LastActivity = p.version(r, s.Threads[th.ID].Version), p.at(r)
	if rapid.Bool().Draw(r, "not live") {
		th.Queue = nil
	}
	c.Threads = []orchestrator.Thread{th}
	if rapid.Bool().Draw(r, "with ticket") {
		tk := newTicket(gate.TicketID(pick(r, "ticket", "tkt_", 2)))
		tk.Version = p.version(r, s.Tickets[tk.ID].Version)
		tk.State = rapid.SampledFrom([]orchestrator.TicketState{orchestrator.TicketActive, orchestrator.TicketEnded}).Draw(r, "state")
		c.Tickets = []orchestrator.Ticket{tk}
	}
	p.effects(r, &c)
	return c
}

func (p *pair) effects(r *rapid.T, c *orchestrator.Changes) {
	turn := func() approvals.Due {
		return approvals.Due{Kind: orchestrator.DueTurn, Key: pick(r, "due", "tkt_", 3), At: p.at(r)}
	}
	for range rapid.IntRange(0, 2).Draw(r, "rows") {
		o := row(pick(r, "row", "o", 20), pick(r, "lane", "l", 3))
		if rapid.Bool().Draw(r, "later") {
			o.NotBefore = p.at(r)
		}
		c.Out = append(c.Out, o)
	}
	if rapid.Bool().Draw(r, "with due") {
		c.Due = []approvals.Due{turn()}
	}
	if rapid.IntRange(0, 3).Draw(r, "with cancel") == 0 {
		c.Cancel = []approvals.Due{turn()}
	}
	p.n++
	c.Decisions = []orchestrator.Decision{newDecision(orchestrator.DecisionID(fmt.Sprintf("dec_%d", p.n)), "th_1", p.at(r))}
}

func (p *pair) commit(r *rapid.T) {
	c := p.changes(r)
	same(p, "Commit", func(s orchestrator.Store) (string, error) { return outcome(s.Commit(p.t.Context(), c)), nil })
}

func (p *pair) claim(r *rapid.T) {
	now, limit := p.at(r), rapid.IntRange(1, 4).Draw(r, "limit")
	lease := time.Duration(rapid.IntRange(1, 20).Draw(r, "lease")) * time.Second
	a, b := both(p, "Claim", func(s orchestrator.Store, _ bool) ([]orchestrator.Claim, error) {
		return s.Claim(p.t.Context(), dueKinds(), now, lease, limit)
	})
	if len(a) != len(b) {
		p.r.Fatalf("Claim: model %v, store %v", a, b)
	}
	for i := range a {
		if a[i].Kind != b[i].Kind || a[i].Key != b[i].Key {
			p.r.Fatalf("Claim: model %v, store %v", a, b)
		}
		p.claims = append(p.claims, held{a[i], b[i]})
	}
}

// some picks a claim that was handed out, held still or not.
func (p *pair) some(r *rapid.T) held {
	if len(p.claims) == 0 {
		r.Skip("nothing was claimed")
	}
	return rapid.SampledFrom(p.claims).Draw(r, "claim")
}

func (h held) of(other bool) orchestrator.Claim {
	if other {
		return h.other
	}
	return h.mem
}

func (p *pair) finish(r *rapid.T) {
	h, c := p.some(r), p.changes(r)
	c.Keep = rapid.IntRange(0, 3).Draw(r, "keep") == 0
	if rapid.IntRange(0, 2).Draw(r, "with next") == 0 {
		c.Next = p.at(r)
	}
	p.rows(r, h, &c)
	a, b := both(p, "finish", func(s orchestrator.Store, other bool) (string, error) {
		claim, own := h.of(other), c
		own.Claim = &claim
		return outcome(s.Commit(p.t.Context(), own)), nil
	})
	if a != b {
		p.r.Fatalf("Commit of %v: model %s, store %s", h.mem, a, b)
	}
}

// rows reads the claimed list on both and takes or retries its first rows.
func (p *pair) rows(r *rapid.T, h held, c *orchestrator.Changes) {
	n := rapid.IntRange(0, 3).Draw(r, "take")
	switch h.mem.Kind {
	case orchestrator.DueInbox:
		a, b := both(p, "Inbox", func(s orchestrator.Store, other bool) ([]gate.TriggerID, error) {
			return s.Inbox(p.t.Context(), h.of(other), n)
		})
		p.alike("Inbox", a, b)
		c.Took = a
	case orchestrator.DueOutbox:
		a, b := both(p, "Outbox", func(s orchestrator.Store, other bool) ([]gate.Outgoing, error) {
			return s.Outbox(p.t.Context(), h.of(other), n)
		})
		p.alike("Outbox", a, b)
		p.send(r, a, c)
	}
}

func (p *pair) send(r *rapid.T, rows []gate.Outgoing, c *orchestrator.Changes) {
	for _, o := range rows {
		if rapid.Bool().Draw(r, "sent") {
			c.SentIDs = append(c.SentIDs, o.ID)
			continue
		}
		o.Attempts++
		c.Retried = append(c.Retried, o)
	}
}

func (p *pair) alike(what string, model, store any) {
	if d := diff(store, model); d != "" {
		p.r.Fatalf("%s (-store +model):\n%s", what, d)
	}
}

func (p *pair) extend(r *rapid.T) {
	h, until := p.some(r), p.at(r)
	a, b := both(p, "Extend", func(s orchestrator.Store, other bool) (string, error) {
		return outcome(s.Extend(p.t.Context(), h.of(other), until)), nil
	})
	p.alike("Extend", a, b)
}

func (p *pair) lists(r *rapid.T) {
	ctx, pg := p.t.Context(), orchestrator.Page{Limit: rapid.IntRange(1, 5).Draw(r, "page")}
	same(p, "ListMessages", func(s orchestrator.Store) ([]orchestrator.Message, error) {
		l, next, err := s.ListMessages(ctx, orchestrator.MessageFilter{Thread: "th_1"}, pg)
		if err != nil || next == "" {
			return l, err
		}
		second, _, err := s.ListMessages(ctx, orchestrator.MessageFilter{Thread: "th_1"}, orchestrator.Page{Cursor: next, Limit: 3})
		return append(l, second...), err
	})
	same(p, "ListThreads", func(s orchestrator.Store) ([]orchestrator.Thread, error) {
		l, _, err := s.ListThreads(ctx, pg)
		return l, err
	})
	same(p, "ListTickets", func(s orchestrator.Store) ([]orchestrator.Ticket, error) {
		l, _, err := s.ListTickets(ctx, orchestrator.TicketFilter{State: orchestrator.TicketActive}, pg)
		return l, err
	})
	same(p, "ListDecisions", func(s orchestrator.Store) ([]orchestrator.Decision, error) {
		l, _, err := s.ListDecisions(ctx, orchestrator.DecisionFilter{}, pg)
		return l, err
	})
}

func (p *pair) invariant(*rapid.T) {
	same(p, "Depths", func(s orchestrator.Store) (orchestrator.Depths, error) { return s.Depths(p.t.Context()) })
}
