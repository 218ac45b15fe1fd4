package approvals

import (
	"context"
	"sync"
	"time"
)

// The bounds of waiting. What another replica commits is seen within a poll.
const (
	maxWaiters = 512 // a session (DE-8)
	poll       = time.Second
)

// Question returns one, as of now: timed out once its deadline has come, also
// where no sweeper has run yet (DE-5). ErrNotFound.
//
// A time-out is stored before it is told. Otherwise an answer that is on its
// way, or comes to a replica whose clock is behind, could still be stored after
// somebody has read that it is too late (DE-1).
func (b *Broker) Question(ctx context.Context, id ID) (Question, error) {
	q, err := b.load(ctx, id)
	if err != nil {
		return Question{}, err
	}
	return b.timedOut(ctx, q)
}

// Wait returns the question once it came to its end, or, with ctx's error, as
// it stood when ctx ended. It blocks nobody but its caller (DE-10). Up to 512
// waits of a session are woken at once; beyond that they see the store within
// a second (DE-8).
func (b *Broker) Wait(ctx context.Context, id ID) (Question, error) {
	q, err := b.Question(ctx, id)
	if err != nil || q.Status.Terminal() {
		return q, err
	}
	woken, done := b.waiters.join(q.Session.ID, id)
	defer done()
	if woken == nil {
		b.log.WarnContext(ctx, "wait for question", "question", id, "session", q.Session.ID, "reason", "too many waiters, polling")
	}
	for {
		// Loaded after joining, so that no wake-up falls between the two.
		next, err := b.Question(ctx, id)
		if err == nil {
			q = next
		}
		if ctx.Err() != nil {
			return q, ctx.Err()
		}
		if err != nil || q.Status.Terminal() {
			return q, err
		}
		if pause(ctx, woken, min(poll, q.Deadline.Sub(b.now()))) {
			woken = nil // closed: it would be ready for ever
		}
	}
}

// pause waits for a wake-up, which it reports, the end of ctx or d.
func pause(ctx context.Context, woken <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-woken:
		return true
	case <-ctx.Done():
	case <-t.C:
	}
	return false
}

// WaitStats counts the waits of a process, for status and alerts (DE-8).
type WaitStats struct {
	// Waiting are woken in memory now; Overflowed had to poll, ever.
	Waiting    int
	Overflowed int
}

// WaitStats returns the counts as of now.
func (b *Broker) WaitStats() WaitStats { return b.waiters.stats() }

// waiters wakes those who wait in this process. It holds an entry only while
// somebody waits.
type waiters struct {
	mu         sync.Mutex
	questions  map[ID]*waiting
	sessions   map[SessionID]int
	overflowed int
}

type waiting struct {
	ended chan struct{}
	n     int
}

func newWaiters() *waiters {
	return &waiters{questions: map[ID]*waiting{}, sessions: map[SessionID]int{}}
}

// join returns a channel that is closed when the question ends, nil when the
// session has too many; done is to be called in any case.
func (w *waiters) join(s SessionID, id ID) (ended <-chan struct{}, done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sessions[s] >= maxWaiters {
		w.overflowed++
		return nil, func() {}
	}
	q := w.questions[id]
	if q == nil {
		q = &waiting{ended: make(chan struct{})}
		w.questions[id] = q
	}
	q.n++
	w.sessions[s]++
	return q.ended, func() { w.leave(s, id, q) }
}

func (w *waiters) leave(s SessionID, id ID, q *waiting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if q.n--; q.n == 0 && w.questions[id] == q {
		delete(w.questions, id)
	}
	if w.sessions[s]--; w.sessions[s] == 0 {
		delete(w.sessions, s)
	}
}

func (w *waiters) wake(id ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if q := w.questions[id]; q != nil {
		close(q.ended)
		delete(w.questions, id)
	}
}

func (w *waiters) stats() WaitStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := WaitStats{Overflowed: w.overflowed}
	for _, n := range w.sessions {
		s.Waiting += n
	}
	return s
}
