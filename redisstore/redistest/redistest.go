// Package redistest starts real redis-server processes for tests: on a unix
// socket in a directory of their own, with every write on disk before its
// reply, as the managed store runs. They can be killed, paused and started
// again. StartCluster and StartSentinel start several that belong together,
// on ports of the loopback.
package redistest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Server is a running redis-server.
type Server struct {
	// URL is unix:///…, for redisstore.Options.
	URL string
	// Addr is host:port of a server of a Cluster or under Sentinels, else "".
	Addr string

	binary string
	dir    string
	args   []string

	mu   sync.Mutex
	proc *exec.Cmd
	done chan struct{}
}

// Start starts a server that ends with the test. Without redis-server or
// valkey-server on PATH the test is skipped, or fails when
// GATEHOUSE_REQUIRE_REDIS=1. Extra arguments come last, so they win.
func Start(t testing.TB, extra ...string) *Server {
	t.Helper()
	s := place(t)
	s.args = s.storeArgs("0", extra)
	s.Restart(t)
	return s
}

// place finds the program, and makes the directory that goes with the test.
func place(t testing.TB) *Server {
	t.Helper()
	binary := find(t)
	// Not t.TempDir: a socket's path is limited to some 100 bytes.
	dir, err := os.MkdirTemp("", "gatehouse-redis-") //nolint:usetesting // the path would be too long
	if err != nil {
		t.Fatalf("directory for redis: %v", err)
	}
	s := &Server{URL: "unix://" + filepath.Join(dir, "redis.sock"), binary: binary, dir: dir}
	t.Cleanup(func() {
		s.Kill()
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove %s: %v", dir, err)
		}
	})
	return s
}

// storeArgs are the arguments of a server that is a store.
func (s *Server) storeArgs(port string, extra []string) []string {
	return append([]string{
		"--port", port, "--unixsocket", "redis.sock", "--unixsocketperm", "700", "--dir", s.dir,
		"--appendonly", "yes", "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction",
		"--daemonize", "no", "--logfile", "redis.log",
	}, extra...)
}

// find looks for a server on PATH.
func find(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const how = "NO REDIS: this test needs redis-server or valkey-server on PATH " +
		"(apt-get install redis-server, brew install redis, dnf install valkey)"
	if os.Getenv("GATEHOUSE_REQUIRE_REDIS") == "1" {
		t.Fatal(how)
	}
	t.Skip(how)
	return ""
}

// Kill ends the server as a crash does (SIGKILL), and waits for its end. It
// may be called when the server does not run.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return
	}
	_ = s.proc.Process.Kill()
	<-s.done
	s.proc = nil
}

// Pause stops the server without ending it, as a stalled machine does; Resume
// lets it go on.
func (s *Server) Pause(t testing.TB) { s.signal(t, syscall.SIGSTOP) }

// Resume lets a paused server go on.
func (s *Server) Resume(t testing.TB) { s.signal(t, syscall.SIGCONT) }

func (s *Server) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.proc.Process.Signal(sig); err != nil {
		t.Fatalf("signal redis: %v", err)
	}
}

// Restart starts the server again, after a Kill, and waits until it serves.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Kill()
	if err := s.up(); err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "redis.log"))
		t.Fatalf("%s does not serve: %v\n%s", s.binary, err, log)
	}
}

// up starts the process and waits until it serves.
func (s *Server) up() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	cmd := exec.Command(s.binary, s.args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = cmd.Wait() }()
	s.proc, s.done = cmd, done
	return s.serves()
}

// serves waits until the server answers a PING, or has ended.
func (s *Server) serves() error {
	return poll(s.done, func() error {
		answer, err := s.Do("PING")
		if err == nil && answer != "PONG" {
			err = fmt.Errorf("answer to PING: %q", answer)
		}
		return err
	})
}

// within is how long things may take to become true.
const within = 15 * time.Second

// poll tries until it succeeds, or ended is closed.
func poll(ended <-chan struct{}, try func() error) error {
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return errors.New("it ended")
		case <-deadline.C:
			return err
		case <-time.After(wait):
		}
	}
}
