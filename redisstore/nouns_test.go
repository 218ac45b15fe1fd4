package redisstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/redisstore"
)

var start = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

func name(prefix string, n int) string { return fmt.Sprintf("%s%d", prefix, n) }

func arrival(id string) gate.Arrival {
	return gate.Arrival{
		Trigger: gate.Trigger{ID: gate.TriggerID(id), Source: "feishu", Thread: "th_1", Text: "hello", ReceivedAt: start},
		Keys:    []string{"event:" + id, "message:" + id}, Lane: "th_1", Raw: []byte(`{"hello":"world"}`),
	}
}

func claimOne(t testing.TB, s *redisstore.Store, kind approvals.DueKind) orchestrator.Claim {
	t.Helper()
	cs, err := s.Claim(t.Context(), []approvals.DueKind{kind}, start.AddDate(0, 1, 0), time.Minute, 1)
	if err != nil || len(cs) != 1 {
		t.Fatalf("Claim(%s) = %v, %v, want one", kind, cs, err)
	}
	return cs[0]
}
