package main

import (
	"context"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// TestStatusSaysWhatMayBeLost: a Redis that may lose the last second is taken,
// and the log and the status say so (RS-8).
func TestStatusSaysWhatMayBeLost(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, "--appendfsync", "everysec")
	w := newWorld(t, redis.URL)
	w.start()
	var st struct {
		Healthy bool
		Entries []struct{ Name, State, Message string }
	}
	const warning = "appendfsync is everysec"
	w.until("the status warns", func(ctx context.Context) bool {
		if err := w.get(ctx, "/v1/status", &st); err != nil {
			return false
		}
		for _, e := range st.Entries {
			if e.Name == "redis" && e.State == "ok" && strings.Contains(e.Message, warning) {
				return true
			}
		}
		return false
	})
	if !strings.Contains(w.logged(), warning) {
		t.Errorf("the log does not say %q:\n%s", warning, w.logged())
	}
}
