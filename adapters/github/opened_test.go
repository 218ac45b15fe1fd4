package github_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
)

// A GitHub with the issues 7 (the bot's own pull request) and 8 (somebody
// else's) in acme/app.
func TestOpened(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"/user":                    `{"id": 42, "login": "my-bot", "type": "User"}`,
		"/repos/acme/app/issues/7": `{"number": 7, "title": "Fix", "user": {"id": 42}, "created_at": "2026-03-01T08:00:00Z", "pull_request": {"url": "x"}}`,
		"/repos/acme/app/issues/8": `{"number": 8, "title": "Panic", "user": {"id": 43, "login": "my-bot"}, "created_at": "2026-03-01T08:00:00Z"}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := answers[r.URL.Path]
		switch {
		case strings.HasSuffix(r.URL.Path, "/500"):
			w.WriteHeader(http.StatusBadGateway)
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(a))
		}
	}))
	t.Cleanup(s.Close)
	bot, err := github.NewBot(github.Config{
		ID: "gh", Workspace: "default", BaseURL: s.URL, Login: "my-bot", Repos: []string{"acme/*"},
		WebhookSecrets: []string{"0123456789abcdef"}, Auth: github.Auth{Token: "t"},
	})
	if err != nil {
		t.Fatal(err)
	}
	early, ok, err := bot.Opened(t.Context(), s.URL+"/acme/app/pull/7")
	if err != nil || !ok || early.Ours {
		t.Errorf("SU-9 before the own id is known = %+v, %v, %v, want not ours", early, ok, err)
	}
	if _, err := bot.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows := []struct{ rule, page, want string }{
		{"the own pull request", "/acme/app/pull/7", "true gh~acme~app~7 pulls true"},
		{"by any address of it", "/acme/app/issues/7/", "true gh~acme~app~7 pulls true"},
		{"another's issue, by the numeric id (GH-6)", "/acme/app/issues/8", "true gh~acme~app~8 issues false"},
		{"an issue that is not there", "/acme/app/issues/9", "false   false"},
		{"a repository that is not received", "/other/app/issues/7", "false   false"},
		{"no issue", "/acme/app/commit/7", "false   false"},
		{"no number", "/acme/app/issues/x", "false   false"},
		{"no repository", "/acme/../issues/7", "false   false"},
	}
	for _, r := range rows {
		t.Run("SU-9 "+r.rule, func(t *testing.T) {
			t.Parallel()
			o, ok, err := bot.Opened(t.Context(), s.URL+r.page)
			if got := fmt.Sprintf("%v %s %s %v", ok, o.Thread, o.Scope, o.Ours); got != r.want || err != nil {
				t.Errorf("Opened(%s) = %s, %v, want %s", r.page, got, err, r.want)
			}
		})
	}
	t.Run("SU-9 another host, or no address", func(t *testing.T) {
		t.Parallel()
		for _, page := range []string{"https://github.com/acme/app/pull/7", "://", "", "ftp://" + strings.TrimPrefix(s.URL, "http://") + "/acme/app/pull/7"} {
			if _, ok, err := bot.Opened(t.Context(), page); ok || err != nil {
				t.Errorf("Opened(%q) = %v, %v, want nothing", page, ok, err)
			}
		}
	})
	t.Run("SU-9 GitHub that does not answer is an error", func(t *testing.T) {
		t.Parallel()
		if _, ok, err := bot.Opened(t.Context(), s.URL+"/acme/app/issues/500"); ok || err == nil {
			t.Errorf("Opened = %v, %v, want an error", ok, err)
		}
	})
}
