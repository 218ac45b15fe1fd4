package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// TestWhatEveryCallRefuses tries on every call of openapi.yaml what it says
// that it refuses: a call that is new is tried too.
func TestWhatEveryCallRefuses(t *testing.T) {
	t.Parallel()
	w := policyWorld(t)
	w.commit(t, orchestrator.Changes{Tickets: []orchestrator.Ticket{asking()}, Questions: questions()})
	none := strings.NewReplacer("{id}", "none", "{thread}", "none", "{decisionId}", "none")
	exists := strings.NewReplacer("{id}", string(fix), "{thread}", string(chat), "{decisionId}", string(which))
	for call, op := range paperOf(t).operations() {
		method, path, _ := strings.Cut(call, " ")
		parameters, answers := paperOf(t).parameters(call), op.get("responses").keys()
		rows := []struct {
			holds                    bool
			name, target, body, kind string
			want                     int
		}{
			{strings.Contains(path, "{id}"), "an id that nothing has", none.Replace(path), "{}", "application/json", 404},
			{op.get("requestBody").there() && slices.Contains(answers, "400"), "half a body", exists.Replace(path), "{", "application/json", 400},
			{op.get("requestBody").there(), "too large a body", exists.Replace(path), strings.Repeat(" ", 2<<20), "application/json", 413},
			{op.get("requestBody").there(), "a body of no known type", exists.Replace(path), "{}", "text/plain", 415},
			{parameters["query limit"].there(), "a page of nothing", exists.Replace(path) + "?limit=0", "", "", 400},
			{parameters["query wait"].there(), "a wait for ever", exists.Replace(path) + "?wait=ever", "", "", 400},
			{true, "a query that is not well formed", exists.Replace(path) + "?%zz", "", "", 400},
			{true, "another Host (DNS rebinding)", exists.Replace(path), "", "", 421},
		}
		for _, r := range rows {
			if !r.holds || op.get("security").there() && r.want == 421 {
				continue
			}
			t.Run(call+" refuses "+r.name, func(t *testing.T) {
				t.Parallel()
				a := w.get(t, ops, r.target, func(req *http.Request) {
					*req = *post(t, req, r.body)
					req.Method = method
					req.Header.Set("Content-Type", r.kind)
					req.Header.Set("If-Match", `"1"`)
					if r.want == 421 {
						req.Host = "evil.example.com"
					}
				})
				if a.status != r.want {
					t.Errorf("%s %s = %d %s, want %d", method, r.target, a.status, a.body, r.want)
				}
			})
		}
	}
}

// TestEveryCallTakesItsParameters: lists have pages, and what can wait does.
func TestEveryCallTakesItsParameters(t *testing.T) {
	t.Parallel()
	w := policyWorld(t)
	w.commit(t, orchestrator.Changes{Tickets: []orchestrator.Ticket{asking()}, Questions: questions()})
	exists := strings.NewReplacer("{id}", string(fix), "{decisionId}", string(which))
	for call := range paperOf(t).operations() {
		_, path, _ := strings.Cut(call, " ")
		for name, query := range map[string]string{"query limit": "?limit=1&cursor=", "query wait": "?wait=1ms"} {
			if !paperOf(t).parameters(call)[name].there() {
				continue
			}
			target := exists.Replace(path) + query
			if a := w.get(t, ops, target); a.status/100 != 2 {
				t.Errorf("GET %s = %d %s", target, a.status, a.body)
			}
		}
	}
}

func TestAFollowUpIsSentToAnEval(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		o.say("lin", "oc_1/om_1", "@bot fix it")
		o.say("lin", "oc_1/om_1", "and a new page, please")
		more := o.message("and a new page, please")
		want(t, "a follow-up is its Ticket's", len(more.Owners), 1)
		var got struct {
			State  string
			Owners []string
		}
		o.remote(ops).ask("POST", "/v1/triggers/"+string(more.ID)+"/to_eval", "", &got)
		want(t, "it waits for an Eval (PA-1)", words(got.State, got.Owners), "queued []")
	})
}
