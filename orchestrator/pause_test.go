package orchestrator_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func (h *house) pause(source gate.SourceID) {
	h.t.Helper()
	if _, err := h.svc.Pause(h.t.Context(), source, "api:ops"); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) resume(source gate.SourceID) {
	h.t.Helper()
	if _, err := h.svc.Resume(h.t.Context(), source, "api:ops"); err != nil {
		h.t.Fatal(err)
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	stories := []struct {
		name string
		play func(t *testing.T, h *house)
	}{
		{"while paused no work starts, and after it goes on (RE-3)", func(t *testing.T, h *house) {
			h.pause("")
			h.say(words{from: listed, text: "one", mention: true, id: "om_1"})
			h.settle()
			if got := h.out.lines(); !slices.Equal(got, []string{"react received"}) {
				t.Errorf("said %q while paused", got)
			}
			h.resume("")
			h.settle()
			if tk := h.ticket(); tk.End == nil || tk.End.Reason != orchestrator.EndCompleted {
				t.Errorf("ticket ended as %+v, want completed", tk.End)
			}
		}},
		{"a source that is paused by name holds up its own work (RE-3)", func(t *testing.T, h *house) {
			h.pause("feishu")
			h.pause("feishu")
			h.say(words{from: listed, text: "one", mention: true, id: "om_1"})
			h.settle()
			if list, _, _ := h.store.ListTickets(t.Context(), orchestrator.TicketFilter{}, orchestrator.Page{}); len(list) != 0 {
				t.Errorf("%d tickets while paused", len(list))
			}
			h.resume("feishu")
			h.resume("feishu")
			h.settle()
			h.ticket()
		}},
		{"a message does not resume an ended ticket while paused; it waits (RE-3, RV-1)", func(t *testing.T, h *house) {
			h.say(words{from: listed, text: "one", mention: true, id: "om_1"})
			h.settle()
			h.pause("")
			h.say(words{from: stranger, text: "two", root: "om_1", id: "om_2"})
			h.settle()
			if tk := h.ticket(); tk.Active() || len(tk.Waiting) != 1 {
				t.Errorf("ticket is %s with %d waiting, want ended with one", tk.State, len(tk.Waiting))
			}
			h.resume("")
			for range 6 {
				h.settle()
			}
			if tk := h.ticket(); len(tk.Waiting) != 0 || tk.Mandate.State != gate.MandateActive {
				t.Errorf("%d wait, mandate %s; want none, active", len(tk.Waiting), tk.Mandate.State)
			}
		}},
		{"an active ticket is revalidated before it goes on, and revoked if that fails (RE-3, RE-2, RV-7)", func(t *testing.T, h *house) {
			h.say(words{from: listed, text: "one", mention: true, id: "om_1"})
			h.settle()
			h.say(words{from: stranger, text: "two", root: "om_1", id: "om_2"})
			h.pause("")
			if _, err := h.svc.SetPolicy(t.Context(), edited(unlisted), 1, "api:ops"); err != nil {
				t.Fatal(err)
			}
			h.settle()
			h.resume("")
			for range 6 {
				h.settle()
			}
			if tk := h.ticket(); tk.Active() || tk.Mandate.State != gate.MandateRevoked {
				t.Errorf("ticket is %s with mandate %s, want ended and revoked", tk.State, tk.Mandate.State)
			}
		}},
	}
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				script := []orchestrator.ScriptStep{{Done: "done"}}
				if s.name[:9] == "an active" {
					script = approvalScript()
				}
				h := newHouse(t, script...)
				h.run()
				h.settle()
				s.play(t, h)
			})
		})
	}
	t.Run("an unknown source cannot be paused (RE-3)", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		if _, err := h.svc.Pause(t.Context(), "nowhere", "api:ops"); !errors.Is(err, orchestrator.ErrNotFound) {
			t.Errorf("Pause(nowhere) = %v, want ErrNotFound", err)
		}
	})
}

func TestGoOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		ready  bool
		state  gate.MandateState
		active bool
	}{
		"a mandate that stands goes on (RE-3)":                         {"", true, gate.MandateActive, true},
		"one whose requester was taken off the list is revoked (RV-7)": {"list lin no", true, gate.MandateRevoked, false},
		"a list that cannot be read makes it wait (RV-8)":              {"list lin unknown", false, gate.MandateActive, true},
		"a source that is off makes it wait (RV-1)":                    {"source off", false, gate.MandateActive, true},
		"a source that is gone revokes it (RV-1)":                      {"source gone", true, gate.MandateRevoked, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.play("say m1 A lin@; eval A; accept m1; " + c.script)
			d.f.Pauses = orchestrator.Pauses{EndedAll: 1}
			ch, ready := orchestrator.GoOn(d.s, "t1", d.f)
			tk := d.s.Tickets["t1"]
			if len(ch.Tickets) > 0 {
				tk = ch.Tickets[0]
			}
			if ready != c.ready || tk.Mandate.State != c.state || tk.Active() != c.active {
				t.Errorf("GoOn: ready %t, mandate %s, active %t; want %+v", ready, tk.Mandate.State, tk.Active(), c)
			}
			if ready && tk.Active() {
				if d.s.Tickets["t1"] = tk; tk.Checked != 1 {
					t.Errorf("Checked = %d, want 1", tk.Checked)
				}
				if ch, ready := orchestrator.GoOn(d.s, "t1", d.f); !ready || len(ch.Tickets) > 0 {
					t.Errorf("GoOn again changes %+v", ch.Tickets)
				}
			}
		})
	}
}

func TestPausesByName(t *testing.T) {
	t.Parallel()
	p := orchestrator.Pauses{Sources: map[gate.SourceID]orchestrator.Pause{"b": {}, "a": {}}}
	if got := p.Names(); !slices.Equal(got, []gate.SourceID{"a", "b"}) || !p.Hold("a") || p.Hold("c") {
		t.Errorf("Names = %v, Hold(a) %t, Hold(c) %t", got, p.Hold("a"), p.Hold("c"))
	}
}
