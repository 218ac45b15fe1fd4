package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Redeliverer finds the deliveries that GitHub could not make, and has them made
// again: it does not do so by itself (GH-8, facts A3).
type Redeliverer struct {
	bot     *Bot
	handler *Handler
}

// NewRedeliverer returns the Redeliverer of handler's Source.
func NewRedeliverer(handler *Handler) *Redeliverer { return &Redeliverer{handler.bot, handler} }

// searchPages bounds what is read of one hook: 5,000 attempts.
const searchPages = 50

// hook is a webhook whose attempts can be listed: the App's one, or an
// account's in a repository or an organization.
type hook struct {
	name   string
	list   func(context.Context, *gh.ListCursorOptions) ([]*gh.HookDelivery, *gh.Response, error)
	get    func(context.Context, int64) (*gh.HookDelivery, *gh.Response, error)
	replay func(context.Context, int64) (*gh.HookDelivery, *gh.Response, error)
}

// Redeliver implements the orchestrator's port. A delivery is asked for once a
// search, unless it is known, or what it says would come to nothing. Its error
// is a *gate.SendError, or what known said.
func (r *Redeliverer) Redeliver(ctx context.Context, s gate.Search, known func(context.Context, string) (bool, error)) (gate.Found, error) {
	if r.bot.ID() == 0 { // what came again would be refused (GH-6)
		return gate.Found{}, &gate.SendError{Class: gate.SendRetry, Reason: "the own account is not known yet"}
	}
	hooks, err := r.hooks(ctx)
	if err != nil {
		return gate.Found{}, sendError(err, freshTries)
	}
	found := gate.Found{Came: map[string]int64{}}
	for _, h := range hooks {
		all, err := h.attempts(ctx, s.After[h.name], s.Since)
		if err != nil {
			return gate.Found{}, sendError(err, freshTries)
		}
		if len(all) > 0 {
			found.Came[h.name] = all[0].id
		}
		list := missed(all)
		asked, err := r.replay(ctx, h, list, known)
		if err != nil {
			return gate.Found{}, err
		}
		add(&found, gapOf(list), asked)
	}
	return found, nil
}

// attempts are those since then, and after the one that was dealt with last;
// newest first.
func (h *hook) attempts(ctx context.Context, after int64, since time.Time) ([]attempt, error) {
	var all []attempt
	opts := &gh.ListCursorOptions{PerPage: 100}
	for range searchPages {
		page, resp, err := h.list(ctx, opts)
		if err != nil {
			return nil, err
		}
		for _, d := range page {
			a := attemptOf(d)
			if a.id <= after || after == 0 && a.at.Before(since) {
				return all, nil
			}
			all = append(all, a)
		}
		if opts.Cursor = resp.Cursor; opts.Cursor == "" {
			break
		}
	}
	return all, nil
}

func (r *Redeliverer) replay(ctx context.Context, h *hook, list []attempt, known func(context.Context, string) (bool, error)) (asked []string, err error) {
	for _, a := range list {
		is, err := known(ctx, a.guid)
		if err != nil {
			return nil, fmt.Errorf("is a delivery known: %w", err)
		}
		if is {
			continue
		}
		did, err := r.replayOne(ctx, h, a)
		if err != nil {
			return nil, sendError(err, freshTries)
		}
		if did {
			asked = append(asked, a.guid)
		}
	}
	return asked, nil
}

// replayOne asks for a delivery again, if anything could come of it. One that
// GitHub keeps no more is lost, and holds up no other.
func (r *Redeliverer) replayOne(ctx context.Context, h *hook, a attempt) (bool, error) {
	d, _, err := h.get(ctx, a.id)
	if err != nil {
		return false, lasting(err)
	}
	if d.Request != nil && d.Request.RawPayload != nil && !r.handler.Read(a.event, *d.Request.RawPayload).matters() {
		return false, nil
	}
	_, _, err = h.replay(ctx, a.id)
	var accepted *gh.AcceptedError // that is how go-github tells a 202
	if err == nil || errors.As(err, &accepted) {
		return true, nil
	}
	return false, lasting(err)
}

