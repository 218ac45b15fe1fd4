package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// The whole life of a Ticket with a remote executor that dies in the middle
// and starts over (EX-4, AC-1, AC-2).
func TestARemoteExecutorWorksAndDies(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a := o.remote(agent)
		go func() { time.Sleep(10 * time.Second); o.speak("lin", "oc_1/om_1", "@bot deploy 1.4.2") }()
		id := a.ticket() // it waits for its first Ticket
		got := a.inputs(id, "?wait=30s")
		want(t, "the first inputs", got.texts(), "deploy 1.4.2")
		first := got.Items[0]
		want(t, "owned", first.Owned, true)
		want(t, "the sender (SU-1)", *first.Sender, struct{ Listed, Requester, Approver bool }{true, true, false})
		if p := first.Prompt; !strings.Contains(p, "## The work") || !strings.Contains(p, "```untrusted\nfrom: lin\n\ndeploy 1.4.2\n```") {
			t.Errorf("PL-4: the prompt is %s", p)
		}
		want(t, "read again, nothing new (AC-2)", a.inputs(id, "").texts(), "")

		ask := `{"action":"ask","key":"go","kind":"approval","prompt":"deploy?","operation":{"tool":"deploy","preview":"1.4.2","reason":"to staging"}}`
		asked := a.act(id, ask)
		want(t, "ask", asked.said(), "ok")
		want(t, "stage", o.stage(id), "answer")

		// It dies, and what runs next starts over from what was not dealt with.
		o.say("wang", "oc_1/om_1", "and what about lunch?")
		a = o.remote(agent)
		want(t, "unacked (AC-2)", a.inputs(id, "?unacked=true").texts(), "deploy 1.4.2")
		again := a.act(id, ask)
		want(t, "the same question (AC-1, DE-3)", again.Question, asked.Question)

		waiting := make(chan read)
		go func() {
			a.inputs(id, "?wait=30s") // what wang said
			waiting <- a.inputs(id, "?wait=30s")
		}()
		o.settle()
		if _, err := o.broker.Answer(t.Context(), approvals.AnswerRequest{
			ID: approvals.ID(asked.Question), OptionID: approvals.OptionApprove, Via: approvals.ViaAPI, Operator: true,
			Who: gate.Sender{Kind: gate.Person, ID: "ops"},
		}); err != nil {
			t.Fatalf("Answer: %v", err)
		}
		answer := <-waiting
		want(t, "the answer comes as an Input (DE-10)", answer.texts(), "answer")
		want(t, "its outcome (AP-2)", answer.Items[0].Decision.Outcome, "allowed_once")

		all := a.inputs(id, "?after=0")
		want(t, "all again", all.texts(), "deploy 1.4.2,and what about lunch?,answer")
		lunch := all.Items[1]
		want(t, "a stranger's message is owned too (SU-2)", words(lunch.Owned, *lunch.Sender), "true {false false false}")
		back := fmt.Sprintf(`{"action":"hand_back","key":"lunch","input":%q,"reason":"not about the deployment"}`, lunch.ID)
		want(t, "hand_back (HB-1)", a.act(id, back).said(), "ok")
		want(t, "by the same key (AC-1)", a.act(id, back).said(), "deduped")
		want(t, "again without a key (HB-1)", a.act(id, fmt.Sprintf(`{"action":"hand_back","input":%q,"reason":"x"}`, lunch.ID)).said(), "noted")
		want(t, "it goes to the gate with the reason (HB-3)", words(o.message("and what about lunch?").HandBacks), fmt.Sprintf("[{%s not about the deployment}]", id))

		reply := fmt.Sprintf(`{"action":"reply","key":"r1","input":%q,"text":"deploying"}`, first.ID)
		want(t, "reply", a.act(id, reply).said(), "ok")
		want(t, "reply by the same key (AC-1)", a.act(id, reply).said(), "deduped")
		want(t, "what was replied to and handed back is dealt with (AC-2)", a.inputs(id, "?unacked=true").texts(), "answer")

		end := make(chan read)
		go func() { end <- a.inputs(id, "?wait=60s") }()
		o.settle()
		began := time.Now()
		want(t, "report", a.act(id, `{"action":"report","key":"end","kind":"done","text":"deployed"}`).said(), "ok")
		last := <-end
		want(t, "the waiting read says so at once (AC-2)", words(last.Ticket.State, last.Ticket.End.Reason, time.Since(began) < time.Second), "ended completed true")
		want(t, "an action on an ended ticket (AC-1)", a.act(id, `{"action":"reply","text":"x"}`).said(), "ticket_ended")
		want(t, "but its key still answers (AC-1)", a.act(id, `{"action":"report","key":"end","kind":"done","text":"deployed"}`).said(), "deduped")
		want(t, "said once each (OUT-1)", o.lines(), "fs~oc_1~om_1: deploying; fs~oc_1~om_1: deployed")

		o.say("wang", "oc_1/om_1", "it is down again")
		want(t, "a message resumes it (RE-1)", a.ticket(), id)
		want(t, "the read gives what resumed it", a.inputs(id, "?wait=30s").texts(), "it is down again")
		want(t, "turn_end", a.act(id, `{"action":"turn_end"}`).said(), "ok")
		want(t, "without a report it goes back to its former end (RE-1b)", a.inputs(id, "").Ticket.End.Reason, "completed")
	})
}

