package api_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// policyWorld is a listener over a Service with a Policy in force.
func policyWorld(t *testing.T) *world {
	t.Helper()
	var svc *orchestrator.Service
	w := newWorld(t, func(c *api.Config) {
		mem, ok := c.Lists.(orchestrator.Store)
		if !ok {
			t.Fatal("the lists are no store")
		}
		svc = orchestrator.NewService(orchestrator.ServiceConfig{
			Store: mem, Directory: &orchestrator.Lists{States: mem}, Now: c.Now, Log: slog.New(slog.DiscardHandler),
			NewID: func(prefix string) string { return prefix + "1" },
			Sources: map[gate.SourceID]*gate.Source{"feishu-main": {
				ID: "feishu-main", Platform: gate.Feishu, Enabled: true,
				Scopes: map[gate.Scope]gate.Receive{"chat:oc_a": gate.ReceiveMentions},
			}},
		})
		c.Policy, c.Pauser, c.Versions, c.ParsePolicy = svc, svc, mem, parseJSON
		c.Replayer, c.Redeliverer = replayer{}, redeliverer{}
	})
	if _, err := svc.ApplyFile(t.Context(), running()); err != nil {
		t.Fatal(err)
	}
	return w
}

func running() gate.Policy {
	return gate.Policy{Mode: gate.Observe, Sources: map[gate.SourceID]gate.SourcePolicy{"feishu-main": {
		Allow: []string{"ou_lin"}, Table: gate.Table{"chat:oc_a": {UnlistedAddressed: gate.Inferred}},
	}}}
}

// parseJSON stands in for the configuration's reader.
func parseJSON(name string, data []byte) (p gate.Policy, faults []string) {
	if err := json.Unmarshal(data, &p); err != nil {
		return gate.Policy{}, []string{name + ":1:1: " + err.Error(), name + ":2:1: and more"}
	}
	return p, nil
}

// call sends a request with a body.
func (w *world) call(t *testing.T, token, method, target, body string, header ...string) answer {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Host = "127.0.0.1:8081"
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	w.h.ServeHTTP(rec, r)
	return answer{rec.Code, rec.Header(), rec.Body.Bytes()}
}

func TestPutPolicy(t *testing.T) {
	t.Parallel()
	const auto = `{"mode": "auto"}`
	for _, c := range []struct {
		name, body string
		header     []string
		status     int
		code       string
	}{
		{"without If-Match it is 428 (PV-6)", auto, nil, 428, "if_match_required"},
		{"any version is no version (PV-6)", auto, []string{"If-Match", "*"}, 428, "if_match_required"},
		{"an outdated version is 412 (PV-6)", auto, []string{"If-Match", `"7"`}, 412, "outdated"},
		{"a tag that is none of ours is 412 (PV-6)", auto, []string{"If-Match", `W/"1"`}, 412, "outdated"},
		{"a quoted word is 412 (PV-6)", auto, []string{"If-Match", `"x"`}, 412, "outdated"},
		{"an invalid one is 422 (PV-6)", `{"mode": "on"}`, []string{"If-Match", `"1"`}, 422, "invalid_policy"},
		{"another content type is 415", auto, []string{"If-Match", `"1"`, "Content-Type", "text/plain"}, 415, "unsupported_media_type"},
		{"too large a body is 413", strings.Repeat(" ", 2<<20), []string{"If-Match", `"1"`}, 413, "too_large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := policyWorld(t)
			a := w.call(t, ops, http.MethodPut, "/v1/policy", c.body, c.header...)
			if p := a.problem(t); a.status != c.status || p.Code != c.code {
				t.Errorf("PUT = %d %s, want %d %s", a.status, p.Code, c.status, c.code)
			}
			if got := w.get(t, ops, "/v1/policy").header.Get("ETag"); got != `"1"` {
				t.Errorf("the running policy is %s now, want it to stay (PV-6)", got)
			}
		})
	}
	t.Run("an invalid one names all mistakes (PV-6)", func(t *testing.T) {
		t.Parallel()
		golden(t, "policy_invalid", policyWorld(t).call(t, ops, http.MethodPut, "/v1/policy", `{"mode": "on"}`, "If-Match", `"1"`).body)
	})
	t.Run("what was read can be edited and put back, with who did it in the history (PV-1, PV-6)", func(t *testing.T) {
		t.Parallel()
		w := policyWorld(t)
		read := w.get(t, ops, "/v1/policy")
		golden(t, "policy", read.body)
		var got struct{ Policy json.RawMessage }
		if err := json.Unmarshal(read.body, &got); err != nil {
			t.Fatal(err)
		}
		same := w.call(t, ops, http.MethodPut, "/v1/policy", string(got.Policy), "If-Match", read.header.Get("ETag"))
		if same.status != 200 || same.header.Get("ETag") != `"1"` {
			t.Errorf("PV-1 PUT of the same = %d %s, want 200 and version 1", same.status, same.header.Get("ETag"))
		}
		edit := strings.Replace(string(got.Policy), "observe", "auto", 1)
		put := w.call(t, ops, http.MethodPut, "/v1/policy", edit, "If-Match", `"1"`, "Content-Type", "application/yaml")
		if put.status != 200 || put.header.Get("ETag") != `"2"` {
			t.Errorf("PUT = %d %s %s, want 200 and version 2", put.status, put.header.Get("ETag"), put.body)
		}
		golden(t, "policy_versions", w.get(t, board, "/v1/policy/versions").body)
	})
}

