package main

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// TestServeFindsWhatItMissed: what was said while the gateway was down becomes a
// Ticket after the start, once, and the gap is told (GH-8).
func TestServeFindsWhatItMissed(t *testing.T) {
	t.Parallel()
	b := newBoth(t, redistest.Start(t).URL)
	var tries atomic.Int32
	up := make(chan *url.URL, 1)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) == 1 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		httputil.NewSingleHostReverseProxy(<-up).ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	_, opened := b.github.OpenIssue(b.github.Repo("acme/shop"), b.octo, "Crash", "@my-bot have a look")
	if a, err := b.github.Deliver(t.Context(), front.URL+"/webhooks/github-main", opened); err != nil || a.Status != http.StatusBadGateway {
		t.Fatalf("Deliver to a gateway that is down = %v, %v", a.Status, err)
	}
	b.start()
	to, err := url.Parse(strings.TrimSuffix(b.hook, "/webhooks/feishu-main"))
	if err != nil {
		t.Fatal(err)
	}
	up <- to
	b.stage("queued")
	b.until("the gap is told", func(ctx context.Context) bool {
		var st struct {
			Entries []struct{ Name, Message string }
		}
		if b.get(ctx, "/v1/status", &st) != nil {
			return false
		}
		for _, e := range st.Entries {
			if e.Name == "source:github-main" && strings.Contains(e.Message, ": 1 missed, 1 redelivered") {
				return true
			}
		}
		return false
	})
	var out, errOut bytes.Buffer
	a := &app{out: &out, err: &errOut, env: func(string) (string, bool) { return "", false }, log: slog.New(slog.DiscardHandler)}
	if code := run([]string{"redeliver", "--url", b.admin, "--token", worldToken, "--source", "github-main"}, a); code != exitOK || out.String() != "no missed deliveries\n" {
		t.Errorf("gatehouse redeliver = %d, %q %q; want that nothing is missed any more", code, out.String(), errOut.String())
	}
	b.stage("queued")
}
