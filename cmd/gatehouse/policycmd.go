package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// policyCmd are the commands on the Policy.
type policyCmd struct {
	Explain  explainCmd  `cmd:"" help:"Say which line of the policy decides about a message, and why."`
	Backtest backtestCmd `cmd:"" help:"Say what another policy would have admitted differently."`
	Export   exportCmd   `cmd:"" help:"Print the running policy as YAML."`
	Apply    applyCmd    `cmd:"" help:"Bring a policy into force."`
}

type explainCmd struct {
	gatewayFlags
	Source     string `required:"" placeholder:"S" help:"The source that the message comes to."`
	Scope      string `placeholder:"SCOPE" help:"Where: chat:oc_…, other_chats, direct, issues, pulls, comments or ci."`
	Sender     string `placeholder:"SENDER" help:"Who: person:ID, bot:ID or none; a bare id is a person."`
	Addressing string `enum:"mention,direct,none" default:"none" help:"Does it address the agent: ${enum}."`
	Thread     string `placeholder:"THREAD" help:"The Thread, whose Tickets count."`
	Event      string `placeholder:"FILE" help:"A recorded body to take all that from instead, as gatehouse replay does."`
	BotID      string `placeholder:"ID" help:"With --event: the bot's own id, which the platform would be asked for."`
}

// Help is the command's example.
func (explainCmd) Help() string {
	return "Without a running gateway the file alone decides: no Tickets stand on the Thread.\n\n" +
		"Example:\n  gatehouse policy explain --source feishu-main --scope chat:oc_aaa --sender ou_1 --addressing mention"
}

// Run explains one message.
func (c explainCmd) Run(ctx context.Context, a *app) error {
	q, err := c.query(a)
	if err != nil {
		return err
	}
	gw, err := c.client(a)
	if err != nil {
		return err
	}
	var ex api.Explanation
	err = gw.send(ctx, http.MethodPost, "/v1/policy/explain", nil, map[string]any{
		"source": q.Source, "scope": q.Scope, "sender": q.Sender, "addressing": q.Addressing, "thread": q.Thread,
	}, &ex)
	if errors.Is(err, errNotRunning) {
		ex, err = c.alone(a, q)
	}
	if err != nil {
		return err
	}
	for _, s := range ex.Steps {
		mark := " "
		if s.Applies {
			mark = "*"
		}
		fmt.Fprintf(a.out, "%s %-5s %s\n", mark, s.Rule, s.Text)
	}
	return json.NewEncoder(a.out).Encode(ex.Admission)
}

// alone explains by the file.
func (c explainCmd) alone(a *app, q orchestrator.PolicyQuery) (api.Explanation, error) {
	cfg, err := a.loadConfig(c.Config)
	if err != nil {
		return api.Explanation{}, err
	}
	source := cfg.Source(q.Source)
	if source == nil {
		return api.Explanation{}, fmt.Errorf("the configuration has no source %q", q.Source)
	}
	fmt.Fprintln(a.err, "gatehouse: no gateway is running; the file alone decides")
	return api.Explained(orchestrator.ExplainWith(q, source.Gate(), &cfg.Policy)), nil
}

// query is the message that the flags name.
func (c explainCmd) query(a *app) (orchestrator.PolicyQuery, error) {
	if c.Event != "" {
		return c.recorded(a)
	}
	q := orchestrator.PolicyQuery{Source: gate.SourceID(c.Source), Scope: gate.Scope(c.Scope), Thread: gate.ThreadID(c.Thread)}
	if c.Scope == "" || c.Sender == "" {
		return q, errors.New("say --scope and --sender, or give a recorded body with --event")
	}
	if err := q.Addressing.UnmarshalText([]byte(c.Addressing)); err != nil {
		return q, err
	}
	q.Sender = senderFlag(c.Sender)
	return q, nil
}

// senderFlag reads person:ID, bot:ID, none or a bare id, which is a person's.
func senderFlag(s string) gate.Sender {
	if s == "none" {
		return gate.Sender{Kind: gate.NoSender}
	}
	kind := gate.Person
	if id, ok := strings.CutPrefix(s, "bot:"); ok {
		kind, s = gate.Bot, id
	}
	id := strings.TrimPrefix(s, "person:")
	return gate.Sender{Kind: kind, ID: id, Aliases: []string{strings.ToLower(id)}}
}

// recorded takes the message from a recorded body.
func (c explainCmd) recorded(a *app) (orchestrator.PolicyQuery, error) {
	cfg, err := a.loadConfig(c.Config)
	if err != nil {
		return orchestrator.PolicyQuery{}, err
	}
	source := cfg.Source(gate.SourceID(c.Source))
	if source == nil {
		return orchestrator.PolicyQuery{}, fmt.Errorf("the configuration has no source %q", c.Source)
	}
	body, err := os.ReadFile(c.Event)
	if err != nil {
		return orchestrator.PolicyQuery{}, fmt.Errorf("read recorded body: %w", err)
	}
	event, _, _ := strings.Cut(filepath.Base(c.Event), ".")
	r := replayCmd{BotID: c.BotID}.read(cfg, source, event, body)
	if r.arrival == nil {
		return orchestrator.PolicyQuery{}, fmt.Errorf("%s is no message for the gate: %s %s", c.Event, r.outcome, r.reason)
	}
	t := r.arrival.Trigger
	return orchestrator.PolicyQuery{Source: t.Source, Scope: t.Scope, Sender: t.Sender, Addressing: t.Addressing, Thread: t.Thread}, nil
}