func TestActionsThatAreRefused(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a := o.remote(agent)
		o.say("lin", "oc_1/om_1", "@bot fix it")
		id := a.ticket()
		o.say("bot", "oc_1/om_1", "build 7 is red")
		ins := a.inputs(id, "").Items
		o.say("lin", "oc_1/om_1", "not read yet")
		unread, err := o.mem.Inputs(t.Context(), gate.TicketID(id), len(ins))
		if err != nil || len(unread) != 1 || len(ins) != 2 {
			t.Fatalf("%d inputs, %d unread, %v", len(ins), len(unread), err)
		}
		rows := []struct{ name, body, want string }{
			{"no action", `{}`, "missing_field"},
			{"an unknown action", `{"action":"stop"}`, "unknown_action"},
			{"an ack without an input", `{"action":"ack"}`, "missing_field"},
			{"an ack of an unknown input", `{"action":"ack","input":"inp_none"}`, "unknown_input"},
			{"an ack of an input that was not read yet", fmt.Sprintf(`{"action":"ack","input":%q}`, unread[0].ID), "unknown_input"},
			{"a reply without a text", `{"action":"reply"}`, "missing_field"},
			{"a reply of blanks, which no platform takes (AC-1)", `{"action":"reply","text":" \n\t"}`, "missing_field"},
			{"a report of no kind", `{"action":"report"}`, "missing_field"},
			{"a hand-back without a reason", fmt.Sprintf(`{"action":"hand_back","input":%q}`, ins[0].ID), "missing_field"},
			{"a hand-back of a bot's message queues nothing and says so (HB-4)", fmt.Sprintf(`{"action":"hand_back","reason":"x","input":%q}`, ins[1].ID), "not_owned"},
			{"a hand-back of a foreign thread", `{"action":"hand_back","reason":"x","thread":"fs~oc_2~om_9"}`, "thread_not_allowed"},
			{"a question without a key", `{"action":"ask","kind":"clarification","prompt":"?","allowFreeText":true}`, "missing_field"},
			{"a question that nobody can answer (DE-2)", `{"action":"ask","key":"k","kind":"clarification","prompt":"?"}`, "invalid"},
			{"a follow without a thread", `{"action":"follow"}`, "missing_field"},
			{"a follow of another chat (SU-5a)", `{"action":"follow","thread":"fs~oc_2~om_9"}`, "thread_not_allowed"},
			{"a follow of another source (SU-5a)", `{"action":"follow","thread":"gh~o~r~1"}`, "thread_not_allowed"},
			{"a follow in the same chat (SU-5a)", `{"action":"follow","thread":"fs~oc_1~om_9"}`, "ok"},
			{"a follow of what the configuration names (SU-5a)", `{"action":"follow","thread":"fs~oc_33~om_9"}`, "ok"},
			{"a follow again", `{"action":"follow","thread":"fs~oc_33~om_9"}`, "noted"},
			{"an unfollow", `{"action":"unfollow","thread":"fs~oc_33~om_9"}`, "ok"},
			{"an unfollow of what it does not have", `{"action":"unfollow","thread":"fs~oc_33~om_9"}`, "noted"},
			{"an unfollow of the Mandate's thread (SU-5a)", `{"action":"unfollow","thread":"fs~oc_1~om_1"}`, "thread_not_allowed"},
			{"opened without a url", `{"action":"opened"}`, "missing_field"},
			{"opened where no platform can tell who did (SU-9)", `{"action":"opened","url":"https://example.com/1"}`, "thread_not_allowed"},
			{"an approval after the turn's end (AP-7)", `{"action":"turn_end","tokens":1200}`, "ok"},
			{"is refused", `{"action":"ask","key":"k2","kind":"approval","prompt":"?","operation":{"tool":"t","reason":"r"}}`, "no_open_turn"},
		}
		for _, r := range rows {
			want(t, r.name, a.act(id, r.body).said(), r.want)
		}
		before := o.lines()
		want(t, "a report of blanks counts", a.act(id, `{"action":"report","kind":"waiting","text":" \n"}`).said(), "ok")
		want(t, "and says nothing (OUT-2)", o.lines(), before)
		for body, code := range map[string]string{
			`{`: "invalid_json", `[]`: "invalid_json", `{} {}`: "invalid_json",
			`{"upto":-1}`: "upto: is the seq", `{"thread":"a b"}`: "thread: is the id",
			`{"tokens":-1}`: "tokens: -1, from 0 to 1000000000", `{"tokens":1000000001}`: "from 0 to 1000000000", `{"tokens":1.5}`: "invalid_json",
			`{"key":"` + strings.Repeat("k", 257) + `"}`:           "key: 257 bytes, at most 256",
			`{"inputs":["` + strings.Repeat(`i","`, 1000) + `i"]}`: "inputs: 1001, at most 1000",
		} {
			if status, answer := a.call("POST", "/v1/tickets/"+id+"/actions", body); status != http.StatusBadRequest || !strings.Contains(string(answer), code) {
				t.Errorf("AC-1 %.40s = %d %s, want 400 with %q", body, status, answer, code)
			}
		}
		for _, q := range []string{"?after=x", "?after=-1", "?after=1&unacked=true", "?unacked=1", "?wait=soon"} {
			if status, answer := a.call("GET", "/v1/tickets/"+id+"/inputs"+q, ""); status != http.StatusBadRequest {
				t.Errorf("%s = %d %s, want 400", q, status, answer)
			}
		}
	})
}

