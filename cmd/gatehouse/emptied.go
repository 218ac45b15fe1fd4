package main

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// emptiedEvery is how often the gateway looks whether its store still is what
// it began with.
const emptiedEvery = 5 * time.Second

// watchEmptied begins anew when the store was emptied under the gateway
// (FLUSHALL, a failover to an empty server): what was in it is lost, but what
// comes from now on must not wait for a restart (RS-9).
func (g *gateway) watchEmptied(ctx context.Context) {
	tick := time.NewTicker(emptiedEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := g.store.PolicyInForce(ctx); !errors.Is(err, orchestrator.ErrNotFound) {
			continue
		}
		g.log.ErrorContext(ctx, "the store was emptied under the gateway; beginning anew")
		if err := g.begin(ctx); err != nil {
			g.log.ErrorContext(ctx, "begin with the store", "err", err)
		}
	}
}
