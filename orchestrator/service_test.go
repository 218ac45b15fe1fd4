package orchestrator_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

// flaky is a store that fails where it is told to.
type flaky struct {
	orchestrator.Store
	commit func(orchestrator.Changes) error
	known  func() error
}

func (f *flaky) Commit(ctx context.Context, c orchestrator.Changes) error {
	if f.commit != nil {
		if err := f.commit(c); err != nil {
			return err
		}
	}
	return f.Store.Commit(ctx, c)
}

func (f *flaky) Known(ctx context.Context, key string) (gate.TriggerID, error) {
	if f.known != nil {
		if err := f.known(); err != nil {
			return "", err
		}
	}
	return f.Store.Known(ctx, key)
}

// byHand is a house without a worker: the test hands out its work.
func byHand(t *testing.T) (*house, *flaky) {
	t.Helper()
	store := &flaky{Store: storetest.NewMem()}
	h := newHouseOver(t, store, newPlatform(), counter())
	if _, err := h.svc.ApplyFile(t.Context(), testPolicy()); err != nil {
		t.Fatalf("ApplyFile: %v", err)
	}
	return h, store
}

// claim takes the one piece of work of a kind that is due.
func (h *house) claim(kind approvals.DueKind) orchestrator.Claim {
	h.t.Helper()
	list, err := h.store.Claim(h.t.Context(), []approvals.DueKind{kind}, time.Now().Add(time.Second), time.Minute, 5)
	if err != nil || len(list) != 1 {
		h.t.Fatalf("Claim(%s) = %v, %v; want one", kind, list, err)
	}
	return list[0]
}

// arrive says something and takes it out of the inbox.
func (h *house) arrive(s words) {
	h.t.Helper()
	h.say(s)
	if err := h.svc.HandleInbox(h.t.Context(), h.claim(orchestrator.DueInbox)); err != nil {
		h.t.Fatalf("HandleInbox: %v", err)
	}
}

// TestRouteByEvalAlone: an item that names its Eval and no version is judged
// under the Eval's, also when an earlier item of the same call ended it (RO-9):
// "stop that, do this instead" (RO-8).
func TestRouteByEvalAlone(t *testing.T) {
	t.Parallel()
	h, _ := byHand(t)
	h.arrive(words{from: listed, text: "one", mention: true, id: "om_1"})
	h.arrive(words{from: listed, text: "not that, this", mention: true, root: "om_1", id: "om_2"})
	const thread = gate.ThreadID("feishu~" + chat + "~om_1")
	if err := h.svc.FormEval(t.Context(), thread, nil, "main"); err != nil {
		t.Fatalf("FormEval: %v", err)
	}
	st, err := h.store.Load(t.Context(), orchestrator.Want{Threads: []gate.ThreadID{thread}})
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	r := orchestrator.Ruling{Eval: st.Threads[thread].Eval, By: orchestrator.ByMainSession}
	messages, _, err := h.store.ListMessages(t.Context(), orchestrator.MessageFilter{Thread: thread}, orchestrator.Page{Limit: 5})
	if err != nil || len(messages) != 2 {
		t.Fatalf("ListMessages = %d, %v; want two", len(messages), err)
	}
	second, first := messages[0].ID, messages[1].ID
	var last orchestrator.Result
	for _, it := range []orchestrator.Item{
		{Trigger: first, Action: orchestrator.ActAccept, Title: "one"},
		{Trigger: second, Action: orchestrator.ActStop, Reason: "not that"},
		{Trigger: second, Action: orchestrator.ActAccept, Title: "this"},
	} {
		if it.Action == orchestrator.ActStop {
			it.Ticket = last.Ticket
		}
		if last, err = h.svc.Route(t.Context(), it, r); err != nil || !last.OK {
			t.Fatalf("Route(%s %s) = %+v, %v; want ok", it.Action, it.Trigger, last.Error, err)
		}
	}
}

