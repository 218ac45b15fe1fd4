package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// asked is a question on the wire, or a problem document, whose status is a
// number.
type asked struct {
	ID, ShortID, Session, RequestID, Outcome, Code, Detail string

	Status  any
	Deduped bool
	Options []struct{ ID, Label string }
	Answer  *struct {
		OptionID, Text, Via string
		By                  struct{ Kind, ID, Name string }
	}
	CreatedAt, Deadline time.Time
	Events              []struct{ Type, Detail string }
}

// said is the answer in words: the status, then the code or where the question
// stands.
func (q asked) said(status int) string {
	state, _ := q.Status.(string)
	words := []string{fmt.Sprint(status), q.Code, state, q.Outcome}
	if q.Deduped {
		words = append(words, "deduped")
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// history is what happened to it, but for its cards.
func (q asked) history() string {
	var types []string
	for _, e := range q.Events {
		if !strings.HasPrefix(e.Type, "present") {
			types = append(types, e.Type)
		}
	}
	return strings.Join(types, " ")
}

// post calls and returns the answer with its words.
func (r *remote) post(path, body string) (asked, string) {
	r.o.t.Helper()
	return r.say("POST", path, body)
}

func (r *remote) say(method, path, body string) (q asked, said string) {
	r.o.t.Helper()
	status, answer := r.call(method, "/v1/sessions/"+path, body)
	if err := json.Unmarshal(answer, &q); err != nil {
		r.o.t.Fatalf("%s %s = %d %s", method, path, status, answer)
	}
	return q, q.said(status)
}

const (
	pick   = `{"requestId":"q1","kind":"choice","prompt":"which?","options":[{"id":"a","label":"A"},{"id":"b","label":"B"}],"allowFreeText":true}`
	permit = `{"requestId":"p1","kind":"approval","prompt":"deploy?","operation":{"tool":"deploy","preview":"1.4.2","reason":"to staging"}}`
)

// working is an office with a Ticket whose turn is open.
func working(t *testing.T, o *office) (a *remote, id string) {
	t.Helper()
	a = o.remote(agent)
	o.say("lin", "oc_1/om_1", "@bot deploy 1.4.2")
	id = a.ticket()
	a.inputs(id, "")
	return a, id
}

func TestAQuestionOverHTTP(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a, id := working(t, o)
		boss, path := o.remote(ops), id+"/decisions"
		q, said := a.post(path, pick)
		want(t, "it is opened", said, "201 open")
		want(t, "by its default life (DE-2)", q.Deadline.Sub(q.CreatedAt), time.Hour)
		want(t, "its id is a UUIDv5 (DE-3)", uuid.MustParse(q.ID).Version(), 5)
		want(t, "its short id (CA-8)", q.ShortID, q.ID[:8])
		again, said := a.post(path, strings.Replace(pick, "which?", "who?", 1))
		want(t, "the same key is the same question (DE-3)", said+" "+again.ID, "200 open "+q.ID)
		want(t, "and the events say that it was another one (DE-3, DE-9)", again.history(), "opened reopened")

		one := path + "/" + q.ID
		rows := []struct{ name, body, want string }{
			{"an unknown option is invalid (DE-4)", `{"optionId":"c"}`, "400 invalid"},
			{"an empty answer is invalid (DE-4)", `{}`, "400 invalid"},
			{"no JSON is no answer", `{`, "400 invalid_json"},
			{"the first answer wins (DE-4)", `{"optionId":"a","text":"soon"}`, "200 answered"},
			{"the same answer again is deduped (DE-4)", `{"optionId":"a","text":"soon"}`, "200 answered deduped"},
			{"the same option with other text is another answer (DE-4)", `{"optionId":"a"}`, "409 conflict"},
			{"another option is a conflict (DE-4)", `{"optionId":"b"}`, "409 conflict"},
			{"state comes first, before an unknown option (DE-4)", `{"optionId":"c"}`, "409 conflict"},
			{"before an empty answer (DE-4)", `{}`, "409 conflict"},
			{"before what is no answer (DE-4)", `{"optionId":`, "409 conflict"},
		}
		for _, r := range rows {
			_, said := boss.post(one, r.body)
			want(t, r.name, said, r.want)
		}
		done, said := a.say("GET", one, "")
		want(t, "its asker reads it", said, "200 answered")
		want(t, "who answered, through what (DE-9)", fmt.Sprint(*done.Answer), "{a soon api {person ops ops}}")
		want(t, "its events, in order (DE-9)", done.history(), "opened reopened answered deduped conflicted conflicted conflicted conflicted conflicted")
		_, said = a.post(path, pick)
		want(t, "an answered question comes back under its key (DE-3)", said, "200 answered")

		other, _ := a.post(path, strings.Replace(pick, "q1", "q2", 1))
		_, said = boss.post("main/decisions/"+other.ID, `{"optionId":"a"}`)
		want(t, "one of another session is not found (DE-4)", said, "404 not_found")
		_, said = boss.post(path+"/"+strings.Repeat("0", 8), `{"optionId":"a"}`)
		want(t, "nor is an unknown one (DE-4)", said, "404 not_found")
		time.Sleep(time.Hour)
		_, said = boss.post(path+"/"+other.ID, `{"optionId":"c"}`)
		want(t, "a late answer is closed, however malformed (DE-4, DE-5)", said, "409 closed")
		late, said := a.say("GET", path+"/"+other.ID, "")
		want(t, "and the question timed out (DE-1)", said, "200 timed_out")
		want(t, "so its events say (DE-9)", late.history(), "opened timed_out late")
	})
}

