package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// redeliverer knows one Source with a gap, and one whose platform refuses.
type redeliverer struct{}

func (redeliverer) Redeliver(_ context.Context, source gate.SourceID, since time.Time) (gate.Gap, error) {
	switch source {
	case "github-main":
		return gate.Gap{From: since, To: since.Add(time.Minute), Found: 3, Replayed: 2}, nil
	case "quiet":
		return gate.Gap{}, nil
	case "away":
		return gate.Gap{}, &gate.SendError{Class: gate.SendRetry, Reason: "no answer", Err: errors.New("secret")}
	}
	return gate.Gap{}, orchestrator.ErrNotFound
}

func TestRedeliver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) { c.Redeliverer = redeliverer{} })
	for _, c := range []struct {
		says, source, body, want string
		found                    int
		back                     time.Duration
	}{
		{"what was missed is told (GH-8)", "github-main", `{"since":"2h"}`, "", 3, 2 * time.Hour},
		{"a day is searched where nothing is said (GH-8)", "github-main", `{}`, "", 3, 24 * time.Hour},
		{"days are a duration, too (GH-8)", "github-main", `{"since":"3d"}`, "", 3, 72 * time.Hour},
		{"no gap has no times (GH-8)", "quiet", `{}`, "", 0, 0},
		{"more than a week is refused (GH-8)", "github-main", `{"since":"8d"}`, "invalid", 0, 0},
		{"no time at all is refused (GH-8)", "github-main", `{"since":"0h"}`, "invalid", 0, 0},
		{"what is no duration is refused (GH-8)", "github-main", `{"since":"today"}`, "invalid", 0, 0},
		{"what is no JSON is refused (GH-8)", "github-main", `{`, "invalid_json", 0, 0},
		{"a Source that cannot be searched is a 404 (GH-8)", "none", `{}`, "not_found", 0, 0},
		{"what is no id is a 404 (GH-8)", "%00", `{}`, "not_found", 0, 0},
		{"a platform that refuses is said to (GH-8)", "away", `{}`, "platform", 0, 0},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			got := w.post(t, ops, "/v1/sources/"+c.source+"/redeliver", c.body)
			var a struct {
				Code            string
				From, To        *time.Time
				Found, Replayed int
			}
			if err := json.Unmarshal(got.body, &a); err != nil || a.Code != c.want || a.Found != c.found {
				t.Fatalf("POST = %s, %v; want %q and %d found", got.body, err, c.want, c.found)
			}
			if (a.From != nil) != (c.found > 0) || a.From != nil && a.To.Sub(*a.From) != time.Minute {
				t.Errorf("POST = %s; want the gap's times", got.body)
			}
			if a.From != nil && (time.Since(*a.From) < c.back-time.Hour || time.Since(*a.From) > c.back+time.Hour) && !a.From.Equal(now.Add(-c.back)) {
				t.Errorf("POST = %s; want %s back", got.body, c.back)
			}
		})
	}
}
