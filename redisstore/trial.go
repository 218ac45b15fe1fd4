package redisstore

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// tick is how often the trial store's clock moves on. Its own clock would sort
// all keys at every command (facts/libs.md section 3).
const tick = 250 * time.Millisecond

// openTrial starts the store in this process. It is reached through pipes: it
// opens no port.
func openTrial() *Embedded {
	m := miniredis.NewMiniRedis()
	client := redis.NewClient(&redis.Options{
		Addr:                  "trial",
		ContextTimeoutEnabled: true,
		Dialer:                func(context.Context, string, string) (net.Conn, error) { return m.Dial() },
	})
	ctx, cancel := context.WithCancel(context.Background())
	var clock sync.WaitGroup
	clock.Go(func() { moveClock(ctx, m) })
	return &Embedded{Kind: Trial, Client: client, stop: func() error {
		cancel()
		clock.Wait()
		m.Close()
		return nil
	}}
}

// moveClock lets lifetimes run.
func moveClock(ctx context.Context, m *miniredis.Miniredis) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for last := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			m.FastForward(now.Sub(last))
			last = now
		}
	}
}
