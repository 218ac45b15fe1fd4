package approvals_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
)

// realDesk is a desk on the bubble's clock.
func realDesk() *desk {
	return newDesk(func(c *approvals.BrokerConfig) { c.Now = time.Now })
}

// waited is what a Wait returned, and after how long.
type waited struct {
	q    approvals.Question
	err  error
	took time.Duration
}

func startWait(ctx context.Context, b *approvals.Broker, id approvals.ID) <-chan waited {
	c := make(chan waited, 1)
	go func() {
		start := time.Now()
		q, err := b.Wait(ctx, id)
		c <- waited{q, err, time.Since(start)}
	}()
	return c
}

func TestWait(t *testing.T) {
	t.Parallel()
	t.Run("DE-10 an answer here wakes at once", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := realDesk()
			q := d.ask(t, approval())
			c := startWait(t.Context(), d.Broker, q.ID)
			synctest.Wait()
			mustAnswer(t, d, click(q, li, "approve"))
			if w := <-c; w.err != nil || !w.q.Outcome.Allows() || w.took != 0 {
				t.Errorf("Wait(…) = %s, %v after %s", w.q.Outcome, w.err, w.took)
			}
			if s := d.WaitStats(); s != (approvals.WaitStats{}) {
				t.Errorf("WaitStats() = %+v, want nothing left", s)
			}
		})
	})
	t.Run("DE-10 an answer on another replica is seen within a second", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := realDesk()
			q := d.ask(t, approval())
			other := approvals.NewBroker(approvals.BrokerConfig{Workspace: "acme", Store: d.store, Directory: d.lists})
			c := startWait(t.Context(), other, q.ID)
			synctest.Wait()
			mustAnswer(t, d, click(q, li, "reject"))
			if w := <-c; w.err != nil || w.q.Outcome != approvals.Rejected || w.took > time.Second {
				t.Errorf("Wait(…) = %s, %v after %s", w.q.Outcome, w.err, w.took)
			}
		})
	})
	t.Run("DE-5 nobody sweeps: it times out for who waits, at its deadline", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := realDesk()
			q := d.ask(t, with(approval(), func(r *approvals.Request) { r.Timeout = 2500 * time.Millisecond }))
			w := <-startWait(t.Context(), d.Broker, q.ID)
			if w.err != nil || w.q.Outcome != approvals.Unavailable || w.took != 2500*time.Millisecond {
				t.Errorf("Wait(…) = %s, %v after %s", w.q.Outcome, w.err, w.took)
			}
			if got := d.row(t, q.ID); got.Status != approvals.StatusTimedOut || d.store.lines()[approvals.RecordDecided] != 1 {
				t.Errorf("the row is %s, want what was told", got.Status)
			}
		})
	})
	t.Run("DE-6 a long wait ends at the deadline, not a poll later", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := realDesk()
			q := d.ask(t, approval())
			if w := <-startWait(t.Context(), d.Broker, q.ID); w.took != approvals.DefaultTimeout {
				t.Errorf("Wait(…) took %s", w.took)
			}
		})
	})
	t.Run("DE-10 the end of the wait is no end of the question", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := realDesk()
			q := d.ask(t, approval())
			ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
			defer stop()
			w := <-startWait(ctx, d.Broker, q.ID)
			if !errors.Is(w.err, context.DeadlineExceeded) || w.q.Status != approvals.StatusOpen || w.took != 30*time.Second {
				t.Errorf("Wait(…) = %s, %v after %s", w.q.Status, w.err, w.took)
			}
		})
	})
	t.Run("DE-1 what ended is returned at once, what is unknown is not found", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := realDesk()
			q := d.ask(t, approval())
			mustAnswer(t, d, click(q, li, "approve"))
			if got, err := d.Wait(t.Context(), q.ID); err != nil || !got.Outcome.Allows() {
				t.Errorf("Wait(answered) = %s, %v", got.Outcome, err)
			}
			if _, err := d.Wait(t.Context(), "nowhere"); !errors.Is(err, approvals.ErrNotFound) {
				t.Errorf("Wait(nowhere) = %v", err)
			}
		})
	})
	t.Run("RS-6 a row that is gone ends the wait", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := realDesk()
			q := d.ask(t, approval())
			c := startWait(t.Context(), d.Broker, q.ID)
			synctest.Wait()
			d.store.mu.Lock()
			delete(d.store.rows, q.ID)
			d.store.mu.Unlock()
			if w := <-c; !errors.Is(w.err, approvals.ErrNotFound) {
				t.Errorf("Wait(…) = %v, want ErrNotFound", w.err)
			}
		})
	})
}

func TestWaitersAreBounded(t *testing.T) {
	t.Parallel()
	t.Run("DE-8 beyond 512 of a session waits go to the store", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := realDesk()
			q := d.ask(t, approval())
			var all []<-chan waited
			for range 515 {
				all = append(all, startWait(t.Context(), d.Broker, q.ID))
			}
			synctest.Wait()
			if s := d.WaitStats(); s != (approvals.WaitStats{Waiting: 512, Overflowed: 3}) {
				t.Errorf("WaitStats() = %+v", s)
			}
			mustAnswer(t, d, click(q, li, "approve"))
			polled := 0
			for _, c := range all {
				w := <-c
				if w.err != nil || !w.q.Outcome.Allows() || w.took > time.Second {
					t.Errorf("Wait(…) = %s, %v after %s", w.q.Outcome, w.err, w.took)
				}
				polled += b2i(w.took > 0)
			}
			if polled != 3 {
				t.Errorf("%d polled, want 3", polled)
			}
			if s := d.WaitStats(); s != (approvals.WaitStats{Overflowed: 3}) {
				t.Errorf("WaitStats() = %+v", s)
			}
		})
	})
	t.Run("a session that opens many questions is said, once every 512 (DE-8)", func(t *testing.T) {
		t.Parallel()
		var said strings.Builder
		d := newDesk(func(c *approvals.BrokerConfig) { c.Logger = slog.New(slog.NewTextHandler(&said, nil)) })
		open := func(s approvals.SessionID, n int) {
			session := ticket()
			session.ID = s
			r := with(choice(), func(r *approvals.Request) { r.RequestID = fmt.Sprint(n) })
			if _, _, err := d.Open(t.Context(), session, r); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 1100 {
			open("tkt_1", n)
			open(approvals.SessionID(fmt.Sprint("tkt_other_", n/2)), n)
		}
		if got := strings.Count(said.String(), "session opens many questions"); got != 2 {
			t.Errorf("said %d times, want 2", got)
		}
		for n := range 1100 {
			open(approvals.SessionID(fmt.Sprint("tkt_more_", n)), n) // too many to be counted
		}
		if got := strings.Count(said.String(), "session opens many questions"); got != 2 {
			t.Errorf("said %d times, want 2", got)
		}
	})
	t.Run("DE-8 one session's waiters take nothing from another's", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := realDesk()
			q := d.ask(t, approval())
			s := ticket()
			s.ID = "tkt_2"
			two, _, err := d.Open(t.Context(), s, approval())
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			for range 513 {
				startWait(ctx, d.Broker, q.ID)
			}
			startWait(ctx, d.Broker, two.ID)
			synctest.Wait()
			if s := d.WaitStats(); s.Waiting != 513 || s.Overflowed != 1 {
				t.Errorf("WaitStats() = %+v", s)
			}
			stop()
			synctest.Wait()
			if s := d.WaitStats(); s.Waiting != 0 {
				t.Errorf("WaitStats() = %+v after the end", s)
			}
		})
	})
}
