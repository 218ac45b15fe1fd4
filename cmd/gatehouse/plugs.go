package main

import (
	"context"
	"net/http"
	"net/url"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
	"github.com/gatehouse-bot/gatehouse/adapters/github"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// plug is a platform's connection to the gateway: its webhook in, its sender
// out, and who the gateway is there.
type plug struct {
	webhook http.Handler
	sender  orchestrator.Sender
	// rereader reads edited messages back; nil where events carry the text.
	rereader orchestrator.Rereader
	// around reads what was said near a message.
	around orchestrator.Context
	// witness looks at CI; nil where there is none.
	witness orchestrator.Witness
	// redeliverer searches for missed deliveries; nil where there is none.
	redeliverer orchestrator.Redeliverer
	// identify asks the platform who the bot is, and returns its name.
	identify func(context.Context) (string, error)
	// read makes an arrival of a recorded body, or says why it is none.
	read func(event string, body []byte) reading
	// known reports whether it has told.
	known func() bool
	// opened tells who opened an issue or pull request (SU-9); nil: nobody can.
	opened func(ctx context.Context, url string) (o orchestrator.Opened, ok bool, err error)
}

// Opened asks the platforms, each about addresses of its own.
func (g *gateway) Opened(ctx context.Context, url string) (orchestrator.Opened, error) {
	for _, p := range g.plugs {
		if p.opened == nil {
			continue
		}
		if o, ok, err := p.opened(ctx, url); ok || err != nil {
			return o, err
		}
	}
	return orchestrator.Opened{}, orchestrator.ErrNotFound
}

func (g *gateway) plugIn(s *config.Source, src *gate.Source) (plug, error) {
	switch s.Platform() {
	case gate.GitHub:
		return g.plugGitHub(s, src)
	case gate.Feishu:
	}
	return g.plugFeishu(s, src)
}

func (g *gateway) plugFeishu(s *config.Source, src *gate.Source) (plug, error) {
	bot, err := feishu.NewBot(feishuConfig(g.cfg, s))
	if err != nil {
		return plug{}, err
	}
	handler := feishu.NewHandler(bot, func() gate.Source { return *src }, intake{g}, g.broker, g.log)
	handler.Count = func(r feishu.Reason) { g.count.ignored.WithLabelValues(string(s.ID), string(r)).Inc() }
	handler.Stop = func(ctx context.Context, c gate.StopClick) (gate.StopAnswer, error) {
		return g.service.StopByClick(ctx, c)
	}
	return plug{
		webhook: handler, sender: feishu.NewSender(bot, g.broker, g.log),
		rereader: feishu.NewRereader(bot, func() gate.Source { return *src }),
		read:     func(_ string, body []byte) reading { return feishuReading(handler.Read(body)) },
		around:   feishu.NewSurrounder(bot),
		known:    func() bool { return bot.OpenID() != "" },
		identify: func(ctx context.Context) (string, error) {
			id, err := bot.Identity(ctx)
			return id.Name, err
		},
	}, nil
}

// seen is where a question can be seen whole (CA-2): in the API, for whoever has
// a token; "" where nobody knows the gateway's own address.
func seen(cfg *config.Config) func(approvals.Question) string {
	return func(q approvals.Question) string {
		if cfg.PublicURL == "" {
			return ""
		}
		return cfg.PublicURL + "/v1/sessions/" + url.PathEscape(string(q.Session.ID)) + "/decisions/" + url.PathEscape(string(q.ID))
	}
}

func feishuConfig(cfg *config.Config, s *config.Source) feishu.Config {
	f := s.Feishu
	return feishu.Config{
		ID: s.ID, Workspace: cfg.Workspace, BaseURL: s.BaseURL,
		AppID: f.AppID, AppSecret: f.AppSecret.Reveal(), EncryptKey: f.EncryptKey.Reveal(),
		VerificationToken: f.VerificationToken.Reveal(),
		AtAll:             f.Receive.AtAll, ReplyInThread: f.ReplyInThread, Language: string(cfg.Language), Link: seen(cfg),
	}
}

func (g *gateway) plugGitHub(s *config.Source, src *gate.Source) (plug, error) {
	bot, err := github.NewBot(githubConfig(g.cfg, s))
	if err != nil {
		return plug{}, err
	}
	g.logins.Platform(s.ID, bot)
	handler := github.NewHandler(bot, func() gate.Source { return *src }, intake{g}, g.log)
	handler.Count = func(r github.Reason) { g.count.ignored.WithLabelValues(string(s.ID), string(r)).Inc() }
	return plug{
		webhook: handler, sender: github.NewSender(bot, g.broker, g.log), around: github.NewSurrounder(bot), witness: github.NewWitness(bot), redeliverer: github.NewRedeliverer(handler),
		read:  func(event string, body []byte) reading { return githubReading(handler.Read(event, body)) },
		known: func() bool { return bot.ID() != 0 },
		opened: func(ctx context.Context, url string) (orchestrator.Opened, bool, error) {
			o, ok, err := bot.Opened(ctx, url)
			return orchestrator.Opened(o), ok, err
		},
		// The lists' logins come first: GitHub is served once the bot is known.
		identify: func(ctx context.Context) (string, error) {
			if err := g.logins.Bind(ctx, s.ID); err != nil {
				return "", err
			}
			id, err := bot.Identity(ctx)
			return id.Login, err
		},
	}, nil
}

func githubConfig(cfg *config.Config, s *config.Source) github.Config {
	h := s.GitHub
	c := github.Config{
		ID: s.ID, Workspace: cfg.Workspace, BaseURL: s.BaseURL, Login: h.Login, Repos: h.Receive.Repos,
		Auth: github.Auth{AppID: int64(h.Auth.AppID), PrivateKey: h.Auth.PrivateKey.Reveal(), Token: h.Auth.Token.Reveal()},
		CI:   github.CI{Events: h.Receive.CIEvents, Contexts: h.Receive.StatusContexts, ToIssue: h.CIReportTo == config.ReportToIssue},
	}
	for _, secret := range h.WebhookSecrets {
		c.WebhookSecrets = append(c.WebhookSecrets, secret.Reveal())
	}
	return c
}
