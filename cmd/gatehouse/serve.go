package main

import (
	"context"
	"fmt"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
)

type serveCmd struct {
	Config string `default:"${config}" placeholder:"FILE" help:"The configuration (${default})."`
}

// Help is the command's example.
func (serveCmd) Help() string {
	return "SIGTERM drains and exits 0; a second signal exits at once. The policy is read again when the file changes, and on SIGHUP.\n\nExample:\n  gatehouse serve --config gatehouse.yaml"
}

// Run runs the gateway until a signal.
func (c serveCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.loadConfig(c.Config)
	if err != nil {
		return err
	}
	return a.serve(ctx, cfg, c.Config)
}

func (a *app) serve(ctx context.Context, cfg *config.Config, file string) error {
	hup := catchHUP()
	st, err := openStore(ctx, cfg, a.log)
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	defer st.close()
	if a.tap != nil {
		st.Store = a.tap(st.Store)
	}
	g, err := wire(cfg, st, a.log, nil)
	if err != nil {
		return err
	}
	g.follow(file, a.env, hup)
	l, err := g.listen()
	if err != nil {
		return err
	}
	return g.run(ctx, l)
}
