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

const (
	deploy = approvals.ID("1a2b3c4d-0000-5000-8000-000000000001")
	colour = approvals.ID("5e6f7a8b-0000-5000-8000-000000000002")
	twin   = approvals.ID("5e6f7a8b-0000-5000-8000-000000000003")
	other  = approvals.ID("99999999-0000-5000-8000-000000000004")
	past   = approvals.ID("0ddba115-0000-5000-8000-000000000005")
)

// asking is a Ticket on gh~acme/app~7 with questions of every kind, some of them
// shown in the chat oc_9, and one of somebody else's Ticket.
func asking(now time.Time) orchestrator.State {
	q := func(id approvals.ID, session string, kind approvals.Kind) approvals.Question {
		return approvals.Question{
			ID: id, Kind: kind, Status: approvals.StatusOpen, Deadline: now.Add(time.Minute), Version: 1,
			Session:  approvals.Session{ID: approvals.SessionID(session), Source: "gh"},
			Messages: []approvals.Message{{Source: "fs", Chat: "oc_9", Message: "om_1"}},
		}
	}
	d, c, tw, o, p := q(deploy, "t1", approvals.Approval), q(colour, "t1", approvals.Choice), q(twin, "t1", approvals.Clarification), q(other, "t2", approvals.Approval), q(past, "t1", approvals.Approval)
	yes := []approvals.Option{{ID: approvals.OptionApprove, Label: "Approve"}, {ID: approvals.OptionReject, Label: "Reject"}}
	d.Options, o.Options, p.Options = yes, yes, yes
	c.Options, c.AllowFreeText = []approvals.Option{{ID: "red", Label: "Dark red"}}, true
	tw.AllowFreeText = true
	o.Messages = nil
	p.Status = approvals.StatusTimedOut
	ticket := orchestrator.Ticket{
		ID: "t1", State: orchestrator.TicketActive, Executor: "default", Version: 1,
		Mandate: gate.Mandate{Source: "gh", Thread: "gh~acme/app~7", State: gate.MandateActive, Sender: gate.Sender{Kind: gate.Person, ID: "1"}},
		Subs:    []orchestrator.Subscription{{Thread: "gh~acme/app~7", Kind: orchestrator.SubOwn}},
	}
	return orchestrator.State{
		Threads: map[gate.ThreadID]orchestrator.Thread{"gh~acme/app~7": {
			ID: "gh~acme/app~7", Source: "gh", Scope: gate.Comments, Version: 1, Tickets: []orchestrator.ThreadTicket{{Ticket: "t1", Kind: orchestrator.SubOwn}},
		}},
		Tickets:   map[gate.TicketID]orchestrator.Ticket{"t1": ticket},
		Questions: map[approvals.ID]approvals.Question{deploy: d, colour: c, twin: tw, other: o, past: p},
	}
}

// answering plays one message and spells what came of it: the questions that
// changed, what the gateway said, and whether the message went on to the Ticket.
func answering(t *testing.T, text string, change func(*orchestrator.Message, *orchestrator.Facts)) string {
	t.Helper()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	st := asking(now)
	m := orchestrator.Message{State: orchestrator.StateReceived, Trigger: gate.Trigger{
		ID: "m1", Source: "gh", Scope: gate.Comments, Thread: "gh~acme/app~7", Place: gate.Place{Chat: "acme/app", Root: "7"},
		Sender: gate.Sender{Kind: gate.Person, ID: "1"}, Text: text, Plain: plainOf(text), OccurredAt: now, ReceivedAt: now,
	}}
	may := orchestrator.Verdict{May: true, Reason: gate.ReasonApprover}
	f := orchestrator.Facts{
		Now: now, Policy: &gate.Policy{Mode: gate.Observe}, NewID: func(p string) string { return p + "1" },
		Settings: orchestrator.Settings{Language: "en", Rooms: approvals.Rooms{Source: "fs", Chat: "oc_9"}},
		Sources: map[gate.SourceID]*gate.Source{
			"gh": {ID: "gh", Platform: gate.GitHub, Enabled: true, Refusal: gate.RefuseByReply, Scopes: map[gate.Scope]gate.Receive{gate.Comments: gate.ReceiveAll}},
			"fs": {ID: "fs", Platform: gate.Feishu, Enabled: true, Refusal: gate.RefuseByReaction, Scopes: map[gate.Scope]gate.Receive{gate.ChatScope("oc_9"): gate.ReceiveAll}},
		},
		Verdicts: map[approvals.ID]orchestrator.Verdict{deploy: may, colour: may, twin: may, other: may, past: may},
	}
	if change != nil {
		change(&m, &f)
	}
	st.Messages = map[gate.TriggerID]orchestrator.Message{m.ID: m}
	c := orchestrator.Arrive(st, m.ID, f)
	var words []string
	for _, q := range c.Questions {
		last := q.Events[len(q.Events)-1]
		w := fmt.Sprintf("%s %s", q.ID.Short(), last.Type)
		if q.Answer != nil {
			w += fmt.Sprintf(" %s%s by %s via %s", q.Answer.OptionID, q.Answer.Text, q.Answer.By.ID, q.Answer.Via)
		}
		words = append(words, w)
	}
	for _, o := range c.Out {
		if o.Kind != gate.OutCardUpdate {
			words = append(words, strings.TrimSpace(string(o.Kind)+" "+string(o.Reaction)+o.Text))
		}
	}
	if len(c.Messages) == 1 && c.Messages[0].State == orchestrator.StateOwned {
		words = append(words, "owned")
	}
	return strings.Join(words, "; ")
}

