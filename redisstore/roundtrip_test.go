package redisstore_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/redisstore"
)

// trips counts what a client sends: a pipeline is one.
type trips struct{ n atomic.Int64 }

func (t *trips) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (t *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		t.n.Add(1)
		return next(ctx, cmd)
	}
}

func (t *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		t.n.Add(1)
		return next(ctx, cmds)
	}
}

func TestIntakeIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	own, err := redisstore.OpenEmbedded(t.Context(), t.TempDir(), redisstore.EmbeddedOptions{Trial: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = own.Close() })
	count := &trips{}
	own.Client.(interface{ AddHook(redis.Hook) }).AddHook(count)
	s, err := redisstore.Open(t.Context(), redisstore.Options{Client: own.Client, Workspace: "trips"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	receive := func(id gate.TriggerID, want orchestrator.Receipt) {
		t.Helper()
		before := count.n.Load()
		r, err := s.Receive(t.Context(), gate.Arrival{
			Trigger: gate.Trigger{ID: id, Source: "s", Thread: "s~c~m"}, Keys: []string{"s:event:1", "s:message:1"}, Lane: "s~c~m", Raw: []byte(`{"a":1}`),
		})
		if err != nil || r != want {
			t.Errorf("Receive(%s) = %s, %v; want %s", id, r, err, want)
		}
		if n := count.n.Load() - before; n != 1 {
			t.Errorf("Receive(%s) took %d round trips; want one (RS-2)", id, n)
		}
	}
	receive("trg_1", orchestrator.Stored)
	receive("trg_2", orchestrator.Duplicate)
}
