package feishu_test

import (
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// TestReach: a chat that the bot leaves or comes into is news that travels like
// a message (EN-5, FS-4).
func TestReach(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		says, file string
		why        feishu.Reason
		lost       bool
		at         string
	}{
		{"the bot was removed (EN-5, FS-4)", "bot-removed-from-chat.json", feishu.ReasonBotRemoved, true, "2026-09-10T04:34:20Z"},
		{"the bot was added (EN-5, FS-4)", "bot-added-to-chat.json", feishu.ReasonBotAdded, false, "2026-09-10T04:33:20Z"},
		{"the chat was disbanded (EN-5, FS-4)", "chat-disbanded.json", feishu.ReasonDisbanded, true, "2026-09-10T04:35:20Z"},
	} {
		t.Run(tt.says, func(t *testing.T) {
			t.Parallel()
			ev := feishu.Translate(sampleSetting(), sample(t, tt.file))
			a := ev.Arrival
			if ev.Outcome != feishu.Changed || ev.Reason != tt.why || a.Change.Kind != gate.ChangeReach || len(a.Change.Reach) != 1 || len(a.Keys) != 1 {
				t.Fatalf("Translate = %v %q %+v by %v, want news of one chat", ev.Outcome, ev.Reason, a.Change, a.Keys)
			}
			r := a.Change.Reach[0]
			if r.Place != "feishu-main~oc_b0894f56e227cfd8d50547f6659fb96e" || (r.Lost != "") != tt.lost || !r.Wide || a.Lane != string(r.Place) {
				t.Errorf("Translate = %+v in lane %s", r, a.Lane)
			}
			if at := a.Trigger.OccurredAt.Format(time.RFC3339); at != tt.at {
				t.Errorf("Translate = at %s, want %s", at, tt.at)
			}
		})
	}
	sim := feishusim.New(feishusim.App{})
	for says, event := range map[string]any{
		"no chat is nothing (FS-4)":        map[string]any{},
		"a strange one neither (FS-4)":     map[string]any{"chat_id": "oc_1/../x"},
		"nor an event of no object (FS-4)": "x",
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			s := sampleSetting()
			s.Config.AppID, s.Config.VerificationToken, s.Tenant = sim.App().ID, sim.App().Token, ""
			ev := feishu.Translate(s, sim.NewEvent("im.chat.disbanded_v1", event).Body)
			if ev.Outcome != feishu.Ignored || ev.Reason != feishu.ReasonUnreadable {
				t.Errorf("Translate = %v %q, want it ignored", ev.Outcome, ev.Reason)
			}
		})
	}
	t.Run("without an id the same event is known by its chat and time (EN-5, TR-1)", func(t *testing.T) {
		t.Parallel()
		s := sampleSetting()
		s.Tenant = ""
		body := []byte(`{"schema":"2.0","header":{"event_type":"im.chat.disbanded_v1","token":"` + s.Config.VerificationToken + `","tenant_key":"t","app_id":"` + s.Config.AppID + `"},"event":{"chat_id":"oc_1"}}`)
		a := feishu.Translate(s, body).Arrival
		if len(a.Keys) != 1 || a.Keys[0] != "feishu-main:event:im.chat.disbanded_v1:oc_1:" || !a.Trigger.OccurredAt.Equal(s.Now) {
			t.Errorf("Translate = keys %v at %v", a.Keys, a.Trigger.OccurredAt)
		}
	})
}