// plainOf is what an adapter makes of a text: without fences, quotes and spans.
func plainOf(text string) string {
	fenced := false
	return strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			return true
		}
		return fenced || strings.HasPrefix(line, ">") || strings.Contains(line, "`")
	}), "\n")
}

func TestReplyCommands(t *testing.T) {
	t.Parallel()
	by := func(kind gate.SenderKind) func(*orchestrator.Message, *orchestrator.Facts) {
		return func(m *orchestrator.Message, _ *orchestrator.Facts) { m.Sender.Kind = kind }
	}
	not := func(id approvals.ID) func(*orchestrator.Message, *orchestrator.Facts) {
		return func(_ *orchestrator.Message, f *orchestrator.Facts) {
			f.Verdicts[id] = orchestrator.Verdict{Reason: gate.ReasonNeither}
		}
	}
	refusal := func(r gate.Refusal) func(*orchestrator.Message, *orchestrator.Facts) {
		return func(_ *orchestrator.Message, f *orchestrator.Facts) { f.Sources["gh"].Refusal = r }
	}
	chat := func(m *orchestrator.Message, _ *orchestrator.Facts) {
		m.Source, m.Scope, m.Thread, m.Place = "fs", gate.ChatScope("oc_9"), "fs~oc_9~om_5", gate.Place{Chat: "oc_9", Root: "om_5"}
	}
	elsewhere := func(m *orchestrator.Message, _ *orchestrator.Facts) {
		m.Thread, m.Place.Root = "gh~acme/app~8", "8"
	}
	rows := []struct {
		name, text string
		change     func(*orchestrator.Message, *orchestrator.Facts)
		want       string
	}{
		{"approve (CA-8)", "/approve 1a2b3c4d", nil, "1a2b3c4d answered approve by 1 via github; react received"},
		{"reject, whatever else stands in the line (CA-8)", "  /reject 1A2B3C4D not today", nil, "1a2b3c4d answered reject by 1 via github; react received"},
		{"answer with an option (CA-8)", "/answer " + string(colour) + " RED", nil, "5e6f7a8b answered red by 1 via github; react received"},
		{"or with its label (CA-8)", "/answer " + string(colour) + " dark red", nil, "5e6f7a8b answered red by 1 via github; react received"},
		{"or with a text (CA-8)", "/answer " + string(twin) + "  blue,  please ", nil, "5e6f7a8b answered blue,  please by 1 via github; react received"},
		{"several in one comment (CA-8)", "/approve 1a2b3c4d\n\n/answer " + string(twin) + " x", nil, "1a2b3c4d answered approve by 1 via github; 5e6f7a8b answered x by 1 via github; react received; react received"},
		{"other words go on to the Ticket (CA-8)", "/approve 1a2b3c4d\nand be quick", nil, "1a2b3c4d answered approve by 1 via github; react received; owned"},

		{"a text never approves (CA-8, AP-2a)", "/answer 1a2b3c4d approve", nil, "reply That is no valid answer to question `1a2b3c4d`."},
		{"approve is no answer to another question (CA-8)", "/approve " + string(twin), nil, "reply That is no valid answer to question `5e6f7a8b`."},
		{"two with that prefix are refused with the longer ids (CA-8)", "/answer 5e6f7a8b x", nil, "reply Several questions begin like that; write the whole id: `" + string(colour) + "`, `" + string(twin) + "`"},
		{"which are not for who may answer none of them (CA-8, CA-3)", "/answer 5e6f7a8b x", func(m *orchestrator.Message, f *orchestrator.Facts) { not(colour)(m, f); not(twin)(m, f) }, "reply You may not answer question `5e6f7a8b`."},
		{"who may not answer is refused, which is recorded (CA-8, CA-3)", "/approve 1a2b3c4d", not(deploy), "1a2b3c4d refused; reply You may not answer question `1a2b3c4d`."},
		{"after the end it is too late, and noted (CA-8, CA-9)", "/approve 0ddba115", nil, "0ddba115 late; reply Question `0ddba115` has come to its end; that answer does not count."},
		{"an unknown id (CA-8)", "/approve 77777777", nil, "reply There is no question `77777777` here."},
		{"the Source refuses by a reaction (CA-8, OUT-6)", "/approve 77777777", refusal(gate.RefuseByReaction), "react refused"},
		{"or not at all (CA-8, OUT-6)", "/approve 77777777", refusal(gate.RefuseSilently), ""},
		{"another Ticket's question is as good as none (CA-8)", "/approve 99999999", nil, "reply There is no question `99999999` here."},
		{"so is one on another Thread (CA-8)", "/approve 1a2b3c4d", elsewhere, "reply There is no question `1a2b3c4d` here."},
		{"one that was asked meanwhile is not known yet (CA-8)", "/approve 1a2b3c4d", func(_ *orchestrator.Message, f *orchestrator.Facts) { delete(f.Verdicts, deploy) }, "reply There is no question `1a2b3c4d` here."},

		{"the same words in the Feishu chat that shows it (CA-7)", "/approve 1a2b3c4d", chat, "1a2b3c4d answered approve by 1 via reply; react received"},
		{"and of no other question (CA-7)", "/approve 99999999", chat, "react refused"},

		{"a quote does not count (CA-8)", "> /approve 1a2b3c4d", nil, "owned"},
		{"nor what goes on from one (CA-8)", "> he said\n/approve 1a2b3c4d", nil, "owned"},
		{"but what follows it (CA-8)", "> he said\n\n/approve 1a2b3c4d", nil, "1a2b3c4d answered approve by 1 via github; react received; owned"},
		{"a code block does not count (CA-8)", "```\n/approve 1a2b3c4d\n```", nil, "owned"},
		{"nor an indented one (CA-8)", "so:\n\n    /approve 1a2b3c4d", nil, "owned"},
		{"nor a code span (CA-8)", "`/approve 1a2b3c4d`", nil, "owned"},
		{"nor a word within a line (CA-8)", "please /approve 1a2b3c4d", nil, "owned"},
		{"nor less than a short id (CA-8)", "/approve 1a2b", nil, "owned"},
		{"nor a comment that was edited (CA-8)", "/approve 1a2b3c4d", func(m *orchestrator.Message, _ *orchestrator.Facts) { m.Edited = true }, "owned"},
		{"nor one that an operator replayed (CA-8, TR-7)", "/approve 1a2b3c4d", func(m *orchestrator.Message, _ *orchestrator.Facts) { m.ReplayedBy = "ops" }, "owned"},
		{"nor a bot's (CA-8, CA-3)", "/approve 1a2b3c4d", by(gate.Bot), ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if got := answering(t, r.text, r.change); got != r.want {
				t.Errorf("%q came to\n%s\nwant\n%s", r.text, got, r.want)
			}
		})
	}
}

