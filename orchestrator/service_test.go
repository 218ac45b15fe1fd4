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

// TestStopWhich: a stop word that could mean several Tickets stops none and
// asks (DR-1).
func TestStopWhich(t *testing.T) {
	t.Parallel()
	ticket := func(id gate.TicketID, title string) orchestrator.Ticket {
		return orchestrator.Ticket{ID: id, Title: title, State: orchestrator.TicketActive, Subs: []orchestrator.Subscription{{Kind: orchestrator.SubOwn}}}
	}
	m := orchestrator.Message{Trigger: gate.Trigger{ID: "m1", Plain: "Stop!", Sender: gate.Sender{Kind: gate.Person, ID: "ou_1"}}}
	m.Admission.Strength = gate.Explicit
	b := orchestrator.Builtin{Settings: orchestrator.Settings{Language: "en", StopWords: []string{"stop"}}}
	items, err := b.Consider(t.Context(), orchestrator.Handout{
		Policy: &gate.Policy{}, Candidates: []orchestrator.Message{m}, Tickets: []orchestrator.Ticket{ticket("t1", "one"), ticket("t2", "two")},
	})
	const want = "There are several tasks here; say which one to stop: `t1` one, `t2` two"
	if err != nil || len(items) != 1 || items[0].Action != orchestrator.ActIgnore || items[0].PublicReason != want {
		t.Errorf("Consider = %+v, %v; want ignore, saying %q", items, err, want)
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
