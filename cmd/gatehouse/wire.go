package main

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/match"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// How the worker works. A dead replica's work is taken over after the lease,
// well within the 10 s of RS-3; a deadline is met within a poll, DE-6.
const (
	lease       = 6 * time.Second
	poll        = 250 * time.Millisecond
	workerLimit = 32
	outboxKeep  = 24 * time.Hour
)

// gateway is everything plugged together. wire reads from the top down: store,
// broker, service, sources, due work. A driver, when given, goes in front of
// the configured one.
type gateway struct {
	cfg     *config.Config
	log     *slog.Logger
	store   opened
	broker  *approvals.Broker
	service *orchestrator.Service
	worker  *orchestrator.Worker
	plugs   map[gate.SourceID]plug
	logins  *orchestrator.Logins
	health  *health
	count   *metrics
	file    *follower // nil: none is followed
	bodies  *budget
}

func wire(cfg *config.Config, store opened, log *slog.Logger, driver func(orchestrator.Driver) orchestrator.Driver) (*gateway, error) {
	count := newMetrics()
	store.Store = measured{store.Store, count}
	g := &gateway{cfg: cfg, log: log, store: store, count: count, bodies: newBudget(bodiesInFlight), plugs: map[gate.SourceID]plug{}}
	g.logins = orchestrator.NewLogins(store, namedPeople(cfg), time.Now, log)
	links := &orchestrator.Links{People: people(cfg), Logins: g.logins}
	lists := &orchestrator.Lists{States: store, Approvers: cfg.Approvals.Approvers, Logins: g.logins, Links: links}

	g.broker = approvals.NewBroker(approvals.BrokerConfig{
		Workspace: cfg.Workspace, Store: store, Directory: lists, Settings: approvalSettings(cfg, links),
		Linked: links.Of, Named: g.named, Now: time.Now, NewID: uuid.NewString, Logger: log,
	})
	sources := map[gate.SourceID]*gate.Source{}
	for i := range cfg.Sources {
		sources[cfg.Sources[i].ID] = cfg.Sources[i].Gate()
	}
	g.service = orchestrator.NewService(orchestrator.ServiceConfig{
		Store: store, Asker: g.broker, Directory: lists, Links: links, Opener: g, Sources: sources,
		Settings: orchestratorSettings(cfg), Now: time.Now, NewID: newID, Log: log,
		Rereaders: map[gate.SourceID]orchestrator.Rereader{}, Contexts: map[gate.SourceID]orchestrator.Context{},
		Witnesses: map[gate.SourceID]orchestrator.Witness{}, Redeliverers: map[gate.SourceID]orchestrator.Redeliverer{},
	})
	g.health = newHealth(g)

	senders := map[gate.SourceID]orchestrator.Sender{}
	for i := range cfg.Sources {
		s := &cfg.Sources[i]
		p, err := g.plugIn(s, sources[s.ID])
		if err != nil {
			return nil, fmt.Errorf("source %s: %w", s.ID, err)
		}
		g.plugs[s.ID], senders[s.ID] = p, countedSender{p.sender, count}
		g.service.Contexts[s.ID] = p.around
		if p.redeliverer != nil {
			g.service.Redeliverers[s.ID] = p.redeliverer
		}
		if p.witness != nil {
			g.service.Witnesses[s.ID] = p.witness
		}
		if p.rereader != nil {
			g.service.Rereaders[s.ID] = p.rereader
		}
	}

	var main orchestrator.Driver = orchestrator.Builtin{Settings: g.service.Settings, Matcher: match.New()}
	if driver != nil {
		main = driver(main)
	}
	considerer := &orchestrator.Considerer{Service: g.service, Driver: main, Session: "builtin"}
	runner := &orchestrator.Runner{Service: g.service, Executors: executors(cfg)}
	outbox := &orchestrator.Outbox{Service: g.service, Senders: senders, Keep: outboxKeep}
	handlers := g.service.Handlers()
	if !g.external() {
		maps.Copy(handlers, considerer.Handlers())
	}
	handlers[orchestrator.DueTurn] = g.service.Unpaused(runner.Handle)
	handlers[orchestrator.DueOutbox] = outbox.Handle
	g.worker = orchestrator.NewWorker(orchestrator.WorkerConfig{
		Queue: store, States: store, Handlers: handlers,
		Lease: lease, Poll: poll, Limit: workerLimit, Now: time.Now, Log: log,
		Prompt: []approvals.DueKind{approvals.DueDeadline, orchestrator.DueEvalDeadline},
	})
	return g, nil
}

// named is somebody under the logins that a list has for them (GH-6).
func (g *gateway) named(source gate.SourceID, who gate.Sender, list []string) gate.Sender {
	named, _ := g.logins.Named(source, who, list)
	return named
}

// external: an agent from outside is the main Session (DR-3).
func (g *gateway) external() bool { return g.cfg.Orchestrator.Driver == config.DriverExternal }

// people are those of the configuration's links (PL-3).
func people(cfg *config.Config) []map[gate.SourceID]string {
	all := make([]map[gate.SourceID]string, len(cfg.Links))
	for i, link := range cfg.Links {
		all[i] = link
	}
	return all
}

