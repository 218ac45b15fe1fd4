package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func listPromises() []promise {
	return []promise{
		{"LI messages are listed by receipt, newest first, and by source and thread", listsMessages},
		{"LI tickets are listed by creation, newest first, and by state and executor", listsTickets},
		{"LI decisions are listed newest first, and by thread and outcome", listsDecisions},
		{"LI threads are listed by their last activity", listsThreads},
		{"LI pages of any length show every row once, in order", pagesAll},
		{"LI rows of one millisecond are paged in the order of their ids", pagesTies},
		{"LI a row that comes while paging moves no other row", pagesStay},
		{"LI a cursor that the store did not give is refused", refusesCursor},
		{"PV-2 a decision committed again by its id is changed, not doubled", dismisses},
		{"EV-5 the evals under way are listed, the oldest delivery first", listsOpenEvals},
		{"EN-5 the wide places that cannot be reached are listed, the latest first", listsLostPlaces},
		{"LI depths count arrivals, threads to evaluate, rows to send and open questions", countsDepths},
	}
}

func listsOpenEvals(t *testing.T, b *bench) {
	eval := func(id gate.EvalID, at int, undecided ...gate.TriggerID) orchestrator.Eval {
		return orchestrator.Eval{ID: id, Thread: "th_1", Undecided: undecided, DeliveredAt: after(time.Duration(at) * time.Second)}
	}
	b.commit(orchestrator.Changes{Evals: []orchestrator.Eval{eval("evl_1", 2, "trg_1"), eval("evl_2", 1, "trg_2"), eval("evl_3", 0)}})
	open := func() []string {
		t.Helper()
		list, err := b.OpenEvals(b.ctx())
		if err != nil {
			t.Fatal(err)
		}
		return ids(list, func(e orchestrator.Eval) string { return string(e.ID) })
	}
	b.equal("open", open(), []string{"evl_2", "evl_1"})
	over := b.load(orchestrator.Want{Evals: []gate.EvalID{"evl_2"}}).Evals["evl_2"]
	over.Undecided = nil
	b.commit(orchestrator.Changes{Evals: []orchestrator.Eval{over}})
	b.equal("open", open(), []string{"evl_1"})
}

func listsLostPlaces(t *testing.T, b *bench) {
	place := func(id gate.PlaceID, at int, why string, wide bool) orchestrator.Reach {
		return orchestrator.Reach{Place: id, Lost: why, At: after(time.Duration(at) * time.Second), Wide: wide}
	}
	b.commit(orchestrator.Changes{Reaches: []orchestrator.Reach{
		place("fs~oc_1", 1, "gone", true), place("fs~oc_2", 2, "gone", true), place("fs~oc_3", 3, "", true), place("fs~oc_4~om_1", 4, "gone", false),
	}})
	lost := func() []string {
		t.Helper()
		list, err := b.LostPlaces(b.ctx())
		if err != nil {
			t.Fatal(err)
		}
		return ids(list, func(r orchestrator.Reach) string { return string(r.Place) })
	}
	b.equal("lost", lost(), []string{"fs~oc_2", "fs~oc_1"})
	found := b.load(orchestrator.Want{Reaches: []gate.PlaceID{"fs~oc_2"}}).Reaches["fs~oc_2"]
	found.Lost = ""
	b.commit(orchestrator.Changes{Reaches: []orchestrator.Reach{found}})
	b.equal("lost", lost(), []string{"fs~oc_1"})
}

func ids[T any](list []T, id func(T) string) []string {
	out := make([]string, 0, len(list))
	for _, v := range list {
		out = append(out, id(v))
	}
	return out
}

func messageID(m orchestrator.Message) string   { return string(m.ID) }
func ticketID(t orchestrator.Ticket) string     { return string(t.ID) }
func threadID(t orchestrator.Thread) string     { return string(t.ID) }
func decisionID(d orchestrator.Decision) string { return string(d.ID) }

