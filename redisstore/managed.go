package redisstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	readyWithin = 20 * time.Second // it may have a long log to replay
	stopWithin  = 10 * time.Second
	watchEvery  = 250 * time.Millisecond
	backOffFrom = 100 * time.Millisecond
	backOffTo   = 5 * time.Second
)

// managed is a redis-server child on a unix socket in the data directory. It
// is started again when it dies, and adopted when the gateway before us left
// it running.
type managed struct {
	binary, dir, socket string
	log                 *slog.Logger
	lock                *os.File
	cancel              context.CancelFunc
	watch               sync.WaitGroup
	pid                 int
}

// startManaged returns when the server serves.
func startManaged(ctx context.Context, binary, dir string, log *slog.Logger) (*managed, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	m := &managed{binary: binary, dir: dir, socket: filepath.Join(dir, "redis.sock"), log: log}
	if len(m.socket) > 100 {
		return nil, fmt.Errorf("data directory %s: the path is too long for a unix socket", dir)
	}
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a directory needs x
		return nil, err
	}
	if m.lock, err = lockDir(dir); err != nil {
		return nil, err
	}
	exited, err := m.up(ctx)
	if err != nil {
		return nil, errors.Join(err, m.lock.Close())
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m.cancel = cancel
	m.watch.Go(func() { m.supervise(life, exited) })
	return m, nil
}

// lockDir takes the data directory for this process. The lock goes with it.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "gatehouse.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, ErrInUse), f.Close())
	}
	return f, nil
}

// up adopts the server that serves on the socket, or starts one. The channel
// is closed when the server has ended.
func (m *managed) up(ctx context.Context) (exited <-chan struct{}, err error) {
	if pid, err := askPID(m.socket); err == nil {
		m.log.InfoContext(ctx, "redis was left running; taking it over", "pid", pid)
		m.pid = pid
		return m.follow(pid), nil
	}
	done, err := m.spawn()
	if err != nil {
		return nil, err
	}
	if err := m.ready(ctx, done); err != nil {
		_ = syscall.Kill(m.pid, syscall.SIGKILL)
		<-done
		return nil, err
	}
	return done, nil
}

// spawn starts a server in its own process group, so that ^C does not reach it
// before the gateway has done its work.
func (m *managed) spawn() (<-chan struct{}, error) {
	cmd := exec.Command(m.binary,
		"--port", "0", "--unixsocket", m.socket, "--unixsocketperm", "700", "--dir", m.dir,
		"--appendonly", "yes", "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction",
		"--daemonize", "no", "--logfile", filepath.Join(m.dir, "redis.log"))
	cmd.Dir, cmd.Env = m.dir, []string{"PATH=" + os.Getenv("PATH")} // none of the gateway's secrets (EX-6)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	m.pid = cmd.Process.Pid
	done := make(chan struct{})
	m.watch.Go(func() { defer close(done); _ = cmd.Wait() })
	return done, os.WriteFile(filepath.Join(m.dir, "redis.pid"), []byte(strconv.Itoa(m.pid)), 0o600)
}

// ready waits until the server serves, or has ended.
func (m *managed) ready(ctx context.Context, done <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for wait := 2 * time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		_, err := askPID(m.socket)
		if err == nil {
			return nil
		}
		select {
		case <-done:
			return fmt.Errorf("redis ended at its start, see %s", filepath.Join(m.dir, "redis.log"))
		case <-ctx.Done():
			return fmt.Errorf("redis does not serve: %w", err)
		case <-time.After(wait):
		}
	}
}

// follow watches a server that is not our child.
func (m *managed) follow(pid int) <-chan struct{} {
	done := make(chan struct{})
	m.watch.Go(func() {
		defer close(done)
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		for syscall.Kill(pid, 0) == nil {
			<-ticker.C
		}
	})
	return done
}

// supervise starts the server again, with back-off, whenever it dies.
func (m *managed) supervise(ctx context.Context, exited <-chan struct{}) {
	wait := backOffFrom
	for {
		since := time.Now()
		select {
		case <-ctx.Done():
			m.end(exited)
			return
		case <-exited:
		}
		if time.Since(since) > backOffTo {
			wait = backOffFrom
		}
		m.log.ErrorContext(ctx, "redis died; starting it again", "wait", wait)
		if exited = m.again(ctx, &wait); exited == nil {
			return
		}
	}
}

// again tries until a server is up; nil when the gateway stops.
func (m *managed) again(ctx context.Context, wait *time.Duration) <-chan struct{} {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(*wait):
		}
		*wait = min(2**wait, backOffTo)
		exited, err := m.up(ctx)
		if err == nil {
			return exited
		}
		m.log.ErrorContext(ctx, "redis does not start", "err", err)
	}
}

// end asks the server to finish, and kills it when it does not.
func (m *managed) end(exited <-chan struct{}) {
	_ = syscall.Kill(m.pid, syscall.SIGTERM)
	select {
	case <-exited:
	case <-time.After(stopWithin):
		_ = syscall.Kill(m.pid, syscall.SIGKILL)
		<-exited
	}
	_ = os.Remove(filepath.Join(m.dir, "redis.pid"))
}

// stop ends the server and gives the data directory back.
func (m *managed) stop() error {
	m.cancel()
	m.watch.Wait()
	return m.lock.Close()
}

// askPID asks the server on the socket for its process id.
func askPID(socket string) (int, error) {
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("INFO server\r\nPING\r\n")); err != nil {
		return 0, err
	}
	var answer bytes.Buffer
	for r := bufio.NewReader(conn); !bytes.Contains(answer.Bytes(), []byte("+PONG")); {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return 0, err
		}
		if line[0] == '-' { // loading
			return 0, errors.New(strings.TrimSpace(string(line)))
		}
		answer.Write(line)
	}
	return strconv.Atoi(fields(answer.String())["process_id"])
}
