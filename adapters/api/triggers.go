package api

import (
	"context"
	"fmt"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// listTriggers is GET /v1/triggers?thread=&source=, the last received first.
func (a *api) listTriggers(ctx context.Context, c call) (any, error) {
	p, err := c.query.page()
	if err != nil {
		return nil, err
	}
	f := orchestrator.MessageFilter{
		Source: gate.SourceID(c.query.get("source")), Thread: gate.ThreadID(c.query.get("thread")),
	}
	found, next, err := a.lists.ListMessages(ctx, f, p)
	if err != nil {
		return nil, fmt.Errorf("list triggers: %w", err)
	}
	return listOf(found, next, triggerOf), nil
}

// getTrigger is GET /v1/triggers/{id}.
func (a *api) getTrigger(ctx context.Context, c call) (any, error) {
	id := gate.TriggerID(c.id)
	m, err := loaded(ctx, a, c.id, orchestrator.Want{Messages: []gate.TriggerID{id}},
		func(s *orchestrator.State) (orchestrator.Message, bool) { m, ok := s.Messages[id]; return m, ok })
	if err != nil {
		return nil, err
	}
	return triggerOf(&m), nil
}

// listDecisions is GET /v1/decisions?thread=&outcome=, the last made first.
func (a *api) listDecisions(ctx context.Context, c call) (any, error) {
	p, err := c.query.page()
	if err != nil {
		return nil, err
	}
	outcome, err := oneOf(c.query, "outcome", orchestrator.Accepted, orchestrator.Attached, orchestrator.Stopped,
		orchestrator.Ignored, orchestrator.Unavailable, orchestrator.Observed)
	if err != nil {
		return nil, err
	}
	f := orchestrator.DecisionFilter{Thread: gate.ThreadID(c.query.get("thread")), Outcome: outcome}
	found, next, err := a.lists.ListDecisions(ctx, f, p)
	if err != nil {
		return nil, fmt.Errorf("list decisions: %w", err)
	}
	return listOf(found, next, decisionOf), nil
}

// loaded reads one record; ErrNotFound when there is none of that id.
func loaded[T any](ctx context.Context, a *api, id string, w orchestrator.Want, pick func(*orchestrator.State) (T, bool)) (T, error) {
	var none T
	if !sound(id) {
		return none, orchestrator.ErrNotFound
	}
	s, err := a.records.Load(ctx, w)
	if err != nil {
		return none, fmt.Errorf("load %s: %w", id, err)
	}
	if v, ok := pick(&s); ok {
		return v, nil
	}
	return none, orchestrator.ErrNotFound
}
