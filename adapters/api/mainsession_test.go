package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// waiting is a workspace in which candidates wait on Threads A, B, …: those
// of lin are explicit, those of wang inferred.
func waiting(t *testing.T, mode gate.Mode, who ...gate.Sender) *world {
	t.Helper()
	w := newWorld(t)
	c := orchestrator.Changes{Policy: policy(mode)}
	for i, s := range who {
		id := gate.TriggerID(fmt.Sprintf("trg_%d", i+1))
		th := gate.ThreadID("th_" + string(rune('A'+i)))
		strength, line, basis := gate.Explicit, orchestrator.DueEval, gate.Basis{Kind: gate.AllowList}
		if s.ID != lin.ID {
			strength, line = gate.Inferred, orchestrator.DueEvalLater
			basis = gate.Basis{Kind: gate.TableCell, Row: gate.ChatScope("oc_aaa"), Cell: gate.UnlistedAddressed}
		}
		c.Messages = append(c.Messages, orchestrator.Message{
			Trigger: gate.Trigger{
				ID: id, Workspace: "default", Source: "feishu-main", Scope: "chat:oc_aaa", Thread: th, Kind: gate.KindMessage,
				Place: gate.Place{Chat: "oc_aaa", Root: "om_" + string(id)}, IDs: gate.PlatformIDs{Message: "om_" + string(id)},
				Sender: s, Addressing: gate.Mention, Text: "fix it", Plain: "fix it", OccurredAt: now, ReceivedAt: now,
			},
			State: orchestrator.StateQueued, Admission: orchestrator.Admission{Verdict: gate.Verdict{Strength: strength, Basis: basis}, PolicyVersion: 3},
		})
		c.Threads = append(c.Threads, orchestrator.Thread{ID: th, Source: "feishu-main", Scope: "chat:oc_aaa", Queue: []gate.TriggerID{id}, LastActivity: now})
		c.Due = append(c.Due, approvals.Due{Kind: line, Key: string(th), At: now.Add(-time.Minute + time.Duration(i))})
	}
	w.commit(t, c)
	return w
}

var wang = gate.Sender{Kind: gate.Person, ID: "ou_wang", Name: "Wang"}

// post sends JSON with a token.
func (w *world) post(t *testing.T, token, target, body string) answer {
	t.Helper()
	return w.get(t, token, target, func(r *http.Request) {
		*r = *post(t, r, body)
	})
}

