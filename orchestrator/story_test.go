package orchestrator_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

// house is a whole orchestrator over the in-memory store, with a platform
// that records what is sent to it.
type house struct {
	t      *testing.T
	store  orchestrator.Store
	svc    *orchestrator.Service
	broker *approvals.Broker
	worker *orchestrator.Worker
	runner *orchestrator.Runner
	out    *platform
	said   int
	// dying: the house's process may die under the test.
	dying  bool
	policy gate.Policy
}

// platform records what is sent, once an id, and can refuse.
type platform struct {
	mu   sync.Mutex
	sent []gate.Outgoing
	ids  map[string]string
	fail func(gate.Outgoing) error
}

func (p *platform) Send(_ context.Context, o gate.Outgoing) (gate.Sent, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fail != nil {
		if err := p.fail(o); err != nil {
			return gate.Sent{}, err
		}
	}
	if id, again := p.ids[o.ID]; again {
		return gate.Sent{Message: id, Chat: o.Place.Chat}, nil
	}
	id := fmt.Sprintf("om_sent_%d", len(p.sent))
	p.ids[o.ID], p.sent = id, append(p.sent, o)
	return gate.Sent{Message: id, Chat: o.Place.Chat}, nil
}

func (p *platform) all() []gate.Outgoing {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}

func (p *platform) lines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var lines []string
	for _, o := range p.sent {
		if o.Kind == gate.OutStatus { // the tests of notices look at those
			continue
		}
		lines = append(lines, strings.TrimSpace(string(o.Kind)+" "+o.Text+string(o.Reaction)))
	}
	return lines
}

const (
	listed   = "ou_lin"
	stranger = "ou_wang"
	chat     = "oc_ops"
)

func testPolicy() gate.Policy {
	return gate.Policy{Mode: gate.Observe, Sources: map[gate.SourceID]gate.SourcePolicy{
		"feishu": {Allow: []string{listed}, Table: gate.Table{gate.ChatScope(chat): {}}},
	}}
}

func newHouse(t *testing.T, script ...orchestrator.ScriptStep) *house {
	t.Helper()
	return newHouseOver(t, storetest.NewMem(), newPlatform(), counter(), script...)
}

func newPlatform() *platform { return &platform{ids: map[string]string{}} }

// counter gives ids that grow.
func counter() func(string) string {
	var n int
	var mu sync.Mutex
	return func(prefix string) string {
		mu.Lock()
		defer mu.Unlock()
		n++
		return fmt.Sprintf("%s%08x", prefix, n)
	}
}

// newHouseOver is a replica over a store that others may use too.
func newHouseOver(t *testing.T, store orchestrator.Store, out *platform, newID func(string) string, script ...orchestrator.ScriptStep) *house {
	t.Helper()
	h := &house{t: t, store: store, out: out, policy: testPolicy()}
	log := slog.New(slog.DiscardHandler)
	sources := map[gate.SourceID]*gate.Source{"feishu": {
		ID: "feishu", Platform: gate.Feishu, Enabled: true, Refusal: gate.RefuseByReaction,
		Scopes: map[gate.Scope]gate.Receive{gate.ChatScope(chat): gate.ReceiveMentions, gate.DirectChat: gate.ReceiveAll},
	}}
	directory := &orchestrator.Lists{States: h.store}
	h.broker = approvals.NewBroker(approvals.BrokerConfig{
		Workspace: "default", Store: h.store, Directory: directory,
		Settings: approvals.Settings{Timeout: 5 * time.Minute}, Now: time.Now, NewID: func() string { return newID("") }, Logger: log,
	})
	h.svc = orchestrator.NewService(orchestrator.ServiceConfig{
		Store: h.store, Asker: h.broker, Directory: directory, Sources: sources, Now: time.Now, NewID: newID, Log: log,
		Settings: orchestrator.Settings{
			Workspace: "default", Language: "en", StopWords: []string{"stop", "停"},
			EvalTimeout: 10 * time.Minute, MaxRequeues: 2, DirectQuiet: 30 * time.Minute,
			LateAfter: 2 * time.Hour, DedupeLife: 7 * 24 * time.Hour,
		},
	})
	handlers := h.svc.Handlers()
	considerer := &orchestrator.Considerer{Service: h.svc, Driver: orchestrator.Builtin{Settings: h.svc.Settings, Matcher: wordMatcher{}}, Session: "builtin"}
	h.runner = &orchestrator.Runner{Service: h.svc, Executors: map[string]orchestrator.Executor{"default": orchestrator.Echo{Script: script, Refused: "not approved"}}}
	outbox := &orchestrator.Outbox{Service: h.svc, Senders: map[gate.SourceID]orchestrator.Sender{"feishu": h.out}, Keep: time.Hour}
	handlers[orchestrator.DueTurn], handlers[orchestrator.DueOutbox] = h.svc.Unpaused(h.runner.Handle), outbox.Handle
	maps.Copy(handlers, considerer.Handlers())
	h.worker = orchestrator.NewWorker(orchestrator.WorkerConfig{
		Queue: h.store, States: h.store, Handlers: handlers, Lease: 6 * time.Second, Poll: 250 * time.Millisecond,
		Limit: 8, Now: time.Now, Log: log,
	})
	return h
}

