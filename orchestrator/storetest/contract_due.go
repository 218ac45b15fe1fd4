package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func duePromises() []promise {
	return []promise{
		{"DE-6 work is handed out at its time and not before, to the millisecond", dueAtTime},
		{"RS-5 a second Due can only bring the work forward", dueForward},
		{"RS-5 cancelled work is never handed out", dueCancelled},
		{"RS-5 a Due beside a Cancel of its name wins", dueBeatsCancel},
		{"RS-3 claimed work is hidden until its lease runs out", leaseHides},
		{"RS-3 work whose lease ran out is handed out again under a greater token", leaseEnds},
		{"RS-3 a commit under a lost claim is refused whole", lostClaim},
		{"RS-3 a claim whose lease ran out holds until somebody else has it", lateHolder},
		{"RS-3 a claim of cancelled work is lost", cancelledClaim},
		{"RS-3 an invented claim is lost", inventedClaim},
		{"RS-3 an extended lease hides longer", extendHides},
		{"RS-3 a lost claim cannot be extended", extendLost},
		{"RS-5 finished work is gone", finishedGone},
		{"RS-5 work with a Next is due again then", nextAgain},
		{"RS-5 Keep leaves the claim with its holder", keepHolds},
		{"RS-5 a Due on claimed work waits for its holder", dueWhileClaimed},
		{"RS-5 a Due in the commit that finishes the work schedules it again", dueBesideFinish},
		{"RS-5 a Cancel in the commit that gives work a Next ends it", cancelBesideNext},
		{"RS-3 a conflict keeps the claim", conflictKeepsClaim},
		{"RS-5 earlier work comes first, of all kinds, up to the limit", claimOrder},
		{"RS-5 names of one kind do not touch those of another", kindsApart},
		{"RS-5 wake-ups come with new work", wakes},
		{"EV-1 what waits is named, the first due first, claimed work is not, up to the limit", namesWaiting},
	}
}

func dueAtTime(t *testing.T, b *bench) {
	at := start.Add(1500 * time.Microsecond)
	b.commit(plan(evalDue("th_1", at)))
	b.nothing(start, orchestrator.DueEval)
	b.nothing(at.Add(-time.Nanosecond), orchestrator.DueEval)
	b.equal("key", b.claim(start.Add(2*time.Millisecond), orchestrator.DueEval).Key, "th_1")
}

func dueForward(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", after(time.Minute))))
	b.commit(plan(evalDue("th_1", after(time.Hour))))
	b.commit(plan(evalDue("th_1", after(time.Second))))
	b.nothing(start, orchestrator.DueEval)
	b.done(b.claim(after(time.Second), orchestrator.DueEval))
	b.nothing(after(2*time.Hour), orchestrator.DueEval)
}

func cancel(due ...approvals.Due) orchestrator.Changes {
	return orchestrator.Changes{Effects: approvals.Effects{Cancel: due}}
}

func dueCancelled(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start), evalDue("th_2", start)))
	b.commit(cancel(evalDue("th_1", start), evalDue("never", start)))
	b.equal("key", b.claim(after(time.Hour), orchestrator.DueEval).Key, "th_2")
}

func dueBeatsCancel(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start)))
	c := cancel(evalDue("th_1", start))
	c.Due = []approvals.Due{evalDue("th_1", after(time.Minute))}
	b.commit(c)
	b.nothing(start, orchestrator.DueEval)
	b.claim(after(time.Minute), orchestrator.DueEval)
}

