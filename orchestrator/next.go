package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// How Evals are handed to callers from outside.
const (
	// takeLease is how long a Thread is hidden from other callers while it is
	// handed out: one commit.
	takeLease = 10 * time.Second
	// noticeAgain is when notices that nobody acknowledged come again (RO-7).
	noticeAgain = time.Second
	// nextPoll is how often a waiting caller looks by itself; it is woken, too.
	nextPoll = time.Second
	// takeTries bounds how many Threads one look goes through.
	takeTries = 200
)

// Calls remembers when the main Session last asked for work (EV-5).
type Calls struct{ last atomic.Int64 }

// Last is when that was; zero: not since this process began.
func (c *Calls) Last() time.Time {
	ms := c.last.Load()
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

func (c *Calls) mark(now time.Time) { c.last.Store(now.UnixMilli()) }

// Next takes the next Eval for a session of an external driver, or notices
// alone (DR-3). It waits up to wait; ok is false when nothing came. The Eval
// is the session's from then on: no other caller gets it before its deadline.
// The first call of a session that was restarted is fresh: it is given again,
// one a call, what it holds (EV-5).
func (s *Service) Next(ctx context.Context, session string, fresh bool, wait time.Duration) (h Handout, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, wait+takeLease)
	defer cancel()
	if fresh {
		if err := s.holdsAgain(ctx, session); err != nil {
			return Handout{}, false, err
		}
	}
	wake := s.Store.Wake(ctx)
	until := time.NewTimer(wait)
	defer until.Stop()
	for {
		s.Calls.mark(s.Now())
		h, ok, err = s.next(ctx, session)
		if ok || err != nil {
			return h, ok, err
		}
		select {
		case <-ctx.Done():
			return Handout{}, false, ctx.Err()
		case <-until.C:
			return Handout{}, false, nil
		case <-wake:
		case <-time.After(nextPoll):
		}
	}
}

// next looks once: first what the session is to be given again, then the lines
// in their order (EV-1).
func (s *Service) next(ctx context.Context, session string) (Handout, bool, error) {
	if h, ok, err := s.redeliver(ctx, session); ok || err != nil {
		return h, ok, err
	}
	for _, line := range EvalLines() {
		for range takeTries {
			claims, err := s.Store.Claim(ctx, []approvals.DueKind{line}, s.Now(), takeLease, 1)
			if err != nil {
				return Handout{}, false, fmt.Errorf("claim an eval: %w", err)
			}
			if len(claims) == 0 {
				break
			}
			var h Handout
			var ok bool
			err = s.Unpaused(func(ctx context.Context, c Claim) (err error) {
				h, ok, err = s.takeEval(ctx, c, session)
				return err
			})(ctx, claims[0])
			if ok || err != nil {
				return h, ok, err
			}
		}
	}
	return Handout{}, false, nil
}

// takeEval hands a claimed Thread's candidates and notices to the session. The
// claim is given up in the same commit; notices stay due until they are
// acknowledged.
func (s *Service) takeEval(ctx context.Context, c Claim, session string) (Handout, bool, error) {
	id := gate.ThreadID(c.Key)
	beside, err := s.beside(ctx, c)
	if err != nil {
		return Handout{}, false, err
	}
	var formed bool
	var notices int
	err = s.transact(ctx, Want{Threads: append([]gate.ThreadID{id}, beside...)}, func(st State, f Facts) Changes {
		ch := FormEval(st, id, beside, session, f)
		formed, notices = formedOne(ch.Evals), len(st.Threads[id].Notices)
		ch.Claim = &c
		if notices > 0 {
			ch.Next = f.Now.Add(noticeAgain)
		}
		return ch
	})
	switch {
	case errors.Is(err, ErrLostClaim):
		return Handout{}, false, nil // another caller was faster
	case err != nil:
		return Handout{}, false, fmt.Errorf("form eval of %s: %w", id, err)
	case !formed && notices == 0:
		return Handout{}, false, nil
	}
	h, err := s.handout(ctx, id)
	if !formed {
		h.Eval, h.Candidates = nil, nil // another session has it
	}
	return h, err == nil && (h.Eval != nil || len(h.Notices) > 0), err
}

// lookBeside bounds how many Threads are looked at for one bundle.
const lookBeside = 200

// beside names Threads of the claimed one's chat whose inferred candidates wait
// too, so that they can come with it (EV-1). Where anything else waits on the
// claimed Thread there are none.
func (s *Service) beside(ctx context.Context, c Claim) ([]gate.ThreadID, error) {
	if c.Kind != DueEvalLater {
		return nil, nil
	}
	keys, err := s.Store.Waiting(ctx, c.Kind, s.Now(), lookBeside)
	if err != nil {
		return nil, fmt.Errorf("look beside %s: %w", c.Key, err)
	}
	w := Want{Threads: []gate.ThreadID{gate.ThreadID(c.Key)}}
	for _, key := range keys {
		w.Threads = append(w.Threads, gate.ThreadID(key))
	}
	st, err := s.Store.Load(ctx, w)
	if err != nil {
		return nil, fmt.Errorf("load threads beside %s: %w", c.Key, err)
	}
	th := st.Threads[w.Threads[0]]
	var ids []gate.ThreadID
	for _, id := range w.Threads[1:] {
		if o, ok := st.Threads[id]; ok && len(ids) < maxBundle && besides(s.Sources[th.Source], &th, &o) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// formedOne: a new Eval is among them.
func formedOne(evals []Eval) bool {
	for i := range evals {
		if evals[i].Version == 0 && evals[i].Open() {
			return true
		}
	}
	return false
}

// holdsAgain marks what the session holds, so that it comes again.
func (s *Service) holdsAgain(ctx context.Context, session string) error {
	return s.held(ctx, func(e Eval) (bool, error) {
		if e.Session != session || e.Again {
			return false, nil
		}
		return false, s.mark(ctx, e.ID, true)
	})
}

// redeliver gives the oldest marked Eval of the session again, with the
// deadline that it had. One of an old Policy version comes under the present
// one (EV-6).
func (s *Service) redeliver(ctx context.Context, session string) (h Handout, ok bool, err error) {
	err = s.held(ctx, func(e Eval) (bool, error) {
		if e.Session != session || !e.Again {
			return false, nil
		}
		if err := s.mark(ctx, e.ID, false); err != nil {
			return false, err
		}
		if err := s.FormEval(ctx, e.Thread, nil, session); err != nil {
			return false, fmt.Errorf("form eval of %s: %w", e.Thread, err)
		}
		h, err = s.handout(ctx, e.Thread)
		ok = err == nil && h.Eval != nil && h.Eval.Session == session
		h.Redelivered = ok && h.Eval.ID == e.ID
		return ok, err
	})
	return h, ok, err
}

func (s *Service) mark(ctx context.Context, id gate.EvalID, again bool) error {
	err := s.transact(ctx, Want{Evals: []gate.EvalID{id}}, func(st State, f Facts) Changes {
		return MarkEval(st, id, again, f)
	})
	if err != nil {
		return fmt.Errorf("mark eval %s: %w", id, err)
	}
	return nil
}

// held calls do for the Evals under way, the oldest first, until it says stop.
func (s *Service) held(ctx context.Context, do func(Eval) (stop bool, err error)) error {
	open, err := s.Store.OpenEvals(ctx)
	if err != nil {
		return fmt.Errorf("list evals under way: %w", err)
	}
	for _, e := range open {
		if stop, err := do(e); stop || err != nil {
			return err
		}
	}
	return nil
}
