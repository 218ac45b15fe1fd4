package feishu_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// asked puts a question on a card in the group and returns the card.
func (w *world) asked(t *testing.T, q approvals.Question) feishusim.Message {
	t.Helper()
	w.broker.put(q)
	said := w.sim.Say(w.sim.Group("ops"), w.sim.Person("林岚"), "@bot deploy")
	sent, err := w.sender.Send(t.Context(), gate.Outgoing{
		ID: "0199-card", Kind: gate.OutCard, Source: "feishu-main", Question: string(q.ID),
		Place: gate.Place{Chat: w.sim.Group("ops").ID, Root: said.Message}, Message: said.Message,
	})
	if err != nil {
		t.Fatal(err)
	}
	q.Messages = []approvals.Message{{Source: "feishu-main", Chat: sent.Chat, Message: sent.Message}}
	w.broker.put(q)
	return w.sim.Message(sent.Message)
}

func (w *world) click(t *testing.T, card feishusim.Message, by feishusim.Person, what string) feishusim.Answer {
	t.Helper()
	a, err := w.sim.Click(t.Context(), w.hook, card, by, what)
	if err != nil {
		t.Fatal(err)
	}
	if a.Status != 200 || strings.Contains(string(a.Body), "null") {
		t.Errorf("answer = %d %s, want 200 and no null (F19)", a.Status, a.Body)
	}
	return a
}

func TestClick(t *testing.T) {
	t.Parallel()
	t.Run("CA-4 an answer gives a toast and the final card without live buttons", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		card := w.asked(t, approval())
		lin := w.sim.Person("林岚")
		a := w.click(t, card, lin, "approve")
		now := w.sim.Message(card.ID)
		if a.Toast.Type != "success" || a.Toast.I18n["en_us"] != "Recorded" || len(now.Buttons()) != 0 || !strings.Contains(now.Text(), "已批准") {
			t.Errorf("toast %+v, card %s", a.Toast, now.Text())
		}
		got := w.broker.asked()[0]
		want := approvals.Message{Source: "feishu-main", Chat: card.Chat, Message: card.ID}
		if got.Via != approvals.ViaCard || got.Who.ID != lin.OpenID || got.Who.Aliases[0] != "union:"+lin.UnionID || *got.Message != want || got.ID != questionID || got.OptionID != "approve" {
			t.Errorf("Answer was asked %+v", got)
		}
	})
	t.Run("CA-5 a click on an old copy, by somebody else, ends in the same final card", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		card := w.asked(t, approval())
		w.click(t, card, w.sim.Person("林岚"), "approve")
		again := w.click(t, card, w.sim.Person("林岚"), "approve")
		other := w.click(t, card, w.sim.Person("陈舟"), "reject")
		if again.Toast.Type != "info" || other.Toast.Type != "warning" || string(again.Card) != string(other.Card) || again.Card == nil {
			t.Errorf("toasts %+v and %+v, want deduped and answered with one card", again.Toast, other.Toast)
		}
	})
	t.Run("CA-5 a retried callback gets the same answer", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		card := w.asked(t, approval())
		e, err := w.sim.Clicked(card, w.sim.Person("林岚"), "approve")
		if err != nil {
			t.Fatal(err)
		}
		first, second := w.deliver(t, e), w.deliver(t, e)
		if string(first.Body) != string(second.Body) || len(w.broker.asked()) != 1 {
			t.Errorf("answers %s and %s, broker asked %d times, want one and the same", first.Body, second.Body, len(w.broker.asked()))
		}
	})
	t.Run("CA-5 clicks that race end in one answer", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		card := w.asked(t, approval())
		var all sync.WaitGroup
		types := make(chan string, 8)
		for i := range 8 {
			all.Go(func() {
				what := []string{"approve", "reject"}[i%2]
				a, err := w.sim.Click(t.Context(), w.hook, card, w.sim.Person("林岚"), what)
				if err == nil {
					types <- a.Toast.Type
				}
			})
		}
		all.Wait()
		close(types)
		n := 0
		for s := range types {
			if s == "success" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d clicks were recorded, want 1", n)
		}
	})
}

// refusing makes the broker refuse for a reason.
func refusing(err error, reason string) func(*world) {
	return func(w *world) { w.broker.err, w.broker.reason = err, reason }
}

