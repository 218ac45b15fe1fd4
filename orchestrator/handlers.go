package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// inboxBatch is how many arrivals of a partition are read at once.
const inboxBatch = 64

// HandleInbox takes the arrivals of a partition in their order (TH-1). One
// that cannot be processed is put aside, so that it holds up no other.
func (s *Service) HandleInbox(ctx context.Context, c Claim) error {
	for {
		ids, err := s.Store.Inbox(ctx, c, inboxBatch)
		if err != nil {
			return fmt.Errorf("read inbox %s: %w", c.Key, err)
		}
		if len(ids) == 0 {
			return s.Store.Commit(ctx, Changes{Claim: &c})
		}
		for _, id := range ids {
			if err := s.arriveOrPutAside(ctx, id, c); err != nil {
				return err
			}
		}
	}
}

func (s *Service) arriveOrPutAside(ctx context.Context, id gate.TriggerID, c Claim) (err error) {
	err = s.arriveProtected(ctx, id, c)
	if err == nil || passing(err) || ctx.Err() != nil {
		return err
	}
	s.Log.ErrorContext(ctx, "trigger put aside", "trigger", id, "err", err)
	return s.Store.Commit(ctx, Changes{
		Claim: &c, Keep: true, Took: []gate.TriggerID{id},
		Effects: approvals.Effects{Log: []approvals.Record{{
			Type: "trigger.put_aside", At: s.Now(), Data: map[string]any{"trigger": id},
		}}},
	})
}

func (s *Service) arriveProtected(ctx context.Context, id gate.TriggerID, c Claim) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("arrive: panic: %v", p)
		}
	}()
	return s.Arrive(ctx, id, c)
}

// passing reports whether an error says nothing about the piece of work.
func passing(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrLostClaim) ||
		errors.Is(err, ErrConflict) || errors.Is(err, ErrNewer)
}

// HandleDeadline closes a question whose deadline has come (DE-6).
func (s *Service) HandleDeadline(ctx context.Context, c Claim) error {
	err := s.Asker.Expire(ctx, approvals.ID(c.Key))
	switch {
	case errors.Is(err, approvals.ErrEarly):
		return s.Store.Commit(ctx, Changes{Claim: &c, Next: s.Now().Add(earlyRetry)})
	case err != nil && !errors.Is(err, approvals.ErrNotFound):
		return err
	}
	return s.giveUp(ctx, c)
}

// earlyRetry is when a deadline that this replica's clock does not see yet is
// looked at again.
const earlyRetry = 200 * time.Millisecond

// giveUp ends a claim whose work is done. Closing a question cancels its
// deadline, and the claim with it.
func (s *Service) giveUp(ctx context.Context, c Claim, read ...approvals.Guard) error {
	err := s.Store.Commit(ctx, Changes{Claim: &c, Read: read})
	if errors.Is(err, ErrLostClaim) {
		return nil
	}
	return err
}

// HandleEvalDeadline ends an Eval whose time is over (EV-4).
func (s *Service) HandleEvalDeadline(ctx context.Context, c Claim) error {
	id := gate.EvalID(c.Key)
	err := s.transact(ctx, Want{Evals: []gate.EvalID{id}}, func(st State, f Facts) Changes {
		ch := ExpireEval(st, id, f)
		ch.Claim = &c
		return ch
	})
	if errors.Is(err, ErrLostClaim) {
		return nil // the Eval ended meanwhile, and cancelled it
	}
	return err
}

// HandleSettled gives the asker the end of its question (DE-10).
func (s *Service) HandleSettled(ctx context.Context, c Claim) error {
	q, err := s.Store.Question(ctx, approvals.ID(c.Key))
	if errors.Is(err, approvals.ErrNotFound) {
		return s.giveUp(ctx, c)
	}
	if err != nil {
		return fmt.Errorf("load question %s: %w", c.Key, err)
	}
	id := gate.TicketID(q.Session.ID)
	return s.transact(ctx, Want{Tickets: []gate.TicketID{id}}, func(st State, f Facts) Changes {
		ch := AnswerArrived(st, id, q, f)
		ch.Claim = &c
		return ch
	})
}

// HandleLate tells a Ticket that its question was answered too late, so that
// its agent can ask again (CA-9).
func (s *Service) HandleLate(ctx context.Context, c Claim) error {
	q, err := s.Store.Question(ctx, approvals.ID(c.Key))
	if errors.Is(err, approvals.ErrNotFound) {
		return s.giveUp(ctx, c)
	}
	if err != nil {
		return fmt.Errorf("load question %s: %w", c.Key, err)
	}
	id := gate.TicketID(q.Session.ID)
	return s.transact(ctx, Want{Tickets: []gate.TicketID{id}}, func(st State, f Facts) Changes {
		ch := Note(st, id, "question "+q.ID.Short()+" was answered after its deadline; ask again if it still matters", f)
		ch.Claim = &c
		return ch
	})
}

// HandleResume looks again at a Ticket that messages wait to resume.
func (s *Service) HandleResume(ctx context.Context, c Claim) error {
	id := gate.TicketID(c.Key)
	return s.transact(ctx, Want{Tickets: []gate.TicketID{id}}, func(st State, f Facts) Changes {
		ch := ResumeWaiting(st, id, f)
		ch.Claim = &c
		return ch
	})
}

// Handlers are the Service's own; eval, turn and outbox work has others.
func (s *Service) Handlers() map[approvals.DueKind]Handler {
	return map[approvals.DueKind]Handler{
		DueInbox:              s.HandleInbox,
		DueResume:             s.HandleResume,
		DuePolicy:             s.HandlePolicy,
		DueEvalDeadline:       s.HandleEvalDeadline,
		DueReread:             s.HandleReread,
		DueReach:              s.HandleReach,
		DueMissed:             s.HandleMissed,
		DueWitness:            s.HandleWitness,
		DueIncidents:          s.HandleIncidents,
		approvals.DueDeadline: s.HandleDeadline,
		approvals.DueSettled:  s.HandleSettled,
		approvals.DueLate:     s.HandleLate,
	}
}