// TestConsideredWhileSomethingCame: a message that comes while its Thread's
// claim is given up is no failure of the work; the claim stays due for it.
func TestConsideredWhileSomethingCame(t *testing.T) {
	t.Parallel()
	h, store := byHand(t)
	h.arrive(words{from: listed, text: "one", mention: true, id: "om_1"})
	came := false
	store.commit = func(c orchestrator.Changes) error {
		if c.Claim == nil || c.Claim.Kind != orchestrator.DueEval || came {
			return nil
		}
		came = true
		h.arrive(words{from: listed, text: "two", mention: true, root: "om_1", id: "om_2"})
		return nil
	}
	considerer := orchestrator.Considerer{Service: h.svc, Driver: orchestrator.Builtin{Settings: h.svc.Settings}, Session: "builtin"}
	if err := considerer.Handle(t.Context(), h.claim(orchestrator.DueEval)); err != nil || !came {
		t.Errorf("Handle = %v; want the claim given up from fresh state", err)
	}
	h.claim(orchestrator.DueEval) // for the notice of the second message
}

// TestReplyInDirectWaitsForTheStore: a reply in a DM whose root cannot be looked
// up now waits, and does not go to the open Thread instead (TH-2).
func TestReplyInDirectWaitsForTheStore(t *testing.T) {
	t.Parallel()
	h, store := byHand(t)
	direct := func(id, root string) error {
		return h.svc.Receive(t.Context(), gate.Arrival{
			Trigger: gate.Trigger{
				Source: "feishu", Scope: gate.DirectChat, Place: gate.Place{Chat: "oc_dm", Root: root}, Kind: gate.KindMessage,
				Sender: gate.Sender{Kind: gate.Person, ID: listed}, Addressing: gate.Direct, Text: id, Plain: id,
				IDs: gate.PlatformIDs{Message: id},
			},
			Keys: []string{gate.MessageKey("feishu", id)}, Lane: orchestrator.DirectLane("feishu", "oc_dm"),
		})
	}
	if err := errors.Join(direct("om_1", ""), direct("om_2", "om_1")); err != nil {
		t.Fatalf("Receive: %v", err)
	}
	store.known = func() error { return orchestrator.ErrUnavailable }
	claim := h.claim(orchestrator.DueInbox)
	if err := h.svc.HandleInbox(t.Context(), claim); !errors.Is(err, orchestrator.ErrUnavailable) {
		t.Errorf("HandleInbox = %v, want ErrUnavailable", err)
	}
	if left, err := h.store.Inbox(t.Context(), claim, 5); err != nil || len(left) != 1 {
		t.Errorf("Inbox = %v, %v; want the reply", left, err)
	}
}

// TestRefusedIsNotKept: of what no Source receives nothing that was said is
// kept (AD-9); payload and text of what is not admitted go with the verdict
// (RS-6, PL-5).
func TestRefusedIsNotKept(t *testing.T) {
	t.Parallel()
	nothing := func(*orchestrator.Facts) {}
	unlisted := func(f *orchestrator.Facts) { f.Lists = nil }
	for _, c := range []struct {
		rule, said string
		before     func(*orchestrator.Facts)
		state      orchestrator.MessageState
		kept       string
	}{
		{"dropped: nothing (AD-9)", "Alin", nothing, orchestrator.StateDropped, "///"},
		{"not admitted: no payload and no text (RS-6, PL-5)", "Awang@", nothing, orchestrator.StateNotAdmitted, "title///"},
		{"not admitted any more: no payload and no text (RS-6, PL-5)", "Alin@", unlisted, orchestrator.StateNotAdmitted, "title///"},
		{"admitted: all (RS-6)", "Alin@", nothing, orchestrator.StateEvaluating, "title/text/plain/raw"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			s, f, m := emptyState(), smallFacts(epoch), said("m1", c.said)
			m.Title, m.Text, m.Plain, m.Raw = "title", "text", "plain", "raw"
			s.Messages["m1"] = m
			s = apply(s, orchestrator.Arrive(s, "m1", f))
			c.before(&f)
			s = apply(s, orchestrator.FormEval(s, "A", nil, "main", f))
			m = s.Messages["m1"]
			if got := strings.Join([]string{m.Title, m.Text, m.Plain, m.Raw}, "/"); m.State != c.state || got != c.kept {
				t.Errorf("Arrive(m1) = %s with %q, want %s with %q", m.State, got, c.state, c.kept)
			}
		})
	}
}

