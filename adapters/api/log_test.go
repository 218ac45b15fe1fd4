package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func TestTheRequestLine(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, token, target, method string
		away                        bool
		want                        string // level method route status caller reason err
	}{
		{"a read", ops, "/v1/tickets/" + string(fix), "GET", false, "INFO GET /v1/tickets/{id} 200 ops <nil> <nil>"},
		{"a probe is for those who look closely", "", "/healthz", "GET", false, "DEBUG GET /healthz 200  <nil> <nil>"},
		{"nobody", "", "/v1/tickets", "GET", false, "INFO GET /v1/tickets 401  unauthorized <nil>"},
		{"a forbidden call", coder, "/v1/decisions", "GET", false, "INFO GET /v1/decisions 403 coder forbidden <nil>"},
		{"an unknown route is not repeated", ops, "/v1/x-secret-y", "GET", false, "INFO GET  404 ops unknown_route <nil>"},
		{"an invented method is not repeated", ops, "/v1/tickets", "X-SECRET", false, "INFO other /v1/tickets 405 ops method_not_allowed <nil>"},
		{"a bad cursor is not repeated", ops, "/v1/tickets?cursor=x-secret-y", "GET", false, "INFO GET /v1/tickets 400 ops invalid <nil>"},
		{"a store that is away, with the cause", ops, "/v1/tickets", "GET", true, "WARN GET /v1/tickets 503 ops store_unavailable list tickets: list tickets: dial 10.0.0.9: store unavailable"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			story(t, w)
			if r.away {
				w.mem.Away(fmt.Errorf("dial 10.0.0.9: %w", orchestrator.ErrUnavailable))
			}
			w.get(t, r.token, r.target, func(req *http.Request) { req.Method = r.method })
			lines := w.log.lines(t)
			if len(lines) != 1 {
				t.Fatalf("log = %v, want one line", lines)
			}
			l := lines[0]
			got := fmt.Sprint(l["level"], " ", l["method"], " ", l["route"], " ", l["status"], " ", l["caller"], " ", l["reason"], " ", l["err"])
			if _, timed := l["took_ms"]; got != r.want || l["msg"] != "request" || !timed {
				t.Errorf("log = %v\n got %s\nwant %s", l, got, r.want)
			}
		})
	}
}

func TestNoSecretIsLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	story(t, w)
	for _, row := range matrix {
		for _, token := range []string{ops, main, coder, board, "wrong-secret"} {
			method, target := callOf(row.call)
			w.get(t, token, target+"?access_token="+token+"&cursor=query-secret&thread=query-secret", by(method))
		}
	}
	w.get(t, "", "/v1/path-secret?x=query-secret", func(r *http.Request) { r.Host = "host-secret" })
	if log := w.log.String(); strings.Contains(log, "secret") || strings.Contains(log, "build") || !strings.Contains(log, `"caller":"board"`) {
		t.Errorf("log tells a token, a query or a text:\n%s", log)
	}
}

func TestAPanicIsOurFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) {
		c.Status = func(context.Context) []api.Entry { panic("a secret") }
	})
	a := w.get(t, ops, "/v1/status")
	if p := a.problem(t); a.status != 500 || p.Code != "internal" || strings.Contains(string(a.body), "secret") {
		t.Errorf("status = %d %s, want 500 internal", a.status, a.body)
	}
	if log := w.log.String(); strings.Contains(log, "secret") || !strings.Contains(log, "panic of type string") || !strings.Contains(log, `"status":500`) {
		t.Errorf("log = %s", log)
	}
	if a := w.get(t, ops, "/v1/capabilities"); a.status != 200 {
		t.Errorf("the next call = %d, want 200", a.status)
	}
}

func TestWhatCannotBeEncodedIsOurFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) { c.Records = ages{} })
	if a := w.get(t, ops, "/v1/threads/thr_1"); a.status != 500 || a.problem(t).Code != "internal" {
		t.Errorf("thread of the year 12026 = %d %s, want 500", a.status, a.body)
	}
}

// ages is a store with a Thread whose time no RFC 3339 can tell.
type ages struct{}

func (ages) Load(context.Context, orchestrator.Want) (orchestrator.State, error) {
	th := orchestrator.Thread{ID: "thr_1", LastActivity: now.AddDate(10000, 0, 0)}
	return orchestrator.State{Threads: map[gate.ThreadID]orchestrator.Thread{"thr_1": th}}, nil
}

func TestACallerThatLeftIsNoFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.get(t, ops, "/v1/tickets", func(r *http.Request) { *r = *r.WithContext(ctx) })
	if l := w.log.lines(t); len(l) != 1 || l[0]["level"] != "INFO" {
		t.Errorf("log = %v, want one line of level INFO", l)
	}
}

func TestEveryAnswerIsSafeToShow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	story(t, w)
	for _, token := range []string{ops, "", coder} {
		for _, row := range matrix {
			method, target := callOf(row.call)
			a := w.get(t, token, target, by(method))
			media := "application/json"
			switch {
			case a.status == http.StatusNoContent:
				media = ""
			case a.status != 200:
				media = "application/problem+json"
			case strings.HasSuffix(row.call, "/events"):
				media = "text/event-stream"
			case row.call == "GET /v1/openapi.yaml":
				media = "application/yaml"
			case row.call == "GET /metrics": // Prometheus' own
				media = a.header.Get("Content-Type")
			}
			h := a.header
			if h.Get("Content-Type") != media || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" {
				t.Errorf("%s = %d with %v", row.call, a.status, h)
			}
		}
	}
}

func TestTheRequestLineTellsHowLongItTook(t *testing.T) {
	t.Parallel()
	clock := now
	w := newWorld(t, func(c *api.Config) {
		c.Now = func() time.Time { clock = clock.Add(7 * time.Millisecond); return clock }
	})
	w.get(t, ops, "/v1/capabilities")
	if l := w.log.lines(t); l[0]["took_ms"] != 7.0 {
		t.Errorf("took_ms = %v, want 7", l[0]["took_ms"])
	}
}
