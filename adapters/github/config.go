package github

import (
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Config is one GitHub App or account as a Source (spec page 07, sources). What
// of it is received in which scope is its gate.Source; who may ask is its
// Policy.
type Config struct {
	ID gate.SourceID
	// Workspace is set on every Trigger.
	Workspace string
	// BaseURL is the root of the REST API: https://api.github.com, an
	// Enterprise Server's https://HOST/api/v3, or a test server's. Empty:
	// github.com.
	BaseURL string
	// WebhookSecrets are accepted side by side, several while rotating (facts
	// A4); each has at least 16 bytes (GH-1).
	WebhookSecrets []string
	// Login is the agent's account, or the App's slug, with or without [bot].
	Login string
	Auth  Auth
	// Repos are patterns of owner/repo, where * stands for any part of a name;
	// case does not matter.
	Repos []string
	// CI is what of CI counts, where the scope is received (GH-3).
	CI CI
	// RequestTimeout bounds one API call. 0: 10 s.
	RequestTimeout time.Duration
}

// CI says which runs of a default branch count (GH-3).
type CI struct {
	// Events are what may have started a workflow. Empty: push.
	Events []string
	// Contexts are the statuses that count; others are none of ours.
	Contexts []string
	// ToIssue: replies go to an issue that is opened for the commit; else they
	// are comments on the commit.
	ToIssue bool
}

// Auth is how the gateway signs in: as an App (AppID and PrivateKey, a PEM), or
// with the token of an ordinary account. Exactly one. Both are secrets.
type Auth struct {
	AppID      int64
	PrivateKey string
	Token      string
}

// IsApp reports whether it signs in as a GitHub App.
func (a Auth) IsApp() bool { return a.AppID != 0 || a.PrivateKey != "" }

// String shows no secret.
func (a Auth) String() string {
	if a.IsApp() {
		return fmt.Sprintf("app %d", a.AppID)
	}
	return "token"
}

// GoString is String.
func (a Auth) GoString() string { return a.String() }

const (
	githubURL             = "https://api.github.com"
	defaultRequestTimeout = 10 * time.Second
	// minSecret is the shortest webhook secret, in bytes (GH-1).
	minSecret = 16
)

// Validate reports everything that is wrong at once. Without a secret a
// delivery signed with the empty key would be believed, so there is no start
// (GH-1, facts F and G1).
func (c Config) Validate() error {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("source %s: "+format, append([]any{c.ID}, args...)...))
	}
	if c.ID == "" {
		errs = append(errs, errors.New("a github source needs an id"))
	}
	c.checkSecrets(wrong)
	c.checkAuth(wrong)
	if !validLogin(c.slug()) {
		wrong("login %q is no account's or App's name", c.Login)
	}
	if len(c.Repos) == 0 {
		wrong(`receive.repos is empty: write which repositories, like ["acme/*"]`)
	}
	for _, p := range c.Repos {
		if !validPattern(p) {
			wrong("receive.repos: %q is not like owner/repo or owner/*", p)
		}
	}
	if err := checkBaseURL(c.baseURL()); err != nil {
		wrong("%w", err)
	}
	return errors.Join(errs...)
}

func (c Config) checkSecrets(wrong func(string, ...any)) {
	if len(c.WebhookSecrets) == 0 {
		wrong("webhook_secrets is missing: without one anybody could sign a delivery")
	}
	for i, s := range c.WebhookSecrets {
		switch {
		case len(s) < minSecret:
			wrong("webhook_secrets[%d] has %d bytes: a secret of less than %d can be guessed", i, len(s), minSecret)
		case strings.TrimRight(s, "\r\n") != s:
			wrong("webhook_secrets[%d] ends in a line break, which GitHub does not sign with", i)
		}
	}
}

func (c Config) checkAuth(wrong func(string, ...any)) {
	if c.Auth.IsApp() == (c.Auth.Token != "") {
		wrong("auth: want either app_id with private_key_file, or token")
		return
	}
	if !c.Auth.IsApp() {
		return
	}
	if c.Auth.AppID <= 0 {
		wrong("auth.app_id is missing: it is on the App's page")
	}
	if block, _ := pem.Decode([]byte(c.Auth.PrivateKey)); block == nil || !strings.HasSuffix(block.Type, "PRIVATE KEY") {
		wrong("auth.private_key_file is no private key: give the App's .pem file as it was downloaded")
	}
}

func checkBaseURL(base string) error {
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("base_url is no http(s) address like " + githubURL)
	}
	return nil
}

// String names the Source and nothing else, so that a Config in a log line
// shows no secret.
func (c Config) String() string { return "github source " + string(c.ID) }

// GoString is String.
func (c Config) GoString() string { return c.String() }

// LogValue is String.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// slug is the name that a mention has after its @, in lower case.
func (c Config) slug() string {
	return strings.TrimSuffix(strings.ToLower(strings.TrimSpace(c.Login)), botSuffix)
}

func (c Config) baseURL() string {
	if c.BaseURL == "" {
		return githubURL
	}
	return c.BaseURL
}

func (c Config) ciEvents() []string {
	if len(c.CI.Events) == 0 {
		return []string{"push"}
	}
	return c.CI.Events
}

func (c Config) requestTimeout() time.Duration {
	if c.RequestTimeout <= 0 {
		return defaultRequestTimeout
	}
	return c.RequestTimeout
}
