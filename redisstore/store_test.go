package redisstore_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
	"github.com/gatehouse-bot/gatehouse/redisstore"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// TestMain keeps the random comparisons short unless -rapid.checks says else.
func TestMain(m *testing.M) {
	redisstore.LogDriver(slog.New(slog.DiscardHandler))
	flag.Parse()
	if f := flag.Lookup("rapid.checks"); f != nil && f.Value.String() == f.DefValue {
		_ = f.Value.Set("25")
	}
	goleak.VerifyTestMain(m)
}

// long leaves a test of seconds out of go test -short.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes seconds")
	}
}

// trial is a client of a miniredis in this process.
func trial(t testing.TB) redis.UniversalClient {
	t.Helper()
	_, c := fastForward(t)
	return c
}

// fastForward is a miniredis in this process whose time can be moved on.
func fastForward(t testing.TB) (*miniredis.Miniredis, redis.UniversalClient) {
	t.Helper()
	m := miniredis.NewMiniRedis()
	c := redis.NewClient(&redis.Options{
		Dialer: func(context.Context, string, string) (net.Conn, error) { return m.Dial() },
	})
	t.Cleanup(func() { _ = c.Close(); m.Close() })
	return m, c
}

// server is a client of a real redis-server.
func server(t testing.TB) redis.UniversalClient {
	t.Helper()
	return dial(t, redistest.Start(t).URL)
}

func dial(t testing.TB, url string) redis.UniversalClient {
	t.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	o.ContextTimeoutEnabled = true
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func openStore(t testing.TB, o redisstore.Options) *redisstore.Store {
	t.Helper()
	if o.Workspace == "" {
		o.Workspace = "w"
	}
	s, err := redisstore.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// workspaces opens an empty workspace of the server each time.
func workspaces(c redis.UniversalClient) func(t *testing.T) orchestrator.Store {
	var n atomic.Int64
	return func(t *testing.T) orchestrator.Store {
		return openStore(t, redisstore.Options{Client: c, Workspace: fmt.Sprintf("w%d", n.Add(1))})
	}
}

func TestMiniredisKeepsTheContract(t *testing.T) {
	t.Parallel()
	c := trial(t)
	storetest.Run(t, workspaces(c))
	everyKeyIsTagged(t, c)
}

func TestRedisServerKeepsTheContract(t *testing.T) {
	t.Parallel()
	c := server(t)
	storetest.Run(t, workspaces(c))
	everyKeyIsTagged(t, c)
}

func TestMiniredisIsAsTheModel(t *testing.T) {
	t.Parallel()
	storetest.Compare(t, workspaces(trial(t)))
}

func TestRedisServerIsAsTheModel(t *testing.T) {
	t.Parallel()
	storetest.Compare(t, workspaces(server(t)))
}

// everyKeyIsTagged checks RS-1 on all that the suite wrote.
func everyKeyIsTagged(t *testing.T, c redis.UniversalClient) {
	t.Helper()
	keys, err := c.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) < 100 {
		t.Fatalf("Keys = %d keys, %v", len(keys), err)
	}
	for _, k := range keys {
		if !strings.HasPrefix(k, "{w") || !strings.Contains(k, "}:") {
			t.Errorf("RS-1: key %q has no hash tag", k)
		}
	}
}
