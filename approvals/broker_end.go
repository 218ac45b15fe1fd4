package approvals

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Expire times a question out. The worker calls it when its DueDeadline is
// due; twice, late, or for a question that is gone is harmless. Too early
// changes nothing and is ErrEarly: the due work is to be kept (DE-6).
func (b *Broker) Expire(ctx context.Context, id ID) error {
	q, err := b.load(ctx, id)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	q, err = b.timedOut(ctx, q)
	if err == nil && !q.Status.Terminal() {
		return fmt.Errorf("expire question %s: %w", id, ErrEarly)
	}
	return err
}

// timedOut stores a time-out that is due, and returns the question as it is
// then.
func (b *Broker) timedOut(ctx context.Context, q Question) (Question, error) {
	return b.change(ctx, q, func(q Question, now time.Time) (Question, Effects, bool) {
		next, eff := Expire(q, now)
		return next, eff, next.Status != q.Status
	})
}

// Cancel withdraws one question, for its asker (AP-6). A question that came to
// its end stays as it is; either way it is returned. One of another session is
// ErrNotFound.
func (b *Broker) Cancel(ctx context.Context, s SessionID, id ID, reason string) (Question, error) {
	q, err := b.load(ctx, id)
	if err != nil {
		return Question{}, err
	}
	if s != q.Session.ID {
		return Question{}, fmt.Errorf("cancel question %s: %w", id, ErrNotFound)
	}
	return b.change(ctx, q, func(q Question, now time.Time) (Question, Effects, bool) {
		next, eff := Cancel(q, reason, now)
		return next, eff, next.Status != q.Status
	})
}

// CancelSession cancels all open questions of a session in one commit, and
// returns them as they came to be (DE-7). One whose deadline has come is timed
// out instead.
func (b *Broker) CancelSession(ctx context.Context, s SessionID, reason string) ([]Question, error) {
	for try := 1; ; try++ {
		open, err := b.store.OpenQuestions(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("list open questions of %s: %w", s, err)
		}
		c := CancelAll(open, reason, b.now())
		if len(c.Questions) == 0 {
			return nil, nil
		}
		if err = b.commit(ctx, c); err == nil {
			return c.Questions, nil
		}
		if !errors.Is(err, ErrConflict) || try == maxTries {
			return nil, fmt.Errorf("cancel questions of %s: %w", s, err)
		}
	}
}