func TestExplainPolicy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, want string }{
		{"a listed person (AD-2)", `{"source": "feishu-main", "scope": "chat:oc_a", "sender": {"kind": "person", "id": "ou_lin"}, "addressing": "mention"}`, "policy_explain"},
		{"another person (AD-5)", `{"source": "feishu-main", "scope": "chat:oc_a", "sender": {"kind": "person", "id": "ou_x"}, "addressing": "mention", "thread": "th_1"}`, "policy_explain_cell"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			golden(t, c.want, policyWorld(t).call(t, board, http.MethodPost, "/v1/policy/explain", c.body).body)
		})
	}
	t.Run("the tickets of the thread count (AD-3)", func(t *testing.T) {
		t.Parallel()
		w := policyWorld(t)
		w.commit(t, orchestrator.Changes{
			Threads: []orchestrator.Thread{{ID: "th_1", Source: "feishu-main", Tickets: []orchestrator.ThreadTicket{{Ticket: "tkt_1", Kind: orchestrator.SubOwn}}}},
			Tickets: []orchestrator.Ticket{{ID: "tkt_1", State: orchestrator.TicketActive, Mandate: gate.Mandate{State: gate.MandateActive}}},
		})
		a := w.call(t, board, http.MethodPost, "/v1/policy/explain",
			`{"source": "feishu-main", "scope": "chat:oc_a", "sender": {"kind": "person", "id": "ou_lin"}, "addressing": "none", "thread": "th_1"}`)
		if !strings.Contains(string(a.body), `"basis":"follow_up"`) {
			t.Errorf("explain = %s, want a follow-up", a.body)
		}
	})
	for body, want := range map[string]int{`{"addressing": "loud"}`: 400, `{"thread": "a/b"}`: 404} {
		if a := policyWorld(t).call(t, ops, http.MethodPost, "/v1/policy/explain", body); a.status != want {
			t.Errorf("explain %s = %d, want %d", body, a.status, want)
		}
	}
}

func TestBacktestPolicy(t *testing.T) {
	t.Parallel()
	w := policyWorld(t)
	said := func(id gate.TriggerID, who string, at time.Time, rule string) orchestrator.Message {
		return orchestrator.Message{
			Trigger: gate.Trigger{
				ID: id, Source: "feishu-main", Scope: "chat:oc_a", Thread: "th_1", Kind: gate.KindMessage, Addressing: gate.Mention,
				Sender: gate.Sender{Kind: gate.Person, ID: who}, ReceivedAt: at,
			},
			State: orchestrator.StateDecided, Admission: orchestrator.Admission{Verdict: gate.Verdict{Rule: rule}},
		}
	}
	w.commit(t, orchestrator.Changes{Messages: []orchestrator.Message{
		said("trg_1", "ou_lin", ago(time.Hour), "AD-2"), said("trg_2", "ou_x", ago(time.Hour), "AD-5"),
		said("trg_3", "ou_x", ago(48*time.Hour), "AD-5"), said("trg_4", "ou_x", ago(time.Hour), ""),
	}})
	t.Run("what would be admitted differently is listed, and nothing is touched (PV-8)", func(t *testing.T) {
		body := `{"since": "1d", "policy": {"mode": "off", "sources": {"feishu-main": {"allow": ["ou_lin"], "admission": {"chat:oc_a": {"unlisted_addressed": "inferred"}}}}}}`
		golden(t, "policy_backtest", w.call(t, board, http.MethodPost, "/v1/policy/backtest", body).body)
		if got := w.get(t, ops, "/v1/policy").header.Get("ETag"); got != `"1"` {
			t.Errorf("the running policy is %s, want it untouched (PV-8)", got)
		}
	})
	for body, want := range map[string]int{
		`{"since": "7d", "policy": {"mode": "on"}}`: 422, `{"since": "long", "policy": {}}`: 400, `{"since": "-1d", "policy": {}}`: 400,
		`{"since": "-1h", "policy": {}}`: 400, `{`: 400, `{"since": "12h", "policy": {"mode": "auto"}}`: 200,
	} {
		if a := w.call(t, ops, http.MethodPost, "/v1/policy/backtest", body); a.status != want {
			t.Errorf("backtest %s = %d %s, want %d", body, a.status, a.body, want)
		}
	}
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	w := policyWorld(t)
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v1/pause", `{"source": "nowhere"}`, 404, "not_found"},
		{"/v1/resume", `{"source": "nowhere"}`, 404, "not_found"},
		{"/v1/pause", `{"source": "feishu-main"}`, 200, `"paused":{"all":false,"sources":["feishu-main"]}`},
		{"/v1/pause", `{}`, 200, `"paused":{"all":true,"sources":["feishu-main"]}`},
		{"/v1/resume", `{}`, 200, `"paused":{"all":false,"sources":[]}`},
		{"/v1/resume", `[`, 400, "invalid_json"},
	} {
		if a := w.call(t, ops, http.MethodPost, c.path, c.body); a.status != c.status || !strings.Contains(string(a.body), c.want) {
			t.Errorf("RE-3 POST %s %s = %d %s, want %d %s", c.path, c.body, a.status, a.body, c.status, c.want)
		}
	}
}
