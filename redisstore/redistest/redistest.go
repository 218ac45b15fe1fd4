// Package redistest starts real redis-server processes for tests: on a unix
// socket in a directory of their own, with every write on disk before its
// reply, as the managed store runs. They can be killed and started again.
package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Server is a running redis-server.
type Server struct {
	// URL is unix:///…, for redisstore.Options.
	URL    string
	binary string
	dir    string
	extra  []string

	mu   sync.Mutex
	proc *exec.Cmd
	done chan struct{}
}

// Start starts a server that ends with the test. Without redis-server or
// valkey-server on PATH the test is skipped, or fails when
// GATEHOUSE_REQUIRE_REDIS=1. Extra arguments come last, so they win.
func Start(t testing.TB, extra ...string) *Server {
	t.Helper()
	binary := find(t)
	// Not t.TempDir: a socket's path is limited to some 100 bytes.
	dir, err := os.MkdirTemp("", "gatehouse-redis-")
	if err != nil {
		t.Fatalf("directory for redis: %v", err)
	}
	s := &Server{URL: "unix://" + filepath.Join(dir, "redis.sock"), binary: binary, dir: dir, extra: extra}
	t.Cleanup(func() {
		s.Kill()
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove %s: %v", dir, err)
		}
	})
	s.Restart(t)
	return s
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
	s.mu.Lock()
	defer s.mu.Unlock()
	args := append([]string{
		"--port", "0", "--unixsocket", "redis.sock", "--unixsocketperm", "700", "--dir", s.dir,
		"--appendonly", "yes", "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction",
		"--daemonize", "no", "--logfile", "redis.log",
	}, s.extra...)
	cmd := exec.Command(s.binary, args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", s.binary, err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = cmd.Wait() }()
	s.proc, s.done = cmd, done
	if err := s.serves(); err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "redis.log"))
		t.Fatalf("%s does not serve: %v\n%s", s.binary, err, log)
	}
}

// serves waits until the server answers a PING, or has ended.
func (s *Server) serves() error {
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err := ping(filepath.Join(s.dir, "redis.sock"))
		if err == nil {
			return nil
		}
		select {
		case <-s.done:
			return errors.New("it ended")
		case <-deadline.C:
			return err
		case <-time.After(wait):
		}
	}
}

func ping(socket string) error {
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && !strings.HasPrefix(line, "+PONG") {
		return fmt.Errorf("answer to PING: %q", line)
	}
	return err
}