func post(t *testing.T, r *http.Request, body string) *http.Request {
	t.Helper()
	p, err := http.NewRequestWithContext(r.Context(), http.MethodPost, r.URL.String(), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	p.Host, p.Header = r.Host, r.Header.Clone()
	p.Header.Set("Content-Type", "application/json")
	return p
}

type handed struct {
	Eval        *string
	Redelivered bool
	Candidates  []struct{ Trigger struct{ ID string } }
	Notices     []struct {
		Kind    string
		Trigger struct{ ID string }
	}
}

func (w *world) next(t *testing.T, session string, more string) (handed, int) {
	t.Helper()
	a := w.get(t, main, "/v1/orchestrator/next?session="+session+more)
	var h handed
	if a.status == http.StatusOK {
		if err := json.Unmarshal(a.body, &h); err != nil {
			t.Fatalf("%v: %s", err, a.body)
		}
	}
	return h, a.status
}

func TestNext(t *testing.T) {
	t.Parallel()
	t.Run("explicit candidates come before inferred ones, whenever they came (EV-1)", func(t *testing.T) {
		t.Parallel()
		w := waiting(t, gate.Auto, wang, lin)
		first, _ := w.next(t, "a", "")
		second, _ := w.next(t, "a", "")
		if got := first.Candidates[0].Trigger.ID + " " + second.Candidates[0].Trigger.ID; got != "trg_2 trg_1" {
			t.Errorf("next gave %s, want trg_2 trg_1", got)
		}
	})
	t.Run("several callers never get the same Eval (DR-3)", func(t *testing.T) {
		t.Parallel()
		w := waiting(t, gate.Auto, lin, lin, lin)
		var got []string
		for i := range 3 {
			h, _ := w.next(t, fmt.Sprint("s", i), "")
			got = append(got, h.Candidates[0].Trigger.ID)
		}
		slices.Sort(got)
		if !slices.Equal(got, []string{"trg_1", "trg_2", "trg_3"}) {
			t.Errorf("next gave %v, want each once", got)
		}
		if _, status := w.next(t, "s9", ""); status != http.StatusNoContent {
			t.Errorf("next with nothing left = %d, want 204", status)
		}
	})
	t.Run("a caller that died is given again what it held, one a call (EV-5)", func(t *testing.T) {
		t.Parallel()
		w := waiting(t, gate.Auto, lin, lin)
		one, _ := w.next(t, "a", "")
		two, _ := w.next(t, "a", "")
		if _, status := w.next(t, "b", "&fresh=true"); status != http.StatusNoContent {
			t.Errorf("another session's fresh call = %d, want 204", status)
		}
		again, _ := w.next(t, "a", "&fresh=true")
		more, _ := w.next(t, "a", "")
		if *again.Eval != *one.Eval || *more.Eval != *two.Eval || !again.Redelivered || !more.Redelivered {
			t.Errorf("fresh gave %s and %s, want %s and %s, redelivered", *again.Eval, *more.Eval, *one.Eval, *two.Eval)
		}
		if _, status := w.next(t, "a", ""); status != http.StatusNoContent {
			t.Errorf("the third call = %d, want 204", status)
		}
	})
	t.Run("the card (EV-2, EV-2a)", func(t *testing.T) {
		t.Parallel()
		w := waiting(t, gate.Auto, lin)
		golden(t, "next", w.get(t, main, "/v1/orchestrator/next").body)
	})
	t.Run("with the driver of the gateway there is nothing to take (DR-3)", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, func(c *api.Config) { c.External = false })
		if a := w.get(t, main, "/v1/orchestrator/next"); a.status != http.StatusConflict || a.problem(t).Code != "driver_not_external" {
			t.Errorf("next = %d %s, want 409 driver_not_external", a.status, a.body)
		}
	})
	t.Run("notices come again until they are acknowledged (RO-7)", func(t *testing.T) {
		t.Parallel()
		at := now
		w := waiting(t, gate.Auto)
		svc := service(w.mem)
		svc.Now = func() time.Time { return at }
		m := orchestrator.Message{Trigger: gate.Trigger{ID: "trg_9", Source: "feishu-main", Thread: "th_N", Sender: lin}, State: orchestrator.StateOwned, Owners: []gate.TicketID{fix}}
		w.commit(t, orchestrator.Changes{
			Messages: []orchestrator.Message{m}, Tickets: []orchestrator.Ticket{asking()},
			Threads: []orchestrator.Thread{{ID: "th_N", Source: "feishu-main", Notices: []gate.TriggerID{"trg_9"}}},
			Effects: approvals.Effects{Due: []approvals.Due{{Kind: orchestrator.DueEval, Key: "th_N", At: now}}},
		})
		look := func() (n int) {
			h, ok, err := svc.Next(t.Context(), "a", false, 0)
			if err != nil || ok && h.Eval != nil {
				t.Fatalf("Next = %+v, %v", h, err)
			}
			return len(h.Notices)
		}
		got := []int{look()}
		at = at.Add(time.Second)
		got = append(got, look())
		if a := w.post(t, main, "/v1/orchestrator/ack_notices", `{"triggers":["trg_9"]}`); a.status != http.StatusOK {
			t.Fatalf("ack_notices = %d %s", a.status, a.body)
		}
		at = at.Add(time.Minute)
		if got = append(got, look()); !slices.Equal(got, []int{1, 1, 0}) {
			t.Errorf("notices = %v, want 1, again 1, then 0", got)
		}
	})
}