// run brings the policy into force and works in the background until stop, or
// the test's end.
func (h *house) run() (stop func()) {
	if _, err := h.svc.ApplyFile(h.t.Context(), h.policy); err != nil && !h.dying {
		h.t.Fatalf("ApplyFile: %v", err)
	}
	ctx, cancel := context.WithCancel(h.t.Context())
	done := make(chan error, 1)
	go func() { done <- h.worker.Run(ctx, ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			h.t.Errorf("Run: %v", err)
		}
	})
	h.t.Cleanup(stop)
	return stop
}

// settle lets everything that is due happen.
func (h *house) settle() {
	time.Sleep(5 * time.Second) // fake time
	synctest.Wait()
}

type words struct {
	from    string
	name    string // as the platform gives it; Feishu gives none
	text    string
	root    string
	mention bool
	id      string
	bot     bool
	// review makes it a comment of that review.
	review string
	// at is when it was said; zero: now.
	at time.Time
}

func (s words) when() time.Time {
	if s.at.IsZero() {
		return time.Now()
	}
	return s.at
}

func (h *house) say(s words) string {
	h.t.Helper()
	id, err := h.trySay(s)
	if err != nil {
		h.t.Fatalf("Receive(%q): %v", s.text, err)
	}
	return id
}

func (h *house) trySay(s words) (string, error) {
	h.said++
	if s.id == "" {
		s.id = fmt.Sprintf("om_%d", h.said)
	}
	root := s.root
	if root == "" {
		root = s.id
	}
	addressing, kind := gate.NotAddressed, gate.Person
	if s.mention {
		addressing = gate.Mention
	}
	if s.bot {
		kind = gate.Bot
	}
	what := gate.KindMessage
	if s.review != "" {
		what = gate.KindReviewComment
	}
	thread := gate.ThreadID("feishu~" + chat + "~" + root)
	return s.id, h.svc.Receive(h.t.Context(), gate.Arrival{
		Trigger: gate.Trigger{
			Source: "feishu", Scope: gate.ChatScope(chat), Thread: thread, Place: gate.Place{Chat: chat, Root: root},
			Kind: what, Bundle: s.review, Sender: gate.Sender{Kind: kind, ID: s.from, Name: s.name},
			Addressing: addressing, Text: s.text, Plain: s.text, IDs: gate.PlatformIDs{Message: s.id}, OccurredAt: s.when(),
		},
		Keys: []string{gate.MessageKey("feishu", s.id)}, Lane: string(thread),
		OnlyIfLive: addressing == gate.NotAddressed && h.svc.Sources["feishu"].Scopes[gate.ChatScope(chat)] != gate.ReceiveAll,
	})
}

func (h *house) ticket() orchestrator.Ticket {
	h.t.Helper()
	list, _, err := h.store.ListTickets(h.t.Context(), orchestrator.TicketFilter{}, orchestrator.Page{Limit: 10})
	if err != nil || len(list) != 1 {
		h.t.Fatalf("ListTickets() = %d tickets, %v; want one", len(list), err)
	}
	return list[0]
}

func (h *house) question() approvals.Question {
	h.t.Helper()
	list, err := h.store.OpenQuestions(h.t.Context(), approvals.SessionID(h.ticket().ID))
	if err != nil || len(list) != 1 {
		h.t.Fatalf("OpenQuestions() = %d, %v; want one", len(list), err)
	}
	return list[0]
}

func (h *house) want(lines ...string) {
	h.t.Helper()
	got := h.out.lines()
	if strings.Join(got, "\n") != strings.Join(lines, "\n") {
		h.t.Errorf("sent:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

func approvalScript() []orchestrator.ScriptStep {
	return []orchestrator.ScriptStep{
		{Approve: &approvals.Operation{Tool: "deploy", Preview: "deploy {{text}}", Reason: "to staging"}},
		{Done: "done: {{text}}"},
	}
}

func TestMainJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, approvalScript()...)
		h.run()
		h.say(words{from: listed, text: "1.4.2", mention: true})
		h.settle()
		tk := h.ticket()
		accepted := "reply Accepted `" + tk.Short() + "`: 1.4.2"
		h.want("react received", accepted, "card")

		q := h.question()
		click := approvals.AnswerRequest{
			ID: q.ID, OptionID: approvals.OptionApprove, Via: approvals.ViaCard, Source: "feishu",
			Message: &approvals.Message{Source: "feishu", Chat: chat, Message: "om_sent_2"},
		}
		click.Who = gate.Sender{Kind: gate.Person, ID: stranger}
		if _, err := h.broker.Answer(t.Context(), click); err == nil {
			t.Error("Answer by a stranger was taken (CA-3)")
		}
		click.Who.ID = listed
		if _, err := h.broker.Answer(t.Context(), click); err != nil {
			t.Errorf("Answer by the requester: %v", err)
		}
		h.settle()
		h.want("react received", accepted, "card", "reply done: 1.4.2", "card_update")
		if tk := h.ticket(); tk.Active() || tk.End.Reason != orchestrator.EndCompleted {
			t.Errorf("ticket is %s, %+v; want completed", tk.State, tk.End)
		}
		h.history(q.ID, "opened presented refused answered presentation_updated")
	})
}

