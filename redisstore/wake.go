package redisstore

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Wake implements orchestrator.Queue. Wake-ups come from this process at once
// and from others through Redis; they are lost while Redis is away.
func (s *Store) Wake(ctx context.Context) <-chan struct{} {
	s.subscribe.Do(func() { s.running.Go(s.follow) })
	return s.wake.listen(ctx)
}

// follow passes on what other processes publish, until the store is closed.
// The client subscribes again by itself after a broken connection.
func (s *Store) follow() {
	sub := s.client.Subscribe(s.ctx, s.keys.wake())
	defer func() { _ = sub.Close() }()
	published := sub.Channel(redis.WithChannelSize(1))
	for {
		select {
		case <-s.ctx.Done():
			return
		case _, ok := <-published:
			if !ok {
				return
			}
			s.wake.all()
		}
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
