package orchestrator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

const opsChat = gate.PlaceID("feishu~" + chat)

// reach brings news of places; why is why they are lost, or "".
func (h *house) reach(event, why string, places ...gate.PlaceID) error {
	var news []gate.Reached
	for _, p := range places {
		news = append(news, gate.Reached{Place: p, Lost: why, Wide: true})
	}
	return h.svc.Receive(h.t.Context(), gate.Arrival{
		Trigger: gate.Trigger{Source: "feishu", IDs: gate.PlatformIDs{Event: event}, OccurredAt: time.Now()},
		Keys:    []string{"feishu:event:" + event}, Lane: string(opsChat),
		Change: gate.Change{Kind: gate.ChangeReach, Reach: news},
	})
}

func (h *house) mustReach(event, why string, places ...gate.PlaceID) {
	h.t.Helper()
	if err := h.reach(event, why, places...); err != nil {
		h.t.Fatalf("Receive: %v", err)
	}
	h.settle()
}

// notes counts the notes of the only Ticket that have a word.
func notes(t *testing.T, s orchestrator.Store, word string) (n int) {
	t.Helper()
	list, _, _ := s.ListTickets(t.Context(), orchestrator.TicketFilter{}, orchestrator.Page{Limit: 5})
	for _, tk := range list {
		inputs, _ := s.Inputs(t.Context(), tk.ID, 0)
		for _, in := range inputs {
			if in.Kind == orchestrator.InputNote && strings.Contains(in.Note, word) {
				n++
			}
		}
	}
	return n
}

func TestReachThroughTheService(t *testing.T) {
	t.Parallel()
	t.Run("questions move to the chat for approvals, and are answered there; the result is dropped (EN-5, CA-1)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, approvalScript()...)
			h.svc.Settings.Rooms = approvals.Rooms{Source: "feishu", Chat: "oc_approvals"}
			h.run()
			h.say(words{from: listed, text: "1.4.2", mention: true, id: "om_1"})
			h.settle()
			q := h.question()
			h.mustReach("e1", "the bot was removed from the chat", opsChat)
			if got := h.ticket(); len(got.Lost) != 1 || notes(t, h.store, "the bot was removed") != 1 {
				t.Errorf("EN-5: lost %v, %d notes; want one each", got.Lost, notes(t, h.store, "the bot was removed"))
			}
			sent := h.out.all()
			moved := sent[len(sent)-1]
			if moved.Kind != gate.OutCard || moved.Place.Chat != "oc_approvals" || moved.Question != string(q.ID) {
				t.Fatalf("EN-5: the last that was sent is %s to %s; want the card in oc_approvals", moved.Kind, moved.Place.Chat)
			}
			_, err := h.broker.Answer(t.Context(), approvals.AnswerRequest{
				ID: q.ID, OptionID: approvals.OptionApprove, Via: approvals.ViaCard, Source: "feishu",
				Who:     gate.Sender{Kind: gate.Person, ID: listed},
				Message: &approvals.Message{Source: "feishu", Chat: "oc_approvals", Message: fmt.Sprintf("om_sent_%d", len(sent)-1)},
			})
			if err != nil {
				t.Errorf("CA-1: the answer in oc_approvals: %v", err)
			}
			h.settle()
			if lines := h.out.lines(); slices.Contains(lines, "reply done: 1.4.2") || h.ticket().End == nil {
				t.Errorf("EN-5: sent %q; want the ticket done and its result dropped", lines)
			}
		})
	})
	t.Run("a question that is asked on a lost Thread goes there too, and is unavailable where that is lost (EN-5, CA-7)", func(t *testing.T) {
		t.Parallel()
		for _, lost := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, approvalScript()...)
				h.svc.Settings.Rooms = approvals.Rooms{Source: "feishu", Chat: "oc_approvals"}
				h.run()
				h.mustReach("e1", "locked", opsChat+"~om_1")
				if lost {
					h.mustReach("e2", "gone", "feishu~oc_approvals")
				}
				h.say(words{from: listed, text: "1.4.2", mention: true, id: "om_1"})
				h.settle()
				open, _ := h.store.OpenQuestions(t.Context(), approvals.SessionID(h.ticket().ID))
				if asked := slices.Contains(h.out.lines(), "card"); asked == lost || len(open) == 1 == lost {
					t.Errorf("EN-5: lost %v, asked %v, %d open", lost, asked, len(open))
				}
			})
		}
	})
	t.Run("a resume waits until the Thread can be reached again (EN-5, RV-1)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			h.run()
			h.say(words{from: listed, text: "one", mention: true, id: "om_1"})
			h.settle()
			h.mustReach("e1", "the conversation was locked", opsChat+"~om_1")
			h.say(words{from: listed, text: "two", root: "om_1", id: "om_2"})
			time.Sleep(time.Minute)
			before := h.out.lines()
			if slices.Contains(before, "reply two") {
				t.Errorf("RV-1: sent %q while it was locked", before)
			}
			h.mustReach("e2", "", opsChat+"~om_1")
			time.Sleep(time.Minute)
			h.want(append(before, "reply two")...)
		})
	})
	t.Run("many places in one event are recorded in steps (EN-5)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			h.run()
			var places []gate.PlaceID
			for i := range 120 {
				places = append(places, gate.PlaceID(fmt.Sprintf("feishu~oc_%d", i)))
			}
			h.mustReach("e1", "gone", places...)
			list, err := h.store.LostPlaces(t.Context())
			if err != nil || len(list) != len(places) {
				t.Errorf("LostPlaces() = %d, %v; want %d", len(list), err, len(places))
			}
		})
	})
}
