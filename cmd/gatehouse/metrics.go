package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// metrics counts what goes through the gateway. Every label has a bounded set
// of values: sources are configured, the rest are closed sets of our own.
type metrics struct {
	registry *prometheus.Registry
	webhooks *prometheus.CounterVec
	ignored  *prometheus.CounterVec
	intake   *prometheus.CounterVec
	arrivals *prometheus.CounterVec
	dropped  *prometheus.CounterVec
	admitted *prometheus.CounterVec
	sent     *prometheus.CounterVec
	claims   *prometheus.CounterVec
	asked    *prometheus.CounterVec
	lost     prometheus.Counter
	redis    *prometheus.HistogramVec
	conflict prometheus.Counter
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		webhooks: counters("webhook_requests_total", "Webhook calls by answer.", "source", "status"),
		ignored:  counters("webhook_ignored_total", "Events that made no trigger, and calls that were refused, by reason.", "source", "reason"),
		intake:   counters("intake_total", "Arrivals by what intake did with them.", "source", "receipt"),
		arrivals: counters("arrivals_total", "Triggers by the place where their arrival put them.", "source", "state"),
		dropped:  counters("dropped_total", "Triggers that were dropped after they were stored, by the rule that says why.", "source", "rule"),
		admitted: counters("admission_total", "Verdicts of the gate at arrival.", "source", "strength", "rule"),
		sent:     counters("outbox_total", "Tries to send by what came of them.", "source", "kind", "outcome"),
		claims:   counters("claims_total", "Pieces of due work that this replica claimed.", "kind"),
		asked:    counters("questions_total", "Questions by what became of them.", "event"),
		lost:     prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "claims_lost_total", Help: "Claims that another replica took over."}),
		conflict: prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "commit_conflicts_total", Help: "Commits that were tried again from fresh state."}),
		redis: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "store_seconds", Help: "Time of a call to the store.",
			Buckets: []float64{.0002, .0005, .001, .002, .005, .01, .025, .05, .1, .25, 1, 5},
		}, []string{"call", "outcome"}),
	}
	m.registry.MustRegister(m.webhooks, m.ignored, m.intake, m.arrivals, m.dropped, m.admitted, m.sent, m.claims, m.asked, m.lost, m.conflict, m.redis,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

const namespace = "gatehouse"

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

// handler serves /metrics; the gauges of the store and the counts of those who
// wait for an answer (DE-8) are read at each scrape.
func (m *metrics) handler(store opened, waits func() approvals.WaitStats) http.Handler {
	m.registry.MustRegister(newDepthGauges(store),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: "question_waits", Help: "Calls that wait for an answer, woken from memory."},
			func() float64 { return float64(waits().Waiting) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: namespace, Name: "question_waits_polled_total", Help: "Calls that had to ask the store, since too many of their session waited."},
			func() float64 { return float64(waits().Overflowed) }))
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// seen counts what a commit says of the arrivals that it dealt with.
func (m *metrics) seen(c *orchestrator.Changes) {
	took := map[gate.TriggerID]bool{}
	for _, id := range c.Took {
		took[id] = true
	}
	for i := range c.Messages {
		msg := &c.Messages[i]
		if !took[msg.ID] {
			continue
		}
		m.arrivals.WithLabelValues(string(msg.Source), string(msg.State)).Inc()
		if msg.State == orchestrator.StateDropped {
			m.dropped.WithLabelValues(string(msg.Source), ruleIn(msg.Why)).Inc()
		}
		if a := msg.Admission; a.Rule != "" {
			m.admitted.WithLabelValues(string(msg.Source), a.Strength.String(), a.Rule).Inc()
		}
	}
}

// told counts what the event log is told of questions.
func (m *metrics) told(log []approvals.Record) {
	for _, l := range log {
		if event, ok := strings.CutPrefix(l.Type, "decision."); ok {
			m.asked.WithLabelValues(event).Inc()
		}
	}
}

// ruleIn is the rule that a fixed reason names at its end, such as "(TR-5)".
func ruleIn(why string) string {
	_, rule, ok := strings.Cut(why, "(")
	if !ok {
		return "other"
	}
	return strings.TrimSuffix(rule, ")")
}

// time observes one call to the store.
func (m *metrics) time(call string, start time.Time, err error) {
	m.redis.WithLabelValues(call, outcome(err)).Observe(time.Since(start).Seconds())
	switch {
	case errors.Is(err, orchestrator.ErrConflict):
		m.conflict.Inc()
	case errors.Is(err, orchestrator.ErrLostClaim):
		m.lost.Inc()
	}
}

func outcome(err error) string {
	switch {
	case err == nil, errors.Is(err, orchestrator.ErrNotFound):
		return "ok"
	case errors.Is(err, orchestrator.ErrConflict):
		return "conflict"
	case errors.Is(err, orchestrator.ErrLostClaim):
		return "lost_claim"
	case errors.Is(err, orchestrator.ErrUnavailable):
		return "unavailable"
	}
	return "error"
}

// countedSender counts what a Source's sender does.
type countedSender struct {
	orchestrator.Sender
	m *metrics
}

// Send sends, and counts what came of it.
func (s countedSender) Send(ctx context.Context, o gate.Outgoing) (gate.Sent, error) {
	sent, err := s.Sender.Send(ctx, o)
	came := "sent"
	var refused *gate.SendError
	switch {
	case errors.As(err, &refused) && refused.Class == gate.SendDropped:
		came = "dropped"
	case err != nil:
		came = "retry"
	}
	s.m.sent.WithLabelValues(string(o.Source), string(o.Kind), came).Inc()
	return sent, err
}