func TestWhatIsNoQuestion(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a, id := working(t, o)
		rows := []struct{ name, body, detail string }{
			{"a question has a key (DE-2)", `{"kind":"choice","prompt":"?","options":[{"id":"a","label":"A"}]}`, "requestId: is missing"},
			{"a question has a kind (DE-2)", `{"requestId":"k","prompt":"?"}`, `kind: "" is none of approval, clarification, choice`},
			{"something can be answered (DE-2)", `{"requestId":"k","kind":"clarification","prompt":"?"}`, "options: at least one, or allowFreeText"},
			{"option ids are unique (DE-2)", `{"requestId":"k","kind":"choice","prompt":"?","options":[{"id":"a","label":""},{"id":"a","label":""}]}`, `options[1].id: "a" is not unique`},
			{"at most 20 options (DE-2)", `{"requestId":"k","kind":"choice","prompt":"?","options":[` + strings.TrimSuffix(strings.Repeat(`{"id":"a","label":""},`, 21), ",") + `]}`, "options: 21, at most 20"},
			{"a prompt of at most 16 KiB (DE-2)", `{"requestId":"k","kind":"clarification","allowFreeText":true,"prompt":"` + strings.Repeat("x", 16385) + `"}`, "prompt: 16385 bytes, at most 16384"},
			{"a recommendation is an option (DE-2)", strings.Replace(pick, `"prompt"`, `"recommendation":"c","prompt"`, 1), `recommendation: "c" is no option`},
			{"answerers can only narrow, not to nobody (DE-2)", strings.Replace(pick, `"prompt"`, `"answerers":["group:g"],"prompt"`, 1), "answerers: nobody on the list may answer"},
			{"an approval has the host's options (AP-2a)", strings.Replace(permit, `"prompt"`, `"options":[{"id":"approve","label":"Yes"}],"prompt"`, 1), "options: an approval has the host's own"},
			{"an approval names its operation (AP-1)", `{"requestId":"k","kind":"approval","prompt":"?"}`, "operation: an approval names one"},
			{"the host's keys are its own", strings.Replace(pick, "q1", "budget_1", 1), "requestId: keys that begin with budget_ are the gateway's own; use another"},
		}
		for _, r := range rows {
			q, said := a.post(id+"/decisions", r.body)
			want(t, r.name, said+" "+q.Detail, "400 invalid "+r.detail)
		}
		for ms, want := range map[string]time.Duration{"1": time.Second, "86400001": 24 * time.Hour, "90000": 90 * time.Second} {
			q, _ := a.post(id+"/decisions", fmt.Sprintf(`{"requestId":"t%s","kind":"clarification","allowFreeText":true,"prompt":"?","timeoutMs":%s}`, ms, ms))
			if got := q.Deadline.Sub(q.CreatedAt); got != want {
				t.Errorf("DE-2 a timeout of %s ms is clamped to %v, want %v", ms, got, want)
			}
		}
	})
}