type backtestCmd struct {
	gatewayFlags
	Policy string `required:"" placeholder:"FILE" help:"The proposed policy, or a configuration with one."`
	Since  string `default:"7d" help:"How far back: a duration such as 12h or 7d."`
}

// Help is the command's example.
func (backtestCmd) Help() string {
	return "Runs a policy over the recorded messages and lists what it would have admitted differently. Nothing is changed.\n" +
		"Without a running gateway the file is only checked: there are no recorded messages.\n\n" +
		"Example:\n  gatehouse policy backtest --policy new.yaml --since 7d"
}

// Run tries a policy out.
func (c backtestCmd) Run(ctx context.Context, a *app) error {
	data, err := readPolicyFile(a, c.Policy)
	if err != nil {
		return err
	}
	gw, err := c.client(a)
	if err != nil {
		return err
	}
	proposed, err := config.JSON(data)
	if err != nil {
		return fmt.Errorf("read %s: %w", c.Policy, err)
	}
	var answer json.RawMessage
	err = gw.send(ctx, http.MethodPost, "/v1/policy/backtest", nil, map[string]any{"policy": json.RawMessage(proposed), "since": c.Since}, &answer)
	if errors.Is(err, errNotRunning) {
		if answer, err = c.alone(a, data); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, string(answer))
	return err
}

func (c backtestCmd) alone(a *app, data []byte) (json.RawMessage, error) {
	cfg, err := a.loadConfig(c.Config)
	if err != nil {
		return nil, err
	}
	if _, faults := cfg.ParsePolicy(c.Policy, data); faults.Failed() {
		return nil, faults
	}
	fmt.Fprintln(a.err, "gatehouse: no gateway is running; there are no recorded messages")
	return json.RawMessage(`{"considered":0,"changed":[]}`), nil
}

type exportCmd struct{ gatewayFlags }

// Help is the command's example.
func (exportCmd) Help() string {
	return "The first line names the version, which gatehouse policy apply takes as the one that an edit started from.\n\n" +
		"Example:\n  gatehouse policy export > policy.yaml"
}

// exportHead is the first line of an exported policy.
var exportHead = regexp.MustCompile(`(?m)^# gatehouse policy, version (\d+)$`)

// Run prints the running policy.
func (c exportCmd) Run(ctx context.Context, a *app) error {
	gw, err := c.client(a)
	if err != nil {
		return err
	}
	var in policyInForce
	if err := gw.get(ctx, "/v1/policy", &in); err != nil {
		return err
	}
	text, err := config.YAML(in.Policy)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "# gatehouse policy, version %d\n%s", in.Version, text)
	return err
}

type policyInForce struct {
	Version int             `json:"version"`
	Policy  json.RawMessage `json:"policy"`
}

type applyCmd struct {
	gatewayFlags
	Policy string `required:"" placeholder:"FILE" help:"A policy that was exported and edited; with --force any, or a configuration with one."`
	Force  bool   `help:"Replace the running policy, whoever changed it."`
}

// Help is the command's example.
func (applyCmd) Help() string {
	return "The file's first line says which version the edit started from; if another is in force now, nothing is changed.\n\n" +
		"Example:\n  gatehouse policy apply --policy policy.yaml"
}

// Run brings a policy into force.
func (c applyCmd) Run(ctx context.Context, a *app) error {
	data, err := readPolicyFile(a, c.Policy)
	if err != nil {
		return err
	}
	gw, err := c.client(a)
	if err != nil {
		return err
	}
	version, err := c.started(ctx, gw, data)
	if err != nil {
		return err
	}
	var out policyInForce
	header := http.Header{"If-Match": {strconv.Quote(version)}, "Content-Type": {"application/yaml"}}
	if err := gw.send(ctx, http.MethodPut, "/v1/policy", header, data, &out); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "version %d is in force\n", out.Version)
	return err
}

// started is the version that the edit started from; by force, the running
// one.
func (c applyCmd) started(ctx context.Context, gw *client, data []byte) (string, error) {
	if c.Force {
		var in policyInForce
		err := gw.get(ctx, "/v1/policy", &in)
		return strconv.Itoa(in.Version), err
	}
	if m := exportHead.FindSubmatch(data); m != nil {
		return string(m[1]), nil
	}
	return "", fmt.Errorf("%s does not say which version it started from: edit what gatehouse policy export prints, or use --force", c.Policy)
}

// readPolicyFile reads a policy alone, or that of a configuration.
func readPolicyFile(a *app, path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	if !config.HasPolicy(data) {
		return data, nil
	}
	cfg, err := a.loadConfig(path)
	if err != nil {
		return nil, err
	}
	return config.PolicyJSON(&cfg.Policy)
}