func TestRoute(t *testing.T) {
	t.Parallel()
	const judged = `"policy_version":3,"verdicts":[{"rule":"triage","match":true,"reason":"a bug"}]`
	rows := []struct{ name, call, body, want string }{
		{"items are handled one by one, a wrong type refuses its own only (RO-1)", "route",
			`{"policy_version":3,"items":[{"trigger":7,"action":"accept"},5,{"trigger":"trg_1","action":"accept","title":"fix"},{"trigger":"trg_x","action":"ignore","reason":"r"}]}`,
			"missing_field missing_field ok unknown_trigger"},
		{"an unknown action (RO-1)", "route", `{"policy_version":3,"items":[{"trigger":"trg_1","action":"dance"}]}`, "unknown_action"},
		{"a missing field (RO-1)", "route", `{"policy_version":3,"items":[{"trigger":"trg_1","action":"accept"}]}`, "missing_field"},
		{"without version and eval (RO-9)", "route", `{"items":[{"trigger":"trg_1","action":"accept","title":"fix"}]}`, "missing_field"},
		{"an old version (RO-9)", "route", `{"policy_version":2,"items":[{"trigger":"trg_1","action":"accept","title":"fix"}]}`, "stale_policy"},
		{"an inferred candidate is not routed (RO-2a)", "route", `{"policy_version":3,"items":[{"trigger":"trg_2","action":"accept","title":"fix"}]}`, "needs_evaluation"},
		{"the same twice is deduped (RO-8)", "route", `{"policy_version":3,"items":[{"trigger":"trg_1","action":"accept","title":"fix"},{"trigger":"trg_1","action":"accept","title":"fix"}]}`, "ok deduped"},
		{"an evaluation accepts (RU-2)", "evaluate", `{"trigger":"trg_2","action":"accept","title":"fix",` + judged + `}`, "ok"},
		{"that judges no rule (RU-1)", "evaluate", `{"trigger":"trg_2","action":"accept","title":"fix","policy_version":3}`, "verdicts_incomplete"},
		{"whose verdicts are no list (RU-1)", "evaluate", `{"trigger":"trg_2","action":"accept","title":"fix","policy_version":3,"verdicts":"all"}`, "verdicts_incomplete"},
		{"without a version (RO-9)", "evaluate", `{"trigger":"trg_2","action":"accept","title":"fix","verdicts":[]}`, "missing_field"},
		{"that is no object (RU-1)", "evaluate", `[]`, "missing_field"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			w := waiting(t, gate.Auto, lin, wang)
			w.next(t, "a", "")
			w.next(t, "a", "")
			a := w.post(t, main, "/v1/orchestrator/"+r.call, r.body)
			if got := outcomes(t, a, r.call); got != r.want {
				t.Errorf("%s %s = %s, want %s", r.call, r.body, got, r.want)
			}
		})
	}
	t.Run("malformed JSON is a problem document", func(t *testing.T) {
		t.Parallel()
		w := waiting(t, gate.Auto)
		for _, call := range []string{"route", "evaluate", "ack_notices"} {
			if a := w.post(t, main, "/v1/orchestrator/"+call, `{"items":`); a.status != http.StatusBadRequest || a.problem(t).Code != "invalid_json" {
				t.Errorf("%s = %d %s, want 400 invalid_json", call, a.status, a.body)
			}
		}
	})
}

// outcomes are the results' codes.
func outcomes(t *testing.T, a answer, call string) string {
	t.Helper()
	var many struct{ Results []orchestrator.Result }
	err := json.Unmarshal(a.body, &many)
	if call == "evaluate" {
		many.Results = make([]orchestrator.Result, 1)
		err = json.Unmarshal(a.body, &many.Results[0])
	}
	if err != nil || a.status != http.StatusOK {
		t.Fatalf("%d %v: %s", a.status, err, a.body)
	}
	var list []string
	for i, r := range many.Results {
		switch {
		case r.Index != i:
			list = append(list, fmt.Sprint("index ", r.Index))
		case r.Error != nil && !r.OK && r.Error.Message != "":
			list = append(list, string(r.Error.Code))
		case r.Deduped:
			list = append(list, "deduped")
		case r.OK:
			list = append(list, "ok")
		}
	}
	return strings.Join(list, " ")
}

func TestAgain(t *testing.T) {
	t.Parallel()
	w := waiting(t, gate.Auto, lin)
	h, _ := w.next(t, "a", "")
	if err := service(w.mem).FailEval(t.Context(), gate.EvalID(*h.Eval), "no valid answer"); err != nil {
		t.Fatal(err)
	}
	attention := func() bool {
		var th struct{ Attention bool }
		if err := json.Unmarshal(w.get(t, board, "/v1/threads/th_A").body, &th); err != nil {
			t.Fatal(err)
		}
		return th.Attention
	}
	if !attention() {
		t.Error("EV-9 a Thread that nobody decided asks for no attention")
	}
	if a := w.post(t, ops, "/v1/threads/th_A/evaluate", ""); a.status != http.StatusOK || attention() {
		t.Errorf("EV-9 evaluate = %d %s, want 200 and no attention", a.status, a.body)
	}
	h, _ = w.next(t, "a", "")
	if len(h.Candidates) != 1 {
		t.Fatalf("PA-2 the candidate did not come again: %+v", h)
	}
	if err := service(w.mem).FailEval(t.Context(), gate.EvalID(*h.Eval), "no valid answer"); err != nil {
		t.Fatal(err)
	}
	if a := w.post(t, ops, "/v1/threads/th_A/dismiss", ""); a.status != http.StatusOK || attention() {
		t.Errorf("EV-9 dismiss = %d %s, want 200 and no attention", a.status, a.body)
	}
	n, err := service(w.mem).Unresolved(t.Context())
	if n != 0 || err != nil {
		t.Errorf("EV-8 Unresolved() = %d, %v, want 0: they were dismissed", n, err)
	}
}

func TestToolsOverHTTP(t *testing.T) {
	t.Parallel()
	t.Run("the tools are those of every other way in (RO-10)", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		want, err := json.Marshal(map[string]any{"items": orchestrator.Tools(), "next": nil})
		if got := w.get(t, main, "/v1/orchestrator/tools").body; err != nil || strings.TrimSpace(string(got)) != string(want) {
			t.Errorf("tools = %s, %v, want those of package orchestrator: %s", got, err, want)
		}
	})
}
