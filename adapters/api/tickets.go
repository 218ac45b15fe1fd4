package api

import (
	"context"
	"fmt"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// listTickets is GET /v1/tickets?state=&executor=&wait=, the youngest first.
// With wait the answer comes as soon as there is a Ticket to list, which is how
// a remote executor learns of its first.
func (a *api) listTickets(ctx context.Context, c call) (any, error) {
	p, err := c.query.page()
	if err != nil {
		return nil, err
	}
	f, none, err := ticketFilter(c)
	if err != nil || none {
		return list[ticket]{Items: []ticket{}}, err
	}
	wait, err := c.query.wait()
	if err != nil {
		return nil, err
	}
	var found []orchestrator.Ticket
	var next string
	err = a.until(ctx, wait, func() (bool, error) {
		found, next, err = a.lists.ListTickets(ctx, f, p)
		return len(found) > 0, err
	})
	if err != nil {
		return nil, fmt.Errorf("list tickets: %w", err)
	}
	show, err := a.shower(ctx, found)
	if err != nil {
		return nil, err
	}
	return listOf(found, next, show), nil
}

// ticketFilter says which Tickets are asked for. An executor gets those of its
// own, whatever it asks; none says that it asked for others, which it does not
// have.
func ticketFilter(c call) (f orchestrator.TicketFilter, none bool, err error) {
	f.Executor = c.query.get("executor")
	switch {
	case c.who.role == Executor && (f.Executor == "" || f.Executor == "me"):
		f.Executor = c.who.executor
	case f.Executor == "me":
		return f, false, badQuery(`executor "me" is for tokens of role executor; name one.`)
	}
	f.State, err = oneOf(c.query, "state", orchestrator.TicketActive, orchestrator.TicketEnded)
	return f, !c.who.sees(f.Executor), err
}

// sees reports whether the caller may know of an executor's Tickets.
func (who caller) sees(executor string) bool {
	return who.role != Executor || who.executor == executor
}

// getTicket is GET /v1/tickets/{id}.
func (a *api) getTicket(ctx context.Context, c call) (any, error) {
	id := gate.TicketID(c.id)
	t, err := loaded(ctx, a, c.id, orchestrator.Want{Tickets: []gate.TicketID{id}},
		func(s *orchestrator.State) (orchestrator.Ticket, bool) {
			t, ok := s.Tickets[id]
			return t, ok && c.who.sees(t.Executor)
		})
	if err != nil {
		return nil, err
	}
	show, err := a.shower(ctx, []orchestrator.Ticket{t})
	if err != nil {
		return nil, err
	}
	return show(&t), nil
}

// shower returns how these Tickets are shown now: with their stages and places,
// for which it looks up who waits for what.
func (a *api) shower(ctx context.Context, tickets []orchestrator.Ticket) (func(*orchestrator.Ticket) ticket, error) {
	now := a.now()
	open, err := a.asking(ctx, tickets, now)
	if err != nil {
		return nil, err
	}
	places, err := a.places(ctx, tickets)
	if err != nil {
		return nil, err
	}
	return func(t *orchestrator.Ticket) ticket {
		place := places[t.ID]
		stage := orchestrator.Stage(*t, open[approvals.SessionID(t.ID)], place, now, a.turnTimeout(t.Executor))
		return ticketOf(t, stage, place)
	}, nil
}

func (a *api) places(ctx context.Context, tickets []orchestrator.Ticket) (map[gate.TicketID]int, error) {
	if a.desk == nil {
		return nil, nil
	}
	places, err := a.desk.Places(ctx, tickets)
	if err != nil {
		return nil, fmt.Errorf("look up places: %w", err)
	}
	return places, nil
}

// asking are the Tickets among these whose Executors wait for an answer at now.
// A question whose deadline has passed is not open for any reader (DE-5).
func (a *api) asking(ctx context.Context, tickets []orchestrator.Ticket, now time.Time) (map[approvals.SessionID]bool, error) {
	w := orchestrator.Want{Questions: true}
	for i := range tickets {
		if tickets[i].Active() {
			w.Tickets = append(w.Tickets, tickets[i].ID)
		}
	}
	if len(w.Tickets) == 0 {
		return nil, nil
	}
	s, err := a.records.Load(ctx, w)
	if err != nil {
		return nil, fmt.Errorf("load open questions: %w", err)
	}
	open := map[approvals.SessionID]bool{}
	for _, q := range s.Questions {
		if !approvals.AsOf(q, now).Status.Terminal() && !orchestrator.OfBudget(q) {
			open[q.Session.ID] = true
		}
	}
	return open, nil
}