func TestReplyCommandsThroughTheService(t *testing.T) {
	t.Parallel()
	// asked is a house whose Ticket asks for an approval in the thread of om_1.
	asked := func(t *testing.T) (*house, approvals.Question) {
		t.Helper()
		h := newHouse(t, approvalScript()...)
		h.svc.Settings.Rooms = approvals.Rooms{Source: "feishu", Chat: "oc_approvals"}
		h.run()
		h.say(words{from: listed, text: "1.4.2", mention: true, id: "om_1"})
		h.settle()
		return h, h.question()
	}
	t.Run("an approval by reply lets the work go on (CA-7, AP-4)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h, q := asked(t)
			h.say(words{from: listed, text: "/approve " + q.ID.Short(), root: "om_1", mention: true, id: "om_2"})
			h.settle()
			if lines := h.out.lines(); !slices.Contains(lines, "reply done: 1.4.2") {
				t.Errorf("sent %q, want the result", lines)
			}
			h.history(q.ID, "opened presented answered presentation_updated")
		})
	})
	t.Run("who is neither requester nor approver answers nothing (CA-3)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h, q := asked(t)
			h.say(words{from: "ou_stranger", text: "/approve " + q.ID.Short(), root: "om_1", mention: true, id: "om_2"})
			h.settle()
			h.history(q.ID, "opened presented refused")
		})
	})
	t.Run("after the deadline the answer does not count, and that it came is noted (CA-9, DE-5)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h, q := asked(t)
			time.Sleep(6 * time.Minute)
			h.say(words{from: listed, text: "/approve " + q.ID.Short(), root: "om_1", mention: true, id: "om_2"})
			h.settle()
			got, err := h.store.Question(t.Context(), q.ID)
			if err != nil || got.Outcome != approvals.Unavailable || !strings.HasSuffix(fmt.Sprint(got.Events[len(got.Events)-1].Type), "late") {
				t.Errorf("question %s %s, %v", got.Status, got.Outcome, err)
			}
		})
	})
}
