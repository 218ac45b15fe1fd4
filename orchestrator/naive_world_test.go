package orchestrator_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// naiveWorld is a Service that is driven step by step, and the model beside
// it. Nothing runs in the background, and the clock stands still between the
// steps.
type naiveWorld struct {
	*naive
	t     *rapid.T
	store *brittle
	svc   *orchestrator.Service
	newID func(string) string
	story []string
	// places are the Threads of the story.
	places []string
	seen   snapshot
	// killed counts the processes that died so far.
	killed int
}

// brittle is a store as a process sees it that dies at its next commit, before
// or after the write, when it is told to. It notes what the gateway says.
type brittle struct {
	orchestrator.Store
	die  string // "", "before" or "after"
	dead bool
	said []gate.Outgoing
}

func (b *brittle) Commit(ctx context.Context, c orchestrator.Changes) error {
	how := b.die
	b.die = ""
	if b.dead || how == "before" {
		b.dead = true
		return errDead
	}
	if err := b.Store.Commit(ctx, c); err != nil {
		b.die = how // a conflict is no write
		return err
	}
	b.said = append(b.said, c.Out...)
	if how == "after" {
		b.dead = true
		return errDead
	}
	return nil
}

var naiveEpoch = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

func newNaiveWorld(t *rapid.T, store orchestrator.Store) *naiveWorld {
	w := &naiveWorld{t: t, store: &brittle{Store: store}, newID: counter(), naive: &naive{
		now: naiveEpoch, threads: map[string]*naiveThread{}, policies: map[int]naivePolicy{}, refused: map[string]bool{},
		sources: map[gate.SourceID]*naiveSource{
			"feishu": {on: true, refusal: gate.RefuseByReaction, receive: map[gate.Scope]gate.Receive{
				gate.ChatScope("oc_ops"): gate.ReceiveMentions, gate.ChatScope("oc_all"): gate.ReceiveAll,
			}},
			"gh": {on: true, refusal: gate.RefuseByReaction, receive: map[gate.Scope]gate.Receive{
				gate.Issues: gate.ReceiveAll, gate.Comments: gate.ReceiveMentions, gate.CI: gate.ReceiveAll,
			}},
		},
	}}
	w.restart()
	w.setPolicy(firstNaivePolicy())
	return w
}

// restart is another replica: a Service that knows nothing but the store and
// its configuration.
func (w *naiveWorld) restart() {
	w.store.dead, w.store.die = false, ""
	now := func() time.Time { return w.now }
	log := slog.New(slog.DiscardHandler)
	directory := &orchestrator.Lists{States: w.store}
	sources := map[gate.SourceID]*gate.Source{}
	for id, s := range w.sources {
		platform := map[gate.SourceID]gate.Platform{"feishu": gate.Feishu, "gh": gate.GitHub}[id]
		sources[id] = &gate.Source{
			ID: id, Platform: platform, Enabled: s.on, Scopes: s.receive, ListedFollowUps: s.listed, Refusal: s.refusal,
		}
	}
	broker := approvals.NewBroker(approvals.BrokerConfig{
		Workspace: "default", Store: w.store, Directory: directory, Settings: approvals.Settings{Timeout: 5 * time.Minute},
		Now: now, NewID: func() string { return w.newID("") }, Logger: log,
	})
	w.svc = orchestrator.NewService(orchestrator.ServiceConfig{
		Store: w.store, Asker: broker, Directory: directory, Sources: sources, Now: now, NewID: w.newID, Log: log,
		Settings: orchestrator.Settings{
			Workspace: "default", Language: "en", StopWords: []string{"stop"}, EvalTimeout: naiveEvalTimeout, MaxRequeues: 2,
			DirectQuiet: 30 * time.Minute, LateAfter: 2 * time.Hour, DedupeLife: 7 * 24 * time.Hour,
		},
	})
}

func (w *naiveWorld) ctx() context.Context { return w.t.Context() }

// tell adds a line to the story.
func (w *naiveWorld) tell(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf("%9s  %s", w.now.Sub(naiveEpoch).Round(time.Second), fmt.Sprintf(format, args...)))
}

func (w *naiveWorld) fatalf(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("the story:\n  %s\n%s", strings.Join(w.story, "\n  "), fmt.Sprintf(format, args...))
}

// try does something once, on a process that may die at its commit; then on
// another one, as its caller would. landed is called when the process died
// after its write.
func (w *naiveWorld) try(do func() error, landed func()) error {
	err := do()
	if !w.store.dead {
		w.store.die = ""
		return err
	}
	w.killed++
	if !errors.Is(err, errDead) {
		w.fatalf("a process died in its commit, and said %v", err)
	}
	w.restart()
	landed()
	return do()
}

