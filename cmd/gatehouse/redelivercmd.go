package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

type redeliverCmd struct {
	gatewayFlags
	Source string `required:"" placeholder:"S" help:"The source to search."`
	Since  string `default:"24h" placeholder:"DURATION" help:"How far back to search, at most 7d (${default})."`
}

// Help is the command's example.
func (redeliverCmd) Help() string {
	return "Asks GitHub for deliveries that did not reach the gateway and has them made again. The gateway does so by itself, too:\n" +
		"when it starts and every redeliver.interval.\n\nExample:\n  gatehouse redeliver --source github-main --since 24h"
}

// Run asks the running gateway.
func (c redeliverCmd) Run(ctx context.Context, a *app) error {
	gw, err := c.client(a)
	if err != nil {
		return err
	}
	var found gate.Gap
	if err := gw.send(ctx, http.MethodPost, "/v1/sources/"+c.Source+"/redeliver", nil, map[string]string{"since": c.Since}, &found); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, gapLine(found))
	return err
}

// gapLine says what a search found (GH-8).
func gapLine(g gate.Gap) string {
	if g.Found == 0 {
		return "no missed deliveries"
	}
	return fmt.Sprintf("gap from %s to %s: %d missed, %d redelivered",
		g.From.Format(time.RFC3339), g.To.Format(time.RFC3339), g.Found, g.Replayed)
}