// namedPeople are the entries that the configuration has for people beside the
// Policy's lists.
func namedPeople(cfg *config.Config) map[gate.SourceID][]string {
	all := maps.Clone(cfg.Approvals.Approvers)
	for _, link := range cfg.Links {
		for source, entry := range link {
			all[source] = append(slices.Clip(all[source]), entry)
		}
	}
	return all
}

func approvalSettings(cfg *config.Config, links *orchestrator.Links) approvals.Settings {
	a := approvals.Settings{
		Policy: approvals.Policy(cfg.Approvals.Policy), Timeout: cfg.Approvals.Timeout,
		Timeouts: map[gate.SourceID]time.Duration{}, FourEyes: cfg.Approvals.FourEyes,
		MaxOpen: cfg.Approvals.MaxOpenPerSession, Approvers: links.Beside(cfg.Approvals.Approvers),
		Machine: map[string]string{}, Rooms: rooms(cfg), Cardless: map[gate.SourceID]bool{},
	}
	for _, rule := range cfg.Approvals.Machine {
		a.Machine[rule.Session] = string(rule.Outcome)
	}
	for _, list := range cfg.Approvals.Approvers {
		a.Approvers = append(a.Approvers, list...)
	}
	for i := range cfg.Sources {
		a.Timeouts[cfg.Sources[i].ID] = cfg.Sources[i].ApprovalsTimeout
		a.Cardless[cfg.Sources[i].ID] = cfg.Sources[i].Platform() != gate.Feishu
	}
	return a
}

// rooms are where questions go that have no chat of their own (CA-1). Only who
// is named by the app's own id of them can be written to.
func rooms(cfg *config.Config) approvals.Rooms {
	r := approvals.Rooms{Source: cfg.Approvals.Chat.Source, Chat: cfg.Approvals.Chat.ChatID}
	for i := range cfg.Sources {
		s := &cfg.Sources[i]
		for _, entry := range cfg.Approvals.Approvers[s.ID] {
			if s.Enabled && s.Platform() == gate.Feishu && strings.HasPrefix(entry, "ou_") {
				r.People = append(r.People, gate.Account{Source: s.ID, ID: entry})
			}
		}
	}
	return r
}

func orchestratorSettings(cfg *config.Config) orchestrator.Settings {
	return orchestrator.Settings{
		Workspace: cfg.Workspace, Language: string(cfg.Language),
		StopWords: cfg.Orchestrator.StopWords, EvalTimeout: cfg.Orchestrator.EvalTimeout,
		MaxRequeues: cfg.Orchestrator.MaxRequeues, DirectQuiet: cfg.DirectQuiet,
		Redeliver: cfg.Redeliver.Interval, LateAfter: cfg.LateAfter, DedupeLife: cfg.Retention.Dedupe, KeepRefused: cfg.Retention.RefusedText,
		FourEyes: cfg.Approvals.FourEyes, TeamPrompt: cfg.Orchestrator.TeamPrompt, Instructions: instructions(cfg),
		Follow: follows(cfg), Executors: bounds(cfg),
		Rooms: rooms(cfg),
	}
}

// instructions are what each executor is told with every Ticket.
func instructions(cfg *config.Config) map[string]string {
	all := map[string]string{}
	for name, e := range cfg.Executors {
		all[name] = e.Instructions
	}
	return all
}

// bounds is how much each executor may do (EX-5).
func bounds(cfg *config.Config) map[string]orchestrator.Bounds {
	all := map[string]orchestrator.Bounds{}
	for name, e := range cfg.Executors {
		all[name] = orchestrator.Bounds{
			MaxConcurrent: e.MaxConcurrent, Remote: e.Kind == config.KindHTTP,
			Budget: orchestrator.Budget{
				Turns: e.Budget.Turns, Time: time.Duration(e.Budget.Minutes) * time.Minute, Tokens: int64(e.Budget.Tokens),
			},
		}
	}
	return all
}

// follows are the Threads that each executor may read along (SU-5a).
func follows(cfg *config.Config) map[string][]orchestrator.Follow {
	all := map[string][]orchestrator.Follow{}
	for name, e := range cfg.Executors {
		for _, f := range e.Follow {
			all[name] = append(all[name], orchestrator.Follow{Source: f.Source, Pattern: f.Pattern})
		}
	}
	return all
}

// executors are the embedded ones of the configuration.
func executors(cfg *config.Config) map[string]orchestrator.Executor {
	all := map[string]orchestrator.Executor{}
	for name, e := range cfg.Executors {
		if e.Kind == config.KindEcho {
			all[name] = orchestrator.Echo{Script: script(e.Script), Refused: refusedText(cfg.Language)}
		}
	}
	return all
}

func script(steps []config.Step) []orchestrator.ScriptStep {
	list := make([]orchestrator.ScriptStep, 0, len(steps))
	for _, s := range steps {
		step := orchestrator.ScriptStep{Say: s.Say, Done: s.Done}
		if s.Approve != nil {
			step.Approve = &approvals.Operation{Tool: s.Approve.Tool, Preview: s.Approve.Preview, Reason: s.Approve.Reason}
		}
		list = append(list, step)
	}
	return list
}

func refusedText(l config.Language) string {
	if l == config.English {
		return "Not approved, so it was not done."
	}
	return "没有获得批准，操作没有执行。"
}

// newID returns a UUIDv7 with a prefix, so that ids grow with time.
func newID(prefix string) string {
	return prefix + strings.ReplaceAll(uuid.Must(uuid.NewV7()).String(), "-", "")
}
