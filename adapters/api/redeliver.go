package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// Redeliverer searches a Source for deliveries that were missed.
type Redeliverer interface {
	// Redeliver searches as far back as that, and has what was missed delivered
	// again (GH-8). ErrNotFound: no Source that can be searched.
	Redeliver(ctx context.Context, source gate.SourceID, since time.Time) (gate.Gap, error)
}

const (
	// redeliverSince is how far back is searched where nothing is said, and
	// redeliverMost the most: no platform keeps deliveries longer.
	redeliverSince = 24 * time.Hour
	redeliverMost  = 7 * 24 * time.Hour
)

type gap struct {
	From     *time.Time `json:"from"`
	To       *time.Time `json:"to"`
	Found    int        `json:"found"`
	Replayed int        `json:"replayed"`
}

// redeliver is POST /v1/sources/{id}/redeliver (GH-8): {since?}, a duration.
func (a *api) redeliver(ctx context.Context, c call) (any, error) {
	if a.redeliverer == nil {
		return nil, errNoRoute
	}
	if !sound(c.id) {
		return nil, orchestrator.ErrNotFound
	}
	var asked struct {
		Since string `json:"since"`
	}
	if err := c.body.json(&asked); err != nil {
		return nil, err
	}
	since := redeliverSince
	if asked.Since != "" {
		var err error
		if since, err = days(asked.Since); err != nil || since <= 0 || since > redeliverMost {
			return nil, badQuery("since is a duration of at most 7d, such as 24h.")
		}
	}
	found, err := a.redeliverer.Redeliver(ctx, gate.SourceID(c.id), a.now().Add(-since))
	var platform *gate.SendError
	switch {
	case errors.As(err, &platform):
		return nil, fmt.Errorf("%w: %w", errPlatform, err)
	case err != nil:
		return nil, err
	}
	out := gap{Found: found.Found, Replayed: found.Replayed}
	if found.Found > 0 {
		out.From, out.To = &found.From, &found.To
	}
	return out, nil
}
