package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/redisstore"
)

type demoCmd struct {
	Once    bool `help:"Play the story once and exit: 0 when every step held, else 1."`
	Verbose bool `short:"v" help:"Show the gateway's log too."`
}

// Help is the command's example.
func (demoCmd) Help() string {
	return "Runs the gateway with an in-process store, a simulated Feishu and a simulated GitHub, and plays the main job\n" +
		"through the real webhook endpoints with real signatures. Each step names the rule that it shows.\n\n" +
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
		"  curl -H 'Authorization: Bearer %s' %s/v1/tickets\n", demoToken, d.admin)
	<-ctx.Done()
	return nil
}

// demo is a running gateway with the platforms it talks to.
type demo struct {
	feishu *feishusim.Sim
	github *githubsim.Sim
	g      *gateway
	public string
	admin  string
	ends   []func()
}

// stop ends everything, last started first.
func (d *demo) stop() {
	for i := range d.ends {
		d.ends[len(d.ends)-1-i]()
	}
}

// startDemo starts the simulated platforms and the gateway on loopback ports.
func startDemo(ctx context.Context, log *slog.Logger) (_ *demo, err error) {
	d := &demo{feishu: feishusim.New(feishusim.App{BotName: "值班助手"}), github: githubsim.New(githubsim.App{Slug: "duty-bot"})}
	defer func() {
		if err != nil {
			d.stop()
		}
	}()
	feishuAPI, err1 := d.serve(d.feishu)
	githubAPI, err2 := d.serve(d.github)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	cfg, err := demoConfig(d, feishuAPI, githubAPI)
	if err != nil {
		return nil, err
	}
	st, err := openOwn(ctx, cfg, redisstore.EmbeddedOptions{Trial: true, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("open the trial store: %w", err)
	}
	d.ends = append(d.ends, st.close)
	d.g, err = wire(cfg, st, log, func(next orchestrator.Driver) orchestrator.Driver { return namedTicket{next, st} })
	if err != nil {
		return nil, err
	}
	if err := d.run(ctx); err != nil {
		return nil, err
	}
	return d, d.untilReady(ctx)
}

// serve serves a simulated platform on a loopback port.
func (d *demo) serve(h http.Handler) (url string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen for a simulated platform: %w", err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(l) }()
	d.ends = append(d.ends, func() { _ = server.Close() })
	return "http://" + l.Addr().String(), nil
}

func (d *demo) run(ctx context.Context) error {
	l, err := d.g.listen()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- d.g.run(ctx, l) }()
	d.ends = append(d.ends, func() {
		cancel()
		if err := <-done; err != nil {
			d.g.log.Warn("the gateway ended", "err", err)
		}
	})
	d.public, d.admin = "http://"+l.public.Addr().String(), "http://"+l.admin.Addr().String()
	return nil
}

func (d *demo) hook(source string) string { return d.public + "/webhooks/" + source }

// untilReady waits until the gateway says that it is ready and knows its bots.
func (d *demo) untilReady(ctx context.Context) error {
	return eventually(ctx, func() (bool, error) {
		res, err := http.Get(d.admin + "/readyz")
		if err != nil {
			return false, err
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		known := true
		for _, p := range d.g.plugs {
			known = known && p.known()
		}
		return res.StatusCode == http.StatusOK && known, nil
	})
}

// eventually asks until it holds.
func eventually(ctx context.Context, holds func() (bool, error)) error {
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
