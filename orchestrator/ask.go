package orchestrator

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Ask opens a question of a session, a Ticket's or the main Session's. It is the
// one way in: the action ask is another name for it. created is false where the
// key was used before: the first question stands, also when nothing more can be
// asked (DE-3). It refuses with
//
//   - a *Refused: no turn is open (AP-7), or the Ticket has ended (DE-7);
//   - approvals.ErrInvalid (DE-2) and approvals.ErrTooManyOpen (DE-8);
//   - ErrNotFound: no such session.
func (s *Service) Ask(ctx context.Context, id approvals.SessionID, r approvals.Request) (q approvals.Question, created bool, err error) {
	if err := reserved(&r); err != nil {
		return approvals.Question{}, false, err
	}
	for range commitTries {
		q, created, err = s.askOnce(ctx, id, r)
		if !errors.Is(err, ErrConflict) {
			break
		}
	}
	if err != nil {
		return approvals.Question{}, false, fmt.Errorf("open question for %s: %w", id, err)
	}
	return q, created, s.parkRemote(ctx, gate.TicketID(id), q)
}

func (s *Service) askOnce(ctx context.Context, id approvals.SessionID, r approvals.Request) (approvals.Question, bool, error) {
	who, refused, err := s.asker(ctx, id, r.Kind)
	if err != nil {
		return approvals.Question{}, false, err
	}
	if refused == nil {
		return s.Asker.Open(ctx, who, r)
	}
	q, err := s.Store.Question(ctx, approvals.IDFor(s.Settings.Workspace, id, r.RequestID))
	if errors.Is(err, approvals.ErrNotFound) {
		return approvals.Question{}, false, refused
	}
	return approvals.AsOf(q, s.Now()), false, err
}

// asker loads who asks, and whether they may.
func (s *Service) asker(ctx context.Context, id approvals.SessionID, k approvals.Kind) (approvals.Session, *Refused, error) {
	if id != approvals.MainSession {
		return s.ticketAsker(ctx, gate.TicketID(id), k)
	}
	rec, err := s.Store.PolicyInForce(ctx)
	if err != nil {
		return approvals.Session{}, nil, fmt.Errorf("load policy: %w", err)
	}
	evals, err := s.Store.OpenEvals(ctx)
	who, refused := mainSession(evals, rec.Approvals, s.Settings.Language, k, s.Now())
	return who, refused, err
}

func (s *Service) ticketAsker(ctx context.Context, id gate.TicketID, k approvals.Kind) (approvals.Session, *Refused, error) {
	t, err := s.ticket(ctx, id)
	if err != nil {
		return approvals.Session{}, nil, err
	}
	who := t.session(s.Settings.Language)
	who.Review, err = s.reviewOf(ctx, &t)
	return who, t.mayAsk(k), err
}

// reviewOf is what the Ticket's matched rules ask of its approvals now (RU-4).
func (s *Service) reviewOf(ctx context.Context, t *Ticket) (gate.Review, error) {
	if len(t.Mandate.Rules) == 0 {
		return gate.Review{}, nil
	}
	p, err := s.Store.PolicyInForce(ctx)
	if err != nil {
		return gate.Review{}, fmt.Errorf("load policy: %w", err)
	}
	return p.Policy.ReviewOf(t.Mandate.Rules), nil
}

// ask is the action: what Ask refuses is an answer here (AC-1).
func (s *Service) ask(ctx context.Context, id gate.TicketID, cmd Command) (Performed, error) {
	if cmd.Ask == nil {
		return refusedAct(ActMissingField, "say what is asked: a key (or requestId), kind approval, clarification or choice, and a prompt"), nil
	}
	q, _, err := s.Ask(ctx, approvals.SessionID(id), *cmd.Ask)
	var refused *Refused
	var invalid approvals.Invalid
	switch {
	case errors.As(err, &refused):
		return refusedAct(refused.Code, refused.Why), nil
	case errors.Is(err, ErrNotFound):
		return refusedAct(ActTicketEnded, "there is no such ticket"), nil
	case errors.As(err, &invalid): // it would be again, however often it is tried
		return refusedAct(ActInvalid, string(invalid)), nil
	case errors.Is(err, approvals.ErrTooManyOpen):
		return refusedAct(ActTooManyOpen, "too many questions of this session are open; wait for their answers"), nil
	case err != nil:
		return Performed{}, err
	}
	return Performed{OK: true, Question: q.ID}, nil
}

// parkRemote parks the turn of a remote Executor with the question that it
// asked: it is given the answer as an Input. An embedded one parks when it
// returns.
func (s *Service) parkRemote(ctx context.Context, id gate.TicketID, q approvals.Question) error {
	if q.Session.ID == approvals.MainSession || q.Status.Terminal() {
		return nil
	}
	t, err := s.ticket(ctx, id)
	if err != nil || !s.Settings.Executors[t.Executor].Remote || !t.works() {
		return err
	}
	return s.park(ctx, t.ID, t.Delivered)
}

// SetApprovals sets a session's own policy, in one recorded write (AP-3). A word
// that is no policy is approvals.ErrInvalid; ErrNotFound: no such session.
func (s *Service) SetApprovals(ctx context.Context, id approvals.SessionID, p approvals.Policy, by string) error {
	said, err := approvals.SetPolicy(id, p, by, s.Now())
	if err != nil {
		return err
	}
	if id == approvals.MainSession {
		return s.setMainApprovals(ctx, p, said)
	}
	ticket := gate.TicketID(id)
	if _, err := s.ticket(ctx, ticket); err != nil {
		return err
	}
	return s.transact(ctx, Want{Tickets: []gate.TicketID{ticket}}, func(st State, f Facts) Changes {
		return SetApprovals(st, ticket, p, said, f)
	})
}

func (s *Service) setMainApprovals(ctx context.Context, p approvals.Policy, said approvals.Record) error {
	for range commitTries {
		rec, err := s.Store.PolicyInForce(ctx)
		if err != nil {
			return fmt.Errorf("load policy: %w", err)
		}
		rec.Approvals = p
		err = s.Store.Commit(ctx, Changes{Policy: &rec, Effects: approvals.Effects{Log: []approvals.Record{said}}})
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("set the policy of %s: %w", approvals.MainSession, ErrConflict)
}
