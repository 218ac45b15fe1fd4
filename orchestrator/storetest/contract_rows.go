package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func inboxPromises() []promise {
	return []promise{
		{"TH-1 arrivals of one lane come in the order they were received", inboxOrder},
		{"RS-3 a partition that still has arrivals stays due", inboxStaysDue},
		{"RS-3 what arrives while the partition is claimed is not lost", arrivesWhileClaimed},
		{"RS-3 a partition that failed is due again at its Next", inboxBackoff},
		{"RS-3 the inbox is read under its claim only", inboxClaim},
		{"TH-1 a partition with a backlog does not keep the others waiting", inboxFair},
		{"RS-3 arrivals are taken under a claim only", takeNeedsClaim},
	}
}

func (b *bench) inbox(c orchestrator.Claim, limit int) []gate.TriggerID {
	b.t.Helper()
	ids, err := b.Inbox(b.ctx(), c, limit)
	b.equal("Inbox error", err, nil)
	return ids
}

func inboxOrder(t *testing.T, b *bench) {
	var want []gate.TriggerID
	for i := range 12 {
		a := arrival(gate.TriggerID(fmt.Sprintf("trg_%02d", 99-i)), "th_1")
		want = append(want, a.Trigger.ID)
		b.receive(a)
	}
	c := b.claim(start, orchestrator.DueInbox)
	b.equal("Inbox", b.inbox(c, 5), want[:5])
	b.equal("Inbox", b.inbox(c, 100), want)
	b.equal("Inbox", b.inbox(c, 0), []gate.TriggerID{})
	b.commit(orchestrator.Changes{Claim: &c, Took: want[1:3], Keep: true})
	b.equal("Inbox", b.inbox(c, 2), []gate.TriggerID{want[0], want[3]})
}

func inboxStaysDue(t *testing.T, b *bench) {
	b.receive(arrival("trg_1", "th_1"))
	b.receive(arrival("trg_2", "th_1"))
	c := b.claim(start, orchestrator.DueInbox)
	b.commit(orchestrator.Changes{Claim: &c, Took: []gate.TriggerID{"trg_1"}})
	c = b.claim(start, orchestrator.DueInbox)
	b.equal("Inbox", b.inbox(c, 5), []gate.TriggerID{"trg_2"})
	b.commit(orchestrator.Changes{Claim: &c, Took: []gate.TriggerID{"trg_2", "trg_gone"}})
	b.nothing(after(time.Hour), orchestrator.DueInbox)
}

func arrivesWhileClaimed(t *testing.T, b *bench) {
	b.receive(arrival("trg_1", "th_1"))
	c := b.claim(start, orchestrator.DueInbox)
	b.receive(arrival("trg_2", "th_1"))
	b.nothing(start, orchestrator.DueInbox)
	b.commit(orchestrator.Changes{Claim: &c, Took: []gate.TriggerID{"trg_1"}})
	c = b.claim(start, orchestrator.DueInbox)
	b.equal("Inbox", b.inbox(c, 5), []gate.TriggerID{"trg_2"})
}

func inboxBackoff(t *testing.T, b *bench) {
	b.receive(arrival("trg_1", "th_1"))
	c := b.claim(start, orchestrator.DueInbox)
	b.commit(orchestrator.Changes{Claim: &c, Next: after(time.Minute)})
	b.nothing(after(time.Second), orchestrator.DueInbox)
	b.claim(after(time.Minute), orchestrator.DueInbox)
}

func inboxClaim(t *testing.T, b *bench) {
	b.receive(arrival("trg_1", "th_1"))
	old := b.claim(start, orchestrator.DueInbox)
	b.claim(after(time.Minute), orchestrator.DueInbox)
	_, err := b.Inbox(b.ctx(), old, 5)
	b.equal("Inbox", err, orchestrator.ErrLostClaim)
	b.commit(plan(evalDue(old.Key, start)))
	_, err = b.Inbox(b.ctx(), b.claim(start, orchestrator.DueEval), 5)
	b.equal("Inbox under another kind's claim", err, orchestrator.ErrLostClaim)
}

