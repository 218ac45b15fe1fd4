package github_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
)

func TestConfigValidate(t *testing.T) {
	t.Parallel()
	key := githubsim.New(githubsim.App{}).PrivateKey()
	for name, tt := range map[string]struct {
		change func(*github.Config)
		want   string
	}{
		"a token":                        {func(*github.Config) {}, ""},
		"an App":                         {func(c *github.Config) { c.Auth = github.Auth{AppID: 1, PrivateKey: key} }, ""},
		"an App's login with [bot]":      {func(c *github.Config) { c.Login = "My-Bot[bot]" }, ""},
		"an Enterprise Server":           {func(c *github.Config) { c.BaseURL = "https://ghe.example.com/api/v3/" }, ""},
		"GH-1 no secret":                 {func(c *github.Config) { c.WebhookSecrets = nil }, "webhook_secrets is missing"},
		"GH-1 an empty secret":           {func(c *github.Config) { c.WebhookSecrets = []string{""} }, "webhook_secrets[0] has 0 bytes"},
		"GH-1 a short one beside a good": {func(c *github.Config) { c.WebhookSecrets = append(c.WebhookSecrets, "fifteen-bytes-x") }, "webhook_secrets[1] has 15 bytes"},
		"A1 a secret with a line break":  {func(c *github.Config) { c.WebhookSecrets[0] += "\n" }, "line break"},
		"no id":                          {func(c *github.Config) { c.ID = "" }, "needs an id"},
		"no login":                       {func(c *github.Config) { c.Login = "" }, "login"},
		"a login with @":                 {func(c *github.Config) { c.Login = "@bot" }, "login"},
		"no auth":                        {func(c *github.Config) { c.Auth = github.Auth{} }, "auth"},
		"both ways to sign in":           {func(c *github.Config) { c.Auth.AppID = 1 }, "auth"},
		"an App without an id":           {func(c *github.Config) { c.Auth = github.Auth{PrivateKey: key} }, "app_id is missing"},
		"an App without a key":           {func(c *github.Config) { c.Auth = github.Auth{AppID: 1} }, "private_key_file"},
		"no repositories":                {func(c *github.Config) { c.Repos = nil }, "receive.repos is empty"},
		"a pattern without an owner":     {func(c *github.Config) { c.Repos = []string{"app"} }, "receive.repos"},
		"a pattern that is broken":       {func(c *github.Config) { c.Repos = []string{"acme/["} }, "receive.repos"},
		"a base URL without a scheme":    {func(c *github.Config) { c.BaseURL = "api.github.com" }, "base_url"},
		"a base URL with a password":     {func(c *github.Config) { c.BaseURL = "https://a:b@api.github.com" }, "base_url"},
		"a base URL that is broken":      {func(c *github.Config) { c.BaseURL = "https://%zz" }, "base_url"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := sampleConfig()
			tt.change(&c)
			err := c.Validate()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Validate = %v, want %q", err, tt.want)
			}
			if _, err := github.NewBot(c); (err == nil) != (tt.want == "") {
				t.Errorf("NewBot = %v, want the same", err)
			}
		})
	}
	t.Run("everything at once", func(t *testing.T) {
		t.Parallel()
		err := github.Config{ID: "g"}.Validate()
		if err == nil || strings.Count(err.Error(), "\n") < 3 {
			t.Errorf("Validate = %v, want every mistake", err)
		}
	})
	t.Run("a key that is no RSA key", func(t *testing.T) {
		t.Parallel()
		c := sampleConfig()
		c.Auth = github.Auth{AppID: 1, PrivateKey: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}
		if _, err := github.NewBot(c); err == nil || strings.Contains(err.Error(), "AAAA") {
			t.Errorf("NewBot = %v, want an error without the key", err)
		}
	})
}

func TestConfigShowsNoSecret(t *testing.T) {
	t.Parallel()
	c := sampleConfig()
	c.Auth.PrivateKey = "pem-words"
	var b strings.Builder
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "config", c)
	shown := fmt.Sprintf("%v %+v %#v %s %v %#v", c, c, c, b.String(), c.Auth, c.Auth)
	for _, secret := range []string{c.WebhookSecrets[0], c.Auth.Token, "pem-words"} {
		if strings.Contains(shown, secret) {
			t.Errorf("shown as %s, want no secret", shown)
		}
	}
}