// already gives the question an end that the clicked card does not show.
func already(s approvals.Status, option string, via approvals.Via) func(*world) {
	return func(w *world) { w.broker.put(closed(approval(), s, option, "", gate.Sender{Name: "ops"}, via)) }
}

func TestRefusedClick(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare func(w *world)
		en, zh  string
		card    bool
	}{
		"CA-3 somebody who may not answer":              {refusing(approvals.ErrNotAllowed, gate.ReasonNeither), "You may not answer", "你不能回答", false},
		"CA-3 the requester, where four eyes are asked": {refusing(approvals.ErrNotAllowed, gate.ReasonFourEyes), "Somebody else must answer", "需要另一个人", false},
		"DE-2 somebody whom the question does not ask":  {refusing(approvals.ErrNotAllowed, gate.ReasonNotAsked), "asks others", "指定的人", false},
		"CA-3 the requester, not listed any more":       {refusing(approvals.ErrNotAllowed, gate.ReasonRequesterUnlisted), "not listed today", "不在名单中", false},
		"AD-11 a list that cannot be read":              {refusing(approvals.ErrNotAllowed, gate.ReasonApproverUnknown), "cannot be read", "无法核对", false},
		"CA-6 another card":                             {refusing(approvals.ErrWrongCard, approvals.ReasonWrongCard), "not the original card", "不是原来的", false},
		"CA-6 another chat":                             {refusing(approvals.ErrWrongCard, approvals.ReasonWrongChat), "in another chat", "另一个会话", false},
		"CA-6 a card that is not recorded yet":          {refusing(approvals.ErrNotShown, ""), "try again", "再点一次", false},
		"an unknown question":                           {refusing(approvals.ErrNotFound, ""), "does not exist", "找不到", false},
		"an answer that is invalid":                     {refusing(approvals.ErrInvalid, ""), "Not a valid answer", "无效", false},
		"C.2 a store that fails":                        {refusing(errors.New("redis: broken pipe"), ""), "try again", "再点一次", false},
		"CA-9 too late gives the closed card":           {already(approvals.StatusTimedOut, "", ""), "Too late", "已过截止", true},
		"AP-6 withdrawn gives the closed card":          {already(approvals.StatusCancelled, "", ""), "cancelled", "已取消", true},
		"CA-4 answered elsewhere gives the final card":  {already(approvals.StatusAnswered, "reject", approvals.ViaPanel), "already answered", "已经有人", true},
		"CA-5 the same answer again is fine":            {already(approvals.StatusAnswered, "approve", approvals.ViaAPI), "recorded before", "同样的回答", true},
		"CA-4 who may not answer sees the end, too": {func(w *world) {
			already(approvals.StatusTimedOut, "", "")(w)
			refusing(approvals.ErrNotAllowed, gate.ReasonNeither)(w)
		}, "You may not answer", "你不能回答", true},
		"CA-6 another card never becomes the question's": {func(w *world) {
			already(approvals.StatusTimedOut, "", "")(w)
			refusing(approvals.ErrWrongCard, approvals.ReasonWrongCard)(w)
		}, "not the original card", "不是原来的", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *feishu.Config) { c.Language = "en" })
			card := w.asked(t, approval())
			tt.prepare(w)
			a := w.click(t, card, w.sim.Person("林岚"), "approve")
			if !strings.Contains(a.Toast.Content, tt.en) || !strings.Contains(a.Toast.I18n["zh_cn"], tt.zh) || (a.Card != nil) != tt.card {
				t.Errorf("toast %+v card %s, want %q, %q and a card: %v", a.Toast, a.Card, tt.en, tt.zh, tt.card)
			}
			if a.Card != nil && len(w.sim.Message(card.ID).Buttons()) != 0 {
				t.Errorf("the closed card can be clicked")
			}
			if strings.Contains(string(a.Body), "redis") {
				t.Errorf("answer = %s, want no cause in it (F13)", a.Body)
			}
		})
	}
}

func TestClickThatDoesNotEndTheQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reviewed := approval()
	reviewed.Review.Approvals = 2
	card := w.asked(t, reviewed)
	lin := w.sim.Person("林岚")
	w.broker.partly = true
	a := w.click(t, card, lin, "approve")
	now := w.sim.Message(card.ID)
	if a.Toast.Type != "success" || !strings.Contains(a.Toast.I18n["en_us"], "others must approve") || !strings.Contains(now.Text(), "已批准 1/2: <at id="+lin.OpenID) || len(now.Buttons()) != 2 {
		t.Errorf("toast %+v, card %s, want who approved, and its buttons (RU-4)", a.Toast, now.Text())
	}
}

