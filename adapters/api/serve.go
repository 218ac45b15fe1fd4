package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
)

// getMetrics is GET /metrics: Prometheus' own form, not JSON.
func (a *api) getMetrics(context.Context, call) (any, error) {
	if a.metrics == nil {
		return nil, errNoRoute
	}
	return a.metrics, nil
}

// call is a request that was let in.
type call struct {
	who caller
	id  string // the {id} of the path, or ""
	// thread and decision are the {thread} and {decisionId} of the path, or "".
	thread   string
	decision approvals.ID
	query    query
	// body reads the request's body, for the calls that have one.
	body bodyReader
}

// exchange is one request with its answer, and what the log says of both.
type exchange struct {
	w      http.ResponseWriter
	r      *http.Request
	start  time.Time
	route  route
	who    caller
	status int // 0: not answered yet
	cause  error
}

// ServeHTTP answers one request.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{w: w, r: r, start: a.now()}
	defer a.logged(x)
	defer a.recovered(x)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	body, err := a.answer(x)
	if err != nil {
		x.fail(err)
		return
	}
	switch b := body.(type) {
	case http.Handler:
		x.status = http.StatusOK
		b.ServeHTTP(w, r)
	case answered:
		x.send(b.status, "application/json", b.body)
	default:
		x.send(http.StatusOK, "application/json", body)
	}
}

// answered is an answer with another status than 200. A 204 has no body.
type answered struct {
	status int
	body   any
}

func (a *api) answer(x *exchange) (any, error) {
	rt, ids, err := a.table.find(x.r)
	x.route = rt
	if !rt.public {
		if refused := a.enter(x); refused != nil {
			return nil, refused
		}
	}
	if err != nil {
		return nil, err
	}
	if !rt.public && !slices.Contains(rt.roles, x.who.role) {
		return nil, errForbidden
	}
	q, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return nil, badQuery("The query is not well formed.")
	}
	return rt.action(a, x.r.Context(), call{x.who, ids["id"], ids["thread"], approvals.ID(ids["decisionId"]), query(q), bodyReader{x.w, x.r}})
}

// enter checks whom the request is meant for and who sent it.
func (a *api) enter(x *exchange) error {
	if !a.hosts.allow(x.r.Host) {
		return errWrongHost
	}
	who, ok := a.tokens.identify(bearer(x.r.Header))
	if !ok {
		return errUnauthorized
	}
	x.who = who
	return nil
}

// send writes the answer, once. What JSON cannot express is our own fault.
func (x *exchange) send(status int, media string, body any) {
	if status == http.StatusNoContent {
		x.status = status
		x.w.WriteHeader(status)
		return
	}
	text, err := json.Marshal(body)
	if err != nil {
		x.fail(fmt.Errorf("encode answer: %w", err))
		return
	}
	x.status = status
	x.w.Header().Set("Content-Type", media)
	x.w.WriteHeader(status)
	_, _ = x.w.Write(append(text, '\n'))
}

// fail answers with a problem document.
func (x *exchange) fail(err error) {
	p := problemOf(err)
	p.headers(x.w.Header(), err)
	x.cause = err
	x.send(p.Status, "application/problem+json", p)
}

// recovered turns a panic into a 500. What was thrown may hold anything, so
// that only its type is told.
func (a *api) recovered(x *exchange) {
	p := recover()
	if p == nil {
		return
	}
	a.log.Error("panic", "route", x.route.path, "err", fmt.Sprintf("panic of type %T", p), "stack", string(debug.Stack()))
	if x.status == 0 {
		x.fail(errPanic)
	}
}

// logged writes the request's one line. The cause stands there only where the
// fault is ours: others are told by their code, and may quote the query.
func (a *api) logged(x *exchange) {
	attrs := []slog.Attr{
		slog.String("method", known(x.r.Method)), slog.String("route", x.route.path), slog.Int("status", x.status),
		slog.Int64("took_ms", a.now().Sub(x.start).Milliseconds()), slog.String("caller", x.who.name),
	}
	if x.cause != nil {
		attrs = append(attrs, slog.String("reason", problemOf(x.cause).Code))
	}
	if x.status >= http.StatusInternalServerError {
		attrs = append(attrs, slog.Any("err", x.cause))
	}
	a.log.LogAttrs(context.WithoutCancel(x.r.Context()), x.level(), "request", attrs...)
}

func (x *exchange) level() slog.Level {
	gone := x.r.Context().Err() != nil
	switch {
	case x.status == http.StatusServiceUnavailable && !gone:
		return slog.LevelWarn
	case x.status >= http.StatusInternalServerError && !gone:
		return slog.LevelError
	case x.route.public:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// known keeps invented methods out of the log.
func known(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}
