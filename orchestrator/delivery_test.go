package orchestrator_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
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
			seconds := []int{2, 4, 8, 16, 32, 60, 60}
			if len(ex.tries) <= len(seconds) {
				t.Fatalf("%d tries in 5 min", len(ex.tries))
			}
			for i, n := range seconds {
				want := time.Duration(n) * time.Second
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

// slowly is an Echo whose question is answered while it is about to leave.
type slowly struct {
	orchestrator.Echo
	leaving func()
}

func (s slowly) Turn(ctx context.Context, t orchestrator.Turn) error {
	err := s.Echo.Turn(ctx, t)
	s.leaving()
	return err
}

func TestAnswerMeetsTheEndOfATurn(t *testing.T) {
	t.Parallel()
	t.Run("an answer that comes when the turn that saw its question open is about to end is not lost (DE-10, AP-7)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			h.runner.Executors["default"] = slowly{orchestrator.Echo{Script: approvalScript(), Refused: "not approved"}, func() {
				if list, _ := h.store.OpenQuestions(t.Context(), approvals.SessionID(h.ticket().ID)); len(list) > 0 {
					time.Sleep(time.Second) // the card is sent
					synctest.Wait()
					if err := h.click(); err != nil {
						t.Errorf("click: %v", err)
					}
				}
			}}
			h.run()
			h.say(words{from: listed, text: "1.4.2", mention: true})
			h.settle()
			h.settle()
			if tk := h.ticket(); tk.Active() || tk.End.Reason != orchestrator.EndCompleted {
				t.Errorf("ticket is %s, %+v; want completed", tk.State, tk.End)
			}
		})
	})
}