func listsMessages(t *testing.T, b *bench) {
	for i, at := range []int{3, 1, 2} {
		a := arrival(gate.TriggerID(fmt.Sprintf("trg_%d", at)), gate.ThreadID(fmt.Sprintf("th_%d", at%2)))
		a.Trigger.ReceivedAt = after(time.Duration(at) * time.Second)
		if i == 2 {
			a.Trigger.Source = "github"
		}
		b.receive(a)
	}
	for _, c := range []struct {
		filter orchestrator.MessageFilter
		want   []string
	}{
		{orchestrator.MessageFilter{}, []string{"trg_3", "trg_2", "trg_1"}},
		{orchestrator.MessageFilter{Source: "feishu"}, []string{"trg_3", "trg_1"}},
		{orchestrator.MessageFilter{Source: "github"}, []string{"trg_2"}},
		{orchestrator.MessageFilter{Thread: "th_1"}, []string{"trg_3", "trg_1"}},
		{orchestrator.MessageFilter{Thread: "th_1", Source: "github"}, nil},
		{orchestrator.MessageFilter{Thread: "th_7"}, nil},
	} {
		got, next, err := b.ListMessages(b.ctx(), c.filter, orchestrator.Page{})
		b.equal(fmt.Sprintf("ListMessages(%+v)", c.filter), ids(got, messageID), c.want)
		b.equal("cursor", next, "")
		b.equal("error", err, nil)
	}
	got, _, _ := b.ListMessages(b.ctx(), orchestrator.MessageFilter{}, orchestrator.Page{Limit: 1})
	b.equal("version", got[0].Version, int64(1))
}

func listsTickets(t *testing.T, b *bench) {
	one, two, three := newTicket("tkt_1"), newTicket("tkt_2"), newTicket("tkt_3")
	two.CreatedAt, two.Executor = after(time.Second), "other"
	three.CreatedAt = after(2 * time.Second)
	b.commit(orchestrator.Changes{Tickets: []orchestrator.Ticket{two, three, one}})
	three.Version, three.State = 1, orchestrator.TicketEnded
	b.commit(orchestrator.Changes{Tickets: []orchestrator.Ticket{three}})
	for _, c := range []struct {
		filter orchestrator.TicketFilter
		want   []string
	}{
		{orchestrator.TicketFilter{}, []string{"tkt_3", "tkt_2", "tkt_1"}},
		{orchestrator.TicketFilter{State: orchestrator.TicketActive}, []string{"tkt_2", "tkt_1"}},
		{orchestrator.TicketFilter{State: orchestrator.TicketEnded}, []string{"tkt_3"}},
		{orchestrator.TicketFilter{Executor: "other"}, []string{"tkt_2"}},
		{orchestrator.TicketFilter{State: orchestrator.TicketEnded, Executor: "other"}, nil},
	} {
		got, _, err := b.ListTickets(b.ctx(), c.filter, orchestrator.Page{})
		b.equal(fmt.Sprintf("ListTickets(%+v)", c.filter), ids(got, ticketID), c.want)
		b.equal("error", err, nil)
	}
}

func listsDecisions(t *testing.T, b *bench) {
	one, two := newDecision("dec_1", "th_1", start), newDecision("dec_2", "th_1", after(time.Second))
	three := newDecision("dec_3", "th_2", after(2*time.Second))
	three.Outcome = orchestrator.Accepted
	b.commit(orchestrator.Changes{Decisions: []orchestrator.Decision{three, one}})
	b.commit(orchestrator.Changes{Decisions: []orchestrator.Decision{two}})
	for _, c := range []struct {
		filter orchestrator.DecisionFilter
		want   []string
	}{
		{orchestrator.DecisionFilter{}, []string{"dec_3", "dec_2", "dec_1"}},
		{orchestrator.DecisionFilter{Thread: "th_1"}, []string{"dec_2", "dec_1"}},
		{orchestrator.DecisionFilter{Outcome: orchestrator.Accepted}, []string{"dec_3"}},
		{orchestrator.DecisionFilter{Thread: "th_1", Outcome: orchestrator.Accepted}, nil},
	} {
		got, _, err := b.ListDecisions(b.ctx(), c.filter, orchestrator.Page{})
		b.equal(fmt.Sprintf("ListDecisions(%+v)", c.filter), ids(got, decisionID), c.want)
		b.equal("error", err, nil)
	}
	got, _, _ := b.ListDecisions(b.ctx(), orchestrator.DecisionFilter{}, orchestrator.Page{Limit: 1})
	b.equal("row", got[0], three)
}

