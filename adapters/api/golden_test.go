package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
)

var update = flag.Bool("update", false, "write what is answered into testdata")

func TestShapes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) {
		c.Status = func(context.Context) []api.Entry {
			return []api.Entry{{Name: "redis", State: api.OK}, {Name: "evals", State: api.Degraded, Message: "1 unavailable", Count: 1}}
		}
	})
	story(t, w)
	rows := []struct{ name, target, file string }{
		{"a Trigger that a Ticket owns, in UTC", "/v1/triggers/trg_1", "trigger"},
		{"a Trigger still in the inbox shows as waiting", "/v1/triggers/trg_2", "trigger_received"},
		{"Triggers, the last received first", "/v1/triggers", "triggers"},
		{"a Ticket that asks a question", "/v1/tickets/" + string(fix), "ticket"},
		{"a Ticket that ended and was revoked", "/v1/tickets/" + string(triage), "ticket_ended"},
		{"Tickets", "/v1/tickets", "tickets"},
		{"Decisions, with null for what is not there", "/v1/decisions", "decisions"},
		{"a Thread with its Tickets but those that are forgotten", "/v1/threads/" + string(chat), "thread"},
		{"EV-9 a Thread that asks for attention", "/v1/threads/" + string(issue), "thread_attention"},
		{"a Thread that is queued and under evaluation", "/v1/threads/" + string(branch), "thread_busy"},
		{"Threads", "/v1/threads", "threads"},
		{"an empty list is no null", "/v1/tickets?executor=nobody", "empty"},
		{"the status", "/v1/status", "status"},
		{"the capabilities", "/v1/capabilities", "capabilities"},
		{"the process lives", "/healthz", "healthz"},
		{"the gateway is ready", "/readyz", "readyz"},
		{"a problem", "/v1/tickets/tkt_none", "problem"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			golden(t, r.file, w.get(t, ops, r.target).body)
		})
	}
}

// golden compares an answer with its file, which is indented for readers.
func golden(t *testing.T, name string, body []byte) {
	t.Helper()
	var got bytes.Buffer
	if err := json.Indent(&got, body, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	file := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

// A question whose deadline has passed is not open, whatever the row says.
func TestAPastDeadlineIsNoOpenQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) {
		c.Now = func() time.Time { return now.Add(2 * time.Minute) }
		c.TurnTimeout = nil
	})
	story(t, w)
	a := w.get(t, coder, "/v1/tickets/"+string(fix))
	var got struct{ Stage string }
	if err := json.Unmarshal(a.body, &got); err != nil || got.Stage != "delivery" {
		t.Errorf("DE-5 stage = %q, %v, want delivery: the turn has been silent for 52 min", got.Stage, err)
	}
}
