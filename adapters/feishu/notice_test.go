package feishu_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// told sends the message that tells of a Ticket and returns it.
func (w *world) told(t *testing.T) feishusim.Message {
	t.Helper()
	out := w.answering(gate.OutReply, "Accepted `0a1b2c3d`: deploy 1.4.2")
	out.Ticket, out.Stop = "tkt_0a1b2c3d", true
	return w.sim.Message(w.send(t, out).Message)
}

// stopping makes the gateway answer each Stop click so; it returns the clicks.
func (w *world) stopping(a gate.StopAnswer, err error) *[]gate.StopClick {
	var got []gate.StopClick
	w.handler.Stop = func(_ context.Context, c gate.StopClick) (gate.StopAnswer, error) {
		got = append(got, c)
		return a, err
	}
	return &got
}

func TestStopButton(t *testing.T) {
	t.Parallel()
	ended := gate.Outgoing{Ticket: "tkt_0a1b2c3d", Text: "Stopped `0a1b2c3d`: deploy 1.4.2", Mention: gate.Sender{Kind: gate.Person, ID: lin}}
	for name, tt := range map[string]struct {
		answer gate.StopAnswer
		err    error
		style  string
		en, zh string
		gone   bool
	}{
		"ST-2 it stops, and the message shows who did it": {gate.StopAnswer{Result: gate.StopDone, Notice: ended}, nil, "success", "Stopped", "已停止", true},
		"CA-5 on an old copy it shows the end":            {gate.StopAnswer{Result: gate.StopLate, Notice: ended}, nil, "info", "ended already", "已经结束", true},
		"ST-2 others are told that they may not":          {gate.StopAnswer{Result: gate.StopNotAllowed}, nil, "warning", "Only the requester", "只有请求人", false},
		"CA-6 another message's button does not count":    {gate.StopAnswer{Result: gate.StopWrongCard}, nil, "warning", "not the original", "不是原来的", false},
		"CA-6 too early it is to be clicked again":        {gate.StopAnswer{Result: gate.StopNotShown}, nil, "error", "try again", "再点一次", false},
		"ST-2 an unknown Ticket":                          {gate.StopAnswer{Result: gate.StopUnknown}, nil, "error", "does not exist", "找不到", false},
		"ST-2 a result that is none":                      {gate.StopAnswer{}, nil, "error", "try again", "再点一次", false},
		"C.2 a store that fails":                          {gate.StopAnswer{}, errors.New("redis: broken pipe"), "error", "try again", "再点一次", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *feishu.Config) { c.Language = "en" })
			notice := w.told(t)
			clicks := w.stopping(tt.answer, tt.err)
			a := w.click(t, notice, w.sim.Person("林岚"), "Stop")
			if a.Toast.Type != tt.style || !strings.Contains(a.Toast.Content, tt.en) || !strings.Contains(a.Toast.I18n["zh_cn"], tt.zh) {
				t.Errorf("toast %+v, want %s %q %q", a.Toast, tt.style, tt.en, tt.zh)
			}
			now := w.sim.Message(notice.ID)
			if gone := len(now.Buttons()) == 0; gone != tt.gone || gone && !strings.Contains(now.Text(), "Stopped by: <at id="+lin+">") {
				t.Errorf("message %s, want its button gone: %v", now.Text(), tt.gone)
			}
			want := gate.StopClick{Ticket: "tkt_0a1b2c3d", Source: "feishu-main", Chat: notice.Chat, Message: notice.ID}
			got := (*clicks)[0]
			if got.Who.ID != w.sim.Person("林岚").OpenID || got.Who.Kind != gate.Person {
				t.Errorf("clicked by %+v", got.Who)
			}
			if got.Who = (gate.Sender{}); len(*clicks) != 1 || got.Ticket != want.Ticket || got.Source != want.Source || got.Chat != want.Chat || got.Message != want.Message {
				t.Errorf("asked about %+v, want %+v once", *clicks, want)
			}
		})
	}
	for name, change := range map[string]func(fields){
		"CA-6 another Ticket under the same signature": value("t", "tkt_other"),
		"CA-6 no signature":                            value("s", ""),
		"CA-6 a question beside the Ticket":            value("q", string(questionID)),
		"CA-6 an option beside the Ticket":             value("o", "approve"),
		"CA-6 a question under a Stop button's signature": func(e fields) {
			v := e["action"].(fields)["value"].(fields)
			v["q"] = "stop:tkt_0a1b2c3d"
			delete(v, "t")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			notice := w.told(t)
			clicks := w.stopping(gate.StopAnswer{Result: gate.StopDone}, nil)
			e, err := w.sim.Clicked(notice, w.sim.Person("林岚"), "停止")
			if err != nil {
				t.Fatal(err)
			}
			e.Body = changeEvent(t, e.Body, change)
			a := w.deliver(t, e)
			if a.Toast.Type == "success" || len(*clicks) != 0 {
				t.Errorf("toast = %+v, asked %v, want it refused", a.Toast, *clicks)
			}
		})
	}
	t.Run("ST-2 nothing is stopped where nobody decides, or where that panics", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		notice := w.told(t)
		first := w.click(t, notice, w.sim.Person("林岚"), "停止")
		w.handler.Stop = func(context.Context, gate.StopClick) (gate.StopAnswer, error) { panic("secret") }
		second := w.click(t, notice, w.sim.Person("林岚"), "停止")
		if first.Toast.Type != "error" || second.Toast.Type != "error" || strings.Contains(w.logged.String(), "secret") {
			t.Errorf("toasts %+v and %+v, want errors", first.Toast, second.Toast)
		}
	})
}

