package api

import (
	"context"
	"fmt"
	"slices"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// EntryState is how a part of the gateway does. The zero value is not ok.
type EntryState string

// The states of an Entry.
const (
	OK       EntryState = "ok"
	Degraded EntryState = "degraded"
	Failing  EntryState = "failing"
)

// Entry is one line of the status: "evals", "redis", "source:<id>", "outbox",
// "workers", "executors". Message is for people, and Count is of what the
// entry counts.
type Entry struct {
	Name    string     `json:"name"`
	State   EntryState `json:"state"`
	Message string     `json:"message"`
	Count   int        `json:"count"`
}

type status struct {
	Healthy bool                `json:"healthy"`
	Entries []Entry             `json:"entries"`
	Queues  orchestrator.Depths `json:"queues"`
}

// getStatus is GET /v1/status. It answers also while the store does not: then
// it says so, and the queues are not known.
func (a *api) getStatus(ctx context.Context, _ call) (any, error) {
	entries := a.status(ctx)
	depths, err := a.lists.Depths(ctx)
	if err != nil {
		a.log.WarnContext(ctx, "read queue depths", "err", err)
		entries = storeAway(entries)
	}
	return statusOf(entries, depths), nil
}

// storeAway replaces what the entries say of the store.
func storeAway(entries []Entry) []Entry {
	rest := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Name == "redis" })
	return append(rest, Entry{Name: "redis", State: Failing, Message: "the store does not answer; the queues are not known"})
}

// statusOf: the gateway is healthy when there are entries and all of them are
// ok. Who says nothing is not known to be well, and neither is a state that we
// do not know.
func statusOf(entries []Entry, depths orchestrator.Depths) status {
	s := status{Healthy: len(entries) > 0, Entries: orEmpty(slices.Clone(entries)), Queues: depths}
	for i := range s.Entries {
		e := &s.Entries[i]
		switch e.State {
		case OK:
			continue
		case Degraded, Failing:
		default:
			e.State = Failing
		}
		s.Healthy = false
	}
	return s
}

// capabilities is what this gateway can do beside the rest.
type capabilities struct {
	Decisions bool `json:"decisions"` // the calls of spec page 06
}

// getCapabilities is GET /v1/capabilities.
func (a *api) getCapabilities(context.Context, call) (any, error) {
	return capabilities{Decisions: a.broker != nil}, nil
}

type probe struct {
	Status string `json:"status"`
}

// getHealth is GET /healthz: the process lives.
func (a *api) getHealth(context.Context, call) (any, error) { return probe{"ok"}, nil }

// getReady is GET /readyz: the store answers and the gateway does not drain.
func (a *api) getReady(ctx context.Context, _ call) (any, error) {
	if err := a.ready(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotReady, err)
	}
	return probe{"ready"}, nil
}
