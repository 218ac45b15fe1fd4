package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func TestProblems(t *testing.T) {
	t.Parallel()
	rows := []struct {
		err    error
		status int
		code   string
	}{
		{orchestrator.ErrNotFound, 404, "not_found"},
		{approvals.ErrNotFound, 404, "not_found"},
		{approvals.ErrInvalid, 400, "invalid"},
		{approvals.ErrAnswered, 409, "conflict"},
		{approvals.ErrClosed, 409, "closed"},
		{approvals.ErrNotAllowed, 403, "not_allowed"},
		{approvals.ErrWrongCard, 403, "wrong_card"},
		{approvals.ErrTooManyOpen, 429, "too_many_open"},
		{orchestrator.ErrUnavailable, 503, "store_unavailable"},
		{fmt.Errorf("%w: %w", orchestrator.ErrUnavailable, context.Canceled), 503, "store_unavailable"},
		{orchestrator.ErrConflict, 503, "busy"},
		{orchestrator.ErrLostClaim, 503, "busy"},
		{orchestrator.ErrNewer, 503, "newer_version"},
		{context.DeadlineExceeded, 503, "timeout"},
		{context.Canceled, 503, "cancelled"},
		{approvals.ErrEarly, 500, "internal"},
		{errors.New("dial tcp 10.0.0.9: secret"), 500, "internal"},
	}
	for _, r := range rows {
		t.Run(fmt.Sprintf("%v is %d %s", r.err, r.status, r.code), func(t *testing.T) {
			t.Parallel()
			status, code, title, detail := api.ProblemOf(fmt.Errorf("do: %w", r.err))
			if status != r.status || code != r.code || title == "" || detail == "" || strings.Contains(detail, "secret") {
				t.Errorf("problem of %v = %d %s %q %q, want %d %s", r.err, status, code, title, detail, r.status, r.code)
			}
		})
	}
	t.Run("every error of the table has a sentence", func(t *testing.T) {
		t.Parallel()
		for _, err := range api.Answers() {
			if status, code, title, detail := api.ProblemOf(err); status < 400 || code == "" || title == "" || !strings.HasSuffix(detail, ".") {
				t.Errorf("problem of %v = %d %q %q %q", err, status, code, title, detail)
			}
		}
	})
}

func TestTheStoreIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) {
		c.Ready = func(context.Context) error { return fmt.Errorf("ping: %w", orchestrator.ErrUnavailable) }
	})
	story(t, w)
	w.mem.Away(fmt.Errorf("dial 10.0.0.9: %w", orchestrator.ErrUnavailable))
	for _, row := range matrix {
		method, path, _ := strings.Cut(row.call, " ")
		if method != http.MethodGet || strings.HasPrefix(row.want, "404") {
			continue // has a body, or is not plugged in here
		}
		target := objects.Replace(path)
		want := 503
		switch target {
		case "/healthz", "/metrics", "/v1/status", "/v1/capabilities", "/v1/openapi.yaml", "/v1/orchestrator/tools":
			want = 200
		}
		t.Run(fmt.Sprintf("RS-9 %s is %d", target, want), func(t *testing.T) {
			t.Parallel()
			a := w.get(t, ops, target, by(method))
			if a.status != want || (a.header.Get("Retry-After") != "") != (want == 503) {
				t.Errorf("%s = %d, Retry-After %q, want %d", target, a.status, a.header.Get("Retry-After"), want)
			}
			if want == 503 && a.problem(t).Code != "store_unavailable" || strings.Contains(string(a.body), "10.0.0.9") {
				t.Errorf("%s = %s", target, a.body)
			}
		})
	}
	t.Run("RS-9 the status says so", func(t *testing.T) {
		t.Parallel()
		golden(t, "status_away", w.get(t, ops, "/v1/status").body)
	})
}

// loads is a store of which only loading is of interest.
type loads func(w orchestrator.Want) (orchestrator.State, error)

func (l loads) Load(_ context.Context, w orchestrator.Want) (orchestrator.State, error) { return l(w) }

