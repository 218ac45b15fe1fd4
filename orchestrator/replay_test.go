package orchestrator_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// TestReplay: a known message is a duplicate, and one that an operator forces
// is a Trigger of its own (TR-7).
func TestReplay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.run()
		h.say(words{from: listed, text: "hello", mention: true, id: "om_1"})
		h.settle()
		said := h.messages()
		h.say(words{from: listed, text: "hello", mention: true, id: "om_1"})
		h.settle()
		if got := h.messages(); len(got) != len(said) {
			t.Errorf("TR-7: a known message came to %d messages, want %d", len(got), len(said))
		}
		m := said[0].Trigger
		m.Thread, m.Place.Root = gate.ThreadID("feishu~"+chat+"~om_2"), "om_2"
		a := gate.Arrival{Trigger: m, Keys: []string{gate.MessageKey("feishu", "om_1")}, Lane: string(m.Thread)}
		id, receipt, err := h.svc.Replay(t.Context(), a, "ops")
		if err != nil || receipt != orchestrator.Stored {
			t.Fatalf("TR-7: Replay() = %s, %v; want stored", receipt, err)
		}
		h.settle()
		for _, got := range h.messages() {
			if got.ID == id && (got.ReplayedBy != "ops" || got.Admission.Strength != gate.Inferred) {
				t.Errorf("TR-7: forced by %q and %v, want by ops and inferred", got.ReplayedBy, got.Admission.Strength)
			}
		}
		a.OnlyIfLive, a.Trigger.Thread = true, "feishu~oc_other~om_3"
		if _, receipt, err := h.svc.Replay(t.Context(), a, "ops"); err != nil || receipt != orchestrator.NotLive {
			t.Errorf("TR-7: what concerns nobody = %s, %v; want not_live", receipt, err)
		}
	})
}

func (h *house) messages() []orchestrator.Message {
	h.t.Helper()
	list, _, err := h.store.ListMessages(h.t.Context(), orchestrator.MessageFilter{}, orchestrator.Page{Limit: 100})
	if err != nil {
		h.t.Fatalf("ListMessages: %v", err)
	}
	return list
}

// TestReplayOnTheCard: nobody takes a replay for something that was said now.
func TestReplayOnTheCard(t *testing.T) {
	t.Parallel()
	t.Run("the card says that an operator forced it (TR-7)", func(t *testing.T) {
		t.Parallel()
		m := said("m1", "Alin@")
		m.ReplayedBy = "ops"
		c := orchestrator.Card{Message: m}
		if got := c.Markdown(); !strings.Contains(got, "- replayed: an operator forced it") {
			t.Errorf("Markdown() = %s, want the replay named", got)
		}
	})
}
