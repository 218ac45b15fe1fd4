package github

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Identity is who the gateway is on GitHub.
type Identity struct {
	// ID is the numeric id of the account: the App's bot user, not the App
	// (facts C1).
	ID    int64
	Login string
	// App: it is a GitHub App's bot, and not an ordinary account.
	App bool
}

// Bot is one App or account: its connection to the API, its identity, and what
// it said lately. Handler and Sender of a Source share one.
type Bot struct {
	cfg      Config
	api      *api
	said     *recent
	identity atomic.Pointer[Identity]
}

// saidMemory is how many of its own comments a process remembers.
const saidMemory = 1024

// NewBot returns the App or account of a Source, or what is wrong with its
// configuration. It calls nobody.
func NewBot(cfg Config) (*Bot, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	a, err := newAPI(cfg)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", cfg.ID, err)
	}
	return &Bot{cfg: cfg, api: a, said: newRecent(saidMemory)}, nil
}

// ID is the numeric id of the own account, or 0 while it is unknown.
func (b *Bot) ID() int64 {
	if id := b.identity.Load(); id != nil {
		return id.ID
	}
	return 0
}

// Identity asks GitHub who the gateway is and remembers it (GH-6). Call it
// before serving, and again until it succeeds: until then the Handler answers
// 503. It is an error if that is not the configured login.
func (b *Bot) Identity(ctx context.Context) (Identity, error) {
	id, err := b.api.identity(ctx)
	if err != nil {
		return Identity{}, fmt.Errorf("get the own account: %w", err)
	}
	b.identity.Store(&id)
	return id, nil
}

// self is the own account, asked for where it is not known yet.
func (b *Bot) self(ctx context.Context) (Identity, error) {
	if id := b.identity.Load(); id != nil {
		return *id, nil
	}
	return b.Identity(ctx)
}

// recent remembers the last comments by the Outgoing that they are, up to a
// limit.
type recent struct {
	mu    sync.Mutex
	known map[string]gate.Sent
	ring  []string
	next  int
}

func newRecent(limit int) *recent {
	return &recent{known: make(map[string]gate.Sent, limit), ring: make([]string, limit)}
}

func (r *recent) add(mark string, sent gate.Sent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.known[mark]; !ok {
		delete(r.known, r.ring[r.next])
		r.ring[r.next] = mark
		r.next = (r.next + 1) % len(r.ring)
	}
	r.known[mark] = sent
}

func (r *recent) get(mark string) (gate.Sent, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent, ok := r.known[mark]
	return sent, ok
}