func TestTheStoreGoesAwayHalfWay(t *testing.T) {
	t.Parallel()
	rows := []struct {
		target string
		fails  func(orchestrator.Want) bool
	}{
		{"/v1/tickets", func(w orchestrator.Want) bool { return w.Questions }},
		{"/v1/tickets/" + string(fix), func(w orchestrator.Want) bool { return w.Questions }},
		{"/v1/threads", func(w orchestrator.Want) bool { return len(w.Tickets) > 0 }},
		{"/v1/threads/" + string(chat), func(w orchestrator.Want) bool { return len(w.Tickets) > 0 }},
	}
	for _, r := range rows {
		t.Run("RS-9 "+r.target+" does not tell half of it", func(t *testing.T) {
			t.Parallel()
			var w *world
			w = newWorld(t, func(c *api.Config) {
				c.Records = loads(func(want orchestrator.Want) (orchestrator.State, error) {
					if r.fails(want) {
						return orchestrator.State{}, orchestrator.ErrUnavailable
					}
					return w.mem.Load(t.Context(), want)
				})
			})
			story(t, w)
			if a := w.get(t, ops, r.target); a.status != 503 || a.problem(t).Code != "store_unavailable" {
				t.Errorf("%s = %d %s, want 503", r.target, a.status, a.body)
			}
		})
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	draining := func(context.Context) error { return errors.New("draining") }
	for name, ready := range map[string]func(context.Context) error{"draining is not ready": draining, "not knowing is not ready": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *api.Config) { c.Ready = ready })
			if a := w.get(t, "", "/readyz"); a.status != 503 || a.problem(t).Code != "not_ready" || a.header.Get("Retry-After") == "" {
				t.Errorf("readyz = %d %s, want 503 not_ready", a.status, a.body)
			}
			if a := w.get(t, "", "/healthz"); a.status != 200 {
				t.Errorf("healthz = %d, want 200", a.status)
			}
		})
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name   string
		states []api.EntryState
		want   string
	}{
		{"all ok is healthy", []api.EntryState{api.OK, api.OK}, `"healthy":true`},
		{"degraded is not", []api.EntryState{api.OK, api.Degraded}, `"healthy":false`},
		{"failing is not", []api.EntryState{api.Failing, api.OK}, `"healthy":false`},
		{"an unknown state fails", []api.EntryState{""}, `"state":"failing"`},
		{"no entries are not known to be well", nil, `"healthy":false,"entries":[]`},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *api.Config) {
				c.Status = func(context.Context) (es []api.Entry) {
					for _, s := range r.states {
						es = append(es, api.Entry{Name: "workers", State: s})
					}
					return es
				}
				if r.states == nil {
					c.Status = nil
				}
			})
			if a := w.get(t, ops, "/v1/status"); !strings.Contains(string(a.body), r.want) {
				t.Errorf("status = %s, want %s", a.body, r.want)
			}
		})
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	story(t, w)
	rows := []struct {
		method, token, target string
		want                  int
	}{
		{"HEAD", ops, "/v1/tickets", 200},
		{"HEAD", "", "/healthz", 200},
		{"POST", ops, "/v1/tickets", 405},
		{"OPTIONS", ops, "/v1/status", 405},
		{"BREW", ops, "/v1/tickets/" + string(fix), 405},
		{"DELETE", "", "/readyz", 405},
		{"POST", "", "/v1/tickets", 401},
		{"POST", ops, "/v1/nothing", 404},
	}
	for _, r := range rows {
		t.Run(fmt.Sprintf("%s %s is %d", r.method, r.target, r.want), func(t *testing.T) {
			t.Parallel()
			a := w.get(t, r.token, r.target, func(req *http.Request) { req.Method = r.method })
			if a.status != r.want || (a.header.Get("Allow") == "GET, HEAD") != (r.want == 405) {
				t.Errorf("%s %s = %d, Allow %q, want %d", r.method, r.target, a.status, a.header.Get("Allow"), r.want)
			}
		})
	}
}

func TestOddIDsAreNotLookedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mem.Away(orchestrator.ErrUnavailable) // it is not asked
	for _, id := range []string{"a%20b", "%7Bx%7D", "a*", "%00", "%E4%B8%AD", strings.Repeat("a", 257)} {
		if a := w.get(t, ops, "/v1/threads/"+id); a.status != 404 || a.problem(t).Code != "not_found" {
			t.Errorf("thread %q = %d, want 404", id, a.status)
		}
	}
}
