package feishu

import (
	"encoding/json"
	"fmt"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

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
