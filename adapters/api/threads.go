package api

import (
	"context"
	"fmt"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// scanRounds is how many pages of the store one call looks through for
// Threads that match. What is left is told by the cursor: such a page may be
// short, or empty.
const scanRounds = 20

// listThreads is GET /v1/threads?attention=, the last active first.
func (a *api) listThreads(ctx context.Context, c call) (any, error) {
	p, err := c.query.page()
	if err != nil {
		return nil, err
	}
	wanted, filtered, err := c.query.flag("attention")
	if err != nil {
		return nil, err
	}
	now := a.now()
	found, next, err := a.scanThreads(ctx, p, func(t *orchestrator.Thread) bool {
		return !filtered || t.Attention(now) == wanted
	})
	if err != nil {
		return nil, err
	}
	tickets, err := a.ticketsOf(ctx, found)
	if err != nil {
		return nil, err
	}
	return listOf(found, next, func(t *orchestrator.Thread) thread { return threadOf(t, tickets, now) }), nil
}

// scanThreads gathers Threads that match. It never asks the store for more
// than there is room for, so that the store's cursor is the page's.
func (a *api) scanThreads(ctx context.Context, p orchestrator.Page, match func(*orchestrator.Thread) bool) ([]orchestrator.Thread, string, error) {
	var found []orchestrator.Thread
	limit := p.Limit
	for range scanRounds {
		threads, next, err := a.lists.ListThreads(ctx, p)
		if err != nil {
			return nil, "", fmt.Errorf("list threads: %w", err)
		}
		for i := range threads {
			if match(&threads[i]) {
				found = append(found, threads[i])
			}
		}
		p.Cursor, p.Limit = next, limit-len(found)
		if next == "" || p.Limit <= 0 {
			break
		}
	}
	return found, p.Cursor, nil
}

// getThread is GET /v1/threads/{id}.
func (a *api) getThread(ctx context.Context, c call) (any, error) {
	id := gate.ThreadID(c.id)
	t, err := loaded(ctx, a, c.id, orchestrator.Want{Threads: []gate.ThreadID{id}},
		func(s *orchestrator.State) (orchestrator.Thread, bool) { t, ok := s.Threads[id]; return t, ok })
	if err != nil {
		return nil, err
	}
	tickets, err := a.ticketsOf(ctx, []orchestrator.Thread{t})
	if err != nil {
		return nil, err
	}
	return threadOf(&t, tickets, a.now()), nil
}

// ticketsOf reads the Tickets that the Threads feed.
func (a *api) ticketsOf(ctx context.Context, threads []orchestrator.Thread) (map[gate.TicketID]orchestrator.Ticket, error) {
	var w orchestrator.Want
	seen := map[gate.TicketID]bool{}
	for i := range threads {
		for _, k := range threads[i].Tickets {
			if !seen[k.Ticket] {
				seen[k.Ticket] = true
				w.Tickets = append(w.Tickets, k.Ticket)
			}
		}
	}
	if len(w.Tickets) == 0 {
		return nil, nil
	}
	s, err := a.records.Load(ctx, w)
	if err != nil {
		return nil, fmt.Errorf("load tickets of threads: %w", err)
	}
	return s.Tickets, nil
}