func TestAnApprovalOverHTTP(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a, id := working(t, o)
		boss, path := o.remote(ops), id+"/decisions"
		q, said := a.post(path, permit)
		want(t, "it is opened", said, "201 open")
		want(t, "with exactly the host's two options (AP-2a)", fmt.Sprint(q.Options), "[{approve Approve} {reject Reject}]")
		_, said = boss.post(path+"/"+q.ID, `{"text":"yes, do"}`)
		want(t, "text alone never grants (AP-2a)", said, "400 invalid")
		_, said = boss.post(path+"/"+q.ID, `{"optionId":"approve"}`)
		want(t, "only approve allows, once (AP-2, AP-2a)", said, "200 answered allowed_once")

		slow, _ := a.post(path, `{"requestId":"p2","kind":"approval","operation":{"tool":"deploy","reason":"again"},"timeoutMs":60000}`)
		time.Sleep(time.Minute)
		_, said = a.say("GET", path+"/"+slow.ID, "")
		want(t, "timed out is unavailable (AP-2a)", said, "200 timed_out unavailable")

		a.post(path, `{"requestId":"p3","kind":"approval","operation":{"tool":"deploy","reason":"again"}}`)
		want(t, "turn_end", a.act(id, `{"action":"turn_end"}`).said(), "ok")
		gone, said := a.post(path, `{"requestId":"p3","kind":"approval","operation":{"tool":"deploy","reason":"again"}}`)
		want(t, "the turn's end cancels it, and its key still gives it (AP-7, DE-3)", said, "200 cancelled cancelled")
		want(t, "its events", gone.history(), "opened cancelled")
		_, said = a.post(path, strings.Replace(permit, "p1", "p4", 1))
		want(t, "without an open turn nothing is approved (AP-7)", said, "409 no_open_turn")
		_, said = a.post(path, pick)
		want(t, "other kinds of question are free (AP-7)", said, "201 open")

		want(t, "the Ticket ends", a.act(id, `{"action":"report","kind":"done"}`).said(), "ok")
		_, said = a.say("GET", path+"/"+mustOpen(t, a, path), "")
		want(t, "no question stays open (DE-7)", said, "200 cancelled")
		_, said = a.post(path, strings.Replace(permit, "p1", "p5", 1))
		want(t, "after the end there is no turn (AP-7)", said, "409 no_open_turn")
		_, said = a.post(path, strings.Replace(pick, "q1", "q5", 1))
		want(t, "nor anybody who would hear (DE-7)", said, "409 ticket_ended")
		want(t, "no question was made of what was refused (AP-7)", len(list(a, path)), 4)
		want(t, "nor an audit line (AP-5, AP-7)", o.audit(id), "asked decided asked decided asked decided")
	})
}

// mustOpen is the id of the question asked as pick.
func mustOpen(t *testing.T, a *remote, path string) string {
	t.Helper()
	q, _ := a.post(path, pick)
	return q.ID
}

// list are the ids and states of a session's questions.
func list(r *remote, path string) (items []asked) {
	r.o.t.Helper()
	var l struct{ Items []asked }
	r.ask("GET", "/v1/sessions/"+path, "", &l)
	return l.Items
}

// audit are the audit lines of a session.
func (o *office) audit(session string) string {
	o.t.Helper()
	lines, _, err := o.mem.Log(o.t.Context(), "", 1000)
	if err != nil {
		o.t.Fatal(err)
	}
	var kinds []string
	for _, l := range lines {
		if kind, ok := strings.CutPrefix(l.Type, "approval/"); ok && string(l.Session) == session {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, " ")
}

func TestTheQuestionsOfASession(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a, id := working(t, o)
		boss, path := o.remote(ops), id+"/decisions"
		for _, key := range []string{"q1", "q2", "q3"} {
			a.post(path, strings.Replace(pick, "q1", key, 1))
			time.Sleep(time.Second)
		}
		boss.post(path+"/"+list(a, path)[1].ID, `{"optionId":"a"}`)
		keys := func(items []asked) (s string) {
			for _, q := range items {
				s += fmt.Sprint(q.RequestID, " ", q.Status, ",")
			}
			return s
		}
		want(t, "all, the last asked first", keys(list(a, path)), "q3 open,q2 answered,q1 open,")
		want(t, "the open ones", keys(list(boss, path+"?status=open")), "q3 open,q1 open,")
		var both struct{ Items []asked }
		a.ask("POST", "/v1/sessions/"+id+"/cancel", "", &both)
		want(t, "a cancel takes back all that are open, in one step (DE-7)", len(both.Items), 2)
		want(t, "and they are closed", keys(list(o.remote(board), path)), "q3 cancelled,q2 answered,q1 cancelled,")
		_, said := boss.post(path+"/"+both.Items[0].ID, `{"optionId":"a"}`)
		want(t, "an answer comes too late (DE-4)", said, "409 closed")
		a.post(path, strings.Replace(pick, `"prompt"`, `"timeoutMs":60000,"prompt"`, 1))
		a.post(path, strings.Replace(pick, `"q1"`, `"q4","timeoutMs":1000`, 1))
		time.Sleep(time.Second)
		want(t, "what timed out is open for nobody (DE-5)", keys(list(a, path+"?status=open")), "")
		want(t, "but listed as it is", keys(list(a, path+"?status=timed_out")), "q4 timed_out,")
	})
}