func namesWaiting(t *testing.T, b *bench) {
	names := func(now time.Time, limit int) []string {
		t.Helper()
		keys, err := b.Waiting(b.ctx(), orchestrator.DueEval, now, limit)
		b.equal("Waiting error", err, nil)
		return keys
	}
	b.equal("Waiting of nothing", names(start, 10), []string(nil))
	b.commit(plan(evalDue("th_1", start), evalDue("th_2", after(time.Second)), evalDue("th_3", after(2*time.Second))))
	b.commit(plan(approvals.Due{Kind: orchestrator.DueEvalLater, Key: "th_9", At: start}))
	b.equal("Waiting", names(after(time.Second), 10), []string{"th_1", "th_2"})
	b.equal("Waiting, one", names(after(time.Minute), 1), []string{"th_1"})
	b.claim(start, orchestrator.DueEval)
	b.equal("Waiting beside a claim", names(after(2*time.Second), 10), []string{"th_2", "th_3"})
}

func leaseHides(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start)))
	b.claim(start, orchestrator.DueEval)
	b.nothing(start, orchestrator.DueEval)
	b.nothing(after(10*time.Second-time.Millisecond), orchestrator.DueEval)
}

func leaseEnds(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start)))
	first := b.claim(start, orchestrator.DueEval)
	second := b.claim(after(10*time.Second), orchestrator.DueEval)
	b.equal("key", second.Key, first.Key)
	b.equal("token grows", second.Token > first.Token, true)
}

func lostClaim(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start)))
	old := b.claim(start, orchestrator.DueEval)
	b.claim(after(time.Minute), orchestrator.DueEval)
	c := say(row("o1", "l1"))
	c.Claim, c.Threads = &old, []orchestrator.Thread{newThread("th_1")}
	b.refuse(c, orchestrator.ErrLostClaim)
	b.equal("thread", b.thread("th_1").Version, int64(0))
	b.equal("outbox", b.depths().Outbox, 0)
}

func lateHolder(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start)))
	c := b.claim(start, orchestrator.DueEval)
	b.nothing(after(time.Second), orchestrator.DueEval)
	b.done(c)
	b.nothing(after(time.Hour), orchestrator.DueEval)
	b.refuse(orchestrator.Changes{Claim: &c}, orchestrator.ErrLostClaim)
}

func cancelledClaim(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start)))
	c := b.claim(start, orchestrator.DueEval)
	b.commit(cancel(evalDue("th_1", start)))
	b.refuse(orchestrator.Changes{Claim: &c}, orchestrator.ErrLostClaim)
	b.nothing(after(time.Hour), orchestrator.DueEval)
	b.commit(plan(evalDue("th_1", after(time.Hour))))
	b.refuse(orchestrator.Changes{Claim: &c}, orchestrator.ErrLostClaim)
	b.claim(after(time.Hour), orchestrator.DueEval)
}

func inventedClaim(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start)))
	for _, token := range []int64{0, 1, 99} {
		c := orchestrator.Claim{Kind: orchestrator.DueEval, Key: "th_1", Token: token}
		b.refuse(orchestrator.Changes{Claim: &c}, orchestrator.ErrLostClaim)
	}
	b.claim(start, orchestrator.DueEval)
}

func extendHides(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start)))
	c := b.claim(start, orchestrator.DueEval)
	b.equal("Extend", b.Extend(b.ctx(), c, after(time.Minute)), nil)
	b.nothing(after(59*time.Second), orchestrator.DueEval)
	b.claim(after(time.Minute), orchestrator.DueEval)
}

func extendLost(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start)))
	c := b.claim(start, orchestrator.DueEval)
	b.claim(after(10*time.Second), orchestrator.DueEval)
	b.equal("Extend", b.Extend(b.ctx(), c, after(time.Hour)), orchestrator.ErrLostClaim)
	b.claim(after(20*time.Second), orchestrator.DueEval)
}

func finishedGone(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start)))
	b.done(b.claim(start, orchestrator.DueEval))
	b.nothing(after(time.Hour), orchestrator.DueEval)
	b.equal("Depths", b.depths(), orchestrator.Depths{})
}

func nextAgain(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start)))
	c := b.claim(start, orchestrator.DueEval)
	b.commit(orchestrator.Changes{Claim: &c, Next: after(time.Second)})
	b.nothing(after(999*time.Millisecond), orchestrator.DueEval)
	b.claim(after(time.Second), orchestrator.DueEval)
	b.refuse(orchestrator.Changes{Claim: &c}, orchestrator.ErrLostClaim)
}

