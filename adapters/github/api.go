package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v66/github"
)

// api is GitHub's API as one App or account uses it.
type api struct {
	cfg   Config
	base  *url.URL
	fence *fence
	// account is the one connection of a token. An App has one for itself
	// (app) and one for each owner's installation.
	account *conn
	app     *gh.Client

	// turn is held by the one who looks an installation up.
	turn   chan struct{}
	mu     sync.Mutex
	owners map[string]*conn
}

// conn is one connection that writes: an account's, or an installation's.
type conn struct {
	*gh.Client
	pace *pace
	// installation is 0 for an account.
	installation int64
}

func newAPI(cfg Config) (*api, error) {
	base, err := url.Parse(strings.TrimRight(cfg.baseURL(), "/") + "/")
	if err != nil {
		return nil, errors.New("base_url is no address")
	}
	a := &api{
		cfg: cfg, base: base, fence: &fence{base: newTransport(), to: base},
		turn: make(chan struct{}, 1), owners: map[string]*conn{},
	}
	if !cfg.Auth.IsApp() {
		a.account = &conn{Client: a.connect(&bearer{cfg.Auth.Token, a.fence}), pace: newPace()}
		return a, nil
	}
	app, err := ghinstallation.NewAppsTransport(a.fence, cfg.Auth.AppID, []byte(cfg.Auth.PrivateKey))
	if err != nil {
		return nil, errors.New("auth.private_key_file is not an RSA private key")
	}
	a.app = a.connect(app)
	return a, nil
}

// newTransport is a transport of our own, so that its connections are bounded
// and nobody else's settings reach it.
func newTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost, t.MaxConnsPerHost = 4, 32
	return t
}

// connect makes a go-github client of an authentication. Its addresses are the
// configured base as it stands: go-github's own rule for Enterprise appends
// /api/v3 to what does not need it (facts E4).
func (a *api) connect(auth http.RoundTripper) *gh.Client {
	c := gh.NewClient(a.fence.client(auth, a.cfg.requestTimeout()))
	c.BaseURL, c.UploadURL, c.UserAgent = a.base, a.base, "gatehouse"
	return c
}

// of is the connection that may write in a repository.
func (a *api) of(ctx context.Context, r repo) (*conn, error) {
	if a.account != nil {
		return a.account, nil
	}
	if c := a.known(r.owner); c != nil {
		return c, nil
	}
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c := a.known(r.owner); c != nil {
		return c, nil
	}
	found, _, err := a.app.Apps.FindRepositoryInstallation(ctx, r.owner, r.name)
	if err != nil {
		return nil, fmt.Errorf("find the installation: %w", err)
	}
	return a.installed(r.owner, found.GetID())
}

func (a *api) known(owner string) *conn {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.owners[strings.ToLower(owner)]
}

// installed makes the connection of an installation. Each has its own App
// transport: ghinstallation writes to the one it is given without a lock.
func (a *api) installed(owner string, id int64) (*conn, error) {
	t, err := ghinstallation.New(a.fence, a.cfg.Auth.AppID, id, []byte(a.cfg.Auth.PrivateKey))
	if err != nil {
		return nil, errors.New("the private key cannot be read")
	}
	t.BaseURL = strings.TrimRight(a.base.String(), "/")
	t.Client = a.fence.client(a.fence, a.cfg.requestTimeout())
	c := &conn{Client: a.connect(t), pace: newPace(), installation: id}
	a.mu.Lock()
	defer a.mu.Unlock()
	if had := a.owners[strings.ToLower(owner)]; had != nil && had.installation == id {
		return had, nil
	}
	a.owners[strings.ToLower(owner)] = c
	return c, nil
}

// note learns from a verified delivery which installation an owner's
// repositories belong to, which saves asking.
func (a *api) note(full string, installation int64) {
	r, ok := splitRepo(full)
	if !ok || installation <= 0 || a.app == nil {
		return
	}
	if c := a.known(r.owner); c != nil && c.installation == installation {
		return
	}
	_, _ = a.installed(r.owner, installation)
}

// forget drops what is known of an owner's installation: it was removed, or it
// is another one by now.
func (a *api) forget(owner string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.owners, strings.ToLower(owner))
}

// identity finds the own account (facts C3): an App's is the user `slug[bot]`,
// which an installation's token may not ask for as "me".
func (a *api) identity(ctx context.Context) (Identity, error) {
	if a.account != nil {
		me, _, err := a.account.Users.Get(ctx, "")
		if err != nil {
			return Identity{}, said(err)
		}
		return a.checked(me, a.cfg.slug())
	}
	app, _, err := a.app.Apps.Get(ctx, "")
	if err != nil {
		return Identity{}, fmt.Errorf("as the App of auth.app_id: %w", said(err))
	}
	if !strings.EqualFold(app.GetSlug(), a.cfg.slug()) {
		return Identity{}, fmt.Errorf("the App's slug is %q, but login says %q", app.GetSlug(), a.cfg.Login)
	}
	login := a.cfg.slug() + botSuffix
	me, _, err := a.anyone(ctx).Users.Get(ctx, url.PathEscape(login))
	if err != nil {
		return Identity{}, said(err)
	}
	return a.checked(me, login)
}

func (a *api) checked(me *gh.User, login string) (Identity, error) {
	if !strings.EqualFold(me.GetLogin(), login) || me.GetID() <= 0 {
		return Identity{}, fmt.Errorf("the account is %q, but login says %q", me.GetLogin(), a.cfg.Login)
	}
	return Identity{ID: me.GetID(), Login: me.GetLogin(), App: a.app != nil}, nil
}

// anyone is a connection that may read what is public: with the token of any
// installation, else without one, since an App's own key opens nothing but the
// App's own calls.
func (a *api) anyone(ctx context.Context) *gh.Client {
	all, _, err := a.app.Apps.ListInstallations(ctx, &gh.ListOptions{PerPage: 100})
	if err == nil {
		for _, i := range all {
			owner := i.GetAccount().GetLogin()
			if owner == "" || i.SuspendedAt != nil {
				continue
			}
			if c, err := a.installed(owner, i.GetID()); err == nil {
				return c.Client
			}
		}
	}
	return a.connect(a.fence)
}