func TestNotice(t *testing.T) {
	t.Parallel()
	edit := func(w *world, message string) gate.Outgoing {
		return gate.Outgoing{ID: rowID, Kind: gate.OutStatus, Source: "feishu-main", Ticket: "tkt_0a1b2c3d", Message: message, Text: "Accepted `0a1b2c3d`: deploy 1.4.2"}
	}
	t.Run("OUT-4 progress edits it, in a box; the end takes the button away (ST-2)", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		notice := w.told(t)
		out := edit(w, notice.ID)
		out.Stop, out.Progress = true, "half of it <at id=all></at>"
		w.send(t, out)
		if now := w.sim.Message(notice.ID); len(now.Buttons()) != 1 || !strings.Contains(now.Text(), "half of it <\u200bat") || !strings.Contains(string(now.Content), `"grey"`) {
			t.Errorf("message = %s", now.Content)
		}
		out.ID, out.Stop, out.Progress = rowID+"2", false, ""
		w.send(t, out)
		if now := w.sim.Message(notice.ID); len(now.Buttons()) != 0 || strings.Contains(now.Text(), "half") {
			t.Errorf("message = %s, want no button", now.Text())
		}
	})
	t.Run("OUT-4 an edit without a message is dropped", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		if se := w.sendError(t, edit(w, "")); se.Class != gate.SendDropped {
			t.Errorf("Send = %v, want it dropped", se)
		}
	})
	t.Run("FS-5 a refused card is said as a post, without a button", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.sim.Fail(feishusim.Fault{Call: "reply", Status: 400, Code: 230099, Times: 1})
		if m := w.told(t); m.Type != "post" || !strings.Contains(m.Text(), "deploy 1.4.2") {
			t.Errorf("message = %s %s", m.Type, m.Text())
		}
	})
}

// Property: whatever a title or a report says, the platform takes the message,
// and it calls nobody.
func TestAnyNoticeIsAGoodCard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	card := w.told(t)
	rapid.Check(t, func(rt *rapid.T) {
		out := gate.Outgoing{
			ID: rowID, Kind: gate.OutStatus, Ticket: "tkt_1", Message: card.ID, Stop: rapid.Bool().Draw(rt, "stop"),
			Text: "Accepted `1`: " + hostileText().Draw(rt, "title"), Progress: hostileText().Draw(rt, "progress"),
		}
		if _, err := w.sender.Send(t.Context(), out); err != nil {
			rt.Fatalf("the platform refuses the card: %v", err)
		}
		s := read(rt, w.sim.Message(card.ID).Content)
		for _, m := range append(s.marked, s.boxed...) {
			checkCalls(rt, m)
		}
	})
}