func TestTheMainSessionAsks(t *testing.T) {
	t.Parallel()
	w := waiting(t, gate.Auto, lin)
	said := func(token, path, body string) string {
		t.Helper()
		var q asked
		a := w.call(t, token, http.MethodPost, "/v1/sessions/"+path, body)
		if err := json.Unmarshal(a.body, &q); err != nil {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return q.said(a.status)
	}
	want(t, "it may ask a question at any time (AP-7)", said(main, "main/decisions", pick), "201 open")
	want(t, "but for no approval while it holds no Eval (AP-7)", said(main, "main/decisions", permit), "409 no_open_turn")
	h, _ := w.next(t, "a", "")
	want(t, "while it holds one it may (AP-7)", said(main, "main/decisions", permit), "201 open")
	want(t, "an operator may ask for it", said(ops, "main/decisions", strings.Replace(permit, "p1", "p2", 1)), "201 open")
	want(t, "an executor may not: it is not there", said(coder, "main/decisions", pick), "404 not_found")
	w.call(t, main, http.MethodPost, "/v1/orchestrator/route", fmt.Sprintf(
		`{"eval":%q,"policy_version":%d,"items":[{"trigger":%q,"action":"accept","title":"t","brief":"b"}]}`, *h.Eval, 3, h.Candidates[0].Trigger.ID))
	want(t, "when the Eval is over no more (AP-7)", said(main, "main/decisions", strings.Replace(permit, "p1", "p3", 1)), "409 no_open_turn")
	want(t, "its key still gives the first (DE-3)", said(main, "main/decisions", permit), "200 open")
	want(t, "a session that is not there", said(ops, "tkt_none/decisions", pick), "404 not_found")
}

func TestAnApprovalPolicyOfASession(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a, id := working(t, o)
		boss := o.remote(ops)
		set := func(session, policy string) string {
			_, said := boss.post(session+"/policy", `{"policy":"`+policy+`"}`)
			return said
		}
		for _, session := range []string{id, "main"} {
			path := session + "/decisions"
			asker := a
			if session == "main" {
				asker = o.remote(main)
			}
			want(t, "a word that is no policy", set(session, "always"), "400 invalid")
			want(t, "an operator sets never (AP-3)", set(session, "never"), "200")
			_, said := asker.post(path, pick)
			want(t, "other kinds of question are cancelled at once (AP-3)", said, "201 cancelled")
			if session == id {
				q, said := asker.post(path, permit)
				want(t, "never rejects an approval at once (AP-3)", said, "201 answered rejected")
				want(t, "through policy (AP-3)", q.Answer.Via, "policy")
			}
			want(t, "the last recorded one counts (AP-3)", set(session, "ask"), "200")
			_, said = asker.post(path, strings.Replace(pick, "q1", "q2", 1))
			want(t, "so people are asked again (AP-3)", said, "201 open")
		}
		want(t, "each is recorded (AP-3), and never has its pair (AP-5)", o.audit(id), "policy asked decided policy")
		want(t, "and so for main", o.audit("main"), "policy policy")
		_, said := boss.post("tkt_none/policy", `{"policy":"ask"}`)
		want(t, "a session that is not there", said, "404 not_found")
	})
}

