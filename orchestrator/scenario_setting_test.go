package orchestrator_test

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// setting is how the world of a scenario is: the Policy, what enters the
// system, and who works. Lin and Mei are listed, everybody else is not. The
// main Session and the Executors are agents of their own, played by the
// scenario's words, unless it says that they are the built-in ones.
type setting struct {
	policy    gate.Policy
	sources   map[gate.SourceID]*gate.Source
	approvers []string
	builtin   bool
	echo      bool
	script    []orchestrator.ScriptStep
	follow    []orchestrator.Follow
	bounds    orchestrator.Bounds
	members   map[string][]string
	// deaf: nobody can tell who is a member of a group.
	deaf bool
}

// usual is the setting of a scenario that says nothing. The chat "ops" and
// GitHub receive what addresses the agent, the chat "lounge" all messages.
func usual() setting {
	return setting{
		policy: gate.Policy{Mode: gate.Observe, Sources: map[gate.SourceID]gate.SourcePolicy{
			"feishu": {Allow: []string{"lin", "mei"}}, "github": {Allow: []string{"lin", "mei"}},
		}},
		sources: map[gate.SourceID]*gate.Source{
			"feishu": {
				ID: "feishu", Platform: gate.Feishu, Enabled: true, Refusal: gate.RefuseByReaction,
				Scopes: map[gate.Scope]gate.Receive{
					gate.ChatScope("ops"): gate.ReceiveMentions, gate.ChatScope("lounge"): gate.ReceiveAll, gate.DirectChat: gate.ReceiveAll,
				},
			},
			"github": {
				ID: "github", Platform: gate.GitHub, Enabled: true, Refusal: gate.RefuseByReaction,
				Scopes: map[gate.Scope]gate.Receive{
					gate.Issues: gate.ReceiveMentions, gate.Pulls: gate.ReceiveMentions, gate.Comments: gate.ReceiveMentions,
				},
			},
		},
	}
}

// furnish gives a process what the setting has.
func (s *setting) furnish(h *house, p *play) {
	h.svc.Sources = map[gate.SourceID]*gate.Source{}
	for id, src := range s.sources {
		own := *src
		own.Scopes = maps.Clone(src.Scopes)
		h.svc.Sources[id] = &own
	}
	lists := h.svc.Directory.(*orchestrator.Lists)
	lists.Approvers = map[gate.SourceID][]string{"feishu": s.approvers, "github": s.approvers}
	lists.Lookup = p
	h.svc.Opener = p
	h.svc.Settings.Follow = map[string][]orchestrator.Follow{"default": s.follow}
	s.bounds.Remote = !s.echo
	h.svc.Settings.Executors = map[string]orchestrator.Bounds{"default": s.bounds, "writer": s.bounds, "coder": s.bounds}
	senders := map[gate.SourceID]orchestrator.Sender{}
	for id, on := range p.on {
		senders[id] = on
	}
	handlers := h.worker.Handlers
	handlers[orchestrator.DueOutbox] = (&orchestrator.Outbox{Service: h.svc, Senders: senders, Keep: time.Hour}).Handle
	runner := &orchestrator.Runner{Service: h.svc}
	if s.echo {
		runner.Executors = map[string]orchestrator.Executor{"default": orchestrator.Echo{Script: s.script, Refused: "not approved"}}
	}
	handlers[orchestrator.DueTurn] = h.svc.Unpaused(runner.Handle)
	considerer := &orchestrator.Considerer{Service: h.svc, Driver: orchestrator.Builtin{Settings: h.svc.Settings, Matcher: mentions{}}, Session: "builtin"}
	maps.Copy(handlers, considerer.Handlers())
	if !s.builtin {
		for _, line := range orchestrator.EvalLines() {
			delete(handlers, line)
		}
	}
	h.worker = orchestrator.NewWorker(h.worker.WorkerConfig)
}