func TestReadingIsTheDelivery(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a := o.remote(agent)
		o.say("lin", "oc_1/om_1", "@bot fix it")
		id := a.ticket()
		want(t, "an input that nobody fetched is queued", o.stage(id), "queued")
		time.Sleep(2 * time.Minute)
		o.say("bot", "oc_1/om_1", "still red")
		want(t, "the oldest one counts, however busy the thread is (page 04)", o.stage(id), "delivery")

		readers := make(chan string)
		for range 3 {
			go func() { readers <- a.inputs(id, "?wait=5s").texts() }()
		}
		got := []string{<-readers, <-readers, <-readers}
		n := 0
		for _, g := range got {
			if g == "fix it,still red" {
				n++
			} else if g != "" {
				t.Errorf("a reader got %q", g)
			}
		}
		want(t, "of many readers one gets an input", n, 1)
		want(t, "fetched, it works", o.stage(id), "working")
		began := time.Now()
		want(t, "an empty list when wait runs out", a.inputs(id, "?wait=20s").texts(), "")
		want(t, "it waited", time.Since(began), 20*time.Second)

		time.Sleep(29 * time.Minute)
		o.say("bot", "oc_1/om_1", "red as ever")
		time.Sleep(2 * time.Minute)
		want(t, "without an action for its turn_timeout it is stuck, whatever comes in (page 04)", o.stage(id), "delivery")
		want(t, "an action is a sign of life", a.act(id, `{"action":"reply","text":"on it"}`).said(), "ok")
		want(t, "then it works", o.stage(id), "working")
		for _, r := range []struct{ kind, stage string }{{"ready", "review"}, {"blocked", "blocked"}, {"failed", "failed"}, {"waiting", "idle"}, {"progress", "working"}} {
			want(t, r.kind, a.act(id, `{"action":"report","kind":"`+r.kind+`"}`).said(), "ok")
			want(t, "stage after "+r.kind, o.stage(id), r.stage)
		}
		want(t, "blocked", a.act(id, `{"action":"report","kind":"blocked"}`).said(), "ok")
		o.say("wang", "oc_1/om_1", "try again")
		want(t, "a person's message releases it (page 04)", o.stage(id), "working")
	})
}

