package feishu

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"

	larkcore "github.com/larksuite/oapi-sdk-go/v3/core"
)

// Identity is who the app is on its platform.
type Identity struct {
	OpenID string
	Name   string
	// Active: the bot is enabled and published (activate_status 2).
	Active bool
}

// Bot is one app: its connection to the API, its identity, its tenant, and the
// ids of what it sent lately. Handler and Sender of a Source share one.
type Bot struct {
	cfg      Config
	api      *api
	sent     *recent
	identity atomic.Pointer[Identity]
	tenant   atomic.Pointer[string]
}

// NewBot returns the app of a Source, or what is wrong with its configuration.
// It calls nobody.
func NewBot(cfg Config) (*Bot, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	b := &Bot{cfg: cfg, api: newAPI(cfg), sent: newRecent(sentMemory)}
	if cfg.TenantKey != "" {
		b.tenant.Store(&cfg.TenantKey)
	}
	return b, nil
}

// OpenID is the bot's own id, or "" while it is unknown.
func (b *Bot) OpenID() string {
	if id := b.identity.Load(); id != nil {
		return id.OpenID
	}
	return ""
}

// Tenant is the tenant whose events are ours, or "" before the first event.
func (b *Bot) Tenant() string {
	if t := b.tenant.Load(); t != nil {
		return *t
	}
	return ""
}

// pinTenant makes the first tenant the only one, and reports whether this is it.
func (b *Bot) pinTenant(tenant string) bool {
	return b.tenant.CompareAndSwap(nil, &tenant) || b.Tenant() == tenant
}

// Identity asks the platform who the app is and remembers it (facts B.2). Call
// it at start and again until it succeeds: before that, no group message
// addresses the agent (FS-2). The answer has no data level, and the SDK no
// method for it.
func (b *Bot) Identity(ctx context.Context) (Identity, error) {
	resp, err := b.api.call(ctx, "get bot info", func(ctx context.Context, as larkcore.RequestOptionFunc) (*larkcore.ApiResp, error) {
		return larkcore.Request(ctx, &larkcore.ApiReq{
			HttpMethod: http.MethodGet, ApiPath: "/open-apis/bot/v3/info",
			SupportedAccessTokenTypes: []larkcore.AccessTokenType{larkcore.AccessTokenTypeTenant},
		}, b.api.config, as)
	})
	if err != nil {
		return Identity{}, err
	}
	var info struct {
		Bot struct {
			OpenID string `json:"open_id"`
			Name   string `json:"app_name"`
			Status int    `json:"activate_status"`
		} `json:"bot"`
	}
	if err := json.Unmarshal(resp.RawBody, &info); err != nil || info.Bot.OpenID == "" {
		return Identity{}, errors.New("get bot info: the answer names no open_id")
	}
	const enabled = 2
	id := Identity{OpenID: info.Bot.OpenID, Name: info.Bot.Name, Active: info.Bot.Status == enabled}
	b.identity.Store(&id)
	return id, nil
}

// recent remembers the last ids it was given, up to a limit.
type recent struct {
	mu    sync.Mutex
	known map[string]struct{}
	ring  []string
	next  int
}

func newRecent(limit int) *recent {
	return &recent{known: make(map[string]struct{}, limit), ring: make([]string, limit)}
}

// add remembers an id and returns the one that it forgets for it, or "".
func (r *recent) add(id string) (gone string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.known[id]; ok || id == "" {
		return ""
	}
	gone = r.ring[r.next]
	delete(r.known, gone)
	r.ring[r.next] = id
	r.known[id] = struct{}{}
	r.next = (r.next + 1) % len(r.ring)
	return gone
}

func (r *recent) has(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.known[id]
	return ok
}