// settingVerbs say how the world is. Before the story they are its beginning;
// within it an edit of the Policy makes a version, and other configuration
// restarts the process.
var settingVerbs = []verb{
	{"{who} is listed[ again]", func(p *play, a []string) error {
		return p.allow(func(list []string) []string { return append(list, a[0]) })
	}},
	{"{who} is (?:not listed|taken off the list)", func(p *play, a []string) error {
		return p.allow(func(list []string) []string { return without(list, a[0]) })
	}},
	{"the members of {word} are listed", func(p *play, a []string) error {
		return p.allow(func(list []string) []string { return append(list, a[0]) })
	}},
	{"{who} is a member of {word}", func(p *play, a []string) error {
		if p.set.members == nil {
			p.set.members = map[string][]string{}
		}
		p.set.members[a[1]] = append(p.set.members[a[1]], a[0])
		return nil
	}},
	{"{who} is no member of {word}", func(p *play, a []string) error {
		p.set.members[a[1]] = without(p.set.members[a[1]], a[0])
		return nil
	}},
	{"(nobody|feishu) can tell who is a member", func(p *play, a []string) error {
		p.set.deaf = a[0] == "nobody"
		return nil
	}},
	{"the executor takes {n} tickets? at once", func(p *play, a []string) error {
		return p.configure(func(s *setting) { s.bounds.MaxConcurrent, _ = strconv.Atoi(a[0]) })
	}},
	{"the budget of a ticket is {n} turns? a day", func(p *play, a []string) error {
		return p.configure(func(s *setting) { s.bounds.Budget.Turns, _ = strconv.Atoi(a[0]) })
	}},
	{"the budget of a ticket is {n} tokens a day", func(p *play, a []string) error {
		return p.configure(func(s *setting) { s.bounds.Budget.Tokens, _ = strconv.ParseInt(a[0], 10, 64) })
	}},
	{"{who} is on the bot list", func(p *play, a []string) error {
		return p.botList(func(list []string) []string { return append(list, a[0]) })
	}},
	{"{who} is taken off the bot list", func(p *play, a []string) error {
		return p.botList(func(list []string) []string { return without(list, a[0]) })
	}},
	{"the mode (?:is|becomes) {who}", func(p *play, a []string) error {
		return p.edit(func(policy *gate.Policy) error { return policy.Mode.UnmarshalText([]byte(a[0])) })
	}},
	{"there is a rule {word}[ with the executors {words}]", func(p *play, a []string) error {
		r := gate.Rule{ID: a[0], Name: a[0], Enabled: true, Acknowledge: true, Instructions: "do it"}
		if a[1] != "" {
			r.Executors = names(a[1])
		}
		return p.edit(func(policy *gate.Policy) error { policy.Rules = append(policy.Rules, r); return nil })
	}},
	{"the rule {word} matches {text}", func(p *play, a []string) error {
		return p.edit(func(policy *gate.Policy) error {
			for i := range policy.Rules {
				if policy.Rules[i].ID == a[0] {
					policy.Rules[i].Match = a[1]
				}
			}
			return nil
		})
	}},
	{"the rule {word} needs {n} approvals? of {words}", func(p *play, a []string) error {
		return p.edit(func(policy *gate.Policy) error {
			for i := range policy.Rules {
				if policy.Rules[i].ID == a[0] {
					policy.Rules[i].Review.Reviewers = names(a[2])
					policy.Rules[i].Review.Approvals, _ = strconv.Atoi(a[1])
				}
			}
			return nil
		})
	}},
	{"the rule {word} is {words}", func(p *play, a []string) error { return p.rule(a[0], a[1]) }},
	{"the cell {word}/{word} (?:is|becomes) {who}", func(p *play, a []string) error { return p.cell(a[0], a[1], a[2]) }},
	{"the executors of {who} people are {words}", func(p *play, a []string) error {
		return p.sources(func(sp *gate.SourcePolicy) {
			if a[0] == "listed" {
				sp.Executors.Listed = names(a[1])
				return
			}
			sp.Executors.Unlisted = names(a[1])
		})
	}},
	{"the limit {word} is {n}", func(p *play, a []string) error { return p.limit(a[0], a[1]) }},
	{"{word} receives? {who}", func(p *play, a []string) error { return p.receive(a[0], a[1]) }},
	{"{who} is switched {who}", func(p *play, a []string) error {
		return p.source(a[0], func(src *gate.Source) { src.Enabled = a[1] == "on" })
	}},
	{"follow-ups are {who}", func(p *play, a []string) error {
		return p.source("", func(src *gate.Source) { src.ListedFollowUps = a[0] == "listed" })
	}},
	{"refusals are {who}", func(p *play, a []string) error {
		return p.source("", func(src *gate.Source) { src.Refusal = gate.Refusal(a[0]) })
	}},
	{"{who} is an approver", func(p *play, a []string) error {
		return p.configure(func(s *setting) { s.approvers = append(s.approvers, a[0]) })
	}},
	{"the main session is built in", func(p *play, _ []string) error {
		return p.configure(func(s *setting) { s.builtin = true })
	}},
	{"the executor is built in", func(p *play, _ []string) error {
		return p.configure(func(s *setting) { s.echo = true })
	}},
	{"the executor is built in and asks to {word}", func(p *play, a []string) error {
		return p.configure(func(s *setting) {
			s.echo = true
			s.script = []orchestrator.ScriptStep{{Approve: &approvals.Operation{Tool: a[0], Reason: "{{text}}"}}, {Done: "done: {{text}}"}}
		})
	}},
	{"the executor may follow {word} on {who}", func(p *play, a []string) error {
		return p.configure(func(s *setting) {
			s.follow = append(s.follow, orchestrator.Follow{Source: gate.SourceID(a[1]), Pattern: a[0]})
		})
	}},
}

// configure changes the configuration, which takes a restart.
func (p *play) configure(change func(*setting)) error {
	change(&p.set)
	p.restart()
	return nil
}

func (p *play) source(id string, change func(*gate.Source)) error {
	return p.configure(func(s *setting) {
		for _, src := range s.sources {
			if id == "" || string(src.ID) == id {
				change(src)
			}
		}
	})
}

func (p *play) receive(word, what string) error {
	if what == "nothing" {
		what = "off"
	}
	var r gate.Receive
	if err := r.UnmarshalText([]byte(what)); err != nil {
		return err
	}
	id, scope := scopeOf(word)
	return p.source(string(id), func(src *gate.Source) { src.Scopes[scope] = r })
}

// mentions is a Matcher to which an expression is a text that a message has.
type mentions struct{}

func (mentions) Match(_ int, expression string, m *orchestrator.Message, _ bool) (bool, error) {
	return strings.Contains(m.Text, expression), nil
}

// Member makes the play what tells who is a member of a group.
func (p *play) Member(_ context.Context, _ gate.SourceID, who gate.Sender, entries []string) gate.Membership {
	if p.set.deaf {
		return gate.Unknown
	}
	for _, e := range entries {
		if slices.Contains(p.set.members[e], who.ID) {
			return gate.Yes
		}
	}
	return gate.No
}
