package redisstore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/redisstore"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// TestRS8AFailoverUnderLoadLosesNothingAcknowledged: with a replica that must
// have each write, no acknowledged arrival is lost when the master dies or
// stalls and comes back, and the client follows without a restart.
func TestRS8AFailoverUnderLoadLosesNothingAcknowledged(t *testing.T) {
	long(t)
	t.Parallel()
	for _, c := range []struct {
		says string
		fail func(t *testing.T, master *redistest.Server)
		back func(t *testing.T, master *redistest.Server)
	}{
		{"RS-8 killed and started again", func(_ *testing.T, m *redistest.Server) { m.Kill() }, func(t *testing.T, m *redistest.Server) { m.Restart(t) }},
		{"RS-8 frozen and thawed", func(t *testing.T, m *redistest.Server) { m.Pause(t) }, func(t *testing.T, m *redistest.Server) { m.Resume(t) }},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			w := redistest.StartSentinel(t)
			s := openStore(t, redisstore.Options{URL: w.URL, Replicas: 1})
			if f, err := s.Check(t.Context()); err != nil || f.Replicas != 2 || f.MayLose || len(f.Warnings) != 0 {
				t.Errorf("Check = %+v, %v, want two replicas and no warning", f, err)
			}
			wake := s.Wake(t.Context())
			l := startLoad(t, s, 8)
			l.reach(200)
			old := w.Master(t)
			c.fail(t, old)
			failed := time.Now()
			w.WaitFailover(t, old)
			l.reach(1)
			t.Logf("the first acknowledgement came %v after the failure", time.Since(failed).Round(time.Millisecond))
			l.reach(100)
			c.back(t, old)
			l.reach(100)
			l.stop()
			l.allThere(t, s)
			drain(wake)
			other := openStore(t, redisstore.Options{URL: w.URL, Replicas: 1})
			wokenThrough(t, other, wake)
			mustDo(t, w.Master(t), "REPLICAOF", "127.0.0.1", "1")
			if _, err := s.Check(t.Context()); !errors.Is(err, orchestrator.ErrUnavailable) {
				t.Errorf("RS-8: Check of a master that stepped down = %v, want ErrUnavailable: the Sentinel will see to it", err)
			}
		})
	}
}

func drain(wake <-chan struct{}) {
	select {
	case <-wake:
	default:
	}
}

// wokenThrough receives at one store until another one wakes.
func wokenThrough(t *testing.T, from *redisstore.Store, woken <-chan struct{}) {
	t.Helper()
	n := 0
	eventually(t, func() bool { // a subscription takes a moment
		n++
		if _, err := from.Receive(t.Context(), arrival(name("trg_wake_", n))); err != nil && !errors.Is(err, orchestrator.ErrUnavailable) {
			t.Errorf("Receive: %v", err)
		}
		select {
		case <-woken:
			return true
		case <-time.After(20 * time.Millisecond):
			return false
		}
	})
}

func TestRS8ASentinelIsSaidToLoseWithoutReplicas(t *testing.T) {
	long(t)
	t.Parallel()
	w := redistest.StartSentinel(t)
	s := openStore(t, redisstore.Options{URL: w.URL})
	if f, err := s.Check(t.Context()); err != nil || f.MayLose || len(f.Warnings) != 1 {
		t.Errorf("Check = %+v, %v, want a warning of fail-overs", f, err)
	}
	work(t, s, 1)
	demanding := openStore(t, redisstore.Options{URL: w.URL, Workspace: "three", Replicas: 3})
	if f, err := demanding.Check(t.Context()); err != nil || len(f.Warnings) != 1 {
		t.Errorf("Check of 3 replicas = %+v, %v, want a warning", f, err)
	}
	if _, err := demanding.Receive(t.Context(), arrival("trg_1")); !errors.Is(err, orchestrator.ErrUnavailable) {
		t.Errorf("RS-8: Receive with two of three replicas = %v, want ErrUnavailable", err)
	}
	two := openStore(t, redisstore.Options{URL: w.URL, Workspace: "two", Replicas: 2})
	work(t, two, 1)
	w.Replicas(t)[0].Pause(t)
	if _, err := two.Receive(t.Context(), arrival("trg_2")); !errors.Is(err, orchestrator.ErrUnavailable) {
		t.Errorf("RS-8: Receive with a replica stalled = %v, want ErrUnavailable", err)
	}
	w.Replicas(t)[0].Resume(t)
	// The platform sends again, under another Trigger id: its first id counts.
	again := arrival("trg_3")
	again.Keys = arrival("trg_2").Keys
	var r orchestrator.Receipt
	eventually(t, func() bool {
		var err error
		r, err = two.Receive(t.Context(), again)
		return err == nil
	})
	if id, err := two.Known(t.Context(), "event:trg_2"); r != orchestrator.Duplicate || err != nil || id != "trg_2" {
		t.Errorf("RS-8: the retry is %s of %s (%v), want a duplicate of trg_2", r, id, err)
	}
	losesWithoutWait(t, w, s)
}

// losesWithoutWait shows that the tests above have teeth: what no replica has
// is acknowledged without redis.replicas, and lost by a fail-over.
func losesWithoutWait(t *testing.T, w *redistest.Sentinel, s *redisstore.Store) {
	t.Helper()
	master, replicas := w.Master(t), w.Replicas(t)
	for _, r := range replicas {
		r.Pause(t)
	}
	mustDo(t, master, "CLIENT", "KILL", "TYPE", "replica")
	if r, err := s.Receive(t.Context(), arrival("trg_lost")); err != nil || r != orchestrator.Stored {
		t.Fatalf("Receive without replicas = %s, %v, want it to be acknowledged", r, err)
	}
	careful := openStore(t, redisstore.Options{URL: w.URL, Workspace: "careful", Replicas: 1})
	if _, err := careful.Receive(t.Context(), arrival("trg_1")); !errors.Is(err, orchestrator.ErrUnavailable) {
		t.Errorf("RS-8: Receive with one replica to wait for = %v, want ErrUnavailable", err)
	}
	master.Kill()
	for _, r := range replicas {
		r.Resume(t)
	}
	w.WaitFailover(t, master)
	eventually(t, func() bool {
		_, err := s.Known(t.Context(), "event:trg_lost")
		return errors.Is(err, orchestrator.ErrNotFound)
	})
}
