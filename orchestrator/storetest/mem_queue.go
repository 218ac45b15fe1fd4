package storetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// schedule ensures that the work is due no later than at, unless somebody has
// it: its holder looks again.
func (m *Mem) schedule(n name, at int64) {
	w, ok := m.due[n]
	if ok && (w.token != 0 || w.at <= at) {
		return
	}
	m.due[n] = work{at: at}
}

func (m *Mem) holds(c orchestrator.Claim) bool {
	w, ok := m.due[name{string(c.Kind), c.Key}]
	return ok && c.Token != 0 && w.token == c.Token
}

// giveBack ends the claim of a commit, as its Next, Keep and list say.
func (m *Mem) giveBack(c *orchestrator.Changes) {
	n := name{string(c.Claim.Kind), c.Claim.Key}
	rowsFrom, rows := m.left(c.Claim)
	switch {
	case c.Keep:
	case !c.Next.IsZero():
		m.due[n] = work{at: millisUp(c.Next)}
	case rows:
		m.due[n] = work{at: max(m.due[n].claimedAt, rowsFrom)}
	default:
		delete(m.due, n)
	}
}

// left tells whether the list behind a claim has rows, and when the first of
// them may be sent.
func (m *Mem) left(c *orchestrator.Claim) (from int64, rows bool) {
	switch c.Kind {
	case orchestrator.DueInbox:
		return 0, len(m.inbox[c.Key]) > 0
	case orchestrator.DueOutbox:
		if lane := m.lanes[c.Key]; len(lane) > 0 {
			return millisUp(m.rows[lane[0]].NotBefore), true
		}
	}
	return 0, false
}

// Claim implements orchestrator.Queue. What is due first comes first; what is
// due together, in the order of kinds, then of keys.
func (m *Mem) Claim(ctx context.Context, kinds []approvals.DueKind, now time.Time, lease time.Duration, limit int) ([]orchestrator.Claim, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	defer leave()
	due := m.dueAt(kinds, now.UnixMilli())
	var out []orchestrator.Claim
	for _, n := range due[:min(max(limit, 0), len(due))] {
		m.token++
		m.due[n] = work{at: millisUp(now.Add(lease)), claimedAt: now.UnixMilli(), token: m.token}
		out = append(out, orchestrator.Claim{Kind: approvals.DueKind(n.kind), Key: n.id, Token: m.token})
	}
	return out, nil
}

func (m *Mem) dueAt(kinds []approvals.DueKind, now int64) []name {
	var due []name
	for n, w := range m.due {
		if w.at <= now && slices.Contains(kinds, approvals.DueKind(n.kind)) {
			due = append(due, n)
		}
	}
	rank := func(n name) int { return slices.Index(kinds, approvals.DueKind(n.kind)) }
	slices.SortFunc(due, func(a, b name) int {
		return cmp.Or(cmp.Compare(m.due[a].at, m.due[b].at), cmp.Compare(rank(a), rank(b)), cmp.Compare(a.id, b.id))
	})
	return due
}

// Waiting implements orchestrator.Evals.
func (m *Mem) Waiting(ctx context.Context, kind approvals.DueKind, now time.Time, limit int) ([]string, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("waiting: %w", err)
	}
	defer leave()
	var keys []string
	for _, n := range m.dueAt([]approvals.DueKind{kind}, now.UnixMilli()) {
		if len(keys) < limit {
			keys = append(keys, n.id)
		}
	}
	return keys, nil
}

// Extend implements orchestrator.Queue.
func (m *Mem) Extend(ctx context.Context, c orchestrator.Claim, until time.Time) error {
	leave, err := m.enter(ctx)
	if err != nil {
		return fmt.Errorf("extend claim: %w", err)
	}
	defer leave()
	if !m.holds(c) {
		return fmt.Errorf("extend %s %s: %w", c.Kind, c.Key, orchestrator.ErrLostClaim)
	}
	n := name{string(c.Kind), c.Key}
	w := m.due[n]
	w.at = millisUp(until)
	m.due[n] = w
	return nil
}

// Inbox implements orchestrator.Queue.
func (m *Mem) Inbox(ctx context.Context, c orchestrator.Claim, limit int) ([]gate.TriggerID, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("read inbox: %w", err)
	}
	defer leave()
	if c.Kind != orchestrator.DueInbox || !m.holds(c) {
		return nil, fmt.Errorf("read inbox %s: %w", c.Key, orchestrator.ErrLostClaim)
	}
	list := m.inbox[c.Key]
	return slices.Clone(list[:min(max(limit, 0), len(list))]), nil
}

// Outbox implements orchestrator.Queue.
func (m *Mem) Outbox(ctx context.Context, c orchestrator.Claim, limit int) ([]gate.Outgoing, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("read outbox: %w", err)
	}
	defer leave()
	if c.Kind != orchestrator.DueOutbox || !m.holds(c) {
		return nil, fmt.Errorf("read outbox %s: %w", c.Key, orchestrator.ErrLostClaim)
	}
	lane := m.lanes[c.Key]
	var out []gate.Outgoing
	for _, id := range lane[:min(max(limit, 0), len(lane))] {
		out = append(out, cloneOutgoing(m.rows[id]))
	}
	return out, nil
}

// Wake implements orchestrator.Queue.
func (m *Mem) Wake(ctx context.Context) <-chan struct{} { return m.wake.listen(ctx) }

// broadcast wakes all who listen; who has not yet taken the last wake-up needs
// no second one.
type broadcast struct {
	mu   sync.Mutex
	subs map[chan struct{}]struct{}
}

func (b *broadcast) listen(ctx context.Context) <-chan struct{} {
	ch := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subs == nil {
		b.subs = map[chan struct{}]struct{}{}
	}
	b.subs[ch] = struct{}{}
	context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.subs, ch)
	})
	return ch
}

func (b *broadcast) all() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ch := range b.subs {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
