package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// frames are the AG-UI events that a listener got: the type, the outcome and
// how many interrupts.
func (l *listener) frames() string {
	synctest.Wait()
	var got []string
	for {
		select {
		case line := <-l.lines:
			if id, ok := strings.CutPrefix(line, "id: "); ok {
				l.last = id
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				got = append(got, aguiSaid(data))
			}
		default:
			return strings.Join(got, ", ")
		}
	}
}

func aguiSaid(data string) string {
	var e struct {
		Type    string
		Outcome struct {
			Type       string
			Interrupts []struct{ Reason string }
		}
	}
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return err.Error()
	}
	said := strings.TrimSpace(e.Type + " " + e.Outcome.Type)
	for _, i := range e.Outcome.Interrupts {
		said += " " + i.Reason
	}
	return said
}

func TestASessionsEvents(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a, id := working(t, o)
		o.say("lin", "oc_2/om_9", "@bot and that")
		own := o.listenTo("/v1/sessions/"+id+"/events", agent, "")
		a.post(id+"/decisions", pick)
		a.post("main/decisions", pick)
		o.remote(main).post("main/decisions", pick)
		want(t, "a session's own events, and no others (DE-11)", own.events(), "decision.opened")
		o.remote(ops).post(id+"/cancel", "")
		want(t, "more of them", own.events(), "decision.cancelled")
		a.act(id, `{"action":"report","kind":"done"}`)
		want(t, "up to its end", own.events(), "ticket.ended")
		all := o.listenTo("/v1/sessions/main/events", board, "0")
		want(t, "the main Session has its own", all.events(), "decision.opened")
		status, _ := a.call("GET", "/v1/sessions/main/events", "")
		want(t, "an executor does not have that", status, http.StatusNotFound)
		status, _ = a.call("GET", "/v1/sessions/"+id+"/events?format=xml", "")
		want(t, "a format that there is not", status, http.StatusBadRequest)
		for _, format := range []string{"", "?format=ag-ui"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/sessions/"+id+"/events"+format, nil)
			r.Host = "127.0.0.1:8081"
			r.Header.Set("Authorization", "Bearer "+ops)
			r.Header.Set("Last-Event-ID", "x")
			rec := httptest.NewRecorder()
			o.h.ServeHTTP(rec, r)
			want(t, "an id that is none"+format, rec.Code, http.StatusBadRequest)
		}
	})
}

func TestASessionAsAGUIEvents(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a, id := working(t, o)
		boss, path := o.remote(ops), "/v1/sessions/"+id+"/events?format=ag-ui"
		l := o.listenTo(path, board, "")
		want(t, "nothing yet", l.frames(), "")
		p, _ := a.post(id+"/decisions", permit)
		want(t, "a run ends with the open question (AP-9)", l.frames(), "RUN_STARTED, RUN_FINISHED interrupt tool_call")
		time.Sleep(time.Second)
		q, _ := a.post(id+"/decisions", pick)
		want(t, "another question waits for the next run", l.frames(), "")
		late := o.listenTo(path, board, "")
		want(t, "who comes anew is told of both", late.frames(), "RUN_STARTED, RUN_FINISHED interrupt tool_call input_required")
		boss.post(id+"/decisions/"+p.ID, `{"optionId":"approve"}`)
		want(t, "the next run starts when its interrupt is closed (AP-9)", l.frames(), "RUN_STARTED, RUN_FINISHED interrupt input_required")
		want(t, "but not while one that the client knows is open (AP-9)", late.frames(), "")
		late.stop()
		boss.post(id+"/decisions/"+q.ID, `{"optionId":"a"}`)
		want(t, "then it starts", l.frames(), "RUN_STARTED")
		late = o.listenTo(path, board, late.last)
		want(t, "who comes again misses nothing (DE-11)", late.frames(), "RUN_STARTED")
		a.act(id, `{"action":"report","kind":"failed","final":true}`)
		want(t, "a Ticket that failed is an error", l.frames(), "RUN_ERROR")
		o.say("lin", "oc_1/om_1", "try again")
		want(t, "a Ticket that is resumed runs", l.frames(), "RUN_STARTED")
		boss.ask("POST", "/v1/tickets/"+id+"/stop", "", &struct{}{})
		want(t, "a stopped one is cancelled", l.frames(), "RUN_FINISHED cancelled")
		_, said := boss.post(id+"/policy", `{"policy":"never"}`)
		want(t, "never", said, "200")
		a.post(id+"/decisions", pick)
		want(t, "what is over at once interrupts nothing (AP-3)", l.frames(), "")
		want(t, "and the other reader has it all", late.frames(), "RUN_ERROR, RUN_STARTED, RUN_FINISHED cancelled")
	})
}

