package feishu

import (
	"encoding/json"
	"strings"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// The names of a card's form fields.
const (
	fieldText   = "text"
	fieldOption = "option"
)

// readClick makes of a card callback the answer that it stands for. A click
// without an open_id, without a message or with a value that we did not sign
// asks nobody (CA-3, CA-6).
func (s Setting) readClick(env envelope) Event {
	ev := Event{Outcome: CardClick}
	var c click
	if json.Unmarshal(env.Event, &c) != nil {
		ev.Reason = ReasonForged
		return ev
	}
	v, ok := s.signedBy(c)
	if !ok {
		ev.Reason = ReasonForged
		return ev
	}
	if c.Operator.OpenID == "" {
		ev.Reason = ReasonNoOperator
		return ev
	}
	if c.Context.OpenMessageID == "" || c.Context.OpenChatID == "" {
		ev.Reason = ReasonNoMessage
		return ev
	}
	ev.Click = s.answer(env, c, v)
	return ev
}

// signedBy finds the signed value of what was pressed, in its value or, for a
// form that came without one, in its name.
func (s Setting) signedBy(c click) (value, bool) {
	if v, ok := readValue(c.Action.Value); ok {
		return v, s.Config.genuine(v)
	}
	return s.Config.readName(string(c.Action.Name))
}

func (s Setting) answer(env envelope, c click, v value) approvals.AnswerRequest {
	who := gate.Sender{Kind: gate.Person, ID: string(c.Operator.OpenID), Aliases: c.Operator.aliases()}
	if c.Operator.TenantKey != "" && c.Operator.TenantKey != env.Header.TenantKey {
		who.Tenant = string(c.Operator.TenantKey)
	}
	return approvals.AnswerRequest{
		ID: v.Question, OptionID: c.option(v), Text: c.text(), Via: approvals.ViaCard, Source: s.Config.ID, Who: who,
		Message: &approvals.Message{Source: s.Config.ID, Chat: string(c.Context.OpenChatID), Message: string(c.Context.OpenMessageID)},
	}
}

// option is the button's own, else what was selected, in or outside a form.
func (c click) option(v value) string {
	if v.Option != "" {
		return v.Option
	}
	if s := formText(c.Action.FormValue[fieldOption]); s != "" {
		return s
	}
	return string(c.Action.Option)
}

// text is what was typed. Untouched fields come empty or not at all.
func (c click) text() string {
	if s := formText(c.Action.FormValue[fieldText]); s != "" {
		return s
	}
	return strings.TrimSpace(string(c.Action.InputValue))
}

func formText(raw json.RawMessage) string {
	var s text
	_ = json.Unmarshal(raw, &s)
	return strings.TrimSpace(string(s))
}
