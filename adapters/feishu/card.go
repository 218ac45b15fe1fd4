package feishu

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Card renders a question as a card of JSON 2.0 in its present state (CA-2,
// CA-4, facts C.6): open with its buttons, or closed with who answered what and
// when and nothing that can be clicked. Those of mention are called by name on an
// open card (CA-1). It is pure: the same question gives the same card.
//
// What an agent wrote stands in a box of its own, as plain text or tamed
// Markdown, or quoted behind the host's words; what of it is cut says so. A few
// options are buttons, more are a list to choose from. The card keeps the
// platform's limits (limits.go), at the cost of the agent's text.
func Card(c Config, q approvals.Question, mention ...gate.Sender) json.RawMessage {
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

func (m cardMaker) card(mention []gate.Sender) json.RawMessage {
	title, color := m.head()
	var elements []any
	if at := m.all(mention); at != "" && !m.q.Status.Terminal() {
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
// What an agent wrote stands in the box, or quoted behind a word of ours, so
// that it cannot pass for ours.
func (m cardMaker) asked() []any {
	var out []any
	out = m.said(out, m.task, m.q.Session.Title, cardTitleRunes, shortOf(m.q))
	if op := m.q.Operation; op != nil {
		out = m.said(out, m.tool, op.Tool, cardTitleRunes, "")
		out = m.said(out, m.reason, op.Reason, cardReasonRunes/m.shrink+1, "")
	}
	prompt, left := m.prompt()
	preview, more := m.preview()
	agent := slices.Concat(prompt, preview, m.details())
	if len(agent) > 0 {
		out = append(out, box(agent))
	}
	out = append(out, m.leftOut(left+more)...)
	if m.q.AsStated {
		out = append(out, text0("⚠️ "+m.asStated))
	}
	return out
}

// said adds a line with what somebody wrote, quoted, if they wrote anything.
func (m cardMaker) said(out []any, label, s string, runes int, ours string) []any {
	if t := m.quoted(s, runes); t != "" {
		return append(out, fact(label, t+ours))
	}
	return out
}

// quoted is a text that others wrote, on one line and in quotes that it cannot
// leave; "" if nothing of it can be seen.
func (m cardMaker) quoted(s string, runes int) string {
	t := visibleLine(strings.NewReplacer("「", "'", "」", "'", "“", "'", "”", "'").Replace(s), runes)
	if t == "" {
		return ""
	}
	return m.quotes[0] + t + m.quotes[1]
}

func shortOf(q approvals.Question) string {
	if q.Session.Short == "" {
		return ""
	}
	return " (" + visibleLine(q.Session.Short, cardLabelRunes) + ")"
}

func (m cardMaker) prompt() (shown []any, left int) {
	kept, left := cut(m.q.Prompt, cardPromptBytes/m.shrink, cardPreviewLines)
	if text := tame(kept); strings.TrimSpace(text) != "" {
		shown = []any{md(text)}
	}
	return shown, left
}

func (m cardMaker) preview() (shown []any, left int) {
	if m.q.Operation == nil || m.q.Operation.Preview == "" {
		return nil, 0
	}
	kept, left := cut(m.q.Operation.Preview, cardPreviewBytes/m.shrink, cardPreviewLines)
	return []any{md(codeBlock(kept))}, left
}

// details are the descriptions of the options.
func (m cardMaker) details() (out []any) {
	for _, o := range m.q.Options {
		if d := visibleLine(o.Description, cardDetailRunes/m.shrink+1); d != "" {
			out = append(out, fact(m.labelOf(o), d))
		}
	}
	return out
}

// leftOut says that something was cut, and where the whole is (CA-2).
func (m cardMaker) leftOut(bytes int) []any {
	if bytes == 0 {
		return nil
	}
	out := []any{text0(fmt.Sprintf(m.cutNotice, bytes))}
	if m.Link != nil {
		if url := m.Link(m.q); url != "" {
			out = append(out, md("["+m.whole+"]("+url+")"))
		}
	}
	return out
}

// ways is how to answer, who may, and until when.
func (m cardMaker) ways() []any {
	var out []any
	if o, ok := m.option(m.q.Recommendation); ok {
		out = append(out, fact(m.recommended, m.shownOption(o)))
	}
	out = append(out, m.answerers())
	if len(m.q.Approved) > 0 {
		out = append(out, m.approvedSoFar())
	}
	out = append(out, fact(m.until, m.clock(m.q.Deadline)))
	if n := len(m.q.Options); n > 0 && n <= maxButtons {
		out = append(out, m.buttons())
	}
	if m.q.AllowFreeText || len(m.q.Options) > maxButtons {
		out = append(out, m.form())
	}
	return out
}
