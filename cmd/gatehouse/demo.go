package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/redisstore"
)

type demoCmd struct {
	Once    bool `help:"Play the story once and exit: 0 when every step held, else 1."`
	Verbose bool `short:"v" help:"Show the gateway's log too."`
}

// Help is the command's example.
func (demoCmd) Help() string {
	return "Runs the gateway with an in-process store and a simulated Feishu, and plays the main job\n" +
		"through the real webhook endpoint with real signatures. Each step names the rule that it shows.\n\n" +
		"Example:\n  gatehouse demo --once"
}

// demoTime bounds the whole story.
const demoTime = 60 * time.Second

// Run plays the story.
func (c demoCmd) Run(ctx context.Context, a *app) error {
	log := slog.New(slog.DiscardHandler)
	if c.Verbose {
		log = a.log
	}
	d, err := startDemo(ctx, log)
	if err != nil {
		return err
	}
	defer d.stop()
	story, cancel := context.WithTimeout(ctx, demoTime)
	defer cancel()
	if err := d.play(story, a.out); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if c.Once {
		return nil
	}
	fmt.Fprintf(a.out, "\nThe gateway stays up until ^C. Look around, for example:\n"+
		"  curl -H 'Authorization: Bearer %s' http://%s/v1/tickets\n", demoToken, d.admin)
	<-ctx.Done()
	return nil
}

// demo is a running gateway with the platforms it talks to.
type demo struct {
	feishu *feishusim.Sim
	g      *gateway
	hook   string
	admin  string
	stop   func()
}

// startDemo starts the simulated platform and the gateway on loopback ports.
func startDemo(ctx context.Context, log *slog.Logger) (*demo, error) {
	sim := feishusim.New(feishusim.App{BotName: "值班助手"})
	api, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the simulated Feishu: %w", err)
	}
	platform := &http.Server{Handler: sim, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = platform.Serve(api) }()

	cfg, err := demoConfig(sim, "http://"+api.Addr().String())
	if err != nil {
		return nil, err
	}
	st, err := openOwn(ctx, cfg, redisstore.EmbeddedOptions{Trial: true, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("open the trial store: %w", err)
	}
	g, err := wire(cfg, st, log)
	if err != nil {
		return nil, err
	}
	l, err := g.listen()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- g.run(ctx, l) }()
	d := &demo{feishu: sim, g: g, admin: l.admin.Addr().String()}
	d.hook = "http://" + l.public.Addr().String() + "/webhooks/" + demoSource
	d.stop = func() {
		cancel()
		<-done
		st.close()
		_ = platform.Close()
	}
	return d, d.untilReady(ctx)
}

// untilReady waits until the gateway says that it is ready and knows its bot.
func (d *demo) untilReady(ctx context.Context) error {
	return d.eventually(ctx, func() (bool, error) {
		res, err := http.Get("http://" + d.admin + "/readyz")
		if err != nil {
			return false, err
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		return res.StatusCode == http.StatusOK && d.g.bots[demoSource].OpenID() != "", nil
	})
}

// shown reports whether the gateway knows where its question is shown: a click
// before that comes from no card that it knows (CA-6).
func (s *story) shown(ctx context.Context) (bool, error) {
	t, err := s.firstTicket(ctx)
	if err != nil {
		return false, err
	}
	open, err := s.g.store.OpenQuestions(ctx, approvals.SessionID(t.ID))
	return len(open) == 1 && len(open[0].Messages) == 1, err
}

// eventually asks until it holds.
func (d *demo) eventually(ctx context.Context, holds func() (bool, error)) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := holds(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
