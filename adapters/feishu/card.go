package feishu

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// obj is a JSON object of a card.
type obj = map[string]any

// Card renders a question as a card of JSON 2.0 in its present state (CA-2,
// CA-4, facts C.6): open with its buttons, or closed with who answered what and
// when and nothing that can be clicked. mention is called by name on an open
// card (CA-1). It is pure: the same question gives the same card.
//
// What an agent wrote stands in elements of its own, either plain text or tamed
// Markdown, and what of it is cut says so. The card keeps the platform's limits
// (limits.go), at the cost of the agent's text.
func Card(c Config, q approvals.Question, mention gate.Sender) json.RawMessage {
	for shrink := 1; ; shrink *= 2 {
		card := cardMaker{Config: c, words: c.wordsFor(q), q: q, shrink: shrink}.card(mention)
		if len(card) <= maxCardBytes || shrink > 64 {
			return card
		}
	}
}

type cardMaker struct {
	Config
	words
	q approvals.Question
	// shrink divides the limits of what is shown.
	shrink int
}

func (m cardMaker) card(mention gate.Sender) json.RawMessage {
	title, color := m.head()
	var elements []any
	if at := m.at(mention); at != "" && !m.q.Status.Terminal() {
		elements = append(elements, md(at))
	}
	elements = append(elements, m.asked()...)
	if m.q.Status.Terminal() {
		elements = append(elements, m.verdict()...)
	} else {
		elements = append(elements, m.ways()...)
	}
	return marshal(obj{
		"schema": "2.0",
		"config": obj{"update_multi": true, "enable_forward": false, "summary": obj{"content": m.summary(title)}},
		"header": obj{"title": plain(title), "template": color},
		"body":   obj{"elements": elements},
	})
}

// head is the title and its colour. The words are the host's; the short id
// tells cards apart (CA-8).
func (m cardMaker) head() (title, color string) {
	what := m.questionTitle
	if m.q.Kind == approvals.Approval {
		what = m.approvalTitle
	}
	what += " · " + m.q.ID.Short()
	switch m.q.Status {
	case approvals.StatusOpen:
		if m.q.Kind == approvals.Approval {
			return what, "orange"
		}
		return what, "blue"
	case approvals.StatusAnswered:
		if m.q.Kind == approvals.Approval && (m.q.Answer == nil || m.q.Answer.OptionID != approvals.OptionApprove) {
			return what, "red"
		}
		return what, "green"
	case approvals.StatusTimedOut, approvals.StatusCancelled:
		return what, "grey"
	}
	return what, "grey"
}

// summary is the line in the list of chats. It cannot call anybody.
func (m cardMaker) summary(title string) string {
	state := m.pending
	if m.q.Status.Terminal() {
		state = m.state()
	}
	return state + " · " + title
}

// asked is what is asked and by whom: it stays on the card when it is closed.
func (m cardMaker) asked() []any {
	var host, agent []any
	if t := oneLine(m.q.Session.Title, cardTitleRunes); t != "" {
		host = append(host, fact(m.task, t+shortOf(m.q)))
	}
	op := m.q.Operation
	if op != nil {
		host = append(host, fact(m.tool, oneLine(op.Tool, cardTitleRunes)))
	}
	if op != nil && op.Reason != "" {
		agent = append(agent, fact(m.reason, oneLine(op.Reason, cardReasonRunes)))
	}
	agent = append(agent, m.prompt()...)
	if op != nil && op.Preview != "" {
		agent = append(agent, m.preview(op.Preview)...)
	}
	for _, o := range m.q.Options {
		if d := oneLine(o.Description, cardDetailRunes/m.shrink+1); d != "" {
			agent = append(agent, fact(m.labelOf(o), d))
		}
	}
	if len(agent) > 0 {
		host = append(host, box(agent))
	}
	if m.q.AsStated {
		host = append(host, text0("⚠️ "+m.asStated))
	}
	return host
}

func shortOf(q approvals.Question) string {
	if q.Session.Short == "" {
		return ""
	}
	return " (" + oneLine(q.Session.Short, 40) + ")"
}

func (m cardMaker) prompt() []any {
	if m.q.Prompt == "" {
		return nil
	}
	kept, left := cut(m.q.Prompt, cardPromptBytes/m.shrink, cardPreviewLines)
	return append([]any{md(closeFences(tame(kept)))}, m.leftOut(left)...)
}