func inboxFair(t *testing.T, b *bench) {
	for i := range 6 {
		a := arrival(gate.TriggerID(fmt.Sprintf("trg_%d", i)), "th_busy")
		b.receive(a)
	}
	c := b.claim(after(time.Second), orchestrator.DueInbox)
	other := arrival("trg_other", "th_busy")
	for i := 0; other.Lane == "th_busy" || b.claimsSame(c, other); i++ {
		other.Lane = fmt.Sprintf("th_%d", i)
	}
	got := b.claims(after(time.Second), 1, orchestrator.DueInbox)
	b.equal("the next claim", len(got), 1)
	b.equal("the other partition", got[0].Key != c.Key, true)
}

// claimsSame receives the arrival, gives the claim back with its rows left,
// and reports whether it landed in the claimed partition after all.
func (b *bench) claimsSame(c orchestrator.Claim, a gate.Arrival) bool {
	b.t.Helper()
	a.Trigger.ID += gate.TriggerID(a.Lane)
	before := len(b.inbox(c, 100))
	b.receive(a)
	if len(b.inbox(c, 100)) > before {
		return true
	}
	b.commit(orchestrator.Changes{Claim: &c})
	return false
}

func takeNeedsClaim(t *testing.T, b *bench) {
	b.receive(arrival("trg_1", "th_1"))
	for _, c := range []orchestrator.Changes{
		{Took: []gate.TriggerID{"trg_1"}}, {SentIDs: []string{"o1"}}, {Retried: []gate.Outgoing{row("o1", "l1")}},
		{Effects: approvals.Effects{Out: []gate.Outgoing{{ID: "o1"}}}}, {Effects: approvals.Effects{Out: []gate.Outgoing{{Lane: "l1"}}}},
	} {
		if err := b.Commit(b.ctx(), c); err == nil {
			t.Errorf("Commit(%+v) = nil, want an error", c)
		}
	}
	b.equal("Depths", b.depths(), orchestrator.Depths{Inbox: 1})
}

func outboxPromises() []promise {
	return []promise{
		{"OUT-2 rows of one lane come in the order they were said", laneOrder},
		{"OUT-1 a row said twice is sent once", saidTwice},
		{"OUT-1 a row that was sent is not said again", saidAfterSent},
		{"OUT-2 a lane waits for the NotBefore of its first row", laneWaits},
		{"OUT-2 a later row does not bring the lane forward", laneNotForward},
		{"OUT-2 a lane that still has rows stays due", laneStaysDue},
		{"OUT-1 a row tried again stays first, with its count", retriedFirst},
		{"OUT-2 a retried lane is due at its Next", retriedNext},
		{"OUT-2 what is said while the lane is claimed is not lost", saidWhileClaimed},
		{"OUT-2 the outbox is read under its claim only", outboxClaim},
		{"OUT-2 lanes are independent", lanesApart},
	}
}

func (b *bench) outbox(c orchestrator.Claim) []gate.Outgoing {
	b.t.Helper()
	rows, err := b.Outbox(b.ctx(), c, 50)
	b.equal("Outbox error", err, nil)
	return rows
}

func laneOrder(t *testing.T, b *bench) {
	want := []gate.Outgoing{row("z", "l1"), row("a", "l1"), row("m", "l1")}
	b.commit(say(want[:2]...))
	b.commit(say(want[2]))
	c := b.claim(start, orchestrator.DueOutbox)
	b.equal("key", c.Key, "l1")
	b.equal("Outbox", b.outbox(c), want)
	got, err := b.Outbox(b.ctx(), c, 1)
	b.equal("Outbox", got, want[:1])
	b.equal("error", err, nil)
}

