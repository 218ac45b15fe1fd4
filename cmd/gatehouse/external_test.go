package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// The tokens of the agents from outside.
const (
	mainToken  = "test-orchestrator-token-01234"
	coderToken = "test-executor-token-0123456789"
)

// outsideConfig is worldConfig with agents from outside, over HTTP, for
// deciding and for working.
var outsideConfig = strings.NewReplacer(
	"role: operator}]", "role: operator}, {name: main, token: "+mainToken+", role: orchestrator}, "+
		"{name: coder, token: "+coderToken+", role: executor, executor: default}]",
	`    kind: echo
    script:
      - approve: {tool: deploy, preview: "deploy {{text}}", reason: "确认"}
      - done: "已完成：{{text}}"
`, `    kind: http
orchestrator: {driver: external, eval_timeout: TIMEOUT}
`).Replace(worldConfig)

// outsider is a program of somebody else's: it knows the gateway's HTTP only,
// and tries again when the gateway dies.
type outsider struct {
	w     *world
	token string
}

// ask calls once; what is no 2xx is an error.
func (o outsider) ask(ctx context.Context, method, path, body string, to any) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, method, o.w.admin+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+o.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 != 2 {
		return res.StatusCode, fmt.Errorf("%s %s: %s %s: %w", method, path, res.Status, text, err)
	}
	if len(text) == 0 {
		return res.StatusCode, nil
	}
	return res.StatusCode, json.Unmarshal(text, to)
}

// get asks until there is an answer that will do.
func (o outsider) get(path string, to any, ok func() bool) {
	o.w.t.Helper()
	o.w.until("GET "+path, func(ctx context.Context) bool {
		_, err := o.ask(ctx, http.MethodGet, path, "", to)
		return err == nil && ok()
	})
}

// post sends until it was taken, as one does who does not know whether it was.
func (o outsider) post(path, body string, to any) {
	o.w.t.Helper()
	o.w.until("POST "+path, func(ctx context.Context) bool {
		status, err := o.ask(ctx, http.MethodPost, path, body, to)
		if status/100 == 4 {
			o.w.t.Fatal(err)
		}
		return err == nil
	})
}

type handedOut struct {
	Eval          string
	PolicyVersion int `json:"policy_version"`
	Deadline      string
	Redelivered   bool
	Candidates    []struct{ Trigger struct{ ID, Text string } }
}

// next takes an Eval for a session, with more parameters behind its name.
func (o outsider) next(session string) (h handedOut) {
	o.w.t.Helper()
	o.get("/v1/orchestrator/next?wait=10s&session="+session, &h, func() bool { return h.Eval != "" })
	return h
}

// diesWaiting is a session that is killed while its call waits for an Eval.
func (o outsider) diesWaiting(session string) {
	o.w.t.Helper()
	ctx, kill := context.WithCancel(o.w.t.Context())
	gone := make(chan error)
	go func() {
		var h handedOut
		_, err := o.ask(ctx, http.MethodGet, "/v1/orchestrator/next?wait=30s&session="+session, "", &h)
		gone <- err
	}()
	var st struct {
		Entries []struct{ Name, Message string }
	}
	outsider{o.w, worldToken}.get("/v1/status", &st, func() bool {
		return strings.Contains(fmt.Sprint(st.Entries), "{main_session last call")
	})
	kill()
	if err := <-gone; err == nil {
		o.w.t.Error("the killed call got an answer")
	}
}

type routed struct {
	Results []struct {
		OK, Deduped bool
		Ticket      string
		Error       struct{ Code string }
	}
}

// route decides the Eval's candidate; what is said again is deduped (RO-1).
func (o outsider) route(h handedOut, action string) (r routed) {
	o.w.t.Helper()
	o.post("/v1/orchestrator/route", fmt.Sprintf(`{"eval":%q,"policy_version":%d,"items":[{"trigger":%q,%s}]}`,
		h.Eval, h.PolicyVersion, h.Candidates[0].Trigger.ID, action), &r)
	if len(r.Results) != 1 || !r.Results[0].OK {
		o.w.t.Fatalf("route %s = %+v", action, r)
	}
	return r
}

