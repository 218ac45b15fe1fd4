package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/redisstore"
)

// load is senders that deliver as platforms do: again and again under the same
// key, each time with another Trigger id, until it is acknowledged.
type load struct {
	t      *testing.T
	cancel context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex
	acked  []string
	tried  atomic.Int64
	more   chan struct{}
	// longest is the longest answer that was given.
	longest time.Duration
}

func startLoad(t *testing.T, s *redisstore.Store, senders int) *load {
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{t: t, cancel: cancel, more: make(chan struct{}, 1)}
	for i := range senders {
		l.wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				l.deliver(ctx, s, fmt.Sprintf("%d-%d", i, n))
			}
		})
	}
	return l
}

func (l *load) deliver(ctx context.Context, s *redisstore.Store, event string) {
	for try := 0; ctx.Err() == nil; try++ {
		a := arrival(fmt.Sprintf("trg_%s-%d", event, try))
		a.Keys = []string{"event:" + event}
		l.tried.Add(1)
		began := time.Now()
		_, err := s.Receive(ctx, a)
		took := time.Since(began)
		if err != nil && !errors.Is(err, orchestrator.ErrUnavailable) {
			l.t.Errorf("Receive = %v, want a receipt or ErrUnavailable", err)
			return
		}
		l.mu.Lock()
		l.longest = max(l.longest, took)
		if err == nil {
			l.acked = append(l.acked, event)
		}
		l.mu.Unlock()
		if err == nil {
			select {
			case l.more <- struct{}{}:
			default:
			}
			return
		}
	}
}

// reach waits for that many more acknowledgements.
func (l *load) reach(n int) {
	l.t.Helper()
	l.mu.Lock()
	want := len(l.acked) + n
	l.mu.Unlock()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for {
		l.mu.Lock()
		got := len(l.acked)
		l.mu.Unlock()
		if got >= want {
			return
		}
		select {
		case <-l.more:
		case <-limit.C:
			l.t.Fatalf("%d acknowledgements, want %d: the store does not come back", got, want)
		}
	}
}

func (l *load) stop() { l.cancel(); l.wg.Wait() }

// allThere checks that everything acknowledged is stored, once, under its key.
func (l *load) allThere(t *testing.T, s *redisstore.Store) {
	t.Helper()
	ids := map[gate.TriggerID]bool{}
	for _, event := range l.acked {
		id, err := s.Known(t.Context(), "event:"+event)
		if err != nil {
			t.Errorf("acknowledged %s was lost: %v", event, err)
			continue
		}
		if m := message(t, s, id); m.Version == 0 {
			t.Errorf("acknowledged %s has its key and no row", event)
		}
		ids[id] = true
	}
	inbox := map[gate.TriggerID]bool{}
	c := claimOne(t, s, orchestrator.DueInbox)
	rows, err := s.Inbox(t.Context(), c, 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range rows {
		if inbox[id] {
			t.Errorf("%s is in the inbox twice", id)
		}
		inbox[id] = true
		delete(ids, id)
	}
	if len(ids) > 0 {
		t.Errorf("%d acknowledged ones are not in the inbox", len(ids))
	}
	t.Logf("%d acknowledged in %d tries, 0 lost wanted, longest answer %v", len(l.acked), l.tried.Load(), l.longest.Round(time.Millisecond))
}
