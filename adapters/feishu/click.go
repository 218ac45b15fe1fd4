package feishu

import (
	"cmp"
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
	if v.Ticket != "" {
		ev.Stop = s.stop(env, c, v)
		return ev
	}
	option, ok := s.option(c, v)
	if !ok {
		ev.Reason = ReasonForged
		return ev
	}
	v.Option = option
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

// who clicked, as the platform's authenticated event names them (AD-12).
func (c click) who(env envelope) gate.Sender {
	who := gate.Sender{Kind: gate.Person, ID: string(c.Operator.OpenID), Aliases: c.Operator.aliases()}
	if c.Operator.TenantKey != "" && c.Operator.TenantKey != env.Header.TenantKey {
		who.Tenant = string(c.Operator.TenantKey)
	}
	return who
}

func (s Setting) stop(env envelope, c click, v value) gate.StopClick {
	return gate.StopClick{
		Ticket: v.Ticket, Source: s.Config.ID, Who: c.who(env),
		Chat: string(c.Context.OpenChatID), Message: string(c.Context.OpenMessageID),
	}
}

func (s Setting) answer(env envelope, c click, v value) approvals.AnswerRequest {
	return approvals.AnswerRequest{
		ID: v.Question, OptionID: v.Option, Text: c.text(), Via: approvals.ViaCard, Source: s.Config.ID, Who: c.who(env),
		Message: &approvals.Message{Source: s.Config.ID, Chat: string(c.Context.OpenChatID), Message: string(c.Context.OpenMessageID)},
	}
}

// option is the button's own, else what was chosen from a list, in or outside a
// form; "" for none. One that we did not sign is not ok (CA-6).
func (s Setting) option(c click, v value) (option string, ok bool) {
	chosen := cmp.Or(formText(c.Action.FormValue[fieldOption]), string(c.Action.Option))
	if v.Option != "" || chosen == "" {
		return v.Option, true
	}
	return s.Config.readOption(v.Question, chosen)
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
