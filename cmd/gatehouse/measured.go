package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// measured is a store whose calls are timed and counted.
type measured struct {
	orchestrator.Store
	m *metrics
}

// Receive counts receipts by source.
func (s measured) Receive(ctx context.Context, a gate.Arrival) (orchestrator.Receipt, error) {
	start := time.Now()
	r, err := s.Store.Receive(ctx, a)
	s.m.time("receive", start, err)
	if err == nil {
		s.m.intake.WithLabelValues(string(a.Trigger.Source), string(r)).Inc()
	}
	return r, err
}

// Commit counts what became of the arrivals in it.
func (s measured) Commit(ctx context.Context, c orchestrator.Changes) error {
	start := time.Now()
	err := s.Store.Commit(ctx, c)
	s.m.time("commit", start, err)
	if err == nil {
		s.m.seen(&c)
		s.m.told(c.Log)
	}
	return err
}

// CommitQuestions is timed like Commit.
func (s measured) CommitQuestions(ctx context.Context, c approvals.Change) error {
	start := time.Now()
	err := s.Store.CommitQuestions(ctx, c)
	s.m.time("commit_questions", start, err)
	if err == nil {
		s.m.told(c.Log)
	}
	return err
}

// Load is timed.
func (s measured) Load(ctx context.Context, w orchestrator.Want) (orchestrator.State, error) {
	start := time.Now()
	st, err := s.Store.Load(ctx, w)
	s.m.time("load", start, err)
	return st, err
}

// Claim counts claims by kind.
func (s measured) Claim(ctx context.Context, kinds []approvals.DueKind, now time.Time, lease time.Duration, limit int) ([]orchestrator.Claim, error) {
	start := time.Now()
	claims, err := s.Store.Claim(ctx, kinds, now, lease, limit)
	s.m.time("claim", start, err)
	for _, c := range claims {
		s.m.claims.WithLabelValues(string(c.Kind)).Inc()
	}
	return claims, err
}

// depthGauges are the queues' lengths and lags, read at each scrape.
type depthGauges struct {
	store          opened
	depth, lag, up *prometheus.Desc
}

func newDepthGauges(store opened) *depthGauges {
	return &depthGauges{
		store: store,
		depth: prometheus.NewDesc(namespace+"_queue_depth", "Rows that wait.", []string{"queue"}, nil),
		lag: prometheus.NewDesc(namespace+"_due_lag_seconds",
			"How long the oldest due work that nobody has claimed is overdue.", []string{"kind"}, nil),
		up: prometheus.NewDesc(namespace+"_store_up", "1 while the store answers.", nil, nil),
	}
}

// Describe names the gauges.
func (g *depthGauges) Describe(ch chan<- *prometheus.Desc) {
	ch <- g.depth
	ch <- g.lag
	ch <- g.up
}

// Collect reads them. While the store is away only gatehouse_store_up is told.
func (g *depthGauges) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	d, err := g.store.Depths(ctx)
	if err != nil {
		ch <- prometheus.MustNewConstMetric(g.up, prometheus.GaugeValue, 0)
		return
	}
	ch <- prometheus.MustNewConstMetric(g.up, prometheus.GaugeValue, 1)
	for name, n := range map[string]int{"inbox": d.Inbox, "evals": d.Evals, "outbox": d.Outbox, "questions": d.Questions} {
		ch <- prometheus.MustNewConstMetric(g.depth, prometheus.GaugeValue, float64(n), name)
	}
	lags, err := g.store.redis.Lag(ctx, time.Now())
	if err != nil {
		return
	}
	for kind, lag := range lags {
		ch <- prometheus.MustNewConstMetric(g.lag, prometheus.GaugeValue, lag.Seconds(), string(kind))
	}
}
