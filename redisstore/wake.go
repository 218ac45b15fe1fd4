package redisstore

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// quietFor is how long the line may be silent before we ask whether the
	// other end is there; silent for as long again, it is not.
	quietFor = 2 * time.Second
	// A broken line is made again after a wait between these.
	lineBackOffFrom = 50 * time.Millisecond
	lineBackOffTo   = time.Second
)

// Wake implements orchestrator.Queue. Wake-ups come from this process at once
// and from others through Redis; they are lost while Redis is away.
func (s *Store) Wake(ctx context.Context) <-chan struct{} {
	s.subscribe.Do(func() { s.running.Go(s.follow) })
	return s.wake.listen(ctx)
}

// follow passes on what other processes publish, until the store is closed.
// After a fail-over the old master may go on for a while, as if nothing had
// happened: the line is made anew when a call finds its server away.
func (s *Store) follow() {
	for wait := lineBackOffFrom; s.ctx.Err() == nil; wait = min(2*wait, lineBackOffTo) {
		ctx, cancel := context.WithCancel(s.ctx)
		s.line.set(cancel)
		if s.listen(ctx) {
			wait = lineBackOffFrom
		}
		s.line.set(nil)
		cancel()
		select {
		case <-s.ctx.Done():
		case <-time.After(wait):
		}
	}
}

// listen subscribes, and wakes whenever somebody publishes. It returns when
// the line is broken or ctx ends, and whether it ever worked.
func (s *Store) listen(ctx context.Context) (worked bool) {
	sub := s.client.Subscribe(ctx, s.keys.wake())
	defer context.AfterFunc(ctx, func() { _ = sub.Close() })()
	defer func() { _ = sub.Close() }()
	for asked := false; ; {
		message, err := sub.ReceiveTimeout(ctx, quietFor)
		switch {
		case err == nil:
			worked, asked = true, false
		case ctx.Err() != nil || asked || !silent(err) || sub.Ping(ctx) != nil:
			return worked
		default:
			asked = true
		}
		switch message.(type) {
		case *redis.Message, *redis.Subscription: // what came before it was missed
			s.wake.all()
		}
	}
}

// silent reports whether nothing came in time.
func silent(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// line is the present subscription, to be dropped by whoever has doubts.
type line struct {
	mu   sync.Mutex
	drop context.CancelFunc
}

func (l *line) set(drop context.CancelFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop = drop
}

func (l *line) doubt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drop != nil {
		l.drop()
	}
}

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
