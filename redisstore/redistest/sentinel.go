package redistest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// masterName is what the Sentinels call their master.
const masterName = "gatehouse"

// Sentinel is a master with two replicas, and one Sentinel that makes one of
// them the master when it is away for longer than a second.
type Sentinel struct {
	// URL names the Sentinel, for redisstore.Options.
	URL     string
	Servers []*Server
	watcher *Server
}

// StartSentinel starts them; they end with the test. It returns when both
// replicas follow their master and the Sentinel knows them. It skips and fails
// as Start does.
func StartSentinel(t testing.TB) *Sentinel {
	t.Helper()
	s := &Sentinel{}
	for i := range 3 {
		s.Servers = append(s.Servers, startTCP(t, func(srv *Server, port, _ string) []string {
			extra := []string{"--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"}
			if i > 0 {
				extra = append(extra, "--replicaof", strings.Replace(s.Servers[0].Addr, ":", " ", 1))
			}
			return srv.storeArgs(port, extra)
		}))
	}
	s.until(t, "both replicas follow", func() (bool, error) {
		info, err := s.Servers[0].Do("INFO", "replication")
		return strings.Count(info, "state=online") == 2, err
	})
	s.watch(t)
	return s
}

// watch starts the Sentinel.
func (s *Sentinel) watch(t testing.TB) {
	t.Helper()
	s.watcher = startTCP(t, func(srv *Server, port, _ string) []string {
		conf := filepath.Join(srv.dir, "sentinel.conf")
		text := fmt.Sprintf("port %s\nbind 127.0.0.1\nunixsocket redis.sock\ndir %s\nlogfile redis.log\n"+
			"sentinel monitor %s %s 1\nsentinel down-after-milliseconds %[3]s 1000\n"+
			"sentinel failover-timeout %[3]s 3000\nsentinel parallel-syncs %[3]s 2\n",
			port, srv.dir, masterName, strings.Replace(s.Servers[0].Addr, ":", " ", 1))
		if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{conf, "--sentinel"}
	})
	s.URL = "redis://" + s.watcher.Addr + "/0?master_name=" + masterName
	s.until(t, "the sentinel knows the replicas", func() (bool, error) {
		known, err := s.watcher.Do("SENTINEL", "REPLICAS", masterName)
		return strings.Count(known, "role-reported\nslave") == 2, err
	})
}

// Master is the server that the Sentinel calls the master.
func (s *Sentinel) Master(t testing.TB) *Server {
	t.Helper()
	m, err := s.master()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Replicas are the servers that are not the master.
func (s *Sentinel) Replicas(t testing.TB) []*Server {
	t.Helper()
	m := s.Master(t)
	return slices.DeleteFunc(slices.Clone(s.Servers), func(srv *Server) bool { return srv == m })
}

func (s *Sentinel) master() (*Server, error) {
	answer, err := s.watcher.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName)
	if err != nil {
		return nil, err
	}
	host, port, _ := strings.Cut(answer, "\n")
	for _, srv := range s.Servers {
		if srv.Addr == net.JoinHostPort(host, port) {
			return srv, nil
		}
	}
	return nil, fmt.Errorf("the sentinel names %q", answer)
}

// WaitFailover waits until another server than old is the master and says so
// itself.
func (s *Sentinel) WaitFailover(t testing.TB, old *Server) {
	t.Helper()
	s.until(t, "another server is the master", func() (bool, error) {
		m, err := s.master()
		if err != nil || m == old {
			return false, err
		}
		info, err := m.Do("INFO", "replication")
		return strings.Contains(info, "role:master"), err
	})
}

func (s *Sentinel) until(t testing.TB, what string, holds func() (bool, error)) {
	t.Helper()
	err := poll(nil, func() error {
		ok, err := holds()
		if err == nil && !ok {
			err = errors.New("not yet")
		}
		return err
	})
	if err != nil {
		t.Fatalf("never: %s: %v", what, err)
	}
}
