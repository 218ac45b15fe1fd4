package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
)

// Handler does a piece of claimed due work. It gives the claim up in a commit
// of its own; one that returns an error, or crashes, has the work claimed
// again when the lease runs out or at the retry time.
type Handler func(ctx context.Context, c Claim) error

// WorkerConfig is what a Worker needs.
type WorkerConfig struct {
	Queue    Queue
	States   States
	Handlers map[approvals.DueKind]Handler
	// Lease is how long a claim hides its work; it is extended while a
	// handler runs. A dead replica's work is taken over after it (RS-3).
	Lease time.Duration
	// Poll is the longest time between two looks at what is due.
	Poll time.Duration
	// Limit bounds the handlers that run at once. Prompt are the kinds that a
	// few more may run for: a deadline waits for no slow send (DE-6).
	Limit  int
	Prompt []approvals.DueKind
	Now    func() time.Time
	Log    *slog.Logger
}

// spare is how many handlers of Prompt kinds run beyond the Limit.
const spare = 4

// Worker claims due work and hands it to handlers, each piece to one (RS-5).
// Every replica runs one.
type Worker struct {
	WorkerConfig
	kinds    []approvals.DueKind
	attempts attempts
}

// NewWorker returns a Worker.
func NewWorker(c WorkerConfig) *Worker {
	w := &Worker{WorkerConfig: c}
	for kind := range c.Handlers {
		w.kinds = append(w.kinds, kind)
	}
	return w
}

// Run works until ctx ends, then waits for the handlers that run; they have
// their own context, grace, which ends them.
func (w *Worker) Run(ctx, grace context.Context) error {
	wake := w.Queue.Wake(ctx)
	finished := make(chan struct{}, w.Limit+spare)
	var running sync.WaitGroup
	defer running.Wait()
	for busy := 0; ; {
		claims := w.claim(ctx, busy)
		for _, c := range claims {
			busy++
			running.Go(func() {
				defer func() { finished <- struct{}{} }()
				w.handle(grace, c)
			})
		}
		select {
		case <-ctx.Done():
			return nil
		case <-finished:
			busy--
		case <-wake:
		case <-time.After(w.Poll):
		}
	}
}

// claim takes what is due, beside the busy handlers. While the store cannot be
// reached there is nothing to do but look again later (RS-9).
func (w *Worker) claim(ctx context.Context, busy int) []Claim {
	kinds, room := w.kinds, w.Limit-busy
	if room <= 0 {
		kinds, room = w.Prompt, room+spare
	}
	if room <= 0 || len(kinds) == 0 || ctx.Err() != nil {
		return nil
	}
	claims, err := w.Queue.Claim(ctx, kinds, w.Now(), w.Lease, room)
	if err != nil && ctx.Err() == nil {
		w.Log.WarnContext(ctx, "claim due work", "err", err)
	}
	return claims
}

// handle runs the handler under an extended lease. A failed piece of work is
// tried again with back-off.
func (w *Worker) handle(ctx context.Context, c Claim) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var beat sync.WaitGroup
	beat.Go(func() { w.heartbeat(ctx, cancel, c) })
	err := w.protect(ctx, c)
	switch {
	case err == nil:
		w.attempts.forget(c)
	case errors.Is(err, ErrLostClaim):
		w.Log.DebugContext(ctx, "claim was lost", "kind", c.Kind, "key", c.Key)
	default:
		w.retry(context.WithoutCancel(ctx), c, err)
	}
	cancel()
	beat.Wait()
}

// protect turns a panic of a handler into an error, so that one poisonous
// piece of work stops no other.
func (w *Worker) protect(ctx context.Context, c Claim) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("handle %s: panic: %v", c.Kind, p)
		}
	}()
	return w.Handlers[c.Kind](ctx, c)
}

func (w *Worker) retry(ctx context.Context, c Claim, cause error) {
	wait := w.attempts.backoff(c)
	w.Log.WarnContext(ctx, "due work failed", "kind", c.Kind, "key", c.Key, "err", cause, "again_in", wait)
	err := w.States.Commit(ctx, Changes{Claim: &c, Next: w.Now().Add(wait)})
	if err != nil && !errors.Is(err, ErrLostClaim) {
		w.Log.WarnContext(ctx, "put due work back", "kind", c.Kind, "key", c.Key, "err", err)
	}
}

// heartbeat extends the lease until ctx ends; once it is lost, the handler is
// cancelled.
func (w *Worker) heartbeat(ctx context.Context, lost context.CancelFunc, c Claim) {
	tick := time.NewTicker(w.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := w.Queue.Extend(ctx, c, w.Now().Add(w.Lease)); errors.Is(err, ErrLostClaim) {
			lost()
			return
		}
	}
}

// attempts counts failures of a piece of work in a row, in this process.
type attempts struct {
	mu sync.Mutex
	n  map[string]int
}

const (
	firstRetry = 2 * time.Second
	lastRetry  = time.Minute
)

// backoff is 2 s, doubling to 1 min (spec page 04).
func (a *attempts) backoff(c Claim) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n == nil {
		a.n = map[string]int{}
	}
	key := string(c.Kind) + "|" + c.Key
	n := a.n[key]
	a.n[key]++
	return min(lastRetry, firstRetry<<min(n, 10))
}

func (a *attempts) forget(c Claim) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.n, string(c.Kind)+"|"+c.Key)
}
