package redisstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/redis/go-redis/v9"
)

// Kind is what kind of store the gateway brought (RS-10).
type Kind string

// The kinds. A trial store forgets everything at exit.
const (
	Managed Kind = "managed"
	Trial   Kind = "trial"
)

// EmbeddedOptions says how the gateway's own store runs.
type EmbeddedOptions struct {
	// Trial forces the store in this process, also where a server is on PATH.
	Trial  bool
	Logger *slog.Logger
}

// Embedded is the gateway's own store, for one machine. Nobody but the
// gateway's user reaches it (EX-6).
type Embedded struct {
	Kind   Kind
	Client redis.UniversalClient
	stop   func() error
}

// ErrInUse: another gateway runs on the data directory.
var ErrInUse = errors.New("another gateway uses the data directory")

// OpenEmbedded starts the gateway's own store in dir: a managed redis-server or
// valkey-server when one is on PATH, else the trial store in this process. It
// returns when the store serves; ErrInUse when dir is somebody else's.
func OpenEmbedded(ctx context.Context, dir string, o EmbeddedOptions) (*Embedded, error) {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	binary := serverOnPath()
	if o.Trial || binary == "" {
		return openTrial(), nil
	}
	// A folder of the store's own: the data directory may be shared, and its
	// mode is not ours to change.
	dir = filepath.Join(dir, "redis")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open managed store: %w", err)
	}
	m, err := startManaged(ctx, binary, dir, log)
	if err != nil {
		return nil, fmt.Errorf("open managed store: %w", err)
	}
	client, _, err := dial("unix://" + m.socket)
	if err != nil {
		return nil, fmt.Errorf("open managed store: %w", errors.Join(err, m.stop()))
	}
	return &Embedded{Kind: Managed, Client: client, stop: m.stop}, nil
}

// Close ends the client and stops the store.
func (e *Embedded) Close() error {
	return errors.Join(e.Client.Close(), e.stop())
}

func serverOnPath() string {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
