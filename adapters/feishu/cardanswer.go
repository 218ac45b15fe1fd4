package feishu

import (
	"cmp"
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

// labelOf is an option's label, else its id; the host's own words where an
// approval has none. An agent's option that is called like one of the host's
// buttons stands in quotes.
func (m cardMaker) labelOf(o approvals.Option) string {
	label := visibleLine(o.Label, cardLabelRunes)
	switch {
	case m.q.Kind == approvals.Approval && label != "":
		return label // the configuration's (AP-2a)
	case m.q.Kind == approvals.Approval && o.ID == approvals.OptionApprove:
		return m.approve
	case m.q.Kind == approvals.Approval && o.ID == approvals.OptionReject:
		return m.reject
	}
	label = cmp.Or(label, visibleLine(o.ID, cardLabelRunes), "?")
	if hostWord(label) {
		return m.quoted(label, cardLabelRunes)
	}
	return label
}

// shownOption is an option in a line of ours.
func (m cardMaker) shownOption(o approvals.Option) string {
	if m.q.Kind == approvals.Approval {
		return m.labelOf(o)
	}
	return m.quoted(m.labelOf(o), cardLabelRunes+2)
}

// hostWord reports whether a label reads like one of the host's own buttons, in
// either language.
func hostWord(label string) bool {
	for _, w := range [...]words{chinese(), english()} {
		for _, own := range [...]string{w.approve, w.reject, w.submit, w.rejectWith} {
			if strings.EqualFold(strings.TrimSpace(label), own) {
				return true
			}
		}
	}
	return false
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
			shown[i] = tameLine(quiet(visibleLine(e, cardLabelRunes)))
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

// approvedSoFar are those who approved where others must too (RU-4).
func (m cardMaker) approvedSoFar() any {
	shown := make([]string, len(m.q.Approved))
	for i, a := range m.q.Approved {
		if shown[i] = m.at(a.By); shown[i] == "" || a.Source != m.ID {
			shown[i] = tameLine(quiet(m.nameOf(a)))
		}
	}
	return md(fmt.Sprintf(m.approvedBy, len(shown), m.q.Review.Needed()) + ": " + strings.Join(shown, " / "))
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

// styleOf is an option's colour. Only the recommended one is filled (CA-2).
func (m cardMaker) styleOf(o approvals.Option) string {
	style := "default"
	switch {
	case o.Style == "primary" || o.Style == "danger":
		style = o.Style
	case m.q.Kind == approvals.Approval && o.ID == approvals.OptionApprove:
		style = "primary"
	case m.q.Kind == approvals.Approval && o.ID == approvals.OptionReject:
		style = "danger"
	}
	switch {
	case o.ID != m.q.Recommendation:
		return style
	case style == "danger":
		return "danger_filled"
	}
	return "primary_filled"
}

func (m cardMaker) button(label, style string, v value) obj {
	return obj{"tag": "button", "text": plain(label), "type": style, "behaviors": []any{obj{"type": "callback", "value": v}}}
}

// form is a list of options, a text field, or both, and a button that submits
// them. For an approval a text alone grants nothing (AP-2a), so its text is the
// reason of a rejection.
func (m cardMaker) form() any {
	label, style, option := m.submit, "primary", ""
	if m.q.Kind == approvals.Approval {
		label, style, option = m.rejectWith, "danger", approvals.OptionReject
	}
	submit := m.button(label, style, m.sign(m.q.ID, option))
	submit["name"], submit["form_action_type"] = m.submitName(m.q.ID, option), "submit"
	return obj{"tag": "form", "name": "answer", "elements": append(m.fields(), submit)}
}

// fields are what a form asks for. Where one of two is enough, neither is
// required: the broker refuses an answer that has none.
func (m cardMaker) fields() (out []any) {
	list := len(m.q.Options) > maxButtons
	if list {
		out = append(out, m.list(!m.q.AllowFreeText))
	}
	if m.q.AllowFreeText {
		out = append(out, obj{
			"tag": "input", "name": fieldText, "required": !list, "placeholder": plain(m.textHint),
			"input_type": "multiline_text", "rows": 3, "max_length": maxInput, "width": "fill",
		})
	}
	return out
}

func (m cardMaker) list(required bool) any {
	var options []any
	for _, o := range m.q.Options {
		options = append(options, obj{"text": plain(m.labelOf(o)), "value": m.optionValue(m.q.ID, o.ID)})
	}
	return obj{
		"tag": "select_static", "name": fieldOption, "required": required, "placeholder": plain(m.choose),
		"width": "fill", "options": options,
	}
}