// run is a run of an AG-UI client: its events, or the problem's code.
func (r *remote) run(session, resume string) string {
	r.o.t.Helper()
	status, answer := r.call("POST", "/v1/sessions/"+session+"/run", fmt.Sprintf(`{"threadId":"t","runId":"r","messages":[],"tools":[],"context":[]%s}`, resume))
	if status != http.StatusOK {
		var p problem
		_ = json.Unmarshal(answer, &p)
		return fmt.Sprint(status, " ", p.Code)
	}
	var got []string
	for s := bufio.NewScanner(strings.NewReader(string(answer))); s.Scan(); {
		if data, ok := strings.CutPrefix(s.Text(), "data: "); ok {
			got = append(got, aguiSaid(data))
		}
	}
	return strings.Join(got, ", ")
}

func TestAGUIRuns(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a, id := working(t, o)
		boss := o.remote(ops)
		p, _ := a.post(id+"/decisions", permit)
		q, _ := a.post(id+"/decisions", pick)
		entry := func(id, status, payload string) string {
			return fmt.Sprintf(`{"interruptId":%q,"status":%q,"payload":%s}`, id, status, payload)
		}
		resume := func(entries ...string) string { return `,"resume":[` + strings.Join(entries, ",") + `]` }
		yes := entry(p.ID, "resolved", `{"optionId":"approve"}`)
		rows := []struct{ name, resume, want string }{
			{"one that leaves an interrupt open starts nothing (AP-9)", resume(yes), "409 interrupts_open"},
			{"a status that there is not", resume(yes, entry(q.ID, "done", `{}`)), "400 invalid"},
			{"an answer that is none (DE-4)", resume(yes, entry(q.ID, "resolved", `{}`)), "400 invalid"},
			{"a payload of another shape", resume(yes, entry(q.ID, "resolved", `"a"`)), "400 invalid_json"},
			{"an interrupt of nobody", resume(yes, entry(q.ID, "resolved", `{"optionId":"a"}`), entry("none", "resolved", `{"optionId":"a"}`)), "404 not_found"},
		}
		for _, r := range rows {
			want(t, r.name, boss.run(id, r.resume), r.want)
		}
		_, said := a.say("GET", id+"/decisions/"+p.ID, "")
		want(t, "what was addressed before the fault is answered", said, "200 answered allowed_once")
		want(t, "another answer comes too late (DE-4)", boss.run(id, resume(entry(q.ID, "resolved", `{"optionId":"b"}`))), "409 conflict")

		ended := make(chan string)
		go func() { ended <- boss.run(id, resume(entry(q.ID, "cancelled", `null`))) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		a.inputs(id, "")
		want(t, "rest", a.act(id, `{"action":"turn_end"}`).said(), "ok")
		want(t, "a run lasts until the Ticket rests", <-ended, "RUN_STARTED, RUN_FINISHED success")

		next, _ := a.post(id+"/decisions", strings.Replace(pick, "q1", "q2", 1))
		want(t, "a run without an answer says again what is open", boss.run(id, ""), "RUN_STARTED, RUN_FINISHED interrupt input_required")
		go func() { ended <- boss.run(id, resume(entry(next.ID, "cancelled", `{}`))) }()
		want(t, "a question that is taken back", <-ended, "RUN_STARTED, RUN_FINISHED success")
		_, said = a.say("GET", id+"/decisions/"+next.ID, "")
		want(t, "is cancelled (AP-6)", said, "200 cancelled")
		want(t, "the main Session works out of sight", boss.run("main", ""), "RUN_STARTED, RUN_FINISHED success")

		o.say("lin", "oc_1/om_1", "and now?")
		go func() { ended <- boss.run(id, "") }()
		time.Sleep(time.Second)
		close(o.drain)
		want(t, "a gateway that drains says so", <-ended, "RUN_STARTED, RUN_ERROR")
		status, _ := boss.call("POST", "/v1/sessions/"+id+"/run", `{"runId":"r"}`)
		want(t, "a run has a thread", status, http.StatusBadRequest)
	})
}

func TestStreamsOfSessionsAreBounded(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		for range 64 {
			o.listen(board, "")
		}
		status, _ := o.remote(ops).call("GET", "/v1/sessions/main/events", "")
		want(t, "one more reader", status, http.StatusTooManyRequests)
		want(t, "one more run", o.remote(ops).run("main", ""), "429 too_many_streams")
	})
}
