package redisstore_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
	"github.com/gatehouse-bot/gatehouse/redisstore"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// freePorts are ports that were free a moment ago.
func freePorts(t *testing.T) (a, b string) {
	t.Helper()
	var ports [2]string
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		ports[i] = fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	}
	return ports[0], ports[1]
}

// cluster is a client of a Cluster of one node, which refuses keys of two
// slots in one script as every Cluster does.
func cluster(t *testing.T) (c *redis.ClusterClient, url string) {
	t.Helper()
	port, bus := freePorts(t)
	srv := redistest.Start(t, "--port", port, "--bind", "127.0.0.1", "--cluster-enabled", "yes", "--cluster-port", bus)
	node := dial(t, srv.URL)
	if err := node.Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool {
		info, err := node.Do(t.Context(), "CLUSTER", "INFO").Text()
		return err == nil && strings.Contains(info, "cluster_state:ok")
	})
	c = redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:" + port}, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = c.Close() })
	return c, "redis://127.0.0.1:" + port + "?addr=127.0.0.1:" + port
}

func TestRS1AClusterKeepsTheContract(t *testing.T) {
	t.Parallel()
	c, url := cluster(t)
	storetest.Run(t, workspaces(c))
	everyKeyIsTagged(t, c)
	s := openStore(t, redisstore.Options{Client: c, Workspace: "sweep"})
	work(t, s, 1)
	if _, err := s.Sweep(t.Context(), start.AddDate(2, 0, 0)); err != nil {
		t.Errorf("Sweep: %v", err)
	}
	if _, err := s.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
	work(t, openStore(t, redisstore.Options{URL: url, Workspace: "by-url"}), 1)
}

func TestAURLThatIsWrongIsRefusedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"redis://u:secret@h:port", "ftp://u:secret@h", "redis://u:secret@h:1?addr=a:1&nonsense=1",
		"redis://u:secret@h:1?master_name=m&nonsense=1", "",
	} {
		_, err := redisstore.Open(t.Context(), redisstore.Options{URL: url, Workspace: "w", Later: true})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("Open(%q) = %v, want a refusal without the password", url, err)
		}
	}
	s, err := redisstore.Open(t.Context(), redisstore.Options{URL: "redis://h:1?master_name=m", Workspace: "w", Later: true})
	if err != nil {
		t.Fatalf("Open of a Sentinel: %v", err)
	}
	s.Close()
}
