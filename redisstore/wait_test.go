package redisstore_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/redisstore"
)

// newer answers as a server of 7.2 does: it has WAITAOF, and so many replicas
// with the write on disk. While old it does not know the command any more.
type newer struct {
	mu       sync.Mutex
	onDisk   int64
	old      bool
	sent     []string
	confirms int64 // what WAIT says
}

func (n *newer) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (n *newer) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		asks, ours := cmd.(*redis.Cmd) // the driver asks for commands, too
		if !ours || cmd.Name() != "command" {
			return next(ctx, cmd)
		}
		asks.SetVal([]any{[]any{"waitaof"}})
		return nil
	}
}

func (n *newer) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		last := cmds[len(cmds)-1]
		if last.Name() != "wait" && last.Name() != "waitaof" {
			return next(ctx, cmds)
		}
		if err := next(ctx, cmds[:len(cmds)-1]); err != nil {
			return err
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		n.sent = append(n.sent, last.Name())
		switch {
		case last.Name() == "wait":
			last.(*redis.Cmd).SetVal(n.confirms)
		case n.old:
			last.SetErr(redisError("ERR unknown command 'WAITAOF', with args beginning with: '0' '1' '1000' "))
			return last.Err()
		default:
			last.(*redis.Cmd).SetVal([]any{int64(0), n.onDisk})
		}
		return nil
	}
}

type redisError string

func (e redisError) Error() string { return string(e) }
func (redisError) RedisError()     {}

func TestRS8WhereTheServerHasWAITAOFTheReplicasDisksCount(t *testing.T) {
	t.Parallel()
	c, n := server(t), &newer{onDisk: 1}
	c.AddHook(n)
	s := openStore(t, redisstore.Options{Client: c, Replicas: 1})
	if _, err := s.Receive(t.Context(), arrival("trg_1")); err != nil {
		t.Fatalf("Receive with one on disk = %v", err)
	}
	n.onDisk = 0
	if _, err := s.Receive(t.Context(), arrival("trg_2")); !errors.Is(err, orchestrator.ErrUnavailable) || !strings.Contains(err.Error(), "on disk") {
		t.Fatalf("Receive with none on disk = %v, want ErrUnavailable", err)
	}
	n.old, n.confirms = true, 1 // an older server took over
	if _, err := s.Receive(t.Context(), arrival("trg_3")); err != nil {
		t.Fatalf("Receive with WAIT again = %v", err)
	}
	if got := strings.Join(n.sent, " "); got != "waitaof waitaof waitaof wait" {
		t.Errorf("sent %s, want WAIT after WAITAOF was not known", got)
	}
}

func TestRS8EveryWriteWaitsForTheReplicas(t *testing.T) {
	t.Parallel()
	c := server(t)
	trusting := openStore(t, redisstore.Options{Client: c})
	if _, err := trusting.Receive(t.Context(), arrival("trg_1")); err != nil {
		t.Fatal(err)
	}
	held := claimOne(t, trusting, orchestrator.DueInbox)
	c.AddHook(&newer{}) // which has no replica, and says so at once
	s := openStore(t, redisstore.Options{Client: c, Replicas: 1})
	for what, do := range writes(s, held) {
		if err := do(t.Context()); !errors.Is(err, orchestrator.ErrUnavailable) || !strings.Contains(err.Error(), "replicas") {
			t.Errorf("RS-8: %s without a replica = %v, want ErrUnavailable", what, err)
		}
	}
}
