package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
)

// matrix is what each caller gets from each call, in the order: operator,
// viewer, orchestrator, executor, no token, a wrong one.
var matrix = []struct{ call, want string }{
	{"GET /healthz", "200 200 200 200 200 200"},
	{"GET /readyz", "200 200 200 200 200 200"},
	{"GET /metrics", "200 200 200 403 401 401"},
	{"GET /v1/status", "200 200 200 403 401 401"},
	{"GET /v1/openapi.yaml", "200 200 200 200 401 401"},
	{"GET /v1/capabilities", "200 200 200 200 401 401"},
	{"GET /v1/triggers", "200 200 200 403 401 401"},
	{"GET /v1/triggers/{id}", "200 200 200 403 401 401"},
	{"GET /v1/threads", "200 200 200 403 401 401"},
	{"GET /v1/threads/{id}", "200 200 200 403 401 401"},
	{"GET /v1/tickets", "200 200 200 200 401 401"},
	{"GET /v1/tickets/{id}", "200 200 200 404 401 401"}, // the Ticket is another executor's
	{"GET /v1/tickets/{id}/inputs", "200 403 403 404 401 401"},
	{"POST /v1/tickets/{id}/actions", "415 403 403 404 401 401"}, // no body was sent
	{"POST /v1/tickets/{id}/stop", "200 403 403 403 401 401"},
	{"DELETE /v1/tickets/{id}/subscriptions/{thread}", "404 403 403 403 401 401"}, // it has none
	{"GET /v1/sessions/{id}/decisions", "200 200 200 404 401 401"},
	{"POST /v1/sessions/{id}/decisions", "415 403 403 404 401 401"},             // the main Session asks for itself only
	{"GET /v1/sessions/{id}/decisions/{decisionId}", "404 404 404 404 401 401"}, // the Ticket did not ask that
	{"POST /v1/sessions/{id}/decisions/{decisionId}", "404 403 403 403 401 401"},
	{"POST /v1/sessions/{id}/cancel", "200 403 403 404 401 401"},
	{"POST /v1/sessions/{id}/policy", "415 403 403 403 401 401"}, // no body
	{"GET /v1/sessions/{id}/events", "200 200 200 404 401 401"},  // it drains, so the stream ends at once
	{"POST /v1/sessions/{id}/run", "415 403 403 403 401 401"},    // no body
	{"GET /v1/decisions", "200 200 200 403 401 401"},
	{"GET /v1/events", "200 200 200 403 401 401"}, // it drains, so the stream ends at once
	// No Policy is plugged in here: who may call gets 404.
	{"GET /v1/policy", "404 404 404 403 401 401"},
	{"PUT /v1/policy", "404 403 403 403 401 401"},
	{"GET /v1/policy/versions", "404 404 404 403 401 401"},
	{"POST /v1/policy/explain", "404 404 404 403 401 401"},
	{"POST /v1/policy/backtest", "404 404 404 403 401 401"},
	{"POST /v1/pause", "404 403 403 403 401 401"},
	{"POST /v1/resume", "404 403 403 403 401 401"},
	{"POST /v1/sources/{id}/replay", "404 403 403 403 401 401"},    // nothing is plugged in here
	{"POST /v1/sources/{id}/redeliver", "404 403 403 403 401 401"}, // nor here
	{"POST /v1/triggers/{id}/to_eval", "409 403 403 403 401 401"},  // what started a Ticket is not taken from it
	{"POST /v1/threads/{id}/evaluate", "409 403 403 403 401 401"},  // nothing was left undecided
	{"POST /v1/threads/{id}/dismiss", "200 403 403 403 401 401"},
	{"GET /v1/orchestrator/next", "204 403 204 403 401 401"},
	{"GET /v1/orchestrator/tools", "200 200 200 403 401 401"},
	{"POST /v1/orchestrator/route", "415 403 415 403 401 401"}, // no body
	{"POST /v1/orchestrator/evaluate", "415 403 415 403 401 401"},
	{"POST /v1/orchestrator/ack_notices", "415 403 415 403 401 401"},
}

