package orchestrator

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// DuePolicy: the Policy changed; Evals under way are discarded (PV-3), and the
// affected Tickets are told (PV-4).
const DuePolicy approvals.DueKind = "policy"

// policyWork is the one key of DuePolicy: however many versions were made, the
// work is to bring everything to the newest.
const policyWork = "version"

// scanPage is how many Tickets are looked at in one read.
const scanPage = 100

// HandlePolicy brings Evals and Tickets to the Policy in force. It can be
// interrupted and begun again at any time: each Ticket knows the version that
// it was told of, so that none is told twice and none is forgotten.
func (s *Service) HandlePolicy(ctx context.Context, c Claim) error {
	for {
		rec, err := s.Store.PolicyInForce(ctx)
		if err != nil {
			return fmt.Errorf("load policy: %w", err)
		}
		if err := s.discardStale(ctx); err != nil {
			return err
		}
		if err := s.tellTickets(ctx, rec.Policy.Version); err != nil {
			return err
		}
		err = s.giveUp(ctx, c, approvals.Guard{Kind: KindPolicy, Version: rec.Version})
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
}

func (s *Service) discardStale(ctx context.Context) error {
	threads, err := s.Store.Evaluating(ctx)
	if err != nil {
		return fmt.Errorf("list evals under way: %w", err)
	}
	for _, id := range threads {
		err := s.transact(ctx, Want{Threads: []gate.ThreadID{id}}, func(st State, f Facts) Changes {
			return DiscardStale(st, id, f)
		})
		if err != nil {
			return fmt.Errorf("discard eval of %s: %w", id, err)
		}
	}
	return nil
}

func (s *Service) tellTickets(ctx context.Context, version int) error {
	return s.eachActive(ctx, func(t *Ticket) error {
		if t.told() >= version {
			return nil
		}
		if err := s.tell(ctx, t.ID, t.told()); err != nil {
			return fmt.Errorf("tell %s of the policy: %w", t.ID, err)
		}
		return nil
	})
}

// eachActive looks at the Tickets that are active, a page at a time, the newest
// first. One that is accepted meanwhile is not among them.
func (s *Service) eachActive(ctx context.Context, look func(*Ticket) error) error {
	for p := (Page{Limit: scanPage}); ; {
		tickets, next, err := s.Store.ListTickets(ctx, TicketFilter{State: TicketActive}, p)
		if err != nil {
			return fmt.Errorf("list tickets: %w", err)
		}
		for i := range tickets {
			if err := look(&tickets[i]); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		p.Cursor = next
	}
}

func (s *Service) tell(ctx context.Context, id gate.TicketID, told int) error {
	old, err := s.Store.PolicyVersion(ctx, told)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	was := &old.Policy
	if err != nil {
		was = nil
	}
	return s.transact(ctx, Want{Tickets: []gate.TicketID{id}}, func(st State, f Facts) Changes {
		return PolicyChanged(st, id, told, was, f)
	})
}
