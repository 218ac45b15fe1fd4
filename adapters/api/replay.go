package api

import (
	"context"
	"encoding/json"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// Replayer takes recorded bodies in again.
type Replayer interface {
	// Replay takes the body of a Source in as if it came now, though it may be
	// known, and marks its Trigger with the operator (TR-7). ErrNotFound: no
	// such Source.
	Replay(ctx context.Context, source gate.SourceID, event string, body []byte, by string) (Replayed, error)
}

// Replayed is what a recorded body turned out to be. Trigger is "" where it
// made none.
type Replayed struct {
	Outcome, Reason string
	Trigger         gate.TriggerID
}

type replayed struct {
	Outcome string  `json:"outcome"`
	Reason  string  `json:"reason"`
	Trigger *string `json:"trigger"`
}

// replay is POST /v1/sources/{id}/replay (TR-7): {event?, body}, where body is
// the JSON as the platform sent it, decrypted, and event GitHub's name of it.
func (a *api) replay(ctx context.Context, c call) (any, error) {
	if a.replayer == nil {
		return nil, errNoRoute
	}
	if !sound(c.id) {
		return nil, orchestrator.ErrNotFound
	}
	var asked struct {
		Event string          `json:"event"`
		Body  json.RawMessage `json:"body"`
	}
	if err := c.body.json(&asked); err != nil {
		return nil, err
	}
	r, err := a.replayer.Replay(ctx, gate.SourceID(c.id), asked.Event, asked.Body, c.who.name)
	if err != nil {
		return nil, err
	}
	return replayed{r.Outcome, r.Reason, orNull(r.Trigger)}, nil
}
