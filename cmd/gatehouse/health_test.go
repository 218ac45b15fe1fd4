package main

import (
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
)

func TestMainSessionEntry(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	const last = "last call 2026-03-01T09:00:00Z"
	for _, c := range []struct {
		name   string
		last   time.Time
		oldest time.Duration
		state  api.EntryState
		says   string
	}{
		{"it says when the main Session called last (EV-5)", at, 0, api.OK, last},
		{"it says that nobody called yet (EV-5)", time.Time{}, 0, api.OK, "no call yet"},
		{"it says how long the oldest candidate waits (EV-5)", at, time.Minute, api.OK, last + "; the oldest candidate has waited for 1m0s"},
		{"it is degraded once that is over a minute (EV-5)", at, 61 * time.Second, api.Degraded, last + "; the oldest candidate has waited for 1m1s and nobody takes it"},
		{"also before the first call (EV-5)", time.Time{}, 2 * time.Hour, api.Degraded, "no call yet; the oldest candidate has waited for 2h0m0s and nobody takes it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := api.Entry{Name: "main_session", State: c.state, Message: c.says}
			if got := mainSessionEntry(c.last, c.oldest); got != want {
				t.Errorf("mainSessionEntry(%v, %v) = %+v, want %+v", c.last, c.oldest, got, want)
			}
		})
	}
}