func saidTwice(t *testing.T, b *bench) {
	b.commit(say(row("o1", "l1"), row("o1", "l1"), row("o2", "l1")))
	b.commit(say(row("o1", "l2")))
	c := b.claim(start, orchestrator.DueOutbox)
	b.equal("Outbox", len(b.outbox(c)), 2)
	b.equal("Depths", b.depths(), orchestrator.Depths{Outbox: 2})
}

func saidAfterSent(t *testing.T, b *bench) {
	b.commit(say(row("o1", "l1")))
	c := b.claim(start, orchestrator.DueOutbox)
	b.commit(orchestrator.Changes{Claim: &c, SentIDs: []string{"o1", "gone"}})
	b.commit(say(row("o1", "l1")))
	b.nothing(after(time.Hour), orchestrator.DueOutbox)
	b.equal("Depths", b.depths(), orchestrator.Depths{})
}

func laneWaits(t *testing.T, b *bench) {
	o := row("o1", "l1")
	o.NotBefore = after(2 * time.Second)
	b.commit(say(o, row("o2", "l1")))
	b.nothing(after(time.Second), orchestrator.DueOutbox)
	b.claim(after(2*time.Second), orchestrator.DueOutbox)
}

func laneNotForward(t *testing.T, b *bench) {
	o := row("o1", "l1")
	o.NotBefore = after(2 * time.Second)
	b.commit(say(o))
	b.commit(say(row("o2", "l1")))
	b.nothing(after(time.Second), orchestrator.DueOutbox)
	c := b.claim(after(2*time.Second), orchestrator.DueOutbox)
	b.equal("Outbox", len(b.outbox(c)), 2)
}

func laneStaysDue(t *testing.T, b *bench) {
	late := row("o3", "l1")
	late.NotBefore = after(time.Minute)
	b.commit(say(row("o1", "l1"), row("o2", "l1"), late))
	c := b.claim(start, orchestrator.DueOutbox)
	b.commit(orchestrator.Changes{Claim: &c, SentIDs: []string{"o1"}})
	c = b.claim(start, orchestrator.DueOutbox)
	b.commit(orchestrator.Changes{Claim: &c, SentIDs: []string{"o2"}})
	b.nothing(after(59*time.Second), orchestrator.DueOutbox)
	c = b.claim(after(time.Minute), orchestrator.DueOutbox)
	b.commit(orchestrator.Changes{Claim: &c, SentIDs: []string{"o3"}})
	b.nothing(after(time.Hour), orchestrator.DueOutbox)
}

func retriedFirst(t *testing.T, b *bench) {
	b.commit(say(row("o1", "l1"), row("o2", "l1")))
	c := b.claim(start, orchestrator.DueOutbox)
	o := row("o1", "l1")
	o.Attempts, o.LastError = 1, "rate limited"
	gone := row("gone", "l1")
	b.commit(orchestrator.Changes{Claim: &c, Keep: true, Retried: []gate.Outgoing{o, gone}})
	b.equal("Outbox", b.outbox(c), []gate.Outgoing{o, row("o2", "l1")})
}

func retriedNext(t *testing.T, b *bench) {
	b.commit(say(row("o1", "l1")))
	c := b.claim(start, orchestrator.DueOutbox)
	o := row("o1", "l1")
	o.Attempts = 1
	b.commit(orchestrator.Changes{Claim: &c, Retried: []gate.Outgoing{o}, Next: after(time.Minute)})
	b.commit(say(row("o2", "l1")))
	b.nothing(after(59*time.Second), orchestrator.DueOutbox)
	b.equal("Outbox", b.outbox(b.claim(after(time.Minute), orchestrator.DueOutbox))[0].Attempts, 1)
}