var objects = strings.NewReplacer(
	"/v1/sources/{id}", "/v1/sources/feishu-main", "/v1/triggers/{id}", "/v1/triggers/trg_1", "/v1/threads/{id}", "/v1/threads/"+string(chat),
	"/v1/tickets/{id}", "/v1/tickets/"+string(triage), "/v1/sessions/{id}", "/v1/sessions/"+string(triage), "{thread}", string(chat), "{decisionId}", string(which),
)

// callOf is the method and the target of a row.
func callOf(call string) (method, target string) {
	method, path, _ := strings.Cut(call, " ")
	return method, objects.Replace(path)
}

// by sends a request with another method.
func by(method string) func(*http.Request) { return func(r *http.Request) { r.Method = method } }

func TestRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	story(t, w)
	callers := []struct{ who, token string }{
		{"an operator", ops}, {"a viewer", board}, {"an orchestrator", main}, {"an executor", coder},
		{"nobody", ""}, {"a wrong token", ops + "x"},
	}
	for _, row := range matrix {
		method, target := callOf(row.call)
		for i, want := range strings.Fields(row.want) {
			t.Run(callers[i].who+" calling "+row.call+" gets "+want, func(t *testing.T) {
				t.Parallel()
				a := w.get(t, callers[i].token, target, by(method))
				if got := http.StatusText(a.status); got != http.StatusText(statusCode(want)) {
					t.Errorf("%s = %d %s, want %s: %s", row.call, a.status, got, want, a.body)
				}
			})
		}
	}
	t.Run("every call stands in the matrix", func(t *testing.T) {
		t.Parallel()
		var calls, rows []string
		for _, r := range api.Routes() {
			calls = append(calls, r.Method+" "+r.Path)
		}
		for _, row := range matrix {
			rows = append(rows, row.call)
		}
		if !slices.Equal(calls, rows) {
			t.Errorf("Routes() = %q, want %q", calls, rows)
		}
	})
}

func statusCode(s string) int {
	return map[string]int{"200": 200, "204": 204, "409": 409, "415": 415, "401": 401, "403": 403, "404": 404}[s]
}

func TestTheTicketsOfAnExecutor(t *testing.T) {
	t.Parallel()
	both, own := []string{string(fix), string(triage)}, []string{string(fix)}
	rows := []struct {
		name, token, query string
		want               []string
	}{
		{"an operator sees all", ops, "", both},
		{"an operator asks for those of one executor", ops, "?executor=coder", own},
		{"a viewer sees all", board, "", both},
		{"an executor sees its own", coder, "", own},
		{"an executor may say that it means its own", coder, "?executor=me", own},
		{"an executor may name itself", coder, "?executor=coder", own},
		{"an executor has none of others'", coder, "?executor=default", nil},
		{"a state filters", ops, "?state=ended", both[1:]},
		{"a state filters an executor's", coder, "?state=ended&executor=me", nil},
	}
	w := newWorld(t)
	story(t, w)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if got, next := w.get(t, r.token, "/v1/tickets"+r.query).ids(t); !slices.Equal(got, r.want) || next != "" {
				t.Errorf("tickets%s = %q, next %q, want %q", r.query, got, next, r.want)
			}
		})
	}
	t.Run("its own Ticket can be read", func(t *testing.T) {
		t.Parallel()
		if a := w.get(t, coder, "/v1/tickets/"+string(fix)); a.status != http.StatusOK {
			t.Errorf("own ticket = %d, want 200", a.status)
		}
	})
	t.Run("another's Ticket is as if there were none", func(t *testing.T) {
		t.Parallel()
		foreign, none := w.get(t, coder, "/v1/tickets/"+string(triage)), w.get(t, coder, "/v1/tickets/tkt_none")
		if string(foreign.body) != string(none.body) {
			t.Errorf("foreign = %s, want %s", foreign.body, none.body)
		}
	})
}
