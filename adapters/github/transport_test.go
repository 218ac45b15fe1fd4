package github_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
	"github.com/gatehouse-bot/gatehouse/gate"
)

func TestFence(t *testing.T) {
	t.Parallel()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bad" {
			w.WriteHeader(http.StatusBadGateway)
		}
		_, _ = io.Copy(w, io.LimitReader(zeros{}, 20<<20))
	}))
	t.Cleanup(api.Close)
	home, err := url.Parse(api.URL)
	if err != nil {
		t.Fatal(err)
	}
	fence := github.NewFence(http.DefaultTransport, home)
	for name, tt := range map[string]struct {
		url   string
		most  int64
		fails bool
	}{
		"an answer is bounded":       {api.URL + "/", 8 << 20, false},
		"an error is bounded more":   {api.URL + "/bad", 64 << 10, false},
		"E4 another host is refused": {"http://127.0.0.1:9/", 0, true},
		"another scheme is refused":  {strings.Replace(api.URL, "http:", "https:", 1), 0, true},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, tt.url, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := fence.RoundTrip(req)
		if (err != nil) != tt.fails {
			t.Errorf("%s: RoundTrip = %v", name, err)
		}
		if err != nil {
			if !strings.Contains(err.Error(), "another host") {
				t.Errorf("%s: RoundTrip = %v, want it refused before the network", name, err)
			}
			continue
		}
		n, _ := io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if n > tt.most {
			t.Errorf("%s: %d bytes, want at most %d", name, n, tt.most)
		}
	}
}

func TestSendStopsWithItsContext(t *testing.T) {
	t.Parallel()
	w := identified(t)
	_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
	out := replyTo(w.arrived(t, d), "x")
	ctx, cancel := context.WithCancel(t.Context())
	w.sim.Fail(githubsim.Fault{Call: "comment", Hang: true})
	go func() {
		_, _ = w.sim.Wait(t.Context(), func(s githubsim.Snapshot) bool { return len(s.Named("comment")) == 1 })
		cancel()
	}()
	_, err := w.sender.Send(ctx, out)
	se, ok := err.(*gate.SendError) //nolint:errorlint // it is one, and not around one
	if !ok || se.Class != gate.SendRetry || !strings.Contains(se.Reason, "stopped") {
		t.Errorf("Send = %v, want a retry", err)
	}
}
