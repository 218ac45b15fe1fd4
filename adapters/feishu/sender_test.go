package feishu_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

const rowID = "0199a0b1-7c1e-7a4b-9d2f-0a1b2c3d4e5f"

// answering is an Outgoing that replies to something that was said in the group.
func (w *world) answering(kind gate.OutgoingKind, text string) gate.Outgoing {
	ops := w.sim.Group("ops")
	said := w.sim.Say(ops, w.sim.Person("林岚"), "@bot deploy")
	return gate.Outgoing{ID: rowID, Kind: kind, Source: "feishu-main", Text: text, Message: said.Message,
		Place: gate.Place{Chat: ops.ID, Root: said.Message}, Question: string(questionID)}
}

func (w *world) send(t *testing.T, out gate.Outgoing) gate.Sent {
	t.Helper()
	sent, err := w.sender.Send(t.Context(), out)
	if err != nil {
		t.Fatalf("Send = %v", err)
	}
	return sent
}

// sendError is the *gate.SendError of a failed Send.
func (w *world) sendError(t *testing.T, out gate.Outgoing) *gate.SendError {
	t.Helper()
	_, err := w.sender.Send(t.Context(), out)
	var se *gate.SendError
	if !errors.As(err, &se) {
		t.Fatalf("Send = %v, want a *gate.SendError", err)
	}
	return se
}

func TestReply(t *testing.T) {
	t.Parallel()
	t.Run("FS-3 a group message is answered in its topic", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		out := w.answering(gate.OutReply, "done **now**")
		m := w.sim.Message(w.send(t, out).Message)
		if m.Topic == "" || m.Parent != out.Message || m.Type != "post" || m.Text() != "done **now**" || m.UUID != rowID {
			t.Errorf("sent %+v", m)
		}
	})
	t.Run("FS-3 as a quote where reply_in_thread is off", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, func(c *feishu.Config) { c.ReplyInThread = false })
		if m := w.sim.Message(w.send(t, w.answering(gate.OutReply, "ok")).Message); m.Topic != "" || m.Parent == "" {
			t.Errorf("sent %+v, want a quote", m)
		}
	})
	t.Run("D.3 230071: as a quote where the chat has no topics", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ops := w.sim.Group("ops")
		ops.NoTopics = true
		w.sim.SetChat(ops)
		if m := w.sim.Message(w.send(t, w.answering(gate.OutReply, "ok")).Message); m.Topic != "" || m.Parent == "" {
			t.Errorf("sent %+v, want a quote", m)
		}
	})
	t.Run("a DM is answered without a topic", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		dm := w.sim.DM(w.sim.Person("林岚"))
		m := w.sim.Message(w.send(t, gate.Outgoing{ID: rowID, Kind: gate.OutReply, Direct: true, Text: "hi", Place: gate.Place{Chat: dm.ID, Root: "om_old"}}).Message)
		if m.Chat != dm.ID || m.Parent != "" {
			t.Errorf("sent %+v, want a plain message into the DM", m)
		}
	})
	t.Run("FS-6 the one mention is real, the agent's are not", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		out := w.answering(gate.OutReply, `hey <at user_id="all">all</at> < AT id=all>`)
		out.Mention = gate.Sender{Kind: gate.Person, ID: lin}
		m := w.sim.Message(w.send(t, out).Message)
		if c := string(m.Content); !strings.Contains(c, `{"tag":"at","user_id":"`+lin+`"}`) || strings.Contains(c, "<at") {
			t.Errorf("content = %s, want one at node and no tag", c)
		}
	})
	t.Run("FS-5 headings and tables go on a card", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		if m := w.sim.Message(w.send(t, w.answering(gate.OutReply, "# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |")).Message); m.Type != "interactive" {
			t.Errorf("sent %s, want a card", m.Type)
		}
	})
	t.Run("D.3 more than five tables do not", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		if m := w.sim.Message(w.send(t, w.answering(gate.OutReply, strings.Repeat("| a | b |\n|---|---|\n| 1 | 2 |\n\n", 6))).Message); m.Type != "post" {
			t.Errorf("sent %s, want a post", m.Type)
		}
	})
	t.Run("D.1 quotes and newlines stay text", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		text := "a \"quote\"\n{\"x\":1} \\ <b> & 字"
		if m := w.sim.Message(w.send(t, w.answering(gate.OutReply, text)).Message); m.Text() != text {
			t.Errorf("text = %q, want %q", m.Text(), text)
		}
	})
	t.Run("OUT-5 a long reply is split without losing anything", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		text := strings.Repeat(strings.Repeat("a \"quote\" ", 20)+"\n", 200)
		sent := w.send(t, w.answering(gate.OutReply, text))
		all := w.sim.Messages()
		var got, uuids []string
		for _, m := range all {
			got, uuids = append(got, m.Text()), append(uuids, m.UUID)
		}
		if len(all) < 3 || strings.Join(got, "\n") != strings.TrimSpace(text) || sent.Message != all[0].ID {
			t.Errorf("%d messages, first %s of %s", len(all), sent.Message, all[0].ID)
		}
		if uuids[0] != rowID || uuids[1] != rowID+"-2" {
			t.Errorf("uuids = %v, want one for each part, from the row's id", uuids)
		}
	})
	t.Run("nothing to say is dropped", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		if se := w.sendError(t, w.answering(gate.OutReply, " \n")); se.Class != gate.SendDropped {
			t.Errorf("class = %v", se.Class)
		}
	})
}

