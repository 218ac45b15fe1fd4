package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// racers is how many do the same at once, rounds how often.
const (
	racers = 8
	rounds = 12
)

func racePromises() []promise {
	return []promise{
		{"RS-4 of many commits to one version exactly one wins", oneWins},
		{"TR-1 of many deliveries under one key exactly one is stored", oneStored},
		{"RS-3 no two claim the same work", claimsExclusive},
		{"RS-3 of a holder and its successor only one commits", fenced},
		{"OUT-1 one row said by many at once is sent once", oneRow},
		{"RS-4 no increment is lost", nothingLost},
	}
}

// race runs the same function many times at once and returns what each said.
func race[T any](do func(i int) T) []T {
	out := make([]T, racers)
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() { out[i] = do(i) })
	}
	wg.Wait()
	return out
}

func count[T comparable](list []T, v T) (n int) {
	for _, x := range list {
		if x == v {
			n++
		}
	}
	return n
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, orchestrator.ErrConflict):
		return "conflict"
	case errors.Is(err, orchestrator.ErrLostClaim):
		return "lost"
	}
	return err.Error()
}

func oneWins(t *testing.T, b *bench) {
	for round := range rounds {
		got := race(func(i int) string {
			th := newThread("th_1")
			th.Version, th.Title = int64(round), fmt.Sprint(i)
			c := say(row(fmt.Sprintf("o%d-%d", round, i), "l1"))
			c.Threads = []orchestrator.Thread{th}
			return outcome(b.Commit(b.ctx(), c))
		})
		if count(got, "ok") != 1 || count(got, "conflict") != racers-1 {
			t.Fatalf("round %d: %v, want one ok", round, got)
		}
	}
	b.equal("Depths", b.depths(), orchestrator.Depths{Outbox: rounds})
}

func oneStored(t *testing.T, b *bench) {
	for round := range rounds {
		got := race(func(i int) orchestrator.Receipt {
			a := arrival(gate.TriggerID(fmt.Sprintf("trg_%d_%d", round, i)), "th_1", fmt.Sprintf("event:%d", round))
			r, err := b.Receive(b.ctx(), a)
			if err != nil {
				t.Errorf("Receive: %v", err)
			}
			return r
		})
		if count(got, orchestrator.Stored) != 1 || count(got, orchestrator.Duplicate) != racers-1 {
			t.Fatalf("round %d: %v, want one stored", round, got)
		}
	}
	b.equal("Depths", b.depths(), orchestrator.Depths{Inbox: rounds})
}

func claimsExclusive(t *testing.T, b *bench) {
	for i := range racers * 3 {
		b.commit(plan(evalDue(fmt.Sprintf("th_%d", i), start)))
	}
	got := race(func(int) []orchestrator.Claim {
		cs, err := b.Claim(b.ctx(), append(dueKinds(), orchestrator.DueEval), start, time.Minute, 4)
		if err != nil {
			t.Errorf("Claim: %v", err)
		}
		return cs
	})
	keys, tokens := map[string]bool{}, map[int64]bool{}
	for _, cs := range got {
		for _, c := range cs {
			keys[c.Key], tokens[c.Token] = true, true
		}
	}
	b.equal("keys claimed", len(keys), racers*3)
	b.equal("tokens", len(tokens), racers*3)
}

func fenced(t *testing.T, b *bench) {
	b.commit(plan(evalDue("th_1", start)))
	for round := range rounds {
		now := after(time.Duration(round) * time.Minute)
		old := b.claim(now, orchestrator.DueEval)
		b.claim(now.Add(10*time.Second), orchestrator.DueEval)
		got := race(func(int) string {
			return outcome(b.Commit(b.ctx(), orchestrator.Changes{Claim: &old, Keep: true}))
		})
		b.equal("lost", count(got, "lost"), racers)
	}
}

func oneRow(t *testing.T, b *bench) {
	got := race(func(int) string { return outcome(b.Commit(b.ctx(), say(row("o1", "l1")))) })
	b.equal("ok", count(got, "ok"), racers)
	b.equal("Depths", b.depths(), orchestrator.Depths{Outbox: 1})
}

func nothingLost(t *testing.T, b *bench) {
	got := race(func(int) string {
		for range rounds {
			if err := increment(b.ctx(), b.Store); err != nil {
				return outcome(err)
			}
		}
		return "ok"
	})
	b.equal("ok", count(got, "ok"), racers)
	s := b.load(orchestrator.Want{Chats: []string{"dm:oc_1"}})
	b.equal("Opened", s.Chats["dm:oc_1"].Opened, racers*rounds)
	b.equal("Version", s.Chats["dm:oc_1"].Version, int64(racers*rounds))
}

// increment adds one, again from fresh state until it wins.
func increment(ctx context.Context, st orchestrator.Store) error {
	for {
		s, err := st.Load(ctx, orchestrator.Want{Chats: []string{"dm:oc_1"}})
		if err != nil {
			return err
		}
		c := s.Chats["dm:oc_1"]
		c.Key = "dm:oc_1"
		c.Opened++
		err = st.Commit(ctx, orchestrator.Changes{Chats: []orchestrator.Chat{c}})
		if !errors.Is(err, orchestrator.ErrConflict) {
			return err
		}
	}
}