// mayDie makes the next commit deadly, sometimes. It returns whether the
// write will land if the process dies.
func (w *naiveWorld) mayDie() (after bool) {
	how := rapid.SampledFrom([]string{"", "", "", "", "", "", "before", "after"}).Draw(w.t, "dies")
	w.store.die = how
	if how != "" {
		w.tell("the process dies %s its next write, and another one goes on", how)
	}
	return how == "after"
}

// naiveDue are the kinds of work that happen by themselves; Evals and turns
// are taken by the story.
var naiveDue = []approvals.DueKind{
	orchestrator.DueInbox, orchestrator.DuePolicy, orchestrator.DueEvalDeadline, orchestrator.DueResume,
}

const naiveLease = time.Millisecond

// settle does all work that is due, on processes that may die.
func (w *naiveWorld) settle() {
	for range 200 {
		claims, err := w.store.Claim(w.ctx(), naiveDue, w.now, naiveLease, 1)
		if err != nil {
			w.fatalf("Claim: %v", err)
		}
		if len(claims) == 0 {
			return
		}
		err = w.svc.Handlers()[claims[0].Kind](w.ctx(), claims[0])
		switch {
		case w.store.dead:
			w.killed++
			w.restart()
			w.now = w.now.Add(2 * naiveLease) // its lease runs out
		case err != nil:
			w.fatalf("%s %s: %v", claims[0].Kind, claims[0].Key, err)
		}
	}
	w.fatalf("there is always something due")
}

// pass lets time go by.
func (w *naiveWorld) pass(d time.Duration) {
	w.now = w.now.Add(d)
	w.settle()
	w.expire()
}

// setPolicy brings the model's next Policy into force.
func (w *naiveWorld) setPolicy(p naivePolicy) {
	started := w.version
	set := func() error {
		_, err := w.svc.SetPolicy(w.ctx(), p.real(), started, "api:ops")
		return err
	}
	var landed bool
	err := w.try(set, func() {
		rec, err := w.store.PolicyInForce(w.ctx())
		landed = err == nil && rec.Policy.Version != started
	})
	if landed && !errors.Is(err, orchestrator.ErrOutdated) {
		w.fatalf("SetPolicy again = %v, want ErrOutdated (PV-6)", err)
	}
	if err != nil && !landed {
		w.fatalf("SetPolicy: %v", err)
	}
	w.settle()
	w.newPolicy(p)
}

func firstNaivePolicy() naivePolicy {
	return naivePolicy{
		mode:        gate.Observe,
		rules:       map[string]naiveRule{"r1": {enabled: true}, "r2": {enabled: true}},
		allow:       map[gate.SourceID]map[string]bool{"feishu": {"lin": true}, "gh": {"lin": true}},
		bots:        map[gate.SourceID]map[string]bool{"feishu": {"good": true}, "gh": {"good": true}},
		cells:       map[gate.SourceID]map[gate.Scope]gate.Row{"feishu": {}, "gh": {}},
		unlistedAny: map[gate.SourceID]bool{},
	}
}

// clone is a deep copy, to be edited.
func (p naivePolicy) clone() naivePolicy {
	c := p
	c.rules, c.unlistedAny = map[string]naiveRule{}, map[gate.SourceID]bool{}
	c.allow, c.bots = map[gate.SourceID]map[string]bool{}, map[gate.SourceID]map[string]bool{}
	c.cells = map[gate.SourceID]map[gate.Scope]gate.Row{}
	for id, r := range p.rules {
		c.rules[id] = r
	}
	for _, id := range []gate.SourceID{"feishu", "gh"} {
		c.unlistedAny[id] = p.unlistedAny[id]
		c.allow[id], c.bots[id], c.cells[id] = map[string]bool{}, map[string]bool{}, map[gate.Scope]gate.Row{}
		for who, on := range p.allow[id] {
			c.allow[id][who] = on
		}
		for who, on := range p.bots[id] {
			c.bots[id][who] = on
		}
		for scope, row := range p.cells[id] {
			c.cells[id][scope] = row
		}
	}
	return c
}

