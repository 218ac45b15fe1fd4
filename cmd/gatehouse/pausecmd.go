package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

type pauseCmd struct {
	gatewayFlags
	Source string `placeholder:"S" help:"Pause one source; without it, everything."`
}

// Help is the command's example.
func (pauseCmd) Help() string {
	return "While paused, messages are taken in, but no Eval is handed out, no turn begins and no Ticket is resumed.\n" +
		"What runs goes on to its end.\n\nExample:\n  gatehouse pause --source github-main"
}

// Run pauses.
func (c pauseCmd) Run(ctx context.Context, a *app) error {
	return hold(ctx, a, c.gatewayFlags, "/v1/pause", c.Source)
}

type resumeCmd struct {
	gatewayFlags
	Source string `placeholder:"S" help:"Let one source go on; without it, everything."`
}

// Help is the command's example.
func (resumeCmd) Help() string {
	return "Before its work goes on, each Ticket's Mandate is looked at again.\n\nExample:\n  gatehouse resume --source github-main"
}

// Run resumes.
func (c resumeCmd) Run(ctx context.Context, a *app) error {
	return hold(ctx, a, c.gatewayFlags, "/v1/resume", c.Source)
}

func hold(ctx context.Context, a *app, f gatewayFlags, path, source string) error {
	gw, err := f.client(a)
	if err != nil {
		return err
	}
	var out struct {
		Paused struct {
			All     bool     `json:"all"`
			Sources []string `json:"sources"`
		} `json:"paused"`
	}
	if err := gw.send(ctx, http.MethodPost, path, nil, map[string]any{"source": source}, &out); err != nil {
		return err
	}
	said := "nothing is paused"
	switch {
	case out.Paused.All:
		said = "everything is paused"
	case len(out.Paused.Sources) > 0:
		said = "paused: " + strings.Join(out.Paused.Sources, ", ")
	}
	_, err = fmt.Fprintln(a.out, said)
	return err
}