func TestRepeat(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]feishusim.Fault{
		"a cut connection": {Call: "reply", AfterEffect: true, Drop: true},
		"a 502 page":       {Call: "reply", AfterEffect: true, Status: 502, Body: "<html>secret page</html>"},
		"a time-out":       {Call: "reply", AfterEffect: true, Hang: true},
	} {
		t.Run("OUT-1 after "+name+" the retry is the same message", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *feishu.Config) { c.RequestTimeout = 200 * time.Millisecond })
			w.identify(t)
			out := w.answering(gate.OutReply, "done")
			w.sim.Fail(fault)
			if se := w.sendError(t, out); se.Class != gate.SendRetry || strings.Contains(se.Error(), "secret page") {
				t.Errorf("error = %v, want a retry without the page (F27)", se)
			}
			sent := w.send(t, out)
			if all := w.sim.Messages(); len(all) != 1 || all[0].ID != sent.Message {
				t.Errorf("%d messages, want 1", len(all))
			}
		})
	}
	t.Run("OUT-1 a repeated part of a long reply is the same message", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		out := w.answering(gate.OutReply, strings.Repeat(strings.Repeat("x", 200)+"\n", 200))
		w.sim.Fail(feishusim.Fault{Call: "reply", Match: rowID + "-2", Status: 500, Code: 1})
		w.sendError(t, out)
		w.send(t, out)
		seen := map[string]bool{}
		for _, m := range w.sim.Messages() {
			if seen[m.UUID] {
				t.Errorf("uuid %s was sent twice", m.UUID)
			}
			seen[m.UUID] = true
		}
		if len(seen) < 3 {
			t.Errorf("%d parts, want at least 3", len(seen))
		}
	})
}

