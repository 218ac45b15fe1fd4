package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
	"github.com/gatehouse-bot/gatehouse/adapters/github"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

type replayCmd struct {
	Config  string   `default:"${config}" placeholder:"FILE" help:"The configuration (${default})."`
	Source  string   `required:"" placeholder:"S" help:"The source that the bodies came to."`
	Event   string   `placeholder:"NAME" help:"The name of a GitHub event, when the file's name does not begin with it."`
	BotID   string   `placeholder:"ID" help:"The bot's own id, which the platform would be asked for."`
	Deliver bool     `help:"Send the bodies, signed, to the running gateway instead. What it knows already is a duplicate."`
	Force   bool     `help:"With --deliver: as an operator, through the admin listener, also what is known already. It is at most inferred."`
	URL     string   `placeholder:"URL" help:"With --deliver: the webhook, with --force: the admin listener (default: the configuration's addresses)."`
	Token   string   `env:"GATEHOUSE_TOKEN" placeholder:"TOKEN" help:"With --force: a token, instead of the configuration's first operator's."`
	Files   []string `arg:"" name:"file" help:"Files with one raw JSON body each, decrypted."`
}

// Help is the command's example.
func (replayCmd) Help() string {
	return "Says what the gateway would make of recorded bodies, one JSON line a file. Nothing is changed, and neither Redis\n" +
		"nor the network is used. Each body counts as arriving when it happened. A GitHub login on a list is compared with the\n" +
		"login in the body; the running gateway goes by the account that the login was bound to.\n\n" +
		"Example:\n  gatehouse replay --config gatehouse.yaml --source feishu-main --bot-id ou_bot recorded/*.json"
}

// replayed is one line of the answer.
type replayed struct {
	File      string `json:"file"`
	Outcome   string `json:"outcome"`
	Reason    string `json:"reason"`
	Trigger   any    `json:"trigger,omitempty"`
	Admission any    `json:"admission,omitempty"`
	Card      any    `json:"card,omitempty"`
}

// reading is what an adapter made of a body.
type reading struct {
	outcome, reason string
	arrival         *gate.Arrival
	card            any
}

// Run replays the files.
func (c replayCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.loadConfig(c.Config)
	if err != nil {
		return err
	}
	source := cfg.Source(gate.SourceID(c.Source))
	if source == nil {
		return fmt.Errorf("the configuration has no source %q", c.Source)
	}
	lines := json.NewEncoder(a.out)
	for _, file := range c.Files {
		body, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read recorded body: %w", err)
		}
		line, err := c.one(ctx, a, cfg, source, file, body)
		if err != nil {
			return err
		}
		line.File = file
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

func (c replayCmd) one(ctx context.Context, a *app, cfg *config.Config, source *config.Source, file string, body []byte) (replayed, error) {
	event := c.Event
	if event == "" {
		event, _, _ = strings.Cut(filepath.Base(file), ".")
	}
	switch {
	case c.Force && !c.Deliver:
		return replayed{}, errors.New("--force goes with --deliver")
	case c.Force:
		return c.force(ctx, a, source, event, body)
	case c.Deliver:
		return c.deliver(ctx, cfg, source, event, body)
	}
	r := c.read(cfg, source, event, body)
	if r.arrival == nil {
		return replayed{Outcome: r.outcome, Reason: r.reason, Card: r.card}, nil
	}
	return judged(cfg, r), nil
}

// read translates a body as the Source's adapter would.
func (c replayCmd) read(cfg *config.Config, s *config.Source, event string, body []byte) reading {
	if s.Platform() == gate.GitHub {
		return c.readGitHub(cfg, s, event, body)
	}
	return feishuReading(feishu.Translate(feishu.Setting{
		Config: feishuConfig(cfg, s), Source: *s.Gate(), BotOpenID: c.BotID, Now: time.Now(),
	}, body))
}

func feishuReading(ev feishu.Event) reading {
	r := reading{outcome: ev.Outcome.String(), reason: string(ev.Reason)}
	switch ev.Outcome {
	case feishu.Triggered:
		r.arrival = &ev.Arrival
	case feishu.CardClick:
		r.card = clickShape(ev.Click)
	case feishu.Refused, feishu.Ignored, feishu.Challenge, feishu.Changed:
	}
	return r
}

func (c replayCmd) readGitHub(cfg *config.Config, s *config.Source, event string, body []byte) reading {
	own, _ := strconv.ParseInt(c.BotID, 10, 64)
	return githubReading(github.Translate(github.Setting{Config: githubConfig(cfg, s), Source: *s.Gate(), OwnID: own, Now: time.Now()},
		github.Delivery{Event: event, GUID: "replay", Body: body}))
}

func githubReading(ev github.Event) reading {
	r := reading{outcome: ev.Outcome.String(), reason: string(ev.Reason)}
	if ev.Outcome == github.Triggered {
		r.arrival = &ev.Arrival
	}
	return r
}

// clickShape shows a click; one with a forged value names no question.
func clickShape(c approvals.AnswerRequest) any {
	if c.ID == "" {
		return nil
	}
	return map[string]any{"question": c.ID, "option": c.OptionID, "text": c.Text, "by": c.Who.ID, "message": c.Message}
}

// byLoginOnly is what replay says where nobody could be asked whose login it is.
const byLoginOnly = " (listed by login; the running gateway goes by the account that the login was bound to)"

// judged runs an arrival through the same transition as the worker, on an
// empty workspace: no Tickets, nobody to look up.
func judged(cfg *config.Config, r reading) replayed {
	t := r.arrival.Trigger
	t.ID, t.Workspace, t.ReceivedAt = "trg_replay", cfg.Workspace, t.OccurredAt
	who := t.Sender
	if cfg.Source(t.Source).Platform() == gate.GitHub {
		who = orchestrator.ByLogin(nil, who)
	}
	lists := orchestrator.ListsOf(&cfg.Policy, cfg.Approvals.Approvers, t.Source, who)
	facts := orchestrator.Facts{
		Now: t.OccurredAt, Policy: &cfg.Policy, Settings: orchestratorSettings(cfg),
		Sources: map[gate.SourceID]*gate.Source{t.Source: cfg.Source(t.Source).Gate()},
		Lists:   map[orchestrator.Who]gate.Lists{orchestrator.WhoIs(t.Source, t.Sender): lists},
		NewID:   func(prefix string) string { return prefix + "replay" },
	}
	st := orchestrator.State{Messages: map[gate.TriggerID]orchestrator.Message{
		t.ID: {Trigger: t, State: orchestrator.StateReceived},
	}}
	m := orchestrator.Arrive(st, t.ID, facts).Messages[0]
	if m.State == orchestrator.StateDropped {
		return replayed{Outcome: "ignored", Reason: m.Why}
	}
	trigger, admission := api.Shape(m)
	reason := m.Admission.Reason
	if lists != orchestrator.ListsOf(&cfg.Policy, cfg.Approvals.Approvers, t.Source, t.Sender) {
		reason += byLoginOnly
	}
	return replayed{Outcome: r.outcome, Reason: reason, Trigger: trigger, Admission: admission}
}
