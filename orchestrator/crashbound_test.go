package orchestrator_test

import (
	"context"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// asideThread is a Thread that an agent from afar follows.
const asideThread gate.ThreadID = "feishu~" + chat + "~om_aside"

// ourIssue says that the agent's own account opened whatever is asked about.
type ourIssue struct{}

func (ourIssue) Opened(context.Context, string) (orchestrator.Opened, error) {
	return orchestrator.Opened{
		Thread: "feishu~" + chat + "~om_opened", Scope: gate.ChatScope(chat), Place: gate.Place{Chat: chat, Root: "om_opened"},
		Ours: true, At: time.Now(),
	}, nil
}

// boundTales are those of agents from afar, and of what bounds an executor.
var boundTales = []tale{
	{
		name: "a turn over the bound waits and starts", writes: 20,
		bounds: orchestrator.Bounds{MaxConcurrent: 1, Remote: true},
		play: func(m *mortals) {
			m.say(words{from: listed, text: "one", mention: true, id: "om_1"})
			m.until("it is taken up", func() bool { return m.taken(0) })
			m.say(words{from: listed, text: "two", mention: true, id: "om_2"})
			m.until("it waits", func() bool { m.read(1); return m.shown(1) == "queued 1" })
			m.until("the first is done", func() bool { return m.act(0, done("one")) })
			m.until("the second is taken up", func() bool { return m.taken(1) })
			m.until("the second is done", func() bool { return m.act(1, done("two")) })
			m.ended()
		},
		said: []string{
			"react received", "react received", "reply Accepted `%[2]s`: one", "reply Accepted `%[1]s`: two", "reply one", "reply two",
		},
		check: noPlaceLeft(2),
	},
	{
		name: "a budget that a person lets go on", writes: 15,
		bounds: orchestrator.Bounds{MaxConcurrent: 1, Budget: orchestrator.Budget{Turns: 1}},
		play: func(m *mortals) {
			m.say(words{from: listed, text: "one", mention: true, id: "om_1"})
			m.ended()
			m.say(words{from: listed, text: "two", root: "om_1", id: "om_2"})
			m.until("a person lets it go on", func() bool { m.next().settle(); return m.allows(orchestrator.BudgetGoOn) })
			m.until("the reply comes", func() bool { m.next().settle(); return m.said("reply two") == 1 })
			m.ended()
		},
		said:  []string{"react received", "reply Accepted `%[1]s`: one", "reply one", "card", "?card_update", "reply two"},
		check: noPlaceLeft(1),
	},
	{
		name: "an agent from afar that follows, opens, is told and leaves", writes: 18,
		bounds: orchestrator.Bounds{MaxConcurrent: 1, Remote: true},
		play: func(m *mortals) {
			m.say(words{from: listed, text: "one", mention: true, id: "om_1"})
			m.until("it is taken up", func() bool { return m.taken(0) })
			m.until("it follows", func() bool {
				return m.act(0, orchestrator.Command{Verb: orchestrator.VerbFollow, Key: "f", Thread: asideThread})
			})
			m.until("it opens", func() bool {
				return m.act(0, orchestrator.Command{Verb: orchestrator.VerbOpened, Key: "o", URL: "https://test/1"})
			})
			m.until("it is told", func() bool { return m.note("look aside") })
			m.until("it reads the note", func() bool { return m.taken(0) })
			m.until("it leaves", func() bool {
				return m.act(0, orchestrator.Command{Verb: orchestrator.VerbUnfollow, Key: "u", Thread: asideThread})
			})
			m.until("it is done", func() bool { return m.act(0, done("one")) })
			m.ended()
		},
		said: []string{"react received", "reply Accepted `%[1]s`: one", "reply one"},
		check: func(t *testing.T, s orchestrator.Store) {
			t.Helper()
			noPlaceLeft(1)(t, s)
			list, _, _ := s.ListTickets(t.Context(), orchestrator.TicketFilter{}, orchestrator.Page{Limit: 1})
			if n := len(list[0].Subs); n != 2 {
				t.Errorf("SU-5a, SU-9: the ticket has %+v, want its own two threads", list[0].Subs)
			}
		},
	},
}

func done(text string) orchestrator.Command {
	return orchestrator.Command{Verb: orchestrator.VerbReport, Key: "done", Kind: orchestrator.ReportDone, Text: text}
}

// noPlaceLeft checks that all Tickets are completed, and that none holds a
// place at the executor that nobody works on (EX-5).
func noPlaceLeft(tickets int) func(*testing.T, orchestrator.Store) {
	return func(t *testing.T, s orchestrator.Store) {
		t.Helper()
		list, _, _ := s.ListTickets(t.Context(), orchestrator.TicketFilter{}, orchestrator.Page{Limit: 10})
		for _, tk := range list {
			if tk.End == nil || tk.End.Reason != orchestrator.EndCompleted {
				t.Errorf("ticket %s ended as %+v, want completed", tk.ID, tk.End)
			}
		}
		n, err := s.Tallied(t.Context(), orchestrator.Counts{Set: "turns/default"})
		if err != nil || len(list) != tickets || n[0] != 0 {
			t.Errorf("%d tickets, %v places taken, %v; want %d and none", len(list), n, err, tickets)
		}
	}
}

// nth is the n-th Ticket, by its age; ok is false where there is none yet.
func (m *mortals) nth(n int) (tk orchestrator.Ticket, ok bool) {
	list := (&house{t: m.t, store: m.mem}).tickets()
	if len(list) <= n {
		return tk, false
	}
	return list[n], true
}

// read reads from afar; the answer may get lost.
func (m *mortals) read(n int) {
	h := m.next()
	if tk, ok := m.nth(n); ok {
		_, _ = h.svc.Read(m.t.Context(), tk.ID, orchestrator.Reading{})
	}
}

// taken reads from afar until everything of the n-th Ticket is handed over:
// what got lost with a process is read again (AC-2).
func (m *mortals) taken(n int) bool {
	m.read(n)
	tk, ok := m.nth(n)
	if !ok || tk.Delivered < tk.Seq {
		return false
	}
	got, err := m.next().svc.Read(m.t.Context(), tk.ID, orchestrator.Reading{Unacked: true})
	return err == nil && len(got.Inputs) > 0
}

func (m *mortals) act(n int, cmd orchestrator.Command) bool {
	tk, _ := m.nth(n)
	p, err := m.next().svc.Act(m.t.Context(), tk.ID, cmd)
	return err == nil && p.OK
}

func (m *mortals) note(text string) bool {
	tk, _ := m.nth(0)
	r, err := m.next().svc.Route(m.t.Context(), orchestrator.Item{Action: orchestrator.ActNote, Ticket: tk.ID, Text: text},
		orchestrator.Ruling{PolicyVersion: 1, By: orchestrator.ByMainSession})
	return err == nil && r.OK
}

// shown is how the n-th Ticket is shown.
func (m *mortals) shown(n int) string {
	if _, ok := m.nth(n); !ok {
		return ""
	}
	h := &house{t: m.t, store: m.mem, svc: m.next().svc}
	list, err := h.shownOr()
	if err != nil {
		return ""
	}
	return list[n]
}

// allows answers the question about the first Ticket's budget, once however
// often it is called.
func (m *mortals) allows(option string) bool {
	tk, ok := m.nth(0)
	if !ok || tk.Spent.Ask == "" {
		return tk.Spent.Grants == 1
	}
	id := approvals.IDFor("default", approvals.SessionID(tk.ID), tk.Spent.Ask)
	_, err := m.next().broker.Answer(m.t.Context(), approvals.AnswerRequest{
		ID: id, OptionID: option, Via: approvals.ViaAPI, Operator: true, Who: gate.Sender{Kind: gate.Person, ID: "api:ops"},
	})
	return err == nil
}
