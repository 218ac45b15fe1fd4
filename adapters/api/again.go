package api

import (
	"context"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// Again is what a person does about Evals; orchestrator.Service is one. An
// *orchestrator.Refused says why nothing changed.
type Again interface {
	EvaluateAgain(ctx context.Context, id gate.ThreadID, by string) error
	Dismiss(ctx context.Context, id gate.ThreadID, by string) error
	SendToEval(ctx context.Context, id gate.TriggerID, by string) error
}

// evaluateThread is POST /v1/threads/{id}/evaluate (EV-9, PA-2).
func (a *api) evaluateThread(ctx context.Context, c call) (any, error) {
	return a.again(ctx, c, a.getThread, func() error { return a.judge.EvaluateAgain(ctx, gate.ThreadID(c.id), c.who.by()) })
}

// dismissThread is POST /v1/threads/{id}/dismiss (EV-9).
func (a *api) dismissThread(ctx context.Context, c call) (any, error) {
	return a.again(ctx, c, a.getThread, func() error { return a.judge.Dismiss(ctx, gate.ThreadID(c.id), c.who.by()) })
}

// sendToEval is POST /v1/triggers/{id}/to_eval (PA-1).
func (a *api) sendToEval(ctx context.Context, c call) (any, error) {
	return a.again(ctx, c, a.getTrigger, func() error { return a.judge.SendToEval(ctx, gate.TriggerID(c.id), c.who.by()) })
}

// again does something and answers with the object as it is then.
func (a *api) again(ctx context.Context, c call, show func(context.Context, call) (any, error), do func() error) (any, error) {
	if a.judge == nil {
		return nil, errNoRoute
	}
	if !sound(c.id) {
		return nil, orchestrator.ErrNotFound
	}
	if err := do(); err != nil {
		return nil, err
	}
	return show(ctx, c)
}
