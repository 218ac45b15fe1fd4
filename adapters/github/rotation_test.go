package github_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
	"github.com/gatehouse-bot/gatehouse/gate"
)

func TestSecretsWhileRotating(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		says    string
		secrets func(own string) []string
		want    string
	}{
		{"the log names the new secret by its index (GH-1)", func(own string) []string { return []string{own, "the-old-secret-0123456789"} }, "webhook_secret=0"},
		{"and the old one, once in a while (GH-1)", func(own string) []string { return []string{"the-new-secret-0123456789", own} }, "webhook_secret=1"},
		{"of one secret there is nothing to say (GH-1)", func(own string) []string { return []string{own} }, ""},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			w := identified(t, func(w *world) { w.cfg.WebhookSecrets = c.secrets(w.sim.App().Secret) })
			for range 3 {
				_, d := w.sim.OpenIssue(w.repo, w.ann, "t", "@my-bot x")
				if a := w.deliver(t, d); a.Status != http.StatusOK {
					t.Errorf("GH-1: answer = %d, want 200", a.Status)
				}
			}
			logged := w.logged.String()
			if n := strings.Count(logged, "webhook_secret="); (c.want == "") != (n == 0) || n > 1 || !strings.Contains(logged, c.want) {
				t.Errorf("GH-1: %d lines about the secret, want one with %q:\n%s", n, c.want, logged)
			}
			for _, secret := range w.cfg.WebhookSecrets {
				if strings.Contains(logged, secret) {
					t.Error("GH-1: a secret stands in the log")
				}
			}
		})
	}
}

// TestEnterprise: below /api/v3 both ways to sign in work alike.
func TestEnterprise(t *testing.T) {
	t.Parallel()
	for name, as := range map[string]func(*world){"an App": asApp, "an account's token": func(*world) {}} {
		for _, path := range []string{"/api/v3", "/api/v3/"} {
			t.Run("the own account is found and a reply is sent on an Enterprise Server with "+name+" below "+path+" (GH-6, GH-7)", func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, as, func(w *world) { w.cfg.BaseURL += path })
				id, err := w.bot.Identity(t.Context())
				if err != nil || id.ID == 0 {
					t.Fatalf("Identity = %+v, %v", id, err)
				}
				w.sim.OpenIssue(w.repo, w.ann, "t", "b")
				_, err = w.sender.Send(t.Context(), gate.Outgoing{ID: "1", Kind: gate.OutReply, Text: "done", Place: gate.Place{Chat: "acme/app", Root: "1"}, CreatedAt: now})
				snap := w.sim.Snapshot()
				if err != nil || len(snap.Sent()) != 1 || snap.Sent()[0].By.ID != id.ID {
					t.Errorf("Send = %v, %+v; want one comment of our own", err, snap.Sent())
				}
				for _, call := range snap.Calls {
					if !strings.HasPrefix(call.Path, "/api/v3/") || strings.Contains(call.Path, "//") {
						t.Errorf("called %s, want it below /api/v3", call.Path)
					}
				}
				sha := w.sim.Push(w.repo, "break it")
				_, d := w.sim.Finish(w.repo, 1, sha, "failure")
				if got, err := github.NewWitness(w.bot).Look(t.Context(), w.ran(t, d)); err != nil || got.Run.Top != sha {
					t.Errorf("Look = %+v, %v; want the head", got.Run, err)
				}
			})
		}
	}
}