func saidWhileClaimed(t *testing.T, b *bench) {
	b.commit(say(row("o1", "l1")))
	c := b.claim(start, orchestrator.DueOutbox)
	b.commit(say(row("o2", "l1")))
	own := say(row("o3", "l1"))
	own.Claim, own.SentIDs = &c, []string{"o1"}
	b.commit(own)
	c = b.claim(start, orchestrator.DueOutbox)
	b.equal("Outbox", b.outbox(c), []gate.Outgoing{row("o2", "l1"), row("o3", "l1")})
	own = say(row("o4", "l1"))
	own.Claim, own.SentIDs = &c, []string{"o2", "o3"}
	b.commit(own)
	b.equal("Outbox", b.outbox(b.claim(start, orchestrator.DueOutbox)), []gate.Outgoing{row("o4", "l1")})
}

func outboxClaim(t *testing.T, b *bench) {
	b.commit(say(row("o1", "l1")))
	old := b.claim(start, orchestrator.DueOutbox)
	b.claim(after(time.Minute), orchestrator.DueOutbox)
	_, err := b.Outbox(b.ctx(), old, 5)
	b.equal("Outbox", err, orchestrator.ErrLostClaim)
	b.refuse(orchestrator.Changes{Claim: &old, SentIDs: []string{"o1"}}, orchestrator.ErrLostClaim)
	b.equal("Depths", b.depths(), orchestrator.Depths{Outbox: 1})
}

func lanesApart(t *testing.T, b *bench) {
	b.commit(say(row("o1", "l1"), row("o2", "l2")))
	cs := b.claims(start, 10, orchestrator.DueOutbox)
	b.equal("claims", len(cs), 2)
	b.commit(orchestrator.Changes{Claim: &cs[0], Next: after(time.Hour)})
	b.commit(orchestrator.Changes{Claim: &cs[1], SentIDs: []string{"o1", "o2"}[1:]})
	b.equal("key", b.claim(after(time.Hour), orchestrator.DueOutbox).Key, "l1")
}

// logReader is a store that gives its event log back.
type logReader interface {
	Log(ctx context.Context, after string, limit int) ([]approvals.Record, string, error)
}

// logged returns the types of the lines of the event log, if it can be read.
func (b *bench) logged() []string {
	b.t.Helper()
	r, ok := b.Store.(logReader)
	if !ok {
		return nil
	}
	lines, _, err := r.Log(b.ctx(), "", 100)
	b.equal("Log error", err, nil)
	return ids(lines, func(l approvals.Record) string { return l.Type })
}

func effectPromises() []promise {
	return []promise{
		{"DE-11 the event log keeps what was committed, in order", logsInOrder},
		{"AP-5 the event log can be read on from a cursor", logPages},
	}
}

func logsInOrder(t *testing.T, b *bench) {
	if _, ok := b.Store.(logReader); !ok {
		t.Skip("the store gives no log back")
	}
	b.commit(orchestrator.Changes{Effects: approvals.Effects{Log: []approvals.Record{{Type: "a", At: start}, {Type: "b", At: start}}}})
	b.commit(orchestrator.Changes{Effects: approvals.Effects{Log: []approvals.Record{{Type: "c", At: start}}}})
	b.equal("log", b.logged(), []string{"a", "b", "c"})
}

func logPages(t *testing.T, b *bench) {
	r, ok := b.Store.(logReader)
	if !ok {
		t.Skip("the store gives no log back")
	}
	rec := approvals.Record{Type: "x", At: start, Session: "main", Data: map[string]any{"a": "b"}}
	b.commit(orchestrator.Changes{Effects: approvals.Effects{Log: []approvals.Record{rec, {Type: "y", At: start}}}})
	one, next, err := r.Log(b.ctx(), "", 1)
	b.equal("error", err, nil)
	b.equal("first", one, []approvals.Record{rec})
	two, next, err := r.Log(b.ctx(), next, 5)
	b.equal("error", err, nil)
	b.equal("second", two, []approvals.Record{{Type: "y", At: start}})
	three, _, err := r.Log(b.ctx(), next, 5)
	b.equal("end", len(three), 0)
	b.equal("error", err, nil)
}
