package redisstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// Retention is how long what is done is kept (RS-6). Zero means the default.
type Retention struct {
	Raw     time.Duration // raw payloads, 72 h
	Records time.Duration // Triggers, Decisions, events, ended Tickets, 90 days
	Dedupe  time.Duration // dedupe keys and the marks of what was said, 7 days
}

func (r Retention) withDefaults() Retention {
	return Retention{
		Raw:     or(r.Raw, 72*time.Hour),
		Records: or(r.Records, 90*24*time.Hour),
		Dedupe:  or(r.Dedupe, 7*24*time.Hour),
	}
}

func or(d, fallback time.Duration) time.Duration {
	if d <= 0 {
		return fallback
	}
	return d
}

// Options says where the store is, and how it keeps.
type Options struct {
	// Client is used when set, and stays the caller's to close; else URL:
	// redis://, rediss://, unix://; with several hosts a Cluster, with
	// ?master_name=… Sentinels.
	Client redis.UniversalClient
	URL    string
	// Workspace is the hash tag of every key (RS-1).
	Workspace string
	Retention Retention
	// Replicas is how many must have a write before it counts (RS-8).
	Replicas int
	// Later: Open calls nobody, and the caller calls Begin before any other
	// method. So a gateway can start while Redis is away (RS-9).
	Later bool
	// LogLines is about how many lines the event log keeps; 0: 100,000.
	LogLines int64
	Logger   *slog.Logger
}

// Store is an orchestrator.Store over Redis. It decides nothing.
type Store struct {
	client    redis.UniversalClient
	own       bool
	form      layout
	keys      keys
	retention Retention
	replicas  int
	waitAOF   atomic.Bool
	logLines  int64
	log       *slog.Logger
	scripts   scripts
	press     press
	wake      broadcast
	line      line

	subscribe sync.Once
	stop      context.CancelFunc
	ctx       context.Context
	running   sync.WaitGroup
}

var _ orchestrator.Store = (*Store)(nil)

var errWorkspace = errors.New("workspace must be letters, digits, dots, dashes and underscores")

// Open connects to the workspace's store and loads the scripts. It is
// ErrUnavailable when Redis cannot be reached, ErrNewer when a newer gateway
// has changed the layout (RS-7).
func Open(ctx context.Context, o Options) (*Store, error) {
	if !regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`).MatchString(o.Workspace) {
		return nil, fmt.Errorf("open store of %q: %w", o.Workspace, errWorkspace)
	}
	s := &Store{
		client: o.Client, own: o.Client == nil, keys: newKeys(o.Workspace), replicas: o.Replicas,
		retention: o.Retention.withDefaults(), logLines: o.LogLines, log: o.Logger, scripts: newScripts(), press: newPress(),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.logLines <= 0 {
		s.logLines = 100_000
	}
	if s.own {
		client, form, err := dial(o.URL)
		if err != nil {
			return nil, fmt.Errorf("open store: %w", err)
		}
		s.client, s.form = client, form
	}
	s.ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	if o.Later {
		return s, nil
	}
	if err := s.Begin(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("open store: %w", err)
	}
	return s, nil
}

// Begin claims the layout of the workspace, or refuses a newer one with
// ErrNewer, and loads the scripts. It is ErrUnfit when the server is a replica
// (RS-8). Beginning twice is harmless.
func (s *Store) Begin(ctx context.Context) error {
	f, err := s.client.Get(ctx, s.keys.form()).Result()
	if errors.Is(err, redis.Nil) {
		f, err = strconv.Itoa(form), s.client.SetNX(ctx, s.keys.form(), form, 0).Err()
	}
	if s.form == single && redis.HasErrorPrefix(err, "READONLY") {
		return errReplica
	}
	if err != nil {
		return plain(err)
	}
	if err := known(f); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	if s.replicas > 0 {
		node, err := s.node(ctx)
		s.waitAOF.Store(err == nil && hasWaitAOF(ctx, node))
	}
	return s.loadScripts(ctx)
}

// Close ends the wake-ups and, unless it was given, the client.
func (s *Store) Close() {
	s.stop()
	s.running.Wait()
	if s.own {
		_ = s.client.Close()
	}
}