func TestALongPollForAnAnswer(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a, id := working(t, o)
		path := id + "/decisions"
		q, _ := a.post(path, pick)
		one := path + "/" + q.ID
		began := time.Now()
		_, said := a.say("GET", one+"?wait=7s", "")
		want(t, "it shows the question when the wait runs out", said+" "+time.Since(began).String(), "200 open 7s")

		answers := make(chan string, 20)
		var asking sync.WaitGroup
		for range 20 {
			asking.Go(func() {
				_, said := a.say("GET", one+"?wait=60s", "")
				answers <- said
			})
		}
		time.Sleep(10 * time.Second)
		began = time.Now()
		o.remote(ops).post(one, `{"optionId":"b"}`)
		asking.Wait()
		want(t, "everybody who waits is woken at once (DE-10)", time.Since(began), 0)
		for range 20 {
			want(t, "with the answer (DE-10)", <-answers, "200 answered")
		}
		want(t, "and the asker is given it as an Input (DE-10)", a.inputs(id, "?wait=10s").texts(), "answer")

		slow, _ := a.post(path, strings.Replace(pick, "q1", "q2", 1))
		go func() { time.Sleep(time.Second); close(o.drain) }()
		_, said = a.say("GET", path+"/"+slow.ID+"?wait=60s", "")
		want(t, "a gateway that drains holds nobody up", said, "200 open")
	})
}

func TestAnAnswerOnAnotherReplica(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a, id := working(t, o)
		q, _ := a.post(id+"/decisions", pick)
		one := id + "/decisions/" + q.ID
		got := make(chan string)
		go func() {
			_, said := a.say("GET", one+"?wait=60s", "")
			got <- said
		}()
		time.Sleep(10*time.Second + 300*time.Millisecond)
		other := approvals.NewBroker(approvals.BrokerConfig{Workspace: "default", Store: o.mem, Directory: &orchestrator.Lists{States: o.mem}})
		_, err := other.Answer(t.Context(), approvals.AnswerRequest{ID: approvals.ID(q.ID), OptionID: "a", Via: approvals.ViaAPI, Operator: true})
		want(t, "another replica takes the answer", err, nil)
		began := time.Now()
		want(t, "who waits here is given it (DE-10)", <-got, "200 answered")
		want(t, "within a second (DE-10)", time.Since(began) <= time.Second, true)

		// A gateway that starts anew has nothing but the store.
		fresh := &office{t: t, mem: o.mem, h: held(t, api.New(api.Config{
			Lists: o.mem, Records: o.mem, Desk: o.svc, Sessions: o.svc, Broker: other, Questions: o.mem, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Tokens: []api.Token{{Name: "agent", Secret: agent, Role: api.Executor, Executor: "default"}},
		}))}
		_, said := fresh.remote(agent).say("GET", one+"?wait=60s", "")
		want(t, "after a restart the answer is there (DE-10)", said, "200 answered")
		_, said = fresh.remote(agent).post(id+"/decisions", pick)
		want(t, "also for who asks again under the key (DE-3, DE-10)", said, "200 answered")
	})
}

// fails is a broker whose waits fail.
type fails struct{ api.Broker }

func (fails) Wait(context.Context, approvals.ID) (approvals.Question, error) {
	return approvals.Question{}, orchestrator.ErrUnavailable
}

func TestTheStoreGoesAwayWhileSomebodyWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) { c.Broker, c.Draining = fails{c.Broker}, nil })
	story(t, w)
	a := w.get(t, coder, "/v1/sessions/"+string(fix)+"/decisions/"+string(which)+"?wait=30s")
	want(t, "RS-9 the waiter is told", words(a.status, a.problem(t).Code), "503 store_unavailable")
}

func TestNoBrokerIsWired(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) { c.Broker = nil })
	story(t, w)
	want(t, "the capabilities say so", strings.TrimSpace(string(w.get(t, ops, "/v1/capabilities").body)), `{"decisions":false}`)
	for _, row := range matrix {
		if method, target := callOf(row.call); strings.Contains(target, "/sessions/") {
			a := w.get(t, ops, target, by(method))
			want(t, row.call, words(a.status, a.problem(t).Code), "503 no_decisions")
		}
	}
}

func TestTooManyQuestionsAreOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) {
		svc, _ := c.Sessions.(*orchestrator.Service)
		svc.Asker = approvals.NewBroker(approvals.BrokerConfig{
			Workspace: "default", Store: svc.Store, Directory: svc.Directory, Settings: approvals.Settings{MaxOpen: 1}, Now: svc.Now,
		})
	})
	story(t, w)
	a := w.call(t, coder, http.MethodPost, "/v1/sessions/"+string(fix)+"/decisions", pick)
	want(t, "beyond max_open_per_session it is refused (DE-8)", words(a.status, a.problem(t).Code), "429 too_many_open")
}
