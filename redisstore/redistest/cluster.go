package redistest

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
)

// slots is how many hash slots a Cluster has.
const slots = 16384

// Cluster is some nodes that share the hash slots evenly, without replicas.
type Cluster struct {
	// URL names all nodes, for redisstore.Options.
	URL   string
	Nodes []*Server
}

// StartCluster starts a Cluster that ends with the test, and waits until every
// node serves all slots. It skips and fails as Start does.
func StartCluster(t testing.TB, nodes int) *Cluster {
	t.Helper()
	c := &Cluster{}
	var addrs []string
	for range nodes {
		n := startTCP(t, func(s *Server, port, bus string) []string {
			return s.storeArgs(port, []string{
				"--bind", "127.0.0.1", "--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", "1000",
			})
		})
		c.Nodes, addrs = append(c.Nodes, n), append(addrs, n.Addr)
	}
	c.URL = "redis://" + strings.Join(addrs, ",")
	c.join(t)
	return c
}

// join makes one Cluster of the nodes.
func (c *Cluster) join(t testing.TB) {
	t.Helper()
	for i, n := range c.Nodes {
		from, to := i*slots/len(c.Nodes), (i+1)*slots/len(c.Nodes)-1
		n.must(t, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		n.must(t, "CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(from), strconv.Itoa(to))
	}
	for _, n := range c.Nodes[1:] {
		host, port, _ := net.SplitHostPort(n.Addr)
		c.Nodes[0].must(t, "CLUSTER", "MEET", host, port, n.arg("--cluster-port"))
	}
	c.WaitReady(t)
}

// WaitReady waits until every node knows all others and serves.
func (c *Cluster) WaitReady(t testing.TB) {
	t.Helper()
	for _, n := range c.Nodes {
		err := poll(nil, func() error {
			info, err := n.Do("CLUSTER", "INFO")
			for _, line := range []string{"cluster_state:ok\r", fmt.Sprintf("cluster_size:%d\r", len(c.Nodes))} {
				if err == nil && !strings.Contains(info, line) {
					err = fmt.Errorf("cluster is not ready:\n%s", info)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Owner is the node that serves a key.
func (c *Cluster) Owner(t testing.TB, key string) *Server {
	t.Helper()
	for _, n := range c.Nodes {
		if _, err := n.Do("EXISTS", key); err == nil {
			return n
		}
	}
	t.Fatalf("no node serves %s", key)
	return nil
}

// Move hands the slot of a key to another node, key by key, as resharding
// does. It returns when every node knows it.
func (c *Cluster) Move(t testing.TB, key string, to *Server) {
	t.Helper()
	from := c.Owner(t, key)
	slot, fromID, toID := from.must(t, "CLUSTER", "KEYSLOT", key), from.must(t, "CLUSTER", "MYID"), to.must(t, "CLUSTER", "MYID")
	host, port, _ := net.SplitHostPort(to.Addr)
	to.must(t, "CLUSTER", "SETSLOT", slot, "IMPORTING", fromID)
	from.must(t, "CLUSTER", "SETSLOT", slot, "MIGRATING", toID)
	for {
		keys := from.must(t, "CLUSTER", "GETKEYSINSLOT", slot, "50")
		if keys == "" {
			break
		}
		migrate := append([]string{"MIGRATE", host, port, "", "0", "5000", "KEYS"}, strings.Split(keys, "\n")...)
		from.must(t, migrate...)
	}
	for _, n := range append([]*Server{to, from}, c.Nodes...) {
		n.must(t, "CLUSTER", "SETSLOT", slot, "NODE", toID)
	}
}

// must asks the server what cannot fail.
func (s *Server) must(t testing.TB, command ...string) string {
	t.Helper()
	answer, err := s.Do(command...)
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(command[:min(len(command), 3)], " "), err)
	}
	return answer
}

// arg is the value of one of the server's arguments.
func (s *Server) arg(name string) string {
	for i, a := range s.args[:len(s.args)-1] {
		if a == name {
			return s.args[i+1]
		}
	}
	return ""
}