// TestAgentsFromOutside plays the main job with agents that know only HTTP: one
// decides (DR-3), one works (EX-4). The gateway is killed with SIGKILL between
// the steps, and so are they.
func TestAgentsFromOutside(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	w := newWorldOf(t, redis.URL, strings.ReplaceAll(outsideConfig, "TIMEOUT", "2m"))
	again := func() { w.kill(); w.start() }
	w.start()
	main, coder := outsider{w, mainToken}, outsider{w, coderToken}
	deploy, lunch := w.sim.Say(w.ops, w.lin, "@bot 部署 1.4.2"), w.sim.Say(w.ops, w.lin, "@bot 午饭吃什么？")
	events := w.listen("0-0").until(t, "policy.applied")
	main.diesWaiting("a")
	w.mention(deploy)
	w.mention(lunch)

	// Two callers at once, one of which started over: each Eval goes to one of
	// them (DR-3).
	var held [2]handedOut
	var wg sync.WaitGroup
	for i, query := range []string{"a&fresh=true", "b"} {
		wg.Go(func() { held[i] = main.next(query) })
	}
	wg.Wait()
	if held[0].Eval == held[1].Eval || held[0].Candidates[0].Trigger.ID == held[1].Candidates[0].Trigger.ID {
		t.Fatalf("DR-3 two callers got %+v", held)
	}
	var none handedOut
	if status, err := main.ask(t.Context(), http.MethodGet, "/v1/orchestrator/next?session=c", "", &none); status != http.StatusNoContent {
		t.Errorf("DR-3 a third caller got %d %+v %v, want 204", status, none, err)
	}

	// The callers die and start over, and the gateway too (EV-5, EV-7).
	again()
	var work handedOut
	for i, session := range []string{"a", "b"} {
		h := main.next(session + "&fresh=true")
		if h.Eval != held[i].Eval || h.Deadline != held[i].Deadline || !h.Redelivered {
			t.Errorf("EV-5 the restarted session %s got %+v, want %+v redelivered", session, h, held[i])
		}
		if strings.Contains(h.Candidates[0].Trigger.Text, "部署") {
			work = h
			continue
		}
		main.route(h, `"action":"ignore","reason":"not for us"`)
	}
	const accept = `"action":"accept","title":"部署 1.4.2","brief":"to staging"`
	ticket := main.route(work, accept).Results[0].Ticket
	events = append(events, w.listen(events[len(events)-1]).until(t, "ticket.accepted")...)
	again()
	if r := main.route(work, accept); !r.Results[0].Deduped || r.Results[0].Ticket != ticket {
		t.Errorf("RO-1 the same route after a crash = %+v, want deduped with %s", r, ticket)
	}

	coder.works(ticket, again)
	w.seen("the reply and the result", func(s feishusim.Snapshot) bool { return has(s, "开始部署") && has(s, "部署好了") })
	var tk demoTicket
	main.get("/v1/tickets/"+ticket, &tk, func() bool { return tk.State == "ended" })
	if tk.End.Reason != "completed" {
		t.Errorf("the ticket ended with %s, want completed", tk.End.Reason)
	}

	// Who reads events and comes again after each crash misses none (DE-11).
	events = append(events, w.listen(events[len(events)-1]).until(t, "ticket.ended")...)
	if all := w.listen("0-0").until(t, "ticket.ended"); !slices.Equal(events, all) {
		t.Errorf("DE-11 events read over restarts are %v, want %v", events, all)
	}
}

type readOut struct{ Items []struct{ ID string } }

// works is the executor: it learns of its Ticket, reads, dies, reads again
// what it had not dealt with, replies and reports done (AC-1, AC-2).
func (o outsider) works(ticket string, again func()) {
	o.w.t.Helper()
	var mine, first, unacked readOut
	o.get("/v1/tickets?executor=me&state=active&wait=10s", &mine, func() bool { return len(mine.Items) > 0 })
	if len(mine.Items) != 1 || mine.Items[0].ID != ticket {
		o.w.t.Fatalf("EX-4 the executor's tickets are %+v, want %s", mine, ticket)
	}
	at := "/v1/tickets/" + ticket
	o.get(at+"/inputs?wait=10s", &first, func() bool { return len(first.Items) > 0 })
	again()
	o.get(at+"/inputs?unacked=true", &unacked, func() bool { return len(unacked.Items) > 0 })
	if unacked.Items[0] != first.Items[0] {
		o.w.t.Errorf("AC-2 unacked after a crash = %+v, want %+v", unacked, first)
	}
	reply := fmt.Sprintf(`{"action":"reply","key":"r","input":%q,"text":"开始部署"}`, first.Items[0].ID)
	var done struct{ OK, Deduped bool }
	o.post(at+"/actions", reply, &done)
	again()
	o.post(at+"/actions", reply, &done)
	if !done.OK || !done.Deduped {
		o.w.t.Errorf("AC-1 the same reply after a crash = %+v, want deduped", done)
	}
	o.post(at+"/actions", `{"action":"report","key":"d","kind":"done","text":"部署好了"}`, &done)
}