// history checks what the question's row tells, in order (DE-9).
func (h *house) history(id approvals.ID, want string) {
	h.t.Helper()
	q, err := h.broker.Question(h.t.Context(), id)
	var types []string
	for _, e := range q.Events {
		types = append(types, string(e.Type))
	}
	if got := strings.Join(types, " "); err != nil || got != want {
		h.t.Errorf("question's events are %q, %v; want %q (DE-9)", got, err, want)
	}
}

func TestStory(t *testing.T) {
	t.Parallel()
	t.Run("an unlisted person's mention is refused with its reason (AD-5, OUT-6)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			h.run()
			h.say(words{from: stranger, text: "deploy", mention: true})
			h.settle()
			h.say(words{from: stranger, text: "deploy!!", mention: true})
			h.settle()
			h.want("react refused") // at most one an hour
			list, _, _ := h.store.ListMessages(t.Context(), orchestrator.MessageFilter{}, orchestrator.Page{Limit: 10})
			for _, m := range list {
				if m.State != orchestrator.StateNotAdmitted || m.Admission.Reason == "" || m.Why == "" {
					t.Errorf("message is %s, %+v; want not_admitted with a reason", m.State, m.Admission)
				}
			}
		})
	})
	t.Run("a redelivery changes nothing (TR-1)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			h.run()
			id := h.say(words{from: listed, text: "hello", mention: true})
			h.settle()
			before := h.out.lines()
			h.say(words{from: listed, text: "hello", mention: true, id: id})
			h.settle()
			h.want(before...)
			h.ticket()
		})
	})
	t.Run("a follow-up resumes the finished Ticket (RE-1), a stop by its requester ends it for good (ST-3)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			h.run()
			root := h.say(words{from: listed, text: "hello", mention: true})
			h.settle()
			h.say(words{from: stranger, text: "and again", root: root})
			h.settle()
			tk := h.ticket()
			h.want("react received", "reply Accepted `"+tk.Short()+"`: hello", "reply hello", "reply and again")
			h.say(words{from: listed, text: "stop", root: root})
			h.settle()
			if tk := h.ticket(); tk.Active() {
				t.Errorf("ticket is %s after stop", tk.State)
			}
		})
	})
	t.Run("stop while an approval is open cancels it and withdraws the Mandate (RO-4, DE-7)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, approvalScript()...)
			h.run()
			root := h.say(words{from: listed, text: "1.4.2", mention: true})
			h.settle()
			q := h.question()
			h.say(words{from: listed, text: "停", root: root})
			h.settle()
			tk := h.ticket()
			if tk.Active() || tk.Mandate.State != gate.MandateWithdrawn {
				t.Errorf("ticket %s, mandate %s; want ended, withdrawn", tk.State, tk.Mandate.State)
			}
			q, err := h.broker.Question(t.Context(), q.ID)
			if err != nil || q.Status != approvals.StatusCancelled {
				t.Errorf("question is %s, %v; want cancelled", q.Status, err)
			}
			h.say(words{from: listed, text: "go on please", root: root})
			h.settle()
			if tk := h.ticket(); tk.Active() {
				t.Error("a stopped ticket was woken (ST-3)")
			}
		})
	})
	for name, want := range map[string]string{"林岚": "林岚", "": listed} {
		t.Run("the Ticket says who stopped it, by the id where the platform gives no name: "+want, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, approvalScript()...)
				h.run()
				root := h.say(words{from: listed, name: name, text: "1.4.2", mention: true})
				h.settle()
				h.say(words{from: listed, name: name, text: "停", root: root})
				h.settle()
				if end := h.ticket().End; end == nil || end.Reason != orchestrator.EndStopped || end.By != want {
					t.Errorf("ticket ended %+v, want it stopped by %s", end, want)
				}
			})
		})
	}
	t.Run("an approval that nobody answers is unavailable, and the work is told (DE-6, AP-2)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, approvalScript()...)
			h.run()
			h.say(words{from: listed, text: "1.4.2", mention: true})
			h.settle()
			q := h.question()
			time.Sleep(6 * time.Minute)
			synctest.Wait()
			q, err := h.broker.Question(t.Context(), q.ID)
			if err != nil || q.Status != approvals.StatusTimedOut || q.Outcome.Allows() {
				t.Errorf("question is %s, outcome %s, %v; want timed out, unavailable", q.Status, q.Outcome, err)
			}
			if tk := h.ticket(); tk.Active() {
				t.Errorf("ticket is still %s", tk.State)
			}
		})
	})
}

