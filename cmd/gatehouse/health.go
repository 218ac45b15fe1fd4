package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/redisstore"
)

// phase is where the process is in its life.
type phase int32

const (
	phaseStarting phase = iota
	phaseServing
	phaseDraining
)

// health tells how each part is doing.
type health struct {
	g     *gateway
	phase atomic.Int32
	// warnings are what the store's settings may cost (RS-8). They are written
	// before phaseServing, and read in it only.
	warnings []string
	// drains is closed once the gateway drains.
	drains chan struct{}
}

func newHealth(g *gateway) *health { return &health{g: g, drains: make(chan struct{})} }

func (h *health) enter(p phase) {
	if was := phase(h.phase.Swap(int32(p))); p == phaseDraining && was != phaseDraining {
		close(h.drains)
	}
}

func (h *health) at() phase      { return phase(h.phase.Load()) }
func (h *health) draining() bool { return h.at() == phaseDraining }

// ready says why the gateway cannot take work now, or nil (RS-9).
func (h *health) ready(ctx context.Context) error {
	switch h.at() {
	case phaseStarting:
		return errors.New("starting: the policy is not in force yet")
	case phaseDraining:
		return errors.New("draining")
	case phaseServing:
		_, err := h.g.store.Depths(ctx)
		return err
	}
	return errors.New("unknown phase")
}

// entries are the health entries of /v1/status, one a part.
func (h *health) entries(ctx context.Context) []api.Entry {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	list := []api.Entry{h.redis(ctx), h.workers(ctx)}
	lost, _ := h.g.store.LostPlaces(ctx)
	for id, p := range h.g.plugs {
		e := api.Entry{Name: "source:" + string(id), State: api.OK}
		if !p.known() {
			e.State, e.Message = api.Degraded, "the platform has not told yet who the bot is; messages cannot address it"
		}
		list = append(list, withLost(h.withGap(ctx, withLogins(e, h.g.logins, id), id), h.g.cfg.Source(id).Platform(), id, lost))
	}
	slices.SortFunc(list[2:], func(a, b api.Entry) int { return strings.Compare(a.Name, b.Name) })
	return append(append(list, h.policy(ctx)), h.queues(ctx)...)
}

// withLogins adds what is wrong with the logins of a Source's lists (GH-6).
func withLogins(e api.Entry, logins *orchestrator.Logins, id gate.SourceID) api.Entry {
	open, nobody := logins.Trouble(id)
	var say []string
	if e.Message != "" {
		say = append(say, e.Message)
	}
	if len(open) > 0 {
		e.State = api.Degraded
		say = append(say, "logins of the lists that are not looked up yet, and so name nobody: "+few(open))
	}
	if len(nobody) > 0 {
		say = append(say, "logins of the lists that had no account when they were looked up; write the account's number instead: "+few(nobody))
	}
	e.Message = strings.Join(say, "; ")
	return e
}

// withGap adds the latest gap of a Source (GH-8).
func (h *health) withGap(ctx context.Context, e api.Entry, id gate.SourceID) api.Entry {
	gaps, err := h.g.service.Gaps(ctx, id)
	if err != nil || len(gaps) == 0 {
		return e
	}
	if e.Message != "" {
		e.Message += "; "
	}
	e.Message += gapLine(gaps[0])
	return e
}

