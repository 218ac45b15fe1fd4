package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/redisstore"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

func TestRS9RedisAwayIsUnavailableQuicklyAndRecoversByItself(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	s := openStore(t, redisstore.Options{URL: srv.URL})
	wake := s.Wake(t.Context())
	work(t, s, 1)
	srv.Kill()
	began := time.Now()
	_, err := s.Receive(t.Context(), arrival("trg_2"))
	if !errors.Is(err, orchestrator.ErrUnavailable) {
		t.Fatalf("Receive = %v, want ErrUnavailable", err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("Receive took %v without redis", took)
	}
	if err := s.Commit(t.Context(), orchestrator.Changes{}); !errors.Is(err, orchestrator.ErrUnavailable) {
		t.Fatalf("Commit = %v, want ErrUnavailable", err)
	}
	srv.Restart(t) // with an empty script cache
	work(t, s, 3)
	if m := message(t, s, "trg_1"); m.Version == 0 {
		t.Error("trg_1 was lost by the restart")
	}
	select {
	case <-wake:
	case <-time.After(5 * time.Second):
		t.Error("no wake-up after the restart")
	}
}

func message(t testing.TB, s *redisstore.Store, id gate.TriggerID) orchestrator.Message {
	t.Helper()
	st, err := s.Load(t.Context(), orchestrator.Want{Messages: []gate.TriggerID{id}})
	if err != nil {
		t.Fatal(err)
	}
	return st.Messages[id]
}

func TestRS9AStalledRedisIsUnavailableAtTheDeadline(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	s := openStore(t, redisstore.Options{URL: srv.URL})
	srv.Pause(t)
	defer srv.Resume(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := s.Receive(ctx, arrival("trg_1")); !errors.Is(err, orchestrator.ErrUnavailable) {
		t.Fatalf("Receive = %v, want ErrUnavailable", err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("Receive took %v with a deadline of 100ms", took)
	}
}

func TestRS8NothingAcknowledgedIsLostByKillingRedis(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	s := openStore(t, redisstore.Options{URL: srv.URL})
	var acked sync.Map
	var stored atomic.Int64
	var senders sync.WaitGroup
	enough := make(chan struct{}, 300)
	for i := range 8 {
		senders.Go(func() {
			send(t, s, i, func(id gate.TriggerID) {
				acked.Store(id, true)
				stored.Add(1)
				select {
				case enough <- struct{}{}:
				default:
				}
			})
		})
	}
	for range 300 {
		<-enough
	}
	srv.Kill()
	senders.Wait()
	srv.Restart(t)
	acked.Range(func(id, _ any) bool {
		if m := message(t, s, id.(gate.TriggerID)); m.Version == 0 {
			t.Errorf("acknowledged %v was lost", id)
		}
		return true
	})
	d, err := s.Depths(t.Context())
	if err != nil || int64(d.Inbox) < stored.Load() {
		t.Errorf("inbox has %d rows (%v), want at least the %d acknowledged", d.Inbox, err, stored.Load())
	}
}

// send receives until the store is away.
func send(t *testing.T, s *redisstore.Store, sender int, acked func(gate.TriggerID)) {
	for n := 0; ; n++ {
		id := gate.TriggerID(fmt.Sprintf("trg_%d_%d", sender, n))
		r, err := s.Receive(t.Context(), arrival(string(id)))
		if errors.Is(err, orchestrator.ErrUnavailable) {
			return
		}
		if err != nil || r != orchestrator.Stored {
			t.Errorf("Receive(%s) = %s, %v", id, r, err)
			return
		}
		acked(id)
	}
}

func TestRS9OutOfMemoryIsSaidAsSuchAndWritesNothing(t *testing.T) {
	t.Parallel()
	c := server(t)
	s := openStore(t, redisstore.Options{Client: c})
	work(t, s, 1)
	if err := c.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Receive(t.Context(), arrival("trg_2"))
	if !errors.Is(err, orchestrator.ErrUnavailable) || !strings.Contains(err.Error(), "out of memory") {
		t.Fatalf("Receive = %v, want out of memory", err)
	}
	if err := c.ConfigSet(t.Context(), "maxmemory", "0").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Known(t.Context(), "event:trg_2"); !errors.Is(err, orchestrator.ErrNotFound) {
		t.Fatalf("Known = %v: a key was claimed without its row", err)
	}
	work(t, s, 2)
}

func TestRS9AReplicaIsUnavailable(t *testing.T) {
	t.Parallel()
	c := server(t)
	s := openStore(t, redisstore.Options{Client: c})
	if err := c.SlaveOf(t.Context(), "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Receive(t.Context(), arrival("trg_1"))
	if !errors.Is(err, orchestrator.ErrUnavailable) || !strings.Contains(err.Error(), "replica") {
		t.Fatalf("Receive = %v, want a replica that takes no writes", err)
	}
	if err := c.SlaveOf(t.Context(), "NO", "ONE").Err(); err != nil {
		t.Fatal(err)
	}
	work(t, s, 2)
}

// TestRS9AStalledRedisBoundsTimeAndMemory: many deliveries at once while Redis
// stands still. Each is answered by its deadline, nothing piles up, and what is
// sent again when it goes on is stored once.
func TestRS9AStalledRedisBoundsTimeAndMemory(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	s := openStore(t, redisstore.Options{URL: srv.URL})
	work(t, s, 0)
	payload := otherRepository(t, 1)
	deliver := func(n, try int, patience time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		a := big(fmt.Sprintf("trg_%d_%d", n, try), payload)
		a.Keys, a.Lane = []string{name("event:", n)}, "one"
		_, err := s.Receive(ctx, a)
		return err
	}
	srv.Pause(t)
	const callers, rounds, patience = 64, 5, 200 * time.Millisecond
	var before, during runtime.MemStats
	runtime.ReadMemStats(&before)
	var longest atomic.Int64
	var wg sync.WaitGroup
	for n := range callers {
		wg.Go(func() {
			for range rounds {
				began := time.Now()
				if err := deliver(n, 0, patience); !errors.Is(err, orchestrator.ErrUnavailable) {
					t.Errorf("RS-9: Receive of a stalled redis = %v, want ErrUnavailable", err)
				}
				for took := int64(time.Since(began)); took > longest.Load(); {
					longest.Store(took)
				}
			}
		})
	}
	wg.Wait()
	runtime.GC()
	runtime.ReadMemStats(&during)
	grown := int64(during.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("longest answer %v with %v patience, heap grown by %d KiB", time.Duration(longest.Load()), patience, grown>>10)
	if took := time.Duration(longest.Load()); took > patience+3*time.Second {
		t.Errorf("RS-9: an answer took %v", took)
	}
	if grown > 64<<20 {
		t.Errorf("RS-9: the heap grew by %d MiB", grown>>20)
	}
	srv.Resume(t)
	for n := range callers {
		eventually(t, func() bool { return deliver(n, 1, 5*time.Second) == nil })
	}
	if d, err := s.Depths(t.Context()); err != nil || d.Inbox != callers {
		t.Errorf("RS-9: the inbox has %d rows (%v), want each delivery once: %d", d.Inbox, err, callers)
	}
}

func TestRS8AWriteThatNoReplicaHasIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	s := openStore(t, redisstore.Options{Client: server(t), Replicas: 1})
	_, err := s.Receive(t.Context(), arrival("trg_1"))
	if !errors.Is(err, orchestrator.ErrUnavailable) || !strings.Contains(err.Error(), "replicas") {
		t.Fatalf("Receive = %v, want too few replicas", err)
	}
}
