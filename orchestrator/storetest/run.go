package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// promise is one promise of the contract.
type promise struct {
	says  string
	check func(t *testing.T, s *bench)
}

// Run proves the contract against the stores that open returns, a fresh and
// empty one for each promise. A store that has them is also asked for the raw
// payloads and the event log, by the methods Raw and Log of Mem.
func Run(t *testing.T, open func(t *testing.T) orchestrator.Store) {
	t.Helper()
	chapters := map[string][]promise{
		"intake": intakePromises(), "commit": commitPromises(), "questions": questionPromises(),
		"due work": duePromises(), "inbox": inboxPromises(), "outbox": outboxPromises(),
		"lists": listPromises(), "races": racePromises(), "effects": effectPromises(),
		"policy": policyPromises(), "tallies": tallyPromises(), "logins": loginPromises(),
	}
	for name, promises := range chapters {
		t.Run(name, func(t *testing.T) {
			for _, p := range promises {
				t.Run(p.says, func(t *testing.T) {
					p.check(t, &bench{Store: open(t), t: t})
				})
			}
		})
	}
}

// bench is a store on the test bench: calls that must succeed, in one word.
type bench struct {
	orchestrator.Store
	t *testing.T
}

// start is when every story begins; noon is much later.
var start = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant that the language cannot write

func after(d time.Duration) time.Time { return start.Add(d) }

func (b *bench) ctx() context.Context { return b.t.Context() }

func (b *bench) receive(a gate.Arrival) orchestrator.Receipt {
	b.t.Helper()
	r, err := b.Receive(b.ctx(), a)
	if err != nil {
		b.t.Fatalf("Receive(%s): %v", a.Trigger.ID, err)
	}
	return r
}

func (b *bench) commit(c orchestrator.Changes) {
	b.t.Helper()
	if err := b.Commit(b.ctx(), c); err != nil {
		b.t.Fatalf("Commit: %v", err)
	}
}

func (b *bench) refuse(c orchestrator.Changes, want error) {
	b.t.Helper()
	if err := b.Commit(b.ctx(), c); !errors.Is(err, want) {
		b.t.Fatalf("Commit = %v, want %v", err, want)
	}
}

func (b *bench) load(w orchestrator.Want) orchestrator.State {
	b.t.Helper()
	s, err := b.Load(b.ctx(), w)
	if err != nil {
		b.t.Fatalf("Load: %v", err)
	}
	return s
}

func (b *bench) thread(id gate.ThreadID) orchestrator.Thread {
	b.t.Helper()
	return b.load(orchestrator.Want{Threads: []gate.ThreadID{id}}).Threads[id]
}

func (b *bench) message(id gate.TriggerID) orchestrator.Message {
	b.t.Helper()
	return b.load(orchestrator.Want{Messages: []gate.TriggerID{id}}).Messages[id]
}

func (b *bench) claims(now time.Time, limit int, kinds ...approvals.DueKind) []orchestrator.Claim {
	b.t.Helper()
	cs, err := b.Claim(b.ctx(), kinds, now, 10*time.Second, limit)
	if err != nil {
		b.t.Fatalf("Claim: %v", err)
	}
	return cs
}

// claim takes the only piece of work of the kind that is due.
func (b *bench) claim(now time.Time, kind approvals.DueKind) orchestrator.Claim {
	b.t.Helper()
	cs := b.claims(now, 10, kind)
	if len(cs) != 1 {
		b.t.Fatalf("Claim(%s) at %v = %v, want one", kind, now, cs)
	}
	return cs[0]
}

func (b *bench) nothing(now time.Time, kind approvals.DueKind) {
	b.t.Helper()
	if cs := b.claims(now, 10, kind); len(cs) != 0 {
		b.t.Fatalf("Claim(%s) at %v = %v, want none", kind, now, cs)
	}
}

func (b *bench) done(c orchestrator.Claim) {
	b.t.Helper()
	b.commit(orchestrator.Changes{Claim: &c})
}

func (b *bench) depths() orchestrator.Depths {
	b.t.Helper()
	d, err := b.Depths(b.ctx())
	if err != nil {
		b.t.Fatalf("Depths: %v", err)
	}
	return d
}

func (b *bench) equal(what string, got, want any) {
	b.t.Helper()
	if d := diff(got, want); d != "" {
		b.t.Fatalf("%s (-got +want):\n%s", what, d)
	}
}
