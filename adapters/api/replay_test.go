package api_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// replayer knows one Source and repeats what it was given.
type replayer struct{}

func (replayer) Replay(_ context.Context, source gate.SourceID, event string, body []byte, by string) (api.Replayed, error) {
	if source != "github-main" {
		return api.Replayed{}, orchestrator.ErrNotFound
	}
	return api.Replayed{Outcome: event, Reason: by + string(body), Trigger: "trg_9"}, nil
}

func TestReplay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) { c.Replayer = replayer{} })
	for _, c := range []struct{ says, path, body, want string }{
		{"a forced body is taken in as the operator's (TR-7)", "/v1/sources/github-main/replay", `{"event":"issues","body":{"a":1}}`, "issues"},
		{"a source that there is not is a 404 (TR-7)", "/v1/sources/none/replay", `{"body":{}}`, "not_found"},
		{"what is no id is a 404 (TR-7)", "/v1/sources/%00/replay", `{"body":{}}`, "not_found"},
		{"what is no JSON is refused (TR-7)", "/v1/sources/github-main/replay", `{`, "invalid_json"},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			got := w.post(t, ops, c.path, c.body)
			var a struct{ Outcome, Reason, Trigger, Code string }
			if err := json.Unmarshal(got.body, &a); err != nil || a.Outcome+a.Code != c.want || a.Code == "" && (a.Trigger != "trg_9" || a.Reason != `ops{"a":1}`) {
				t.Errorf("POST %s = %s, want %s", c.path, got.body, c.want)
			}
		})
	}
}