func keepHolds(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start)))
	c := b.claim(start, orchestrator.DueEval)
	for range 3 {
		b.commit(orchestrator.Changes{Claim: &c, Keep: true})
	}
	b.nothing(after(time.Second), orchestrator.DueEval)
	b.done(c)
}

func dueWhileClaimed(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start)))
	c := b.claim(start, orchestrator.DueEval)
	b.commit(plan(evalDue("th_1", start)))
	b.nothing(after(time.Second), orchestrator.DueEval)
	b.done(c)
	b.nothing(after(time.Hour), orchestrator.DueEval)
}

func dueBesideFinish(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start)))
	c := b.claim(start, orchestrator.DueEval)
	again := plan(evalDue("th_1", after(time.Minute)))
	again.Claim = &c
	b.commit(again)
	b.nothing(after(59*time.Second), orchestrator.DueEval)
	c = b.claim(after(time.Minute), orchestrator.DueEval)
	again = plan(evalDue("th_1", after(2*time.Minute)))
	again.Claim, again.Next = &c, after(3*time.Minute)
	b.commit(again)
	b.claim(after(2*time.Minute), orchestrator.DueEval)
}

func cancelBesideNext(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start)))
	c := b.claim(start, orchestrator.DueEval)
	end := cancel(evalDue("th_1", start))
	end.Claim, end.Next = &c, after(time.Minute)
	b.commit(end)
	b.nothing(after(time.Hour), orchestrator.DueEval)
}

func conflictKeepsClaim(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start)))
	c := b.claim(start, orchestrator.DueEval)
	th := newThread("th_1")
	th.Version = 7
	b.refuse(orchestrator.Changes{Claim: &c, Threads: []orchestrator.Thread{th}}, orchestrator.ErrConflict)
	b.done(c)
}

func claimOrder(t *testing.T, b *bench) {
	turn := approvals.Due{Kind: orchestrator.DueTurn, Key: "tkt_1", At: after(2 * time.Second)}
	b.commit(plan(turn, evalDue("c", after(3*time.Second)), evalDue("b", after(time.Second)),
		evalDue("a", after(2*time.Second)), evalDue("later", after(time.Hour))))
	var got []string
	for _, limit := range []int{3, 0, 5} {
		for _, c := range b.claims(after(time.Minute), limit, orchestrator.DueTurn, orchestrator.DueEval) {
			got = append(got, fmt.Sprintf("%s %s", c.Kind, c.Key))
		}
	}
	b.equal("order", got, []string{"eval b", "turn tkt_1", "eval a", "eval c"})
}

func kindsApart(t *testing.T, b *bench) {
	resume := approvals.Due{Kind: orchestrator.DueResume, Key: "tkt_1", At: start}
	turn := approvals.Due{Kind: orchestrator.DueTurn, Key: "tkt_1", At: start}
	b.commit(plan(resume, turn))
	c := b.claim(start, orchestrator.DueTurn)
	b.done(b.claim(start, orchestrator.DueResume))
	b.commit(cancel(resume))
	b.done(c)
	if cs := b.claims(start, 5); len(cs) != 0 {
		t.Fatalf("Claim of no kinds = %v, want none", cs)
	}
}

func wakes(t *testing.T, b *bench) {
	wake := b.Wake(b.ctx())
	b.commit(plan(evalDue("th_1", start)))
	waitFor(t, wake)
	b.receive(arrival("trg_1", "th_1"))
	waitFor(t, wake)
	b.commit(say(row("o1", "l1")))
	waitFor(t, wake)
}

func waitFor(t *testing.T, wake <-chan struct{}) {
	t.Helper()
	select {
	case <-wake:
	case <-time.After(5 * time.Second):
		t.Fatal("no wake-up after new work")
	}
}
