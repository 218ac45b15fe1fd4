package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// pausedAgain is how long work that is held up waits before it is looked at
// again.
const pausedAgain = 2 * time.Second

// Pause holds the processing of a Source up, or everything when it names none
// (RE-3). Pausing what is paused changes nothing.
func (s *Service) Pause(ctx context.Context, source gate.SourceID, by string) (Pauses, error) {
	return s.editPauses(ctx, "paused", source, by, func(p Pauses, at Pause) (Pauses, bool) { return p.pause(source, at) })
}

// Resume lets a Source go on, or everything when it names none. Before its
// work goes on, each active Ticket's Mandate is revalidated (RE-3).
func (s *Service) Resume(ctx context.Context, source gate.SourceID, by string) (Pauses, error) {
	return s.editPauses(ctx, "resumed", source, by, func(p Pauses, _ Pause) (Pauses, bool) { return p.resume(source) })
}

func (s *Service) editPauses(ctx context.Context, what string, source gate.SourceID, by string, edit func(Pauses, Pause) (Pauses, bool)) (Pauses, error) {
	if source != "" && s.Sources[source] == nil {
		return Pauses{}, fmt.Errorf("source %s: %w", source, ErrNotFound)
	}
	for range commitTries {
		rec, err := s.Store.PolicyInForce(ctx)
		if err != nil {
			return Pauses{}, fmt.Errorf("load pauses: %w", err)
		}
		at := Pause{By: by, At: s.Now()}
		next, changed := edit(rec.Pauses, at)
		if !changed {
			return rec.Pauses, nil
		}
		rec.Pauses = next
		ch := Changes{Policy: &rec}
		ch.Log = []approvals.Record{pauseLog(what, source, at)}
		err = s.Store.Commit(ctx, ch)
		if err == nil {
			return next, nil
		}
		if !errors.Is(err, ErrConflict) {
			return Pauses{}, fmt.Errorf("store pauses: %w", err)
		}
	}
	return Pauses{}, fmt.Errorf("store pauses: %w", ErrConflict)
}

// Unpaused stands in front of a handler of DueEval or DueTurn: work whose
// Source is held up waits, and after a pause a Ticket is revalidated first
// (RE-3).
func (s *Service) Unpaused(next Handler) Handler {
	return func(ctx context.Context, c Claim) error {
		wait, err := s.heldUp(ctx, c)
		if err != nil {
			return err
		}
		if wait > 0 {
			return s.Store.Commit(ctx, Changes{Claim: &c, Next: s.Now().Add(wait)})
		}
		return next(ctx, c)
	}
}

// heldUp says how long a piece of work waits; zero: it goes on.
func (s *Service) heldUp(ctx context.Context, c Claim) (time.Duration, error) {
	rec, err := s.Store.PolicyInForce(ctx)
	if err != nil {
		return 0, fmt.Errorf("load pauses: %w", err)
	}
	p := &rec.Pauses
	if p.All == nil && len(p.Sources) == 0 && p.EndedAll == 0 && len(p.Ended) == 0 {
		return 0, nil
	}
	if c.Kind == DueTurn {
		return s.turnHeldUp(ctx, gate.TicketID(c.Key), p)
	}
	id := gate.ThreadID(c.Key)
	st, err := s.Store.Load(ctx, Want{Threads: []gate.ThreadID{id}})
	if err != nil {
		return 0, fmt.Errorf("load thread %s: %w", id, err)
	}
	if th, ok := st.Threads[id]; ok && p.Hold(th.Source) {
		return pausedAgain, nil
	}
	return 0, nil
}

func (s *Service) turnHeldUp(ctx context.Context, id gate.TicketID, p *Pauses) (time.Duration, error) {
	st, err := s.Store.Load(ctx, Want{Tickets: []gate.TicketID{id}})
	if err != nil {
		return 0, fmt.Errorf("load ticket %s: %w", id, err)
	}
	t := st.Tickets[id]
	switch {
	case p.Hold(t.Mandate.Source):
		return pausedAgain, nil
	case !t.Active() || t.Checked >= p.ended(t.Mandate.Source):
		return 0, nil
	}
	ready := false
	err = s.transact(ctx, Want{Tickets: []gate.TicketID{id}}, func(st State, f Facts) Changes {
		var c Changes
		c, ready = GoOn(st, id, f)
		return c
	})
	if err != nil || ready {
		return 0, err
	}
	return retryResume, nil
}