func listsThreads(t *testing.T, b *bench) {
	one, two := newThread("th_1"), newThread("th_2")
	two.LastActivity = after(time.Second)
	b.commit(orchestrator.Changes{Threads: []orchestrator.Thread{one, two}})
	one.Version, one.LastActivity = 1, after(time.Minute)
	b.commit(orchestrator.Changes{Threads: []orchestrator.Thread{one}})
	got, _, err := b.ListThreads(b.ctx(), orchestrator.Page{})
	b.equal("ListThreads", ids(got, threadID), []string{"th_1", "th_2"})
	b.equal("error", err, nil)
}

// manyDecisions commits n decisions, one every step, and lists what is wanted.
func (b *bench) manyDecisions(n int, step time.Duration) []string {
	var c orchestrator.Changes
	want := make([]string, n)
	for i := range n {
		d := newDecision(orchestrator.DecisionID(fmt.Sprintf("dec_%03d", i)), "th_1", after(time.Duration(i)*step))
		c.Decisions = append(c.Decisions, d)
		want[n-1-i] = string(d.ID)
	}
	b.commit(c)
	return want
}

func (b *bench) allPages(limit int) []string {
	b.t.Helper()
	var got []string
	p := orchestrator.Page{Limit: limit}
	for range 1000 {
		list, next, err := b.ListDecisions(b.ctx(), orchestrator.DecisionFilter{Thread: "th_1"}, p)
		b.equal("error", err, nil)
		b.equal("a page before the last is full", next == "" || len(list) == limit, true)
		got = append(got, ids(list, decisionID)...)
		if p.Cursor = next; next == "" {
			return got
		}
	}
	b.t.Fatal("paging never ends")
	return nil
}

func pagesAll(t *testing.T, b *bench) {
	want := b.manyDecisions(23, time.Second)
	for _, limit := range []int{1, 2, 7, 22, 23, 24} {
		b.equal(fmt.Sprintf("pages of %d", limit), b.allPages(limit), want)
	}
}

func pagesTies(t *testing.T, b *bench) {
	want := b.manyDecisions(23, 200*time.Microsecond)
	for _, limit := range []int{1, 2, 5, 23} {
		b.equal(fmt.Sprintf("pages of %d", limit), b.allPages(limit), want)
	}
}

func pagesStay(t *testing.T, b *bench) {
	want := b.manyDecisions(4, time.Second)
	_, next, err := b.ListDecisions(b.ctx(), orchestrator.DecisionFilter{}, orchestrator.Page{Limit: 2})
	b.equal("error", err, nil)
	b.commit(orchestrator.Changes{Decisions: []orchestrator.Decision{newDecision("dec_new", "th_1", after(time.Hour))}})
	got, _, err := b.ListDecisions(b.ctx(), orchestrator.DecisionFilter{}, orchestrator.Page{Limit: 2, Cursor: next})
	b.equal("error", err, nil)
	b.equal("second page", ids(got, decisionID), want[2:])
}

func refusesCursor(t *testing.T, b *bench) {
	_, _, err := b.ListThreads(b.ctx(), orchestrator.Page{Cursor: "x"})
	if !errors.Is(err, approvals.ErrInvalid) {
		t.Fatalf("ListThreads = %v, want ErrInvalid", err)
	}
}

func dismisses(t *testing.T, b *bench) {
	d := newDecision("dec_1", "th_1", start)
	b.commit(orchestrator.Changes{Decisions: []orchestrator.Decision{d}})
	d.Dismissed = true
	b.commit(orchestrator.Changes{Decisions: []orchestrator.Decision{d}})
	got, _, err := b.ListDecisions(b.ctx(), orchestrator.DecisionFilter{}, orchestrator.Page{})
	b.equal("error", err, nil)
	b.equal("ListDecisions", got, []orchestrator.Decision{d})
}

func countsDepths(t *testing.T, b *bench) {
	b.receive(arrival("trg_1", "th_1"))
	b.receive(arrival("trg_2", "th_2"))
	c := say(row("o1", "l1"), row("o2", "l1"), row("o3", "l2"))
	c.Due = []approvals.Due{evalDue("th_1", start)}
	c.Questions = []approvals.Question{newQuestion("q1", "main"), newQuestion("q2", "tkt_1")}
	b.commit(c)
	b.equal("Depths", b.depths(), orchestrator.Depths{Inbox: 2, Evals: 1, Outbox: 3, Questions: 2})
}
