package github_test

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
)

func closedPort() string {
	s := httptest.NewServer(nil)
	s.Close()
	return s.URL
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*world)
		login  string
		app    bool
		fails  string
	}{
		"an account":                         {func(*world) {}, "my-bot", false, ""},
		"an account, whatever the case":      {func(w *world) { w.cfg.Login = "My-BOT" }, "my-bot", false, ""},
		"an App":                             {asApp, "my-bot[bot]", true, ""},
		"an App that is configured as [bot]": {func(w *world) { asApp(w); w.cfg.Login = "my-bot[bot]" }, "my-bot[bot]", true, ""},
		"another account's token":            {func(w *world) { w.cfg.Login = "other" }, "", false, `login says "other"`},
		"another App's key":                  {func(w *world) { asApp(w); w.cfg.Login = "other" }, "", false, `login says "other"`},
		"a wrong token":                      {func(w *world) { w.cfg.Auth.Token = "guessed-token" }, "", false, "get the own account: github answered HTTP 401: it does not accept the credentials"},
		"GitHub is down":                     {func(w *world) { w.sim.Fail(githubsim.Fault{Times: 9, Status: 503}) }, "", false, "503"},
		"GitHub cannot be reached":           {func(w *world) { w.cfg.BaseURL = closedPort() }, "", false, "get the own account: github does not answer: connection refused"},
		"an App whose users GitHub is down":  {func(w *world) { asApp(w); w.sim.Fail(githubsim.Fault{Call: "user", Status: 503}) }, "", false, "503"},
		"an App that is installed nowhere":   {func(w *world) { asApp(w); w.sim.Fail(githubsim.Fault{Call: "installations", Status: 404}) }, "my-bot[bot]", true, ""},
		"an App that GitHub does not know":   {func(w *world) { asApp(w); w.sim.Fail(githubsim.Fault{Call: "app", Status: 404}) }, "", false, "404"},
	} {
		t.Run("GH-6 "+name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tt.change)
			id, err := w.bot.Identity(t.Context())
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) || w.bot.ID() != 0 || strings.Contains(err.Error(), "-token") {
					t.Errorf("Identity = %+v, %v, want an error with %q", id, err, tt.fails)
				}
				return
			}
			if err != nil || id.Login != tt.login || id.App != tt.app || w.bot.ID() != id.ID || id.ID == 0 {
				t.Errorf("Identity = %+v, %v, want %s", id, err, tt.login)
			}
		})
	}
}

func TestAccount(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*world)
		login  string
		found  bool
		fails  string
	}{
		"whose login it is":                   {func(*world) {}, "ann", true, ""},
		"whatever the case":                   {func(*world) {}, "ANN", true, ""},
		"a bot's":                             {func(w *world) { asApp(w); w.sim.Bot("dependabot") }, "dependabot[bot]", true, ""},
		"nobody's, for certain":               {func(*world) {}, "nobody-at-all", false, ""},
		"a login that is a path":              {func(*world) {}, "../app", false, ""},
		"GitHub is down: no certainty":        {func(w *world) { w.sim.Fail(githubsim.Fault{Call: "user", Status: 503}) }, "ann", false, "503"},
		"a rate limit: no certainty":          {func(w *world) { w.sim.Fail(githubsim.Fault{Call: "user", Status: 429}) }, "ann", false, "429"},
		"an answer about another one is none": {func(w *world) { w.sim.Fail(githubsim.Fault{Call: "user", Status: 200, Body: `{"login":"bob","id":3}`}) }, "ann", false, "another one"},
		"an answer without a number is none":  {func(w *world) { w.sim.Fail(githubsim.Fault{Call: "user", Status: 200, Body: `{"login":"ann"}`}) }, "ann", false, "another one"},
	} {
		t.Run("GH-6 "+name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tt.change)
			id, err := w.bot.Account(t.Context(), tt.login)
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) || id != "" {
					t.Errorf("Account = %q, %v, want an error with %q", id, err, tt.fails)
				}
				return
			}
			if err != nil || (id != "") != tt.found || tt.login == "ann" && id != strconv.FormatInt(w.ann.ID, 10) {
				t.Errorf("Account = %q, %v, want found %v", id, err, tt.found)
			}
		})
	}
}

func TestInstallations(t *testing.T) {
	t.Parallel()
	t.Run("C3 one token for many calls", func(t *testing.T) {
		t.Parallel()
		w := identified(t, asApp)
		_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
		a := w.arrived(t, d)
		for _, text := range []string{"one", "two", "three"} {
			out := replyTo(a, text)
			out.ID = text
			if _, failed := w.send(t, out); failed != nil {
				t.Fatal(failed)
			}
		}
		if n := len(w.sim.Snapshot().Named("token")); n != 1 {
			t.Errorf("%d token requests, want 1", n)
		}
	})
	t.Run("EN-5 another installation is found again", func(t *testing.T) {
		t.Parallel()
		w := identified(t, asApp)
		_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
		out := replyTo(w.arrived(t, d), "x")
		w.sim.Reinstall()
		w.restart(t)
		if _, failed := w.send(t, out); failed != nil {
			t.Fatalf("Send = %v, want it sent by a process that asks", failed)
		}
	})
	t.Run("EN-5 a token that is refused makes the next try ask", func(t *testing.T) {
		t.Parallel()
		w := identified(t, asApp)
		w.restart(t)
		_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
		out := replyTo(w.arrived(t, d), "x") // the delivery named the installation
		w.sim.Reinstall()
		if _, failed := w.send(t, out); failed == nil || failed.Class != 0 {
			t.Fatalf("Send = %v, want a retry", failed)
		}
		out.Attempts++
		if _, failed := w.send(t, out); failed != nil || len(w.sim.Snapshot().Named("installation")) != 1 {
			t.Errorf("Send = %v, want it sent after one look-up", failed)
		}
	})
	t.Run("E1 a repository where it is not installed", func(t *testing.T) {
		t.Parallel()
		w := identified(t, asApp)
		_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
		out := replyTo(w.arrived(t, d), "x")
		out.Place.Chat, out.Attempts = "other/app", 3
		if _, failed := w.send(t, out); failed == nil || failed.Class != 1 {
			t.Errorf("Send = %v, want dropped", failed)
		}
	})
}
