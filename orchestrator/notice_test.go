package orchestrator_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// noticed is a Ticket whose message in oc_1 offers to stop it.
func noticed(edits ...func(*orchestrator.Ticket)) orchestrator.Ticket {
	t := orchestrator.Ticket{
		ID: "tkt_0a1b2c3d", Title: "deploy", State: orchestrator.TicketActive,
		Mandate: gate.Mandate{State: gate.MandateActive, Source: "feishu", Sender: gate.Sender{Kind: gate.Person, ID: "ou_lin"}},
		Notice:  &orchestrator.Notice{Chat: "oc_1", Message: "om_1"},
	}
	for _, edit := range edits {
		edit(&t)
	}
	return t
}

func completed(t *orchestrator.Ticket) {
	t.State, t.End = orchestrator.TicketEnded, &orchestrator.End{Reason: orchestrator.EndCompleted}
}

func stateOf(t orchestrator.Ticket) orchestrator.State {
	s := emptyState()
	s.Tickets = map[gate.TicketID]orchestrator.Ticket{t.ID: t}
	return s
}

func TestStopButtonRules(t *testing.T) {
	t.Parallel()
	lin, eve := gate.Sender{Kind: gate.Person, ID: "ou_lin"}, gate.Sender{Kind: gate.Person, ID: "ou_eve"}
	for _, c := range []struct {
		name    string
		ticket  orchestrator.Ticket
		edit    func(*gate.StopClick, *gate.Answerer)
		want    gate.StopResult
		text    string // of the message then; "": it is not touched
		refused bool   // an event says so
	}{
		{"the requester stops at once (ST-2)", noticed(), func(*gate.StopClick, *gate.Answerer) {}, gate.StopDone, "Stopped `0a1b2c3d`: deploy", false},
		{"an approver does, too (ST-2)", noticed(), func(c *gate.StopClick, a *gate.Answerer) {
			c.Who, a.Who, a.Lists = eve, eve, gate.Lists{Approver: gate.Yes}
		}, gate.StopDone, "Stopped `0a1b2c3d`: deploy", false},
		{"nobody else, also if listed (ST-2)", noticed(), func(c *gate.StopClick, a *gate.Answerer) {
			c.Who, a.Who, a.Lists = eve, eve, gate.Lists{Allow: gate.Yes}
		}, gate.StopNotAllowed, "", true},
		{"a bot never (ST-2)", noticed(), func(_ *gate.StopClick, a *gate.Answerer) { a.Who.Kind = gate.Bot }, gate.StopNotAllowed, "", true},
		{"from another message it does not count (CA-6)", noticed(), func(c *gate.StopClick, _ *gate.Answerer) { c.Message = "om_2" }, gate.StopWrongCard, "", true},
		{"from another chat it does not count (CA-6)", noticed(), func(c *gate.StopClick, _ *gate.Answerer) { c.Chat = "oc_2" }, gate.StopWrongCard, "", true},
		{"from another Source it does not count (CA-6)", noticed(), func(c *gate.StopClick, _ *gate.Answerer) { c.Source = "feishu-2" }, gate.StopWrongCard, "", true},
		{"before its message is recorded it is to be clicked again (CA-6)", noticed(func(t *orchestrator.Ticket) { t.Notice = nil }), func(*gate.StopClick, *gate.Answerer) {}, gate.StopNotShown, "", false},
		{"a Ticket that nobody knows (ST-2)", noticed(), func(c *gate.StopClick, _ *gate.Answerer) { c.Ticket = "tkt_9" }, gate.StopUnknown, "", false},
		{"on an old copy it changes nothing, and shows the end (CA-5)", noticed(completed), func(*gate.StopClick, *gate.Answerer) {}, gate.StopLate, "Done `0a1b2c3d`: deploy", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			click := gate.StopClick{Ticket: c.ticket.ID, Source: "feishu", Who: lin, Chat: "oc_1", Message: "om_1"}
			by := gate.Answerer{Source: "feishu", Who: lin}
			c.edit(&click, &by)
			by.Source = click.Source
			ch, got := orchestrator.StopClicked(stateOf(c.ticket), click, by, smallFacts(epoch))
			if got.Result != c.want || got.Notice.Text != c.text || got.Notice.Stop {
				t.Errorf("StopClicked(…) = %s, %q, button %v; want %s, %q", got.Result, got.Notice.Text, got.Notice.Stop, c.want, c.text)
			}
			if refused := len(ch.Log) == 1 && ch.Log[0].Type == "ticket.stop_refused"; refused != c.refused || !c.refused && c.want != gate.StopDone && len(ch.Log) > 0 {
				t.Errorf("log = %+v, want a refusal: %v", ch.Log, c.refused)
			}
			if c.want != gate.StopDone {
				if len(ch.Tickets)+len(ch.Out) > 0 {
					t.Errorf("StopClicked(…) changes %+v, %+v, want nothing", ch.Tickets, ch.Out)
				}
				return
			}
			end := ch.Tickets[0].End
			if end.Reason != orchestrator.EndManualStop || end.By != click.Who.ID+" by the Stop button" || ch.Tickets[0].Mandate.State != gate.MandateWithdrawn {
				t.Errorf("end = %+v, want a manual stop by %s", end, click.Who.ID)
			}
			if o := ch.Out[0]; o.Kind != gate.OutStatus || o.Message != "om_1" || o.Mention.ID != click.Who.ID || o.NotBefore.Sub(epoch) < 3*time.Second {
				t.Errorf("out = %+v, want the message edited, after the click is answered", o)
			}
		})
	}
}