func TestAStopOverHTTP(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a, op := o.remote(agent), o.remote(ops)
		o.say("lin", "oc_1/om_1", "@bot fix it")
		id := a.ticket()
		a.inputs(id, "")
		ask := `{"action":"ask","key":"q","kind":"choice","prompt":"which?","options":[{"id":"a","label":"A"}]}`
		asked := a.act(id, ask)
		o.say("wang", "oc_1/om_1", "a detail")
		waiting := make(chan read)
		go func() {
			a.inputs(id, "?wait=30s")
			waiting <- a.inputs(id, "?wait=60s")
		}()
		o.settle()
		began := time.Now()
		var tk struct {
			State   string
			End     struct{ Reason, By string }
			Mandate struct{ State string }
		}
		op.ask("POST", "/v1/tickets/"+id+"/stop", "", &tk)
		want(t, "the stopped ticket (ST-2)", words(tk.State, tk.End, tk.Mandate.State), "ended {manual_stop api:ops} withdrawn")
		got := <-waiting
		want(t, "the executor hears at once (ST-3, AC-2)", words(got.Ticket.End.Reason, time.Since(began) < time.Second), "manual_stop true")
		q, err := o.mem.Question(t.Context(), approvals.ID(asked.Question))
		want(t, "its question is cancelled (ST-3)", words(q.Status, err), "cancelled <nil>")
		op.ask("POST", "/v1/tickets/"+id+"/stop", "", &tk)
		want(t, "a second stop changes nothing (ST-2)", tk.End.Reason, "manual_stop")

		o.say("lin", "oc_1/om_1", "@bot do it differently")
		want(t, "nothing wakes it; the request is new work (ST-3)", a.ticket() != id, true)
		want(t, "a new ticket", len(o.message("do it differently").Owners), 1)
	})
}

