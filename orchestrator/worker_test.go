package orchestrator_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

// TestSlowWorkDelaysNoDeadline has all of a worker's handlers hang, as when a
// platform does not answer, while deadlines come.
func TestSlowWorkDelaysNoDeadline(t *testing.T) {
	t.Parallel()
	t.Run("deadlines are met when every other handler hangs, however many come (DE-6, RS-5)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			const poll, many = 250 * time.Millisecond, 20
			mem, deadline := storetest.NewMem(), time.Now().Add(time.Minute)
			hang := func(ctx context.Context, _ orchestrator.Claim) error { <-ctx.Done(); return ctx.Err() }
			met := make(chan time.Duration, many)
			meet := func(ctx context.Context, c orchestrator.Claim) error {
				met <- time.Since(deadline)
				return mem.Commit(ctx, orchestrator.Changes{Claim: &c})
			}
			var due approvals.Effects
			for i := range many {
				key := string(rune('a' + i))
				due.Due = append(due.Due, approvals.Due{Kind: orchestrator.DueOutbox, Key: key, At: time.Now()},
					approvals.Due{Kind: approvals.DueDeadline, Key: key, At: deadline})
			}
			if err := mem.Commit(t.Context(), orchestrator.Changes{Effects: due}); err != nil {
				t.Fatal(err)
			}
			w := orchestrator.NewWorker(orchestrator.WorkerConfig{
				Queue: mem, States: mem, Lease: time.Hour, Poll: poll, Limit: 8, Now: time.Now, Log: slog.New(slog.DiscardHandler),
				Handlers: map[approvals.DueKind]orchestrator.Handler{orchestrator.DueOutbox: hang, approvals.DueDeadline: meet},
				Prompt:   []approvals.DueKind{approvals.DueDeadline},
			})
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- w.Run(ctx, ctx) }()
			time.Sleep(2 * time.Minute) // fake time
			if len(met) != many {
				t.Errorf("%d deadlines were met, want %d", len(met), many)
			}
			for range len(met) {
				if late := <-met; late < 0 || late > poll {
					t.Errorf("a deadline was met %v late, want within a poll", late)
				}
			}
			stop()
			if err := <-done; err != nil {
				t.Errorf("Run = %v", err)
			}
		})
	})
}