func TestErrorCodes(t *testing.T) {
	t.Parallel()
	reset := http.Header{"X-Ogw-Ratelimit-Reset": {"7"}}
	for name, tt := range map[string]struct {
		fault feishusim.Fault
		class gate.SendClass
		after time.Duration
	}{
		"429 waits as long as it says":      {feishusim.Fault{Status: 429, Code: 99991400, Header: reset}, gate.SendRetry, 7 * time.Second},
		"99991400 with an old 400":          {feishusim.Fault{Status: 400, Code: 99991400, Header: reset}, gate.SendRetry, 7 * time.Second},
		"230020 the group's limit":          {feishusim.Fault{Code: 230020}, gate.SendRetry, 0},
		"230049 being sent":                 {feishusim.Fault{Code: 230049}, gate.SendRetry, 0},
		"a 500":                             {feishusim.Fault{Status: 500, Code: 1500}, gate.SendRetry, 0},
		"a code that nobody knows":          {feishusim.Fault{Code: 424242}, gate.SendRetry, 0},
		"a 429 page":                        {feishusim.Fault{Status: 429, Body: "slow down", Header: http.Header{"Retry-After": {"3"}}}, gate.SendRetry, 3 * time.Second},
		"230006 an operator must act":       {feishusim.Fault{Code: 230006}, gate.SendDropped, 0},
		"99991672 a scope is missing":       {feishusim.Fault{Code: 99991672}, gate.SendDropped, 0},
		"230002 the bot is not in the chat": {feishusim.Fault{Code: 230002}, gate.SendDropped, 0},
		"232009 the chat is dissolved":      {feishusim.Fault{Code: 232009}, gate.SendDropped, 0},
		"230053 the person stopped the bot": {feishusim.Fault{Code: 230053}, gate.SendDropped, 0},
		"99992361 an id of another app":     {feishusim.Fault{Code: 99992361}, gate.SendDropped, 0},
		"230028 refused in every form":      {feishusim.Fault{Code: 230028, Times: 9}, gate.SendDropped, 0},
	} {
		t.Run("D.3 "+name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tt.fault.Call = "reply"
			w.sim.Fail(tt.fault)
			se := w.sendError(t, w.answering(gate.OutReply, "done"))
			if se.Class != tt.class || se.After != tt.after || se.Reason == "" {
				t.Errorf("error = %+v, want class %v after %v", se, tt.class, tt.after)
			}
		})
	}
}

func TestDegrade(t *testing.T) {
	t.Parallel()
	t.Run("D.3 a refused post becomes text, once, with a uuid of its own", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.sim.Fail(feishusim.Fault{Call: "reply", Code: 230099, Msg: "ErrCode: 11310; x"})
		m := w.sim.Message(w.send(t, w.answering(gate.OutReply, "done")).Message)
		if m.Type != "text" || m.Text() != "done" || m.UUID == rowID {
			t.Errorf("sent %+v, want a text with another uuid", m)
		}
	})
	t.Run("CA-7 a refused card becomes a text with a reply command", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.broker.put(approval())
		w.sim.Fail(feishusim.Fault{Call: "reply", Code: 230099})
		m := w.sim.Message(w.send(t, w.answering(gate.OutCard, "")).Message)
		if m.Type != "text" || !strings.Contains(m.Text(), "/approve 6f0b3d52") || !strings.Contains(m.Text(), "make deploy") {
			t.Errorf("sent %s %q, want the question with its command", m.Type, m.Text())
		}
	})
	t.Run("CA-7 a choice names its options", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.broker.put(choice())
		w.sim.Fail(feishusim.Fault{Call: "reply", Code: 230099})
		m := w.sim.Message(w.send(t, w.answering(gate.OutCard, "")).Message)
		if !strings.Contains(m.Text(), "/answer 6f0b3d52 prod (Production)") {
			t.Errorf("sent %q", m.Text())
		}
	})
	t.Run("D.3 230011: to the root when the message is gone", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		out := w.answering(gate.OutReply, "done")
		reply := w.sim.Say(w.sim.Group("ops"), w.sim.Person("林岚"), "and", feishusim.ReplyTo(out.Message))
		out.Message = reply.Message
		w.sim.Recall(reply.Message)
		if m := w.sim.Message(w.send(t, out).Message); m.Parent != out.Place.Root {
			t.Errorf("sent %+v, want a reply to the root", m)
		}
	})
	t.Run("D.3 230011: to the chat when all is gone, saying so", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		out := w.answering(gate.OutReply, "done")
		w.sim.Recall(out.Message)
		m := w.sim.Message(w.send(t, out).Message)
		if m.Parent != "" || m.Chat != out.Place.Chat || !strings.Contains(m.Text(), "原消息已不在") || !strings.Contains(m.Text(), "done") {
			t.Errorf("sent %+v %q, want it in the chat with a note", m, m.Text())
		}
	})
}

