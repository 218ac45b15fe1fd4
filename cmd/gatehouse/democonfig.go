package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

const (
	demoFeishu = "feishu-demo"
	demoGitHub = "github-demo"
	demoToken  = "demo-operator-token-on-loopback"
)

// demoText is the configuration of the demo, read by the same parser as
// everybody's.
const demoText = `
workspace: demo
language: zh
listen: 127.0.0.1:0
admin:
  listen: 127.0.0.1:0
  tokens: [{name: demo, token: TOKEN, role: operator}]
executors:
  default:
    kind: echo
    script:
      - approve: {tool: deploy, preview: "deploy --env staging {{text}}", reason: "部署到预发环境前需要确认"}
      - done: "已完成：{{text}}"
  clerk: {kind: echo}
sources:
  feishu-demo:
    kind: feishu
    base_url: FEISHU_API
    app_id: APP_ID
    app_secret: APP_SECRET
    encrypt_key: ENCRYPT_KEY
    verification_token: VERIFICATION
    receive: {chats: {CHAT: mentions}, direct: true}
    refusal: reply
  github-demo:
    kind: github
    base_url: GITHUB_API
    webhook_secrets: [HOOK_SECRET]
    login: duty-bot
    auth: {token: GITHUB_TOKEN}
    receive: {repos: ["acme/*"]}
policy:
  mode: observe
  sources:
    feishu-demo: {allow: [LIN]}
    github-demo: {allow: [octocat], executors: {listed: [clerk]}}
`

func demoConfig(d *demo, feishuAPI, githubAPI string) (*config.Config, error) {
	f, h := d.feishu.App(), d.github.App()
	d.github.Person("octocat") // the gateway looks the login of the list up
	text := strings.NewReplacer(
		"FEISHU_API", feishuAPI, "GITHUB_API", githubAPI, "GITHUB_TOKEN", h.Token, "HOOK_SECRET", h.Secret,
		"APP_ID", f.ID, "APP_SECRET", f.Secret, "ENCRYPT_KEY", f.EncryptKey, "VERIFICATION", f.Token,
		"CHAT", d.feishu.Group("ops").ID, "LIN", d.feishu.Person("林岚").OpenID, "TOKEN", demoToken,
	).Replace(demoText)
	cfg, faults := config.Parse("demo.yaml", []byte(text), func(string) (string, bool) { return "", false }, nil)
	if cfg == nil {
		return nil, fmt.Errorf("demo configuration: %w", faults.Err())
	}
	return cfg, nil
}

// namedTicket plays the main Session for one thing that the builtin driver
// does not do: a message that names an active Ticket is attached to it.
type namedTicket struct {
	orchestrator.Driver
	tickets orchestrator.Reader
}

// Consider attaches what names a Ticket, and leaves the rest to the driver.
func (n namedTicket) Consider(ctx context.Context, h orchestrator.Handout) ([]orchestrator.Routed, error) {
	active, _, err := n.tickets.ListTickets(ctx, orchestrator.TicketFilter{State: orchestrator.TicketActive}, orchestrator.Page{Limit: 50})
	if err != nil {
		return nil, err
	}
	var routed []orchestrator.Routed
	var rest []orchestrator.Message
	for _, m := range h.Candidates {
		if t := named(m, active); t != nil {
			routed = append(routed, orchestrator.Routed{Item: orchestrator.Item{
				Trigger: m.ID, Action: orchestrator.ActAttach, Ticket: t.ID, Reason: "it names the ticket",
			}})
			continue
		}
		rest = append(rest, m)
	}
	h.Candidates = rest
	more, err := n.Driver.Consider(ctx, h)
	return append(routed, more...), err
}

func named(m orchestrator.Message, tickets []orchestrator.Ticket) *orchestrator.Ticket {
	for i := range tickets {
		if strings.Contains(m.Text, tickets[i].Short()) {
			return &tickets[i]
		}
	}
	return nil
}
