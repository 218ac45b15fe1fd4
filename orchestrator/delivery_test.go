package orchestrator_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// broken is an Executor that cannot be started.
type broken struct{ tries []time.Time }

func (b *broken) Turn(context.Context, orchestrator.Turn) error {
	b.tries = append(b.tries, time.Now())
	return errors.New("no such program")
}

func TestFailedDelivery(t *testing.T) {
	t.Parallel()
	t.Run("a failed delivery is tried again after 2 s, doubling to 1 min, and holds one place (AC-2, EX-5)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ex := &broken{}
			h := newHouse(t).bounded(orchestrator.Bounds{MaxConcurrent: 1})
			h.runner.Executors["default"] = ex
			h.run()
			h.say(words{from: listed, text: "work", mention: true})
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			wants := []time.Duration{2, 4, 8, 16, 32, 60, 60}
			if len(ex.tries) <= len(wants) {
				t.Fatalf("%d tries in 5 min", len(ex.tries))
			}
			for i, want := range wants {
				want *= time.Second
				if got := ex.tries[i+1].Sub(ex.tries[i]); got < want || got > want+250*time.Millisecond {
					t.Errorf("try %d came after %v, want %v", i+2, got, want)
				}
			}
			if n, err := h.store.Tallied(t.Context(), orchestrator.Counts{Set: "turns/default"}); err != nil || n[0] != 1 {
				t.Errorf("%v places are taken, %v; want one", n, err)
			}
		})
	})
}
