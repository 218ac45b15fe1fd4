package orchestrator_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

// tellOf hands news of a platform message to intake.
func (h *house) tellOf(kind gate.ChangeKind, of, from, text string, adds bool) error {
	h.said++
	thread := gate.ThreadID("feishu~" + chat + "~" + of)
	addressing := gate.NotAddressed
	if adds {
		addressing = gate.Mention
	}
	return h.svc.Receive(h.t.Context(), gate.Arrival{
		Trigger: gate.Trigger{
			Source: "feishu", Scope: gate.ChatScope(chat), Thread: thread, Place: gate.Place{Chat: chat, Root: of}, Kind: gate.KindMessage,
			Sender: gate.Sender{Kind: gate.Person, ID: from, Name: from}, Addressing: addressing, Text: text, Plain: text,
			IDs: gate.PlatformIDs{Message: of}, OccurredAt: time.Now(),
		},
		Keys: []string{"feishu:" + string(kind) + ":" + of + ":" + text}, Lane: string(thread),
		Change: gate.Change{Kind: kind, Adds: adds, Reread: kind == gate.ChangeEdit && from == ""},
	})
}

func messageOf(t *testing.T, s orchestrator.Store, of string) orchestrator.Message {
	t.Helper()
	id, err := s.Known(t.Context(), gate.MessageKey("feishu", of))
	if err != nil {
		return orchestrator.Message{}
	}
	st, err := s.Load(t.Context(), orchestrator.Want{Messages: []gate.TriggerID{id}})
	if err != nil {
		t.Fatal(err)
	}
	return st.Messages[id]
}

func listedMessages(t *testing.T, s orchestrator.Store) int {
	t.Helper()
	list, _, err := s.ListMessages(t.Context(), orchestrator.MessageFilter{}, orchestrator.Page{Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// platformText is a platform that says what an edited message reads now.
type platformText struct {
	text  string
	gone  bool
	fails int
	drop  bool
}

func (p *platformText) Reread(_ context.Context, t gate.Trigger) (gate.Trigger, bool, error) {
	if p.drop {
		return t, false, &gate.SendError{Class: gate.SendDropped, Reason: "no such message"}
	}
	if p.fails--; p.fails >= 0 {
		return t, false, &gate.SendError{Class: gate.SendRetry, Reason: "rate limit"}
	}
	t.Sender = gate.Sender{Kind: gate.Person, ID: listed}
	t.Scope, t.Thread, t.Place = gate.ChatScope(chat), gate.ThreadID("feishu~"+chat+"~"+t.IDs.Message), gate.Place{Chat: chat, Root: t.IDs.Message}
	t.Addressing, t.Text, t.Plain = gate.Mention, p.text, p.text
	return t, !p.gone, nil
}

func TestNewsOfMessages(t *testing.T) {
	t.Parallel()
	for name, story := range map[string]func(*testing.T, *house){
		"a recall that overtakes its message leaves a mark (TR-4a)": func(t *testing.T, h *house) {
			h.must(h.tellOf(gate.ChangeRecall, "om_1", listed, "", false))
			h.settle()
			h.say(words{from: listed, text: "one", mention: true, id: "om_1"})
			h.settle()
			if n := listedMessages(t, h.store); n != 0 {
				t.Errorf("%d messages are stored, want none: it was taken back before it came", n)
			}
		},
		"a recall of a finished request takes its text (TR-4a)": func(t *testing.T, h *house) {
			h.say(words{from: listed, text: "one", mention: true, id: "om_1"})
			h.settle()
			h.must(h.tellOf(gate.ChangeRecall, "om_1", "", "", false))
			h.settle()
			if m := messageOf(t, h.store, "om_1"); m.Text != "" || !m.Recalled || m.Raw != "" {
				t.Errorf("the message says %q, recalled %v; want it forgotten", m.Text, m.Recalled)
			}
			if n := listedMessages(t, h.store); n != 1 {
				t.Errorf("%d messages are listed, want the one: news is no message", n)
			}
		},
		"an edit adds the mention to a message that was never stored (TR-4)": func(t *testing.T, h *house) {
			h.say(words{from: listed, text: "one", id: "om_1"})
			h.must(h.tellOf(gate.ChangeEdit, "om_1", listed, "one, please", true))
			h.settle()
			if tk := h.ticket(); tk.Title != "one, please" {
				t.Errorf("title = %q, want the edited text", tk.Title)
			}
			h.must(h.tellOf(gate.ChangeEdit, "om_1", listed, "again", true))
			h.settle()
			h.ticket()
		},
		"an edit that adds nothing to a message that was never stored is not stored (TR-4)": func(t *testing.T, h *house) {
			h.must(h.tellOf(gate.ChangeEdit, "om_1", listed, "x", false))
			if d, _ := h.store.Depths(t.Context()); d.Inbox != 0 {
				t.Errorf("inbox = %d, want nothing", d.Inbox)
			}
		},
		"what the gateway said itself is nobody's news (TR-3)": func(t *testing.T, h *house) {
			h.say(words{from: listed, text: "one", mention: true, id: "om_1"})
			h.settle()
			if err := h.store.Commit(t.Context(), orchestrator.Changes{Seen: []string{gate.MessageKey("feishu", "om_own")}}); err != nil {
				t.Fatal(err)
			}
			h.must(h.tellOf(gate.ChangeRecall, "om_own", "", "", false))
			if d, _ := h.store.Depths(t.Context()); d.Inbox != 0 {
				t.Errorf("inbox = %d, want nothing", d.Inbox)
			}
		},
		"an edit that only names its message is read back, again after an error (TR-4)": func(t *testing.T, h *house) {
			h.svc.Rereaders = map[gate.SourceID]orchestrator.Rereader{"feishu": &platformText{text: "new", fails: 2}}
			h.must(h.tellOf(gate.ChangeEdit, "om_1", "", "", false))
			until(t, "it is read back", func() bool { return messageOf(t, h.store, "om_1").Text == "new" })
			h.settle()
			h.ticket()
		},
		"one that is gone by then changes nothing (TR-4)": func(t *testing.T, h *house) {
			h.svc.Rereaders = map[gate.SourceID]orchestrator.Rereader{"feishu": &platformText{gone: true}}
			h.must(h.tellOf(gate.ChangeEdit, "om_1", "", "", false))
			h.settle()
			if n := listedMessages(t, h.store); n != 0 {
				t.Errorf("%d messages, want none", n)
			}
		},
		"nor one that cannot be read (TR-4)": func(t *testing.T, h *house) {
			h.svc.Rereaders = map[gate.SourceID]orchestrator.Rereader{"feishu": &platformText{drop: true}}
			h.must(h.tellOf(gate.ChangeEdit, "om_1", "", "", false))
			h.settle()
			if n := listedMessages(t, h.store); n != 0 {
				t.Errorf("%d messages, want none", n)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t)
				h.run()
				story(t, h)
			})
		})
	}
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// TestNewsWhileTheStoreIsAway: intake says so, and the platform tells again (TR-2).
func TestNewsWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.store.(*storetest.Mem).Away(orchestrator.ErrUnavailable)
		if err := h.tellOf(gate.ChangeRecall, "om_1", "", "", false); !errors.Is(err, orchestrator.ErrUnavailable) {
			t.Errorf("Receive = %v, want ErrUnavailable", err)
		}
	})
}