// Feishu undoes an update that comes before the answer to a click (C.4): that is
// what the delay of a card's update is for. An answer with a card shows it in
// any case.
func TestUpdateThatOvertakesAClick(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer func(*world)
		live   bool
	}{
		"C.4 the platform undoes an update that comes before the answer": {refusing(approvals.ErrWrongCard, approvals.ReasonWrongCard), true},
		"CA-5 an answer with a card shows it, whatever came between":     {func(*world) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			card := w.asked(t, approval())
			w.broker.entered, w.broker.goOn = make(chan struct{}), make(chan struct{})
			done := make(chan error)
			go func() {
				_, err := w.sim.Click(t.Context(), w.hook, card, w.sim.Person("林岚"), "approve")
				done <- err
			}()
			<-w.broker.entered
			already(approvals.StatusTimedOut, "", "")(w)
			_, err := w.sender.Send(t.Context(), gate.Outgoing{ID: "0199-update", Kind: gate.OutCardUpdate, Source: "feishu-main", Question: string(questionID), Message: card.ID})
			if err != nil || len(w.sim.Message(card.ID).Buttons()) != 0 {
				t.Fatalf("update = %v, %s", err, w.sim.Message(card.ID).Text())
			}
			tt.answer(w)
			close(w.broker.goOn)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if live := len(w.sim.Message(card.ID).Buttons()) != 0; live != tt.live {
				t.Errorf("the card has buttons: %v, want %v", live, tt.live)
			}
		})
	}
}

func TestForgedClick(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(e fields)
		reason feishu.Reason
	}{
		"CA-6 another option under the same signature":   {value("o", "reject"), feishu.ReasonForged},
		"CA-6 another question under the same signature": {value("q", "6f0b3d52-7c1e-5a4b-9d2f-000000000000"), feishu.ReasonForged},
		"CA-6 no signature":                              {value("s", ""), feishu.ReasonForged},
		"CA-6 a value of somebody else's":                {action("value", fields{"decision_id": "x"}), feishu.ReasonForged},
		"F18 a value that is a string":                   {action("value", "approve"), feishu.ReasonForged},
		"C.1 no value":                                   {action("value", nil), feishu.ReasonForged},
		"C.1 a user_id is no open_id":                    {at("operator", fields{"user_id": "u"}), feishu.ReasonNoOperator},
		"CA-6 no message":                                {at("context", fields{}), feishu.ReasonNoMessage},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			card := w.asked(t, approval())
			e, err := w.sim.Clicked(card, w.sim.Person("林岚"), "approve")
			if err != nil {
				t.Fatal(err)
			}
			e.Body = changeEvent(t, e.Body, tt.change)
			a := w.deliver(t, e)
			if a.Status != 200 || a.Toast.Type != "error" || a.Card != nil || w.counted.of(tt.reason) != 1 {
				t.Errorf("answer = %d %s, counted %v, want a toast and %s", a.Status, a.Body, w.counted.by, tt.reason)
			}
			w.noPortCalled(t)
		})
	}
	t.Run("CA-6 a card of another workspace", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		other := w.cfg
		other.Workspace = "other"
		foreign := feishusim.Message{ID: "om_x", Chat: "oc_x", Type: "interactive", Content: feishu.Card(other, approval(), gate.Sender{})}
		if a := w.click(t, foreign, w.sim.Person("林岚"), "approve"); a.Toast.Type != "error" {
			t.Errorf("toast %+v, want it refused", a.Toast)
		}
		w.noPortCalled(t)
	})
}

