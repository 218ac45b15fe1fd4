package feishu

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Config is one Feishu app as a Source (spec page 07, sources). What of it is
// received where is its gate.Source; who may ask is its Policy.
type Config struct {
	ID gate.SourceID
	// Workspace is signed into every card (CA-6) and set on every Trigger.
	Workspace string
	// BaseURL is https://open.feishu.cn, https://open.larksuite.com or a test
	// server's. Empty: Feishu.
	BaseURL string
	AppID   string
	// AppSecret, EncryptKey and VerificationToken are secrets.
	AppSecret         string
	EncryptKey        string
	VerificationToken string
	// TenantKey is the tenant whose events are ours. Empty: the tenant of the
	// first event that passes every other check is pinned until restart (a
	// custom app lives in exactly one tenant).
	TenantKey string
	// AtAll: an @all addresses the agent (AD-6a).
	AtAll bool
	// ReplyInThread answers a group message in its topic (FS-3).
	ReplyInThread bool
	// Language of cards, toasts and notices: "zh" or "en". Empty: "zh". A
	// question's own language goes first.
	Language string
	// Zone is the time zone of the times on cards. Nil: the process's.
	Zone *time.Location
	// RequestTimeout bounds one API call. 0: 10 s (the SDK's default is none,
	// facts F27).
	RequestTimeout time.Duration
	// Link gives the address where a question can be seen whole (CA-2). Nil,
	// or an empty answer: cards carry no link.
	Link func(approvals.Question) string
}

const (
	feishuURL             = "https://open.feishu.cn"
	defaultRequestTimeout = 10 * time.Second
)

// Validate reports everything that is wrong at once. Without an encrypt key
// there is no signature at all, and an empty token would accept everybody's
// challenge (facts A.1, F2, F4): both are required (FS-1: no key, no start).
func (c Config) Validate() error {
	var errs []error
	need := func(value, key, why string) {
		if value == "" {
			errs = append(errs, fmt.Errorf("source %s: %s is missing: %s", c.ID, key, why))
		}
	}
	if c.ID == "" {
		errs = append(errs, errors.New("a feishu source needs an id"))
	}
	need(c.AppID, "app_id", "the App ID of the app's credentials page")
	need(c.AppSecret, "app_secret", "the App Secret of the app's credentials page")
	need(c.EncryptKey, "encrypt_key", "without it events carry no signature; set one under Events & Callbacks, Encryption Strategy")
	need(c.VerificationToken, "verification_token", "the token under Events & Callbacks, Encryption Strategy")
	if c.Language != "" && c.Language != "zh" && c.Language != "en" {
		errs = append(errs, fmt.Errorf("source %s: language %q is neither zh nor en", c.ID, c.Language))
	}
	if err := checkBaseURL(c.baseURL()); err != nil {
		errs = append(errs, fmt.Errorf("source %s: %w", c.ID, err))
	}
	return errors.Join(errs...)
}

func checkBaseURL(base string) error {
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		return errors.New("base_url is no http(s) address like " + feishuURL)
	}
	return nil
}

// String names the Source and nothing else, so that a Config in a log line
// shows no secret.
func (c Config) String() string { return "feishu source " + string(c.ID) }

// GoString is String.
func (c Config) GoString() string { return c.String() }

// LogValue is String.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

func (c Config) baseURL() string {
	if c.BaseURL == "" {
		return feishuURL
	}
	return c.BaseURL
}

func (c Config) requestTimeout() time.Duration {
	if c.RequestTimeout <= 0 {
		return defaultRequestTimeout
	}
	return c.RequestTimeout
}

func (c Config) zone() *time.Location {
	if c.Zone == nil {
		return time.Local
	}
	return c.Zone
}