// few is the beginning of a long list.
func few(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

func (h *health) redis(ctx context.Context) api.Entry {
	e := api.Entry{Name: "redis", State: api.OK, Message: h.g.store.kind}
	if h.at() == phaseServing && len(h.warnings) > 0 {
		e.Message += ": " + strings.Join(h.warnings, "; ")
	}
	if h.g.store.kind == string(redisstore.Trial) {
		e.Message = "trial store: everything is forgotten at exit"
	}
	if size, err := h.g.store.redis.Size(ctx); err == nil {
		e.Message += fmt.Sprintf("; %d keys, %.1f MiB", size.Keys, float64(size.Bytes)/(1<<20))
		e.Count = int(size.Keys)
	}
	if _, err := h.g.store.Depths(ctx); err != nil {
		e.State, e.Message = api.Failing, h.g.store.kind+": cannot be reached, or takes no writes"
	}
	return e
}

// policy is degraded while the file and the Policy in force differ (PV-6), and
// while cells of it are unavailable (PV-5a).
func (h *health) policy(ctx context.Context) api.Entry {
	e := api.Entry{Name: "policy", State: api.OK}
	trouble, err := h.g.policyTrouble(ctx)
	switch {
	case err != nil:
		e.State, e.Message = api.Failing, "not known while the store is away"
	case trouble != "":
		e.State, e.Message = api.Degraded, trouble
	}
	return e
}

func (h *health) workers(ctx context.Context) api.Entry {
	e := api.Entry{Name: "workers", State: api.OK}
	switch h.at() {
	case phaseServing:
		e.State, e.Message = h.paused(ctx)
	case phaseStarting:
		e.State, e.Message = api.Degraded, "starting"
	case phaseDraining:
		e.State, e.Message = api.Degraded, "draining"
	}
	return e
}

// paused says what is held up (RE-3).
func (h *health) paused(ctx context.Context) (api.EntryState, string) {
	rec, err := h.g.service.PolicyRecord(ctx)
	switch p := &rec.Pauses; {
	case err != nil:
		return api.OK, ""
	case p.All != nil:
		return api.Degraded, "paused by " + p.All.By + "; gatehouse resume lets it go on"
	case len(p.Sources) > 0:
		return api.Degraded, fmt.Sprintf("paused: %v; gatehouse resume lets them go on", p.Names())
	}
	return api.OK, ""
}

// lateAfter is how long due work may wait for a worker before its part counts
// as degraded.
const lateAfter = time.Minute

// queues are the parts that work through a queue: degraded when work that is
// due has waited for too long.
func (h *health) queues(ctx context.Context) []api.Entry {
	parts := []struct {
		name string
		kind approvals.DueKind
	}{{"inbox", orchestrator.DueInbox}, {"executors", orchestrator.DueTurn}, {"outbox", orchestrator.DueOutbox}}
	lags, err := h.g.store.redis.Lag(ctx, time.Now())
	list := make([]api.Entry, 0, len(parts))
	for _, p := range parts {
		e := api.Entry{Name: p.name, State: api.OK}
		switch lag := lags[p.kind]; {
		case err != nil:
			e.State, e.Message = api.Failing, "not known while the store is away"
		case lag > lateAfter:
			e.State, e.Message = api.Degraded, fmt.Sprintf("work has been due for %s and no worker takes it", lag.Round(time.Second))
		}
		list = append(list, e)
	}
	return append(list, h.evals(ctx), h.mainSession(lags, err))
}

// evals says how many candidates nobody decided (EV-8).
func (h *health) evals(ctx context.Context) api.Entry {
	e := api.Entry{Name: "evals", State: api.OK}
	n, err := h.g.service.Unresolved(ctx)
	switch {
	case err != nil:
		e.State, e.Message = api.Failing, "not known while the store is away"
	case n > 0:
		e.State, e.Count = api.Degraded, n
		e.Message = fmt.Sprintf("%d messages of the last hour could not be decided; evaluate them again or dismiss them", n)
	}
	return e
}

// mainSession says when the main Session last asked for work, and how long
// the oldest candidate has waited for it (EV-5).
func (h *health) mainSession(lags map[approvals.DueKind]time.Duration, err error) api.Entry {
	var oldest time.Duration
	for _, line := range orchestrator.EvalLines() {
		oldest = max(oldest, lags[line])
	}
	if err != nil {
		return api.Entry{Name: "main_session", State: api.Failing, Message: "not known while the store is away"}
	}
	return mainSessionEntry(h.g.service.Calls.Last(), oldest)
}

// mainSessionEntry is degraded while a candidate waits for longer than a minute
// and the main Session does not take it (EV-5).
func mainSessionEntry(last time.Time, oldest time.Duration) api.Entry {
	e := api.Entry{Name: "main_session", State: api.OK, Message: "no call yet"}
	if !last.IsZero() {
		e.Message = "last call " + last.UTC().Format(time.RFC3339)
	}
	if oldest > 0 {
		e.Message += fmt.Sprintf("; the oldest candidate has waited for %s", oldest.Round(time.Second))
	}
	if oldest > lateAfter {
		e.State = api.Degraded
		e.Message += " and nobody takes it"
	}
	return e
}

// adminHandler is the admin listener (spec page 07).
func (g *gateway) adminHandler() http.Handler {
	var tokens []api.Token
	for _, t := range g.cfg.Admin.Tokens {
		tokens = append(tokens, api.Token{Name: t.Name, Secret: t.Token.Reveal(), Role: api.Role(t.Role), Executor: t.Executor})
	}
	return api.New(api.Config{
		Lists: g.store, Records: g.store, Versions: g.store, Policy: g.service, Pauser: g.service, ParsePolicy: g.parsePolicy,
		Journal: g.store.redis, Desk: g.service, Sessions: g.service, Broker: g.broker, Questions: g.store, Wake: g.store.Wake, Draining: g.health.drains,
		Status: g.health.entries, Ready: g.health.ready,
		Main: g.service, External: g.external(), Again: g.service, Replayer: g, Redeliverer: g.service,
		Tokens: tokens, Hosts: []string{g.cfg.Admin.Listen, g.cfg.PublicURL},
		TurnTimeout: func(name string) time.Duration { return g.cfg.Executors[name].TurnTimeout },
		Metrics:     g.count.handler(g.store, g.broker.WaitStats), Now: time.Now, Log: g.log,
	})
}
