package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/gorilla/mux"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// publicHandler is the public listener: webhooks and /healthz, nothing else
// (spec page 07).
func (g *gateway) publicHandler() http.Handler {
	r := mux.NewRouter().SkipClean(true) // an unclean path is none of ours
	r.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	r.HandleFunc("/webhooks/{source}", g.webhook)
	return r
}

// webhook hands a delivery to its Source's adapter. While draining the
// platform is asked to come again.
func (g *gateway) webhook(w http.ResponseWriter, r *http.Request) {
	source := gate.SourceID(mux.Vars(r)["source"])
	handler := g.plugs[source].webhook
	if handler != nil {
		counted := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() { g.count.webhooks.WithLabelValues(string(source), strconv.Itoa(counted.status)).Inc() }()
		w = counted
	}
	switch {
	case handler == nil:
		http.NotFound(w, r)
	case g.health.draining():
		w.Header().Set("Retry-After", "5")
		http.Error(w, "restarting", http.StatusServiceUnavailable)
	default:
		g.read(handler, w, r)
	}
}

// read hands the delivery over while there is room for its body (RS-8a).
func (g *gateway) read(handler http.Handler, w http.ResponseWriter, r *http.Request) {
	give, ok := g.bodies.take(r)
	if !ok {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many large bodies", http.StatusServiceUnavailable)
		return
	}
	defer give()
	handler.ServeHTTP(w, r)
}

// statusWriter remembers the status that was answered.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader remembers and passes on.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// intake takes arrivals only while the gateway serves: before, the store may
// not be ours to write (RS-7), and the platform comes again (TR-2).
type intake struct{ g *gateway }

// Receive implements the adapters' Intake.
func (i intake) Receive(ctx context.Context, a gate.Arrival) error {
	if i.g.health.at() != phaseServing {
		return errNotServing
	}
	return i.g.service.Receive(ctx, a)
}

var errNotServing = errors.New("not serving yet")
