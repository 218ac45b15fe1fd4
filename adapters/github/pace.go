package github

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// GitHub takes 80 contents a minute and 500 an hour, the web interface's
// counted in (facts E2, GH-7): we stay below both in every window.
const (
	burstPerMinute = 15 // 15 at once and one a second: at most 75 in a minute
	burstPerHour   = 60 // 60 at once and 400 an hour: at most 460 in an hour
	everyHour      = 400
)

// pace serialises what one connection creates, and holds it below the limits.
type pace struct {
	turn         chan struct{}
	minute, hour *rate.Limiter
}

func newPace() *pace {
	return &pace{
		turn:   make(chan struct{}, 1),
		minute: rate.NewLimiter(rate.Every(time.Second), burstPerMinute),
		hour:   rate.NewLimiter(rate.Every(time.Hour/everyHour), burstPerHour),
	}
}

// enter waits for the turn. The caller leaves when its call has ended.
func (p *pace) enter(ctx context.Context) (leave func(), err error) {
	select {
	case p.turn <- struct{}{}:
		return func() { <-p.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// take counts one creation, or returns how long it must wait and counts
// nothing: the outbox waits, not the worker, so that other Threads go on
// (OUT-2).
func (p *pace) take(now time.Time) time.Duration {
	m, h := p.minute.ReserveN(now, 1), p.hour.ReserveN(now, 1)
	wait := max(m.DelayFrom(now), h.DelayFrom(now))
	if wait > 0 {
		m.CancelAt(now)
		h.CancelAt(now)
	}
	return wait
}
