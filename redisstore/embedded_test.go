package redisstore_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/redisstore"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// dataDir is short, since a socket's path is limited.
func dataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gh-data-") //nolint:usetesting // the path of a socket is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func embed(t *testing.T, dir string, o redisstore.EmbeddedOptions) *redisstore.Embedded {
	t.Helper()
	e, err := redisstore.OpenEmbedded(t.Context(), dir, o)
	if err != nil {
		t.Fatalf("OpenEmbedded: %v", err)
	}
	return e
}

func pidIn(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "redis", "redis.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func close2(t *testing.T, e *redisstore.Embedded) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// The gateway's own store (RS-10).

func TestRS10TheManagedStoreKeepsItsDataOverAStop(t *testing.T) {
	t.Parallel()
	redistest.Start(t) // skips without a server
	dir := dataDir(t)
	e := embed(t, dir, redisstore.EmbeddedOptions{})
	if e.Kind != redisstore.Managed {
		t.Fatalf("Kind = %s, want managed", e.Kind)
	}
	f, err := openStore(t, redisstore.Options{Client: e.Client}).Check(t.Context())
	if err != nil || f.MayLose || f.Fsync != "always" || f.AOF != "yes" {
		t.Errorf("Check = %+v, %v, want a store that loses nothing", f, err)
	}
	work(t, openStore(t, redisstore.Options{Client: e.Client}), 1)
	pid := pidIn(t, dir)
	for path, mode := range map[string]os.FileMode{filepath.Join(dir, "redis"): 0o700, filepath.Join(dir, "redis", "redis.sock"): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("EX-6: %s is %v (%v), want %v", path, info.Mode(), err, mode)
		}
	}
	close2(t, e)
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("redis %d still runs after Close: %v", pid, err)
	}
	e = embed(t, dir, redisstore.EmbeddedOptions{})
	defer close2(t, e)
	if m := message(t, openStore(t, redisstore.Options{Client: e.Client}), "trg_1"); m.Version == 0 {
		t.Error("the message was lost by a stop")
	}
}

func TestRS10AManagedServerThatDiesIsStartedAgain(t *testing.T) {
	t.Parallel()
	redistest.Start(t)
	dir := dataDir(t)
	e := embed(t, dir, redisstore.EmbeddedOptions{})
	defer close2(t, e)
	s := openStore(t, redisstore.Options{Client: e.Client})
	work(t, s, 1)
	if err := syscall.Kill(pidIn(t, dir), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return e.Client.Ping(t.Context()).Err() == nil })
	work(t, s, 2)
	if m := message(t, s, "trg_1"); m.Version == 0 {
		t.Error("the message was lost by the kill")
	}
}

func TestRS10AServerLeftRunningIsAdoptedAndStopped(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	dir := filepath.Dir(strings.TrimPrefix(srv.URL, "unix://"))
	e := embed(t, dir, redisstore.EmbeddedOptions{})
	work(t, openStore(t, redisstore.Options{Client: e.Client}), 1)
	close2(t, e)
	if c, err := net.Dial("unix", filepath.Join(dir, "redis", "redis.sock")); err == nil {
		_ = c.Close()
		t.Error("the adopted server still serves after Close")
	}
}

func TestRS10TwoGatewaysDoNotShareADataDirectory(t *testing.T) {
	t.Parallel()
	redistest.Start(t)
	dir := dataDir(t)
	e := embed(t, dir, redisstore.EmbeddedOptions{})
	defer close2(t, e)
	if _, err := redisstore.OpenEmbedded(t.Context(), dir, redisstore.EmbeddedOptions{}); !errors.Is(err, redisstore.ErrInUse) {
		t.Fatalf("OpenEmbedded = %v, want ErrInUse", err)
	}
	if _, err := redisstore.OpenEmbedded(t.Context(), filepath.Join(dir, strings.Repeat("d", 100)), redisstore.EmbeddedOptions{}); err == nil {
		t.Fatal("OpenEmbedded took a directory that no socket fits in")
	}
}

func TestRS10TheTrialStoreForgetsByTheClockAndAtItsEnd(t *testing.T) {
	t.Parallel()
	e := embed(t, "", redisstore.EmbeddedOptions{Trial: true})
	if e.Kind != redisstore.Trial {
		t.Fatalf("Kind = %s, want trial", e.Kind)
	}
	s := openStore(t, redisstore.Options{Client: e.Client, Retention: redisstore.Retention{Dedupe: time.Millisecond}})
	f, err := s.Check(t.Context())
	if err != nil || !f.MayLose || len(f.Warnings) != 1 {
		t.Errorf("Check = %+v, %v, want one warning", f, err)
	}
	work(t, s, 1)
	eventually(t, func() bool { _, err := s.Known(t.Context(), "event:trg_1"); return err != nil })
	close2(t, e)
}

// eventually polls with back-off until the condition holds.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for wait := time.Millisecond; !holds(); wait = min(2*wait, 100*time.Millisecond) {
		select {
		case <-ctx.Done():
			t.Fatal("it never came true")
		case <-time.After(wait):
		}
	}
}
