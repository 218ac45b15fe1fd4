package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

type statusCmd struct {
	gatewayFlags
	JSON bool `help:"Print the answer of GET /v1/status as it is."`
}

// Help is the command's example.
func (statusCmd) Help() string {
	return "Asks the running gateway how it is: one line a part, and the lengths of the queues. Exit status 0 when all is well, else 1.\n\n" +
		"Example:\n  gatehouse status --config gatehouse.yaml"
}

var errUnhealthy = errors.New("the gateway is not healthy; the lines above say which part")

// Run prints the status.
func (c statusCmd) Run(ctx context.Context, a *app) error {
	gw, err := c.client(a)
	if err != nil {
		return err
	}
	var st struct {
		Healthy bool                `json:"healthy"`
		Entries []api.Entry         `json:"entries"`
		Queues  orchestrator.Depths `json:"queues"`
	}
	if err := gw.get(ctx, "/v1/status", &st); err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(a.out).Encode(st)
	} else {
		err = c.print(a, st.Entries, st.Queues)
	}
	if err == nil && !st.Healthy {
		return errUnhealthy
	}
	return err
}

func (statusCmd) print(a *app, entries []api.Entry, q orchestrator.Depths) error {
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	for _, e := range entries {
		fmt.Fprintf(w, "%s\t%s\t%s\n", e.Name, e.State, e.Message)
	}
	fmt.Fprintf(w, "queues\t\tinbox %d, evals %d, outbox %d, open questions %d\n", q.Inbox, q.Evals, q.Outbox, q.Questions)
	return w.Flush()
}