// real is the Policy in the package's form.
func (p naivePolicy) real() gate.Policy {
	g := gate.Policy{Mode: p.mode, Sources: map[gate.SourceID]gate.SourcePolicy{}}
	for _, id := range []string{"r1", "r2"} {
		r := p.rules[id]
		rule := gate.Rule{ID: id, Name: id, Description: fmt.Sprintf("text %d", r.text), Enabled: r.enabled, Acknowledge: !r.silent}
		if r.codex {
			rule.Executors = []string{"codex"}
		}
		g.Rules = append(g.Rules, rule)
	}
	for _, id := range []gate.SourceID{"feishu", "gh"} {
		sp := gate.SourcePolicy{Limits: p.limits, Table: gate.Table{}}
		for _, who := range []string{"lin", "wang", "zhou", "good", "bad"} {
			if p.allow[id][who] {
				sp.Allow = append(sp.Allow, who)
			}
			if p.bots[id][who] {
				sp.Bots = append(sp.Bots, who)
			}
		}
		if p.unlistedAny[id] {
			sp.Executors.Unlisted = []string{"*"}
		}
		for scope, row := range p.cells[id] {
			sp.Table[scope] = row
		}
		g.Sources[id] = sp
	}
	return g
}

// arrival is a message in the form that an adapter gives it.
func (w *naiveWorld) arrival(m *naiveMessage) gate.Arrival {
	source := sourceOf(m.thread)
	text := fmt.Sprintf("text of m%d", m.n)
	if m.stopWord {
		text = "stop"
	}
	addressing := gate.NotAddressed
	if m.addressed {
		addressing = gate.Mention
	}
	kind := map[gate.Scope]gate.Kind{gate.Issues: gate.KindIssue, gate.Comments: gate.KindComment, gate.CI: gate.KindCI}[m.scope]
	if kind == "" {
		kind = gate.KindMessage
	}
	at := w.now
	if m.late {
		at = at.Add(-3 * time.Hour)
	}
	id := fmt.Sprintf("om_%d", m.n)
	return gate.Arrival{
		Trigger: gate.Trigger{
			Source: source, Scope: m.scope, Thread: gate.ThreadID(m.thread), Place: gate.Place{Chat: roomOf(m.thread), Root: m.thread},
			Kind: kind, Sender: gate.Sender{Kind: m.kind, ID: m.from}, Addressing: addressing, Text: text, Plain: text,
			IDs: gate.PlatformIDs{Message: id}, OccurredAt: at,
		},
		Keys: []string{gate.MessageKey(source, id)}, Lane: m.thread,
		OnlyIfLive: !m.addressed && w.sources[source].receive[m.scope] != gate.ReceiveAll,
	}
}

// snapshot maps the model's numbers to the store's ids.
type snapshot struct {
	messages  map[int]orchestrator.Message
	tickets   []orchestrator.Ticket
	threads   map[string]orchestrator.Thread
	decisions []orchestrator.Decision
	numbers   map[gate.TriggerID]int
	ticketNo  map[gate.TicketID]int
	inputs    [][]orchestrator.Input
	evals     map[string]orchestrator.Eval
}

func (w *naiveWorld) look() {
	page := orchestrator.Page{Limit: 1000}
	s := snapshot{
		messages: map[int]orchestrator.Message{}, numbers: map[gate.TriggerID]int{}, ticketNo: map[gate.TicketID]int{},
		threads: map[string]orchestrator.Thread{}, evals: map[string]orchestrator.Eval{},
	}
	ms, _, err := w.store.ListMessages(w.ctx(), orchestrator.MessageFilter{}, page)
	w.no(err)
	for _, m := range ms {
		var n int
		fmt.Sscanf(m.IDs.Message, "om_%d", &n)
		s.messages[n], s.numbers[m.ID] = m, n
	}
	s.tickets, _, err = w.store.ListTickets(w.ctx(), orchestrator.TicketFilter{}, page)
	w.no(err)
	slices.SortFunc(s.tickets, func(a, b orchestrator.Ticket) int { return strings.Compare(string(a.ID), string(b.ID)) })
	for i, t := range s.tickets {
		s.ticketNo[t.ID] = i + 1
		in, err := w.store.Inputs(w.ctx(), t.ID, 0)
		w.no(err)
		s.inputs = append(s.inputs, in)
	}
	ths, _, err := w.store.ListThreads(w.ctx(), page)
	w.no(err)
	for _, th := range ths {
		s.threads[string(th.ID)] = th
	}
	s.decisions, _, err = w.store.ListDecisions(w.ctx(), orchestrator.DecisionFilter{}, page)
	w.no(err)
	slices.SortFunc(s.decisions, func(a, b orchestrator.Decision) int { return strings.Compare(string(a.ID), string(b.ID)) })
	evals, err := w.store.OpenEvals(w.ctx())
	w.no(err)
	for _, e := range evals {
		for _, id := range e.Threads() {
			s.evals[string(id)] = e
		}
	}
	w.seen = s
}

func (w *naiveWorld) no(err error) {
	w.t.Helper()
	if err != nil {
		w.fatalf("%v", err)
	}
}
