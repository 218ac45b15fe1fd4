package feishu

import (
	"fmt"
	"strings"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

func (m cardMaker) option(id string) (approvals.Option, bool) {
	for _, o := range m.q.Options {
		if o.ID == id && id != "" {
			return o, true
		}
	}
	return approvals.Option{}, false
}

// labelOf is an option's label; the host's own words where it has none.
func (m cardMaker) labelOf(o approvals.Option) string {
	label := oneLine(o.Label, cardLabelRunes)
	switch {
	case label != "":
		return label
	case m.q.Kind == approvals.Approval && o.ID == approvals.OptionApprove:
		return m.approve
	case m.q.Kind == approvals.Approval && o.ID == approvals.OptionReject:
		return m.reject
	}
	return oneLine(o.ID, cardLabelRunes)
}

// answerers says who may answer; people named by their open_id are shown, and
// called, by our own tag (CA-1).
func (m cardMaker) answerers() any {
	entries := m.q.Answerers
	switch {
	case len(m.q.Review.Reviewers) > 0: // the asker can only narrow them further
		entries = m.q.Review.Reviewers
	case len(entries) == 0:
		entries = []string{"requester", "approvers"}
	}
	shown, tags := make([]string, len(entries)), false
	for i, e := range entries {
		at := ""
		if strings.HasPrefix(e, "ou_") {
			at = m.at(gate.Sender{Kind: gate.Person, ID: e})
		}
		switch {
		case e == "requester" && m.q.Kind == approvals.Approval:
			shown[i] = m.listed
		case e == "requester":
			shown[i] = m.requester
		case e == "approvers":
			shown[i] = m.approvers
		case at != "":
			shown[i], tags = at, true
		default:
			shown[i] = tameLine(oneLine(e, cardLabelRunes))
		}
	}
	who := strings.Join(shown, " / ")
	if n := m.q.Review.Needed(); n > 1 {
		who += fmt.Sprintf(m.ofThem, n)
	}
	if tags {
		return md(m.whoMayAnswer + ": " + who)
	}
	return fact(m.whoMayAnswer, who)
}

func (m cardMaker) buttons() any {
	var columns []any
	for _, o := range m.q.Options {
		columns = append(columns, obj{"tag": "column", "width": "auto", "elements": []any{
			m.button(m.labelOf(o), m.styleOf(o), m.sign(m.q.ID, o.ID)),
		}})
	}
	return obj{"tag": "column_set", "flex_mode": "flow", "columns": columns}
}

func (m cardMaker) styleOf(o approvals.Option) string {
	switch {
	case o.Style == "primary" || o.Style == "danger":
		return o.Style
	case m.q.Kind == approvals.Approval && o.ID == approvals.OptionApprove:
		return "primary"
	case m.q.Kind == approvals.Approval && o.ID == approvals.OptionReject:
		return "danger"
	}
	return "default"
}

func (m cardMaker) button(label, style string, v value) obj {
	return obj{"tag": "button", "text": plain(label), "type": style, "behaviors": []any{obj{"type": "callback", "value": v}}}
}

// form is the text field. For an approval a text alone grants nothing (AP-2a),
// so its text is the reason of a rejection.
func (m cardMaker) form() any {
	label, style, option := m.submit, "primary", ""
	if m.q.Kind == approvals.Approval {
		label, style, option = m.rejectWith, "danger", approvals.OptionReject
	}
	submit := m.button(label, style, m.sign(m.q.ID, option))
	submit["name"], submit["form_action_type"] = m.submitName(m.q.ID, option), "submit"
	return obj{"tag": "form", "name": "answer", "elements": []any{
		obj{"tag": "input", "name": fieldText, "required": true, "placeholder": plain(m.textHint)},
		submit,
	}}
}
