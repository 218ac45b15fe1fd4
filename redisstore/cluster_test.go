package redisstore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
	"github.com/gatehouse-bot/gatehouse/redisstore"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

func clusterClient(t *testing.T, c *redistest.Cluster) *redis.ClusterClient {
	t.Helper()
	o := &redis.ClusterOptions{ContextTimeoutEnabled: true}
	for _, n := range c.Nodes {
		o.Addrs = append(o.Addrs, n.Addr)
	}
	client := redis.NewClusterClient(o)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// TestRS1AClusterOfThree is one test, since a Cluster takes seconds to start:
// the contract first, then what only a Cluster does.
func TestRS1AClusterOfThree(t *testing.T) {
	long(t)
	t.Parallel()
	c := redistest.StartCluster(t, 3)
	client := clusterClient(t, c)
	storetest.Run(t, workspaces(client))
	t.Run("RS-1 workspaces spread over the nodes, each whole on one", func(t *testing.T) { spread(t, c) })
	t.Run("RS-8 settings of every node are checked", func(t *testing.T) { everyNodeIsChecked(t, c) })
	t.Run("RS-6 Sweep works", func(t *testing.T) {
		s := openStore(t, redisstore.Options{URL: c.URL, Workspace: "sweep"})
		work(t, s, 1)
		if _, err := s.Sweep(t.Context(), start.AddDate(2, 0, 0)); err != nil {
			t.Errorf("Sweep: %v", err)
		}
	})
	t.Run("RS-5 other processes are woken", func(t *testing.T) { wokenByOthers(t, c.URL) })
	t.Run("of 200 answers exactly one wins (DE-4)", func(t *testing.T) { twoHundredAnswer(t, c.URL) })
	t.Run("RS-9 a slot that moves under load loses nothing", func(t *testing.T) { slotMoves(t, c) })
	t.Run("RS-9 a dead node is unavailable quickly, the others serve", func(t *testing.T) { nodeDies(t, c) })
}

// spread proves that every key of a workspace is on one node, and that many
// workspaces use all of them.
func spread(t *testing.T, c *redistest.Cluster) {
	used := map[string]bool{}
	for i := range 12 {
		ws := name("spread-", i)
		s := openStore(t, redisstore.Options{URL: c.URL, Workspace: ws})
		story(t, s)
		node := c.Owner(t, "{"+ws+"}:form")
		used[node.Addr] = true
		here := keysOf(t, node, ws)
		if here < 30 {
			t.Errorf("%s has %d keys on its node, want all of the story", ws, here)
		}
		for _, n := range c.Nodes {
			if n != node && keysOf(t, n, ws) > 0 {
				t.Errorf("%s has keys on %s, too", ws, n.Addr)
			}
		}
	}
	if len(used) != len(c.Nodes) {
		t.Errorf("12 workspaces use %d nodes, want all %d", len(used), len(c.Nodes))
	}
}

func keysOf(t *testing.T, n *redistest.Server, workspace string) int {
	t.Helper()
	keys, err := dial(t, n.URL).Keys(t.Context(), "{"+workspace+"}:*").Result()
	if err != nil {
		t.Fatal(err)
	}
	return len(keys)
}

func everyNodeIsChecked(t *testing.T, c *redistest.Cluster) {
	s := openStore(t, redisstore.Options{URL: c.URL, Workspace: "check"})
	if f, err := s.Check(t.Context()); err != nil || f.MayLose || f.Role != "master" {
		t.Errorf("Check = %+v, %v, want a store that loses nothing", f, err)
	}
	for _, n := range c.Nodes {
		mustDo(t, n, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
		if _, err := s.Check(t.Context()); !errors.Is(err, redisstore.ErrUnfit) {
			t.Errorf("Check with %s evicting = %v, want ErrUnfit", n.Addr, err)
		}
		mustDo(t, n, "CONFIG", "SET", "maxmemory-policy", "noeviction", "appendfsync", "everysec")
		if f, err := s.Check(t.Context()); err != nil || !f.MayLose || len(f.Warnings) != 1 {
			t.Errorf("Check with %s everysec = %+v, %v, want one warning", n.Addr, f, err)
		}
		mustDo(t, n, "CONFIG", "SET", "appendfsync", "always")
	}
	alone := openLater(t, "redis://"+c.Nodes[0].Addr)
	if _, err := alone.Check(t.Context()); !errors.Is(err, redisstore.ErrUnfit) {
		t.Errorf("Check of a node named alone = %v, want ErrUnfit", err)
	}
}

func mustDo(t *testing.T, n *redistest.Server, command ...string) {
	t.Helper()
	if _, err := n.Do(command...); err != nil {
		t.Fatalf("%v: %v", command, err)
	}
}

// openLater opens a store that calls nobody.
func openLater(t *testing.T, url string) *redisstore.Store {
	t.Helper()
	s, err := redisstore.Open(t.Context(), redisstore.Options{URL: url, Workspace: "w", Later: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func wokenByOthers(t *testing.T, url string) {
	here := openStore(t, redisstore.Options{URL: url, Workspace: "wake"})
	there := openStore(t, redisstore.Options{URL: url, Workspace: "wake"})
	wokenThrough(t, there, here.Wake(t.Context()))
}

// slotMoves reshards a workspace over all nodes while it takes arrivals, as it
// is and with a replica to wait for, which here only pretends.
func slotMoves(t *testing.T, c *redistest.Cluster) {
	waiting := clusterClient(t, c)
	waiting.OnNewNode(func(node *redis.Client) { node.AddHook(&newer{onDisk: 1}) })
	for ws, o := range map[string]redisstore.Options{
		"moving": {URL: c.URL}, "moving-and-waiting": {Client: waiting, Replicas: 1},
	} {
		o.Workspace = ws
		s, key := openStore(t, o), "{"+ws+"}:form"
		l := startLoad(t, s, 4)
		l.reach(50)
		for _, to := range c.Nodes {
			if to != c.Owner(t, key) {
				c.Move(t, key, to)
				l.reach(50)
			}
		}
		l.stop()
		l.allThere(t, s)
	}
}

func nodeDies(t *testing.T, c *redistest.Cluster) {
	here, there := twoHomes(t, c)
	s := openStore(t, redisstore.Options{URL: c.URL, Workspace: here})
	other := openStore(t, redisstore.Options{URL: c.URL, Workspace: there})
	work(t, s, 1)
	node := c.Owner(t, "{"+here+"}:form")
	node.Kill()
	began := time.Now()
	_, err := s.Receive(t.Context(), arrival("trg_2"))
	if !errors.Is(err, orchestrator.ErrUnavailable) {
		t.Fatalf("Receive = %v, want ErrUnavailable", err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("Receive took %v without the node", took)
	}
	work(t, other, 1) // before the Cluster notices
	node.Restart(t)
	c.WaitReady(t)
	eventually(t, func() bool { _, err := s.Receive(t.Context(), arrival("trg_2")); return err == nil })
	if m := message(t, s, "trg_1"); m.Version == 0 {
		t.Error("trg_1 was lost by the kill")
	}
}

// twoHomes names two workspaces that live on different nodes.
func twoHomes(t *testing.T, c *redistest.Cluster) (a, b string) {
	t.Helper()
	a = "home-0"
	for i := 1; ; i++ {
		b = name("home-", i)
		if c.Owner(t, "{"+a+"}:form") != c.Owner(t, "{"+b+"}:form") {
			return a, b
		}
	}
}