func (m cardMaker) preview(s string) []any {
	kept, left := cut(s, cardPreviewBytes/m.shrink, cardPreviewLines)
	return append([]any{md(codeBlock(kept))}, m.leftOut(left)...)
}

// leftOut says that something was cut, and where the whole is (CA-2).
func (m cardMaker) leftOut(bytes int) []any {
	if bytes == 0 {
		return nil
	}
	out := []any{text0(fmt.Sprintf(m.cutNotice, bytes))}
	if m.Link != nil {
		if url := m.Link(m.q.ID); url != "" {
			out = append(out, md("["+m.whole+"]("+url+")"))
		}
	}
	return out
}

// ways is how to answer, who may, and until when.
func (m cardMaker) ways() []any {
	var out []any
	if o, ok := m.option(m.q.Recommendation); ok {
		out = append(out, fact(m.recommended, m.labelOf(o)))
	}
	out = append(out, m.answerers(), fact(m.until, m.clock(m.q.Deadline)))
	if len(m.q.Options) > 0 {
		out = append(out, m.buttons())
	}
	if m.q.AllowFreeText {
		out = append(out, m.form())
	}
	return out
}

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
	if len(entries) == 0 {
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
	if tags {
		return md(m.whoMayAnswer + ": " + strings.Join(shown, " / "))
	}
	return fact(m.whoMayAnswer, strings.Join(shown, " / "))
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

// verdict is how it ended.
func (m cardMaker) verdict() []any {
	a := m.q.Answer
	if m.q.Status != approvals.StatusAnswered || a == nil {
		return []any{text0(m.state() + m.when(m.q.ClosedAt))}
	}
	line := m.state() + m.when(a.At)
	var out []any
	if at := m.at(a.By); at != "" && a.Source == m.ID {
		out = append(out, md(at+" "+line))
	} else {
		out = append(out, text0(nameOf(*a)+line))
	}
	if o, ok := m.option(a.OptionID); ok && m.q.Kind != approvals.Approval {
		out = append(out, fact(m.answerIs, m.labelOf(o)))
	}
	if t := oneLine(a.Text, cardAnswerRunes/m.shrink+1); t != "" {
		out = append(out, fact(m.answerIs, t))
	}
	return out
}

func (m cardMaker) state() string {
	switch m.q.Status {
	case approvals.StatusAnswered:
		switch {
		case m.q.Kind != approvals.Approval:
			return m.answered
		case m.q.Answer != nil && m.q.Answer.OptionID == approvals.OptionApprove:
			return m.approved
		}
		return m.rejected
	case approvals.StatusTimedOut:
		return m.timedOut
	case approvals.StatusCancelled:
		return m.cancelled
	case approvals.StatusOpen:
		return m.pending
	}
	return m.cancelled
}

// nameOf is who answered, where no <at> can show it: on another platform, in
// the panel, by policy.
func nameOf(a approvals.Answer) string {
	name := oneLine(a.By.Name, cardLabelRunes)
	if name == "" {
		name = oneLine(a.By.ID, cardLabelRunes)
	}
	if name == "" || a.Via == approvals.ViaPolicy {
		name = string(a.Via)
	}
	return name + " "
}

// at calls a person, or shows one: our own tag, with an id that cannot leave it.
func (m cardMaker) at(s gate.Sender) string {
	if s.Kind != gate.Person || !platformID(s.ID) {
		return ""
	}
	return "<at id=" + s.ID + "></at>"
}

func (m cardMaker) when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " · " + m.clock(t)
}

func (m cardMaker) clock(t time.Time) string {
	return t.In(m.zone()).Format("2006-01-02 15:04 (UTC-07:00)")
}

func plain(s string) obj { return obj{"tag": "plain_text", "content": s} }

func md(s string) obj { return obj{"tag": "markdown", "content": s} }

// text0 is a line in which nothing is markup.
func text0(s string) obj { return obj{"tag": "div", "text": plain(s)} }

func fact(label, s string) obj { return text0(label + ": " + s) }

// box sets what an agent wrote apart from what the host says.
func box(elements []any) obj {
	return obj{"tag": "column_set", "background_style": "grey", "columns": []any{
		obj{"tag": "column", "width": "weighted", "weight": 1, "elements": elements},
	}}
}

// marshal writes JSON without escaping <, > and &, which would inflate a card.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil // maps, strings and numbers always encode
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
