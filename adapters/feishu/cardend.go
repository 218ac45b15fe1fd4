package feishu

import (
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

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
