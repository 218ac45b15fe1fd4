package main

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// TestMetrics plays the main job and reads /metrics: what went through is
// counted, the names pass promlint, no label carries an id.
func TestMetrics(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	w := newWorld(t, redis.URL)
	w.start()
	said := w.sim.Say(w.ops, w.lin, "@bot 部署 1.4.2")
	w.mention(said)
	w.mention(said)
	w.click()
	w.seen("the result", func(s feishusim.Snapshot) bool { return has(s, "已完成") })
	w.ended(said)

	text := w.metrics()
	for _, want := range []string{
		`gatehouse_webhook_requests_total{source="feishu-main",status="200"} [1-9]`,
		`gatehouse_intake_total{receipt="stored",source="feishu-main"} 1`,
		`gatehouse_intake_total{receipt="duplicate",source="feishu-main"} [1-9]`,
		`gatehouse_arrivals_total{source="feishu-main",state="queued"} 1`,
		`gatehouse_admission_total{rule="AD-2",source="feishu-main",strength="explicit"} 1`,
		`gatehouse_outbox_total{kind="card",outcome="sent",source="feishu-main"} 1`,
		`gatehouse_questions_total{event="opened"} 1`,
		`gatehouse_questions_total{event="answered"} 1`,
		`gatehouse_question_waits 0`,
		`gatehouse_question_waits_polled_total 0`,
		`gatehouse_claims_total{kind="inbox"} [1-9]`,
		`gatehouse_queue_depth{queue="outbox"} 0`,
		`gatehouse_due_lag_seconds{kind="turn"} 0`,
		`gatehouse_store_seconds_count{call="commit",outcome="ok"} [1-9]`,
		`gatehouse_store_up 1`,
	} {
		if !regexp.MustCompile(`(?m)^` + want).Match(text) {
			t.Errorf("no line %s", want)
		}
	}
	for _, id := range []string{said.Message, w.ops.ID, w.lin.OpenID, "tkt_", "trg_"} {
		if bytes.Contains(text, []byte(id)) {
			t.Errorf("a label carries the id %q", id)
		}
	}
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v, %v", problems, err)
	}
}

func (w *world) metrics() []byte {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.admin+"/metrics", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+worldToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		w.t.Fatalf("GET /metrics: %s, %v", res.Status, err)
	}
	return text
}