func TestCardUpdate(t *testing.T) {
	t.Parallel()
	t.Run("CA-4 the card shows the latest state", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.broker.put(approval())
		out := w.answering(gate.OutCard, "")
		sent := w.send(t, out)
		w.broker.put(closed(approval(), approvals.StatusTimedOut, "", "", gate.Sender{}, ""))
		out.Kind, out.Message = gate.OutCardUpdate, sent.Message
		if got := w.send(t, out); got != (gate.Sent{}) {
			t.Errorf("Send = %+v, want nothing new", got)
		}
		if m := w.sim.Message(sent.Message); len(m.Buttons()) != 0 || !strings.Contains(m.Text(), "已超时") || len(m.Revisions) != 1 {
			t.Errorf("card = %s", m.Text())
		}
	})
	t.Run("C.5 230031 a card older than 14 days is dropped", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.broker.put(approval())
		out := w.answering(gate.OutCard, "")
		sent := w.send(t, out)
		w.sim.Now = func() time.Time { return time.Now().Add(15 * 24 * time.Hour) }
		out.Kind, out.Message = gate.OutCardUpdate, sent.Message
		if se := w.sendError(t, out); se.Class != gate.SendDropped || !strings.Contains(se.Reason, "14 days") {
			t.Errorf("error = %v", se)
		}
	})
	for name, tt := range map[string]struct {
		out   gate.Outgoing
		err   error
		class gate.SendClass
	}{
		"a question that is gone is dropped":      {gate.Outgoing{ID: rowID, Kind: gate.OutCard, Question: "x"}, nil, gate.SendDropped},
		"an update without a message is dropped":  {gate.Outgoing{ID: rowID, Kind: gate.OutCardUpdate, Question: "x"}, nil, gate.SendDropped},
		"a kind that nobody knows is dropped":     {gate.Outgoing{ID: rowID, Kind: "fax"}, nil, gate.SendDropped},
		"a reaction without a message is dropped": {gate.Outgoing{ID: rowID, Kind: gate.OutReact, Reaction: gate.ReactReceived}, nil, gate.SendDropped},
		"a reaction that nobody knows is dropped": {gate.Outgoing{ID: rowID, Kind: gate.OutReact, Message: "om_x", Reaction: "wink"}, nil, gate.SendDropped},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if se := newWorld(t).sendError(t, tt.out); se.Class != tt.class {
				t.Errorf("error = %v, want class %v", se, tt.class)
			}
		})
	}
	t.Run("a store that fails is tried again", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		s := feishu.NewSender(w.bot, failing{}, discard())
		_, err := s.Send(t.Context(), gate.Outgoing{ID: rowID, Kind: gate.OutCard, Question: "x"})
		var se *gate.SendError
		if !errors.As(err, &se) || se.Class != gate.SendRetry {
			t.Errorf("Send = %v, want a retry", err)
		}
	})
}

type failing struct{ feishu.Answers }

func (failing) Question(context.Context, approvals.ID) (approvals.Question, error) {
	return approvals.Question{}, errors.New("down")
}

func TestReact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out := w.answering(gate.OutReact, "")
	for _, r := range []gate.Reaction{gate.ReactReceived, gate.ReactReceived, gate.ReactDone, gate.ReactFailed, gate.ReactRefused} {
		out.Reaction = r
		w.send(t, out)
	}
	got := w.sim.Message(out.Message).Reactions
	if len(got) != 2 || got[0].Emoji != "OnIt" || got[1].Emoji != "CrossMark" {
		t.Errorf("reactions = %v, want one of each: a repeated one is harmless, and the result is none (GH-7 is of GitHub)", got)
	}
}

func TestOwnMessagesAreKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sent := w.send(t, w.answering(gate.OutReply, "done"))
	echo := w.sim.Say(w.sim.Group("ops"), w.sim.Person("somebody"), "done")
	echo.Body = []byte(strings.ReplaceAll(string(echo.Body), echo.Message, sent.Message))
	w.deliver(t, echo)
	if w.counted.of(feishu.ReasonOwn) != 1 {
		t.Errorf("counted %v, want the message that we sent dropped whoever it names (FS-2)", w.counted.by)
	}
}