// Several owners, release, and hand-back of a whole Thread (SU-7, EN-1, EN-2, HB-2).
func TestSeveralTicketsOverHTTP(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a := o.remote(agent)
		o.say("lin", "oc_1/om_1", "@bot first")
		one := a.ticket()
		a.inputs(one, "")
		o.say("lin", "oc_1/om_2", "@bot second")
		two := a.ticket()
		a.inputs(two, "")
		// The second Ticket comes to have the first one's Thread too.
		o.say("lin", "oc_1/om_1", "for the second")
		back := a.inputs(one, "").Items[0]
		o.attachTo.Store(two)
		want(t, "handed back", a.act(one, fmt.Sprintf(`{"action":"hand_back","input":%q,"reason":"for the other"}`, back.ID)).said(), "ok")
		o.settle()
		o.attachTo.Store("")
		want(t, "the attached message comes to the other ticket (RO-3)", a.inputs(two, "").texts(), "for the second")

		o.say("wang", "oc_1/om_1", "both of you")
		first, second := a.inputs(one, "").Items, a.inputs(two, "").Items
		want(t, "both get it (SU-7)", words(len(first), first[0].Owned, len(second), second[0].Owned), "1 true 1 true")
		want(t, "one hands it back (HB-1)", a.act(one, fmt.Sprintf(`{"action":"hand_back","input":%q,"reason":"not mine"}`, first[0].ID)).said(), "ok")
		want(t, "the other still owns it, so it goes nowhere (HB-3, SU-7)", o.message("both of you").State, orchestrator.StateOwned)

		th := "fs~oc_1~om_1"
		want(t, "an attached thread is not left before its messages are handed back (SU-5a)", a.act(two, `{"action":"unfollow","thread":"`+th+`"}`).said(), "thread_not_allowed")
		want(t, "all of its messages go back in one call (HB-2)", a.act(two, `{"action":"hand_back","thread":"`+th+`","reason":"unrelated"}`).said(), "ok")
		o.settle()
		m := o.message("both of you")
		want(t, "nobody owns it: it went to the gate and an Eval with both reasons (HB-3)", words(m.State, len(m.HandBacks)), "decided 2")
		want(t, "again has no effect (HB-1)", a.act(two, `{"action":"hand_back","thread":"`+th+`","reason":"unrelated"}`).said(), "noted")
		want(t, "now it can be left (SU-5a)", a.act(two, `{"action":"unfollow","thread":"`+th+`"}`).said(), "ok")
		o.say("wang", "oc_1/om_1", "anybody?")
		want(t, "and feeds it no more (SU-5a)", a.inputs(two, "").texts(), "")

		o.say("lin", "oc_1/om_1", "never read")
		want(t, "done", a.act(one, `{"action":"report","kind":"done","upto":1}`).said(), "ok")
		o.settle()
		want(t, "an end releases what was not dealt with (EN-1), which goes to the gate (EN-2)", o.message("never read").Admission.Basis.Kind, gate.FollowUp)
		want(t, "but not what started it (EN-1)", o.message("first").State, orchestrator.StateOwned)
	})
}

func TestFollowingOverHTTP(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a, op := o.remote(agent), o.remote(ops)
		o.say("lin", "oc_1/om_1", "@bot fix it")
		id := a.ticket()
		a.inputs(id, "")
		th := "fs~oc_1~om_9"
		want(t, "follow a thread on which nothing was said (SU-5a)", a.act(id, `{"action":"follow","thread":"`+th+`"}`).said(), "ok")
		o.say("wang", "oc_1/om_9", "hello all")
		in := a.inputs(id, "").Items
		if len(in) != 1 || in[0].Kind != "context" || in[0].Owned {
			t.Fatalf("inputs = %+v, want one for context (SU-5)", in)
		}
		want(t, "context is not owned (SU-5, HB-4)", a.act(id, fmt.Sprintf(`{"action":"hand_back","input":%q,"reason":"x"}`, in[0].ID)).said(), "not_owned")
		want(t, "it stands by its scope", o.message("hello all").Scope, gate.ChatScope("oc_1"))
		status, _ := op.call("DELETE", "/v1/tickets/"+id+"/subscriptions/"+th, "")
		want(t, "an operator removes any (SU-5a)", status, http.StatusNoContent)
		status, _ = op.call("DELETE", "/v1/tickets/"+id+"/subscriptions/"+th, "")
		want(t, "once", status, http.StatusNotFound)
		o.say("lin", "oc_1/om_1", "a detail")
		status, _ = op.call("DELETE", "/v1/tickets/"+id+"/subscriptions/fs~oc_1~om_1", "")
		want(t, "also the Mandate's (SU-5a)", status, http.StatusNoContent)
		want(t, "ownership lasts (SU-4)", a.inputs(id, "").Items[0].Owned, true)
	})
}

func TestWaitsEndWhenTheGatewayDrains(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a := o.remote(agent)
		done := make(chan int)
		go func() {
			status, _ := a.call("GET", "/v1/tickets?executor=me&wait=60s", "")
			done <- status
		}()
		synctest.Wait()
		began := time.Now()
		close(o.drain)
		want(t, "a wait", <-done, http.StatusOK)
		want(t, "ended at once", time.Since(began), 0)
	})
}
