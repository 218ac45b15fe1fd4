package redistest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// tries is how often a server is given other ports when somebody else was
// quicker to take them.
const tries = 5

// startTCP starts a server that also listens on the loopback. The arguments
// are made from a port, and another one that is free.
func startTCP(t testing.TB, args func(s *Server, port, other string) []string) *Server {
	t.Helper()
	var err error
	for range tries {
		s := place(t)
		port, other := freePort(t), freePort(t)
		s.Addr = net.JoinHostPort("127.0.0.1", port)
		s.args = args(s, port, other)
		if err = s.up(); err == nil {
			return s
		}
		log, _ := os.ReadFile(filepath.Join(s.dir, "redis.log"))
		err = fmt.Errorf("%w\n%s", err, log)
		s.Kill()
	}
	t.Fatalf("redis does not serve: %v", err)
	return nil
}

// freePort is a port that nobody listens on, below those that the kernel gives
// to outgoing connections.
func freePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(15000 + rand.IntN(15000))
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
		if err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no free port")
	return ""
}