// heard is an event of the gateway.
type heard struct {
	ID, Type, Session string
	At                time.Time
	Data              struct {
		Decision, Outcome string
		Deadline          time.Time
	}
}

// listening reads the events of the gateway, from after an id.
type listening struct {
	events chan heard
	stop   context.CancelFunc
}

func (w *world) listen(after string) *listening {
	w.t.Helper()
	ctx, stop := context.WithTimeout(w.t.Context(), 30*time.Second)
	l := &listening{events: make(chan heard, 1000), stop: stop}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.admin+"/v1/events", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+worldToken)
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		w.t.Fatalf("GET /v1/events: %v %v", res, err)
	}
	go func() {
		defer res.Body.Close()
		defer close(l.events)
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			var e heard
			if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok && json.Unmarshal(data, &e) == nil {
				l.events <- e
			}
		}
	}()
	return l
}

// hear are the events up to the first of a type.
func (l *listening) hear(t *testing.T, kind string) (all []heard) {
	t.Helper()
	defer l.stop()
	for e := range l.events {
		if all = append(all, e); e.Type == kind {
			return all
		}
	}
	t.Fatalf("the events end after %v, without %s", all, kind)
	return nil
}

// until are the ids of those events.
func (l *listening) until(t *testing.T, kind string) (ids []string) {
	t.Helper()
	for _, e := range l.hear(t, kind) {
		ids = append(ids, e.ID)
	}
	return ids
}

// TestAnEvalThatNobodyDecides expires three times, is shown as trouble, and is
// none any more once somebody dismisses it (EV-4, EV-8, EV-9).
func TestAnEvalThatNobodyDecides(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	w := newWorldOf(t, redis.URL, strings.ReplaceAll(outsideConfig, "TIMEOUT", "1s"))
	w.start()
	w.until("it is ready", func(ctx context.Context) bool { return w.ready(ctx) == http.StatusOK })
	if code, text := w.statusCommand(); code != 0 {
		t.Errorf("gatehouse status = %d before anything happened:\n%s", code, text)
	}
	main, ops := outsider{w, mainToken}, outsider{w, worldToken}
	w.mention(w.sim.Say(w.ops, w.lin, "@bot 部署 1.4.2"))
	var evals []string
	for range 3 {
		evals = append(evals, main.next("a").Eval)
	}
	if slices.Sort(evals); len(slices.Compact(evals)) != 3 {
		t.Errorf("EV-4 next gave %v, want three Evals", evals)
	}
	var decisions struct {
		Items []struct{ Thread, Outcome string }
	}
	ops.get("/v1/decisions?outcome=unavailable", &decisions, func() bool { return len(decisions.Items) > 0 })
	if code, text := w.statusCommand(); code != 1 || !regexp.MustCompile(`evals +degraded +1 message`).MatchString(text) {
		t.Errorf("EV-8 gatehouse status = %d, want 1 with degraded evals:\n%s", code, text)
	}
	var none handedOut
	if status, _ := main.ask(t.Context(), http.MethodGet, "/v1/orchestrator/next?session=a", "", &none); status != http.StatusNoContent {
		t.Errorf("EV-4 next after three expiries = %d %+v, want 204", status, none)
	}
	var th struct{ Attention bool }
	ops.post("/v1/threads/"+decisions.Items[0].Thread+"/dismiss", "", &th)
	if code, text := w.statusCommand(); code != 0 || th.Attention {
		t.Errorf("EV-9 gatehouse status after dismiss = %d, attention %v:\n%s", code, th.Attention, text)
	}
}

// statusCommand is gatehouse status against the running gateway.
func (w *world) statusCommand() (code int, out string) {
	var text strings.Builder
	code = run([]string{"status", "--url", w.admin, "--token", worldToken}, &app{out: &text, err: &text, env: func(string) (string, bool) { return "", false }})
	return code, text.String()
}