func changeEvent(t *testing.T, body []byte, change func(fields)) []byte {
	t.Helper()
	var v fields
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	change(v["event"].(fields))
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func at(key string, to any) func(fields) { return func(e fields) { e[key] = to } }

func action(key string, to any) func(fields) {
	return func(e fields) { e["action"].(fields)[key] = to }
}

func value(key, to string) func(fields) {
	return func(e fields) { e["action"].(fields)["value"].(fields)[key] = to }
}

func TestForm(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		q      approvals.Question
		change func(fields)
		option string
	}{
		"DE-1 a text answers a clarification":               {clarification(), nil, ""},
		"C.1 the value may be a string holding an object":   {clarification(), stringValue, ""},
		"C.6 a submit without a value is known by its name": {clarification(), action("value", nil), ""},
		"AP-2a the text of an approval's form rejects":      {withText(approval()), nil, "reject"},
		"C.6 also without a value":                          {withText(approval()), action("value", nil), "reject"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			card := w.asked(t, tt.q)
			a, err := w.sim.Submit(t.Context(), w.hook, card, w.sim.Person("林岚"), map[string]string{"text": " CHG-4711 "})
			if tt.change != nil {
				w = newWorld(t)
				card = w.asked(t, tt.q)
				e := w.sim.Submitted(card, w.sim.Person("林岚"), map[string]string{"text": " CHG-4711 "})
				e.Body = changeEvent(t, e.Body, tt.change)
				a, err = w.sim.Deliver(t.Context(), w.hook, e)
			}
			if err != nil || a.Toast.Type != "success" {
				t.Fatalf("answer = %s, %v", a.Body, err)
			}
			if got := w.broker.asked()[0]; got.Text != "CHG-4711" || got.OptionID != tt.option {
				t.Errorf("Answer was asked %q with option %q, want CHG-4711 and %q", got.Text, got.OptionID, tt.option)
			}
		})
	}
	t.Run("C.6 a forged name is refused", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		card := w.asked(t, clarification())
		e := w.sim.Submitted(card, w.sim.Person("林岚"), map[string]string{"text": "x"})
		e.Body = changeEvent(t, e.Body, func(ev fields) {
			a := ev["action"].(fields)
			a["value"] = nil
			a["name"] = strings.Replace(a["name"].(string), "s_6", "s_7", 1)
		})
		if a := w.deliver(t, e); a.Toast.Type != "error" {
			t.Errorf("toast = %+v, want it refused", a.Toast)
		}
		w.noPortCalled(t)
	})
	t.Run("CA-2 many options are a list, and one goes along with a text", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		card := w.asked(t, many())
		a, err := w.sim.Submit(t.Context(), w.hook, card, w.sim.Person("林岚"), map[string]string{"option": "Option 7", "text": "since"})
		if err != nil || a.Toast.Type != "success" {
			t.Fatalf("answer = %s, %v", a.Body, err)
		}
		if got := w.broker.asked()[0]; got.Text != "since" || got.OptionID != "o7" {
			t.Errorf("Answer was asked %q with %q, want since and o7", got.Text, got.OptionID)
		}
	})
	for name, value := range map[string]string{
		"CA-6 an option that we did not sign is refused":                 "o7",
		"CA-6 an option under another's signature is refused":            "",
		"CA-6 an option that is nothing but a signature is refused, too": ".0123456789012345",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			card := w.asked(t, many())
			e := w.sim.Submitted(card, w.sim.Person("林岚"), map[string]string{"option": "Option 6"})
			e.Body = changeEvent(t, e.Body, func(ev fields) {
				form := ev["action"].(fields)["form_value"].(fields)
				if value == "" {
					value = strings.Replace(form["option"].(string), "o6.", "o7.", 1)
				}
				form["option"] = value
			})
			if a := w.deliver(t, e); a.Toast.Type != "error" {
				t.Errorf("toast = %+v, want it refused", a.Toast)
			}
			w.noPortCalled(t)
		})
	}
	t.Run("C.1 option and input outside a form", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		card := w.asked(t, many())
		e := w.sim.Submitted(card, w.sim.Person("林岚"), map[string]string{"option": "Option 2"})
		e.Body = changeEvent(t, e.Body, func(ev fields) {
			a := ev["action"].(fields)
			a["input_value"], a["option"], a["tag"] = "typed", a["form_value"].(fields)["option"], "input"
			delete(a, "form_value")
		})
		w.deliver(t, e)
		if got := w.broker.asked()[0]; got.Text != "typed" || got.OptionID != "o2" {
			t.Errorf("Answer was asked %q with %q, want typed and o2", got.Text, got.OptionID)
		}
	})
}

func withText(q approvals.Question) approvals.Question {
	q.AllowFreeText = true
	return q
}

func stringValue(e fields) {
	a := e["action"].(fields)
	b, _ := json.Marshal(a["value"])
	a["value"] = string(b)
}