func TestNoticeRules(t *testing.T) {
	t.Parallel()
	report := func(k orchestrator.ReportKind, final bool) func(orchestrator.Ticket) []gate.Outgoing {
		return func(tk orchestrator.Ticket) []gate.Outgoing {
			c, _ := orchestrator.Perform(stateOf(tk), tk.ID, orchestrator.Command{Verb: orchestrator.VerbReport, Kind: k, Text: "half", Final: final, Key: "k"}, smallFacts(epoch))
			return c.Out
		}
	}
	sent := func(message string) func(orchestrator.Ticket) []gate.Outgoing {
		return func(tk orchestrator.Ticket) []gate.Outgoing {
			_, edits, changed := orchestrator.Noticed(tk, gate.Sent{Chat: "oc_1", Message: message}, orchestrator.Settings{Language: "en"}, epoch)
			if changed != (message != "om_1") {
				t.Errorf("Noticed(%s) = changed %v", message, changed)
			}
			return edits
		}
	}
	for _, c := range []struct {
		name   string
		ticket orchestrator.Ticket
		do     func(orchestrator.Ticket) []gate.Outgoing
		want   string
	}{
		{"progress edits the message (OUT-4)", noticed(), report(orchestrator.ReportProgress, false), "status Accepted `0a1b2c3d`: deploy|half|stop "},
		{"without one it is a reply (OUT-4)", noticed(func(t *orchestrator.Ticket) { t.Notice = nil }), report(orchestrator.ReportProgress, false), "reply half|| "},
		{"what wants a person is a reply (OUT-4)", noticed(), report(orchestrator.ReportBlocked, false), "reply half|| "},
		{"the result is a reply, and the button goes (OUT-4, ST-2)", noticed(), report(orchestrator.ReportDone, false), "reply half|| status Done `0a1b2c3d`: deploy|| "},
		{"a failure is, too (OUT-4, ST-2)", noticed(), report(orchestrator.ReportFailed, true), "reply half|| status Failed `0a1b2c3d`: deploy|| "},
		{"a message that was sent is known (ST-2)", noticed(func(t *orchestrator.Ticket) { t.Notice = nil }), sent("om_2"), ""},
		{"the same again changes nothing (OUT-1)", noticed(), sent("om_1"), ""},
		{"if the work ended meanwhile, it is edited (ST-2)", noticed(completed), sent("om_2"), "status Done `0a1b2c3d`: deploy|| "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, o := range c.do(c.ticket) {
				got += string(o.Kind) + " " + o.Text + "|" + o.Progress + "|"
				if o.Stop {
					got += "stop"
				}
				got += " "
			}
			if got != c.want {
				t.Errorf("out = %q, want %q", got, c.want)
			}
		})
	}
}

// A click that comes from a stranger, then from the requester, through the whole
// gateway and its outbox.
func TestStopButton(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, approvalScript()...)
		h.run()
		h.say(words{from: listed, text: "1.4.2", mention: true})
		h.settle()
		tk := h.ticket()
		if tk.Notice == nil || tk.Notice.Message != "om_sent_1" || tk.Notice.Chat != chat {
			t.Fatalf("notice = %+v, want the acceptance (ST-2)", tk.Notice)
		}
		click := gate.StopClick{Ticket: tk.ID, Source: "feishu", Who: gate.Sender{Kind: gate.Person, ID: stranger}, Chat: chat, Message: "om_sent_1"}
		if a, err := h.svc.StopByClick(t.Context(), click); err != nil || a.Result != gate.StopNotAllowed || h.ticket().End != nil {
			t.Errorf("StopByClick(stranger) = %s, %v (ST-2)", a.Result, err)
		}
		click.Who.ID = listed
		for _, want := range []gate.StopResult{gate.StopDone, gate.StopLate} {
			if a, err := h.svc.StopByClick(t.Context(), click); err != nil || a.Result != want || a.Notice.Stop {
				t.Errorf("StopByClick(requester) = %s, %v, want %s (CA-5)", a.Result, err, want)
			}
		}
		h.settle()
		edits := 0
		for _, o := range h.out.all() {
			if o.Kind == gate.OutStatus && !o.Stop && o.Mention.ID == listed {
				edits++
			}
		}
		if tk := h.ticket(); tk.Active() || tk.End.Reason != orchestrator.EndManualStop || edits != 1 {
			t.Errorf("end = %+v, %d edits, want a manual stop and one edit (ST-2)", tk.End, edits)
		}
	})
}