// TestStopWords: a stop word stops the active Tickets of who speaks, else the
// only one, else none and asks (DR-1). What may be no more than inferred comes
// out of an evaluation (RO-2a).
func TestStopWords(t *testing.T) {
	t.Parallel()
	ticket := func(id, of string) orchestrator.Ticket {
		return orchestrator.Ticket{
			ID: gate.TicketID(id), Title: id, State: orchestrator.TicketActive, Subs: []orchestrator.Subscription{{Kind: orchestrator.SubOwn}},
			Mandate: gate.Mandate{Sender: gate.Sender{Kind: gate.Person, ID: of}},
		}
	}
	one, two, three := ticket("t1", "ou_1"), ticket("t2", "ou_2"), ticket("t3", "ou_1")
	const which = "There are several tasks here; say which one to stop: `t2` t2, `t3` t3"
	b := orchestrator.Builtin{Settings: orchestrator.Settings{Language: "en", StopWords: []string{"stop"}}}
	policy := &gate.Policy{Mode: gate.Auto, Rules: []gate.Rule{{ID: "a", Enabled: true}}}
	const judged = "; a- the rule has no match expression"
	for _, c := range []struct {
		rule    string
		kind    gate.SenderKind
		notice  bool
		said    string
		as      gate.Strength // of a notice, explicit means that the sender is listed
		tickets []orchestrator.Ticket
		want    string
	}{
		{"a candidate stops its sender's (DR-1)", gate.Person, false, "Stop!", gate.Explicit, []orchestrator.Ticket{one, two, three}, "stop t1 stop t3"},
		{"else the only one (DR-1)", gate.Person, false, "Stop!", gate.Explicit, []orchestrator.Ticket{two}, "stop t2"},
		{"else none, and asks (DR-1)", gate.Person, false, "stop", gate.Explicit, []orchestrator.Ticket{two, ticket("t3", "ou_3")}, "ignore says " + which},
		{"with nothing to stop it says so (DR-1)", gate.Person, false, "stop", gate.Explicit, nil, "ignore says There is no task under way here."},
		{"an inferred one stops by an evaluation (DR-1, RO-2a)", gate.Person, false, "stop", gate.Inferred, []orchestrator.Ticket{one}, "stop t1" + judged},
		{"and starts nothing (DR-1, RO-2a)", gate.Person, false, "stop", gate.Inferred, nil, "ignore says There is no task under way here." + judged},
		{"a bot's is like any other of its words (DR-1, RO-4)", gate.Bot, false, "stop", gate.Inferred, []orchestrator.Ticket{one}, "ignore" + judged},
		{"a notice stops its sender's (DR-1, RO-7)", gate.Person, true, "stop", gate.Explicit, []orchestrator.Ticket{one, two}, "stop t1"},
		{"by an evaluation where the sender is not listed (DR-1, RO-7)", gate.Person, true, "stop", gate.None, []orchestrator.Ticket{one, two}, "stop t1" + judged},
		{"else the only one of the notice (DR-1, RO-7)", gate.Person, true, "stop", gate.Explicit, []orchestrator.Ticket{two}, "stop t2"},
		{"else it asks, and decides nothing (DR-1, RO-7)", gate.Person, true, "stop", gate.Explicit, []orchestrator.Ticket{two, ticket("t3", "ou_3")}, "asks " + which},
		{"a notice of what ended meanwhile is only seen (DR-1, RO-7)", gate.Person, true, "stop", gate.Explicit, nil, ""},
		{"so is one that says more (DR-1, RO-7)", gate.Person, true, "stop it", gate.Explicit, []orchestrator.Ticket{one}, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			m := orchestrator.Message{Trigger: gate.Trigger{ID: "m1", Plain: c.said, Sender: gate.Sender{Kind: c.kind, ID: "ou_1"}}}
			h := orchestrator.Handout{Policy: policy, Tickets: c.tickets, Listed: map[gate.TriggerID]bool{"m1": c.as == gate.Explicit}}
			if c.notice {
				h.Notices = []orchestrator.Message{m}
			} else {
				m.Admission.Strength = c.as
				h.Candidates = []orchestrator.Message{m}
			}
			items, err := b.Consider(t.Context(), h)
			if got := routedWords(items); err != nil || got != c.want {
				t.Errorf("Consider = %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

// routedWords are items in short.
func routedWords(items []orchestrator.Routed) string {
	var words []string
	for _, it := range items {
		switch {
		case it.Ask != "":
			words = append(words, "asks "+it.Ask)
			continue
		case it.PublicReason != "":
			words = append(words, string(it.Action)+" says "+it.PublicReason)
		default:
			words = append(words, strings.TrimSpace(string(it.Action)+" "+string(it.Ticket)))
		}
		for _, v := range it.Verdicts {
			words[len(words)-1] += "; " + v.Rule + map[bool]string{true: "+ ", false: "- "}[v.Match] + v.Reason
		}
	}
	return strings.Join(words, " ")
}

// TestAskBack: what is asked back is said once, and not about what was taken
// back (DR-1, TR-4a).
func TestAskBack(t *testing.T) {
	t.Parallel()
	s, f := emptyState(), smallFacts(epoch)
	s.Messages["m1"] = said("m1", "Alin@")
	first, again := orchestrator.AskBack(s, "m1", "Which?", f), orchestrator.AskBack(s, "m1", "Which?", f)
	if len(first.Out) != 1 || len(again.Out) != 1 || first.Out[0].ID != again.Out[0].ID || first.Out[0].Text != "Which?" {
		t.Errorf("AskBack says %+v, then %+v; want one row twice", first.Out, again.Out)
	}
	gone := s.Messages["m1"]
	gone.Recalled = true
	s.Messages["m1"] = gone
	if got := orchestrator.AskBack(s, "m1", "Which?", f); len(got.Out) != 0 {
		t.Errorf("of a recalled message it asks %+v", got.Out)
	}
	if got := orchestrator.AskBack(s, "m9", "Which?", f); len(got.Out) != 0 {
		t.Errorf("of no message it asks %+v", got.Out)
	}
}

// TestEvaluateAgainLater: what could not be decided can be evaluated again
// however old it is (PA-2).
func TestEvaluateAgainLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, _ := byHand(t)
		h.arrive(words{from: listed, text: "one", mention: true, id: "om_1"})
		const thread = gate.ThreadID("feishu~" + chat + "~om_1")
		if err := h.svc.FormEval(t.Context(), thread, nil, "main"); err != nil {
			t.Fatalf("FormEval: %v", err)
		}
		evals, err := h.store.OpenEvals(t.Context())
		if err != nil || len(evals) != 1 {
			t.Fatalf("OpenEvals = %d, %v; want one", len(evals), err)
		}
		if err := h.svc.FailEval(t.Context(), evals[0].ID, "no valid answer"); err != nil {
			t.Fatalf("FailEval: %v", err)
		}
		time.Sleep(48 * time.Hour) // fake time
		if err := h.svc.EvaluateAgain(t.Context(), thread, "ops"); err != nil {
			t.Errorf("EvaluateAgain after two days = %v, want it done (PA-2)", err)
		}
	})
}