func TestOutbox(t *testing.T) {
	t.Parallel()
	t.Run("a question that can be shown to nobody is unavailable, and the work is told (CA-7)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, approvalScript()...)
			h.out.fail = func(o gate.Outgoing) error {
				if o.Kind == gate.OutCard {
					return &gate.SendError{Class: gate.SendDropped, Reason: "the chat is gone"}
				}
				return nil
			}
			h.run()
			h.say(words{from: listed, text: "1.4.2", mention: true})
			h.settle()
			id := approvals.IDFor("default", approvals.SessionID(h.ticket().ID), "1/step-0")
			q, err := h.broker.Question(t.Context(), id)
			if err != nil || q.Outcome != approvals.Unavailable || !q.Status.Terminal() {
				t.Errorf("question is %s, outcome %q, %v; want unavailable", q.Status, q.Outcome, err)
			}
			if tk := h.ticket(); tk.Active() {
				t.Errorf("the ticket is %s", tk.State)
			}
		})
	})
	t.Run("a lane that has to wait keeps its order and blocks no other (OUT-2)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			var first gate.ThreadID
			var limited bool
			h.out.fail = func(o gate.Outgoing) error {
				if o.Thread == first && !limited {
					return &gate.SendError{Class: gate.SendRetry, After: 20 * time.Second, Reason: "rate limited"}
				}
				return nil
			}
			first, limited = "feishu~"+chat+"~om_1", false
			h.run()
			h.say(words{from: listed, text: "one", mention: true})
			h.say(words{from: listed, text: "two", mention: true})
			h.settle()
			for _, o := range h.out.all() {
				if o.Thread == first {
					t.Errorf("%s was sent in the limited thread", o.Kind)
				}
			}
			if n := len(h.out.lines()); n != 3 {
				t.Errorf("%d were sent in the other thread; want receipt, acceptance, result", n)
			}
			h.out.mu.Lock()
			limited = true
			h.out.mu.Unlock()
			time.Sleep(time.Minute)
			synctest.Wait()
			var kinds []string
			for _, o := range h.out.all() {
				if o.Thread == first && o.Kind != gate.OutStatus {
					kinds = append(kinds, string(o.Kind)+" "+o.Text)
				}
			}
			if len(kinds) != 3 || kinds[0] != "react " || kinds[2] != "reply one" {
				t.Errorf("the limited thread got %q; want the receipt, the acceptance, the result", kinds)
			}
		})
	})
	t.Run("what is to be said in a repository that is not configured any more is dropped (OUT-3)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			h.svc.Sources["feishu"].Repos = []string{"acme/*"}
			h.run()
			h.say(words{from: listed, text: "one", mention: true})
			h.settle()
			h.want()
			if d, err := h.store.Depths(t.Context()); err != nil || d.Outbox != 0 {
				t.Errorf("the outbox holds %d rows, %v; want none", d.Outbox, err)
			}
		})
	})
	t.Run("a row that was held up for long is not dropped at its next failure (OUT-1, OUT-3)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			waits := []time.Duration{3 * time.Hour, 0}
			h.out.fail = func(gate.Outgoing) error {
				if len(waits) == 0 {
					return nil
				}
				after := waits[0]
				waits = waits[1:]
				return &gate.SendError{Class: gate.SendRetry, After: after, Reason: "rate limited"}
			}
			h.run()
			h.say(words{from: listed, text: "one", mention: true})
			time.Sleep(3*time.Hour + 5*time.Minute)
			synctest.Wait()
			if got := h.out.lines(); len(got) != 3 {
				t.Errorf("said %q, want receipt, acceptance and result", got)
			}
		})
	})
	t.Run("a row that is tried for too long is dropped with its reason (OUT-3)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			h.out.fail = func(gate.Outgoing) error { return &gate.SendError{Class: gate.SendRetry, Reason: "no answer"} }
			h.run()
			h.say(words{from: listed, text: "one", mention: true})
			time.Sleep(3 * time.Hour)
			synctest.Wait()
			d, err := h.store.Depths(t.Context())
			if err != nil || d.Outbox != 0 {
				t.Errorf("the outbox holds %d rows, %v; want none", d.Outbox, err)
			}
		})
	})
}
