package storetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// ListMessages implements orchestrator.Reader: by the time of receipt.
func (m *Mem) ListMessages(ctx context.Context, f orchestrator.MessageFilter, p orchestrator.Page) ([]orchestrator.Message, string, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("list messages: %w", err)
	}
	defer leave()
	list := all(m, orchestrator.KindMessage, func(v *orchestrator.Message) bool {
		return v.Change.Kind == gate.NoChange && (f.Source == "" || v.Source == f.Source) && (f.Thread == "" || v.Thread == f.Thread)
	})
	return page(list, p, func(v *orchestrator.Message) place {
		return place{v.ReceivedAt.UnixMilli(), string(v.ID)}
	})
}

// ListTickets implements orchestrator.Reader: by the time of creation.
func (m *Mem) ListTickets(ctx context.Context, f orchestrator.TicketFilter, p orchestrator.Page) ([]orchestrator.Ticket, string, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("list tickets: %w", err)
	}
	defer leave()
	list := all(m, orchestrator.KindTicket, func(v *orchestrator.Ticket) bool {
		return (f.State == "" || v.State == f.State) && (f.Executor == "" || v.Executor == f.Executor)
	})
	return page(list, p, func(v *orchestrator.Ticket) place {
		return place{v.CreatedAt.UnixMilli(), string(v.ID)}
	})
}

// ListDecisions implements orchestrator.Reader: by the time of the decision.
func (m *Mem) ListDecisions(ctx context.Context, f orchestrator.DecisionFilter, p orchestrator.Page) ([]orchestrator.Decision, string, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("list decisions: %w", err)
	}
	defer leave()
	list := all(m, kindDecision, func(v *orchestrator.Decision) bool {
		return (f.Thread == "" || v.Thread == f.Thread) && (f.Outcome == "" || v.Outcome == f.Outcome)
	})
	return page(list, p, func(v *orchestrator.Decision) place {
		return place{v.At.UnixMilli(), string(v.ID)}
	})
}

// ListThreads implements orchestrator.Reader: by the last activity.
func (m *Mem) ListThreads(ctx context.Context, p orchestrator.Page) ([]orchestrator.Thread, string, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("list threads: %w", err)
	}
	defer leave()
	list := all(m, orchestrator.KindThread, func(*orchestrator.Thread) bool { return true })
	return page(list, p, func(v *orchestrator.Thread) place {
		return place{v.LastActivity.UnixMilli(), string(v.ID)}
	})
}

// LostPlaces implements orchestrator.Reaches.
func (m *Mem) LostPlaces(ctx context.Context) ([]orchestrator.Reach, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("lost places: %w", err)
	}
	defer leave()
	list := all(m, orchestrator.KindReach, func(r *orchestrator.Reach) bool { return r.Wide && r.Lost != "" })
	slices.SortFunc(list, func(a, b orchestrator.Reach) int {
		return cmp.Or(cmp.Compare(b.At.UnixMilli(), a.At.UnixMilli()), cmp.Compare(b.Place, a.Place))
	})
	return list, nil
}

// ListQuestions implements orchestrator.Questions: by the time of asking.
func (m *Mem) ListQuestions(ctx context.Context, f orchestrator.QuestionFilter, p orchestrator.Page) ([]approvals.Question, string, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("list questions: %w", err)
	}
	defer leave()
	list := all(m, orchestrator.KindQuestion, func(q *approvals.Question) bool {
		return q.Session.ID == f.Session && (f.Status == "" || q.Status == f.Status)
	})
	return page(list, p, func(q *approvals.Question) place {
		return place{q.CreatedAt.UnixMilli(), string(q.ID)}
	})
}

// OpenEvals implements orchestrator.Evals.
func (m *Mem) OpenEvals(ctx context.Context) ([]orchestrator.Eval, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("open evals: %w", err)
	}
	defer leave()
	list := all(m, orchestrator.KindEval, (*orchestrator.Eval).Open)
	slices.SortFunc(list, func(a, b orchestrator.Eval) int {
		return cmp.Or(cmp.Compare(a.DeliveredAt.UnixMilli(), b.DeliveredAt.UnixMilli()), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// Depths implements orchestrator.Reader. Evals are the Threads that have work
// for the main Session.
func (m *Mem) Depths(ctx context.Context) (orchestrator.Depths, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return orchestrator.Depths{}, fmt.Errorf("depths: %w", err)
	}
	defer leave()
	d := orchestrator.Depths{Outbox: len(m.rows)}
	for _, list := range m.inbox {
		d.Inbox += len(list)
	}
	for n := range m.due {
		if slices.Contains(orchestrator.EvalLines(), approvals.DueKind(n.kind)) {
			d.Evals++
		}
	}
	d.Questions = len(all(m, orchestrator.KindQuestion, func(q *approvals.Question) bool {
		return q.Status == approvals.StatusOpen
	}))
	return d, nil
}