// lasting leaves out an error that is about one delivery only.
func lasting(err error) error {
	var e *apiError
	if errors.As(said(err), &e) && !e.limited && !e.signIn && (e.status == 404 || e.status == 410 || e.status == 422) {
		return nil
	}
	return err
}

// matters: something is taken in because of it.
func (e Event) matters() bool {
	switch e.Outcome {
	case Triggered, Changed:
		return true
	case Ignored, Context, State:
		return len(e.Arrival.Change.Reach) > 0
	case Refused:
	}
	return false
}

// hooks are the App's, or those of the account's repositories and organizations
// that lead to this Source: by the end of their address.
func (r *Redeliverer) hooks(ctx context.Context) ([]*hook, error) {
	if app := r.bot.api.app; app != nil {
		return []*hook{{
			name: "app",
			list: app.Apps.ListHookDeliveries, get: app.Apps.GetHookDelivery, replay: app.Apps.RedeliverHookDelivery,
		}}, nil
	}
	var hooks []*hook
	var last error
	for _, pattern := range r.bot.cfg.Repos {
		owner, name, _ := strings.Cut(pattern, "/")
		if strings.ContainsAny(owner, `*?[\`) {
			continue
		}
		found, err := r.hooksOf(ctx, owner, name)
		if err != nil {
			last = err
		}
		hooks = append(hooks, found...)
	}
	if len(hooks) == 0 && last == nil {
		last = dropped("no hook leads here: name repositories in receive.repos whose hooks the account may read")
	}
	if len(hooks) > 0 {
		last = nil
	}
	return hooks, last
}

func (r *Redeliverer) hooksOf(ctx context.Context, owner, name string) ([]*hook, error) {
	c := r.bot.api.account
	if strings.ContainsAny(name, `*?[\`) {
		all, _, err := c.Organizations.ListHooks(ctx, owner, &gh.ListOptions{PerPage: 100})
		return r.ours(all, func(id int64) *hook { return orgHook(c, owner, id) }), err
	}
	all, _, err := c.Repositories.ListHooks(ctx, owner, name, &gh.ListOptions{PerPage: 100})
	return r.ours(all, func(id int64) *hook { return repoHook(c, owner, name, id) }), err
}

func (r *Redeliverer) ours(all []*gh.Hook, make func(int64) *hook) []*hook {
	var hooks []*hook
	for _, h := range all {
		u, err := url.Parse(h.GetConfig().GetURL())
		if err == nil && strings.HasSuffix(u.Path, "/webhooks/"+string(r.bot.cfg.ID)) {
			hooks = append(hooks, make(h.GetID()))
		}
	}
	return hooks
}

func repoHook(c *conn, owner, name string, id int64) *hook {
	return &hook{
		name: fmt.Sprintf("%s/%s#%d", owner, name, id),
		list: func(ctx context.Context, o *gh.ListCursorOptions) ([]*gh.HookDelivery, *gh.Response, error) {
			return c.Repositories.ListHookDeliveries(ctx, owner, name, id, o)
		},
		get: func(ctx context.Context, d int64) (*gh.HookDelivery, *gh.Response, error) {
			return c.Repositories.GetHookDelivery(ctx, owner, name, id, d)
		},
		replay: func(ctx context.Context, d int64) (*gh.HookDelivery, *gh.Response, error) {
			return c.Repositories.RedeliverHookDelivery(ctx, owner, name, id, d)
		},
	}
}

func orgHook(c *conn, org string, id int64) *hook {
	return &hook{
		name: fmt.Sprintf("%s#%d", org, id),
		list: func(ctx context.Context, o *gh.ListCursorOptions) ([]*gh.HookDelivery, *gh.Response, error) {
			return c.Organizations.ListHookDeliveries(ctx, org, id, o)
		},
		get: func(ctx context.Context, d int64) (*gh.HookDelivery, *gh.Response, error) {
			return c.Organizations.GetHookDelivery(ctx, org, id, d)
		},
		replay: func(ctx context.Context, d int64) (*gh.HookDelivery, *gh.Response, error) {
			return c.Organizations.RedeliverHookDelivery(ctx, org, id, d)
		},
	}
}
