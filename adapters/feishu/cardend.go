package feishu

import (
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// verdict is how it ended: what came of it, when, through what and by whom
// (CA-4).
func (m cardMaker) verdict() []any {
	a := m.q.Answer
	if m.q.Status != approvals.StatusAnswered || a == nil {
		return []any{text0(m.state() + m.when(m.q.ClosedAt))}
	}
	line := m.state() + m.when(a.At) + m.through(a.Via)
	var out []any
	if at := m.at(a.By); at != "" && a.Source == m.ID {
		out = append(out, md(line+" · "+at))
	} else if name := m.nameOf(*a); name != "" {
		out = append(out, text0(line+" · "+name))
	} else {
		out = append(out, text0(line))
	}
	if o, ok := m.option(a.OptionID); ok && m.q.Kind != approvals.Approval {
		out = append(out, fact(m.answerIs, m.shownOption(o)))
	}
	return m.said(out, m.answerIs, a.Text, cardAnswerRunes/m.shrink+1, "")
}

// through is the way in which an answer came; a click on the card goes without
// saying.
func (m cardMaker) through(v approvals.Via) string {
	switch v {
	case approvals.ViaCard:
		return ""
	case approvals.ViaAPI, approvals.ViaPanel, approvals.ViaGitHub, approvals.ViaPolicy, approvals.ViaReply, approvals.ViaMachine:
		return " · " + m.routes[v]
	}
	return ""
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

// nameOf is who answered, quoted, where no <at> can show it: on another
// platform or in the panel. "" where nobody did.
func (m cardMaker) nameOf(a approvals.Answer) string {
	if name := m.quoted(a.By.Name, cardLabelRunes); name != "" {
		return name
	}
	return m.quoted(a.By.ID, cardLabelRunes)
}

// at calls a person, or shows one: our own tag, with an id that cannot leave it.
func (m cardMaker) at(s gate.Sender) string {
	if s.Kind != gate.Person || !platformID(s.ID) {
		return ""
	}
	return "<at id=" + s.ID + "></at>"
}

// all calls several people, each once.
func (m cardMaker) all(people []gate.Sender) string {
	var tags []string
	for _, s := range people {
		if at := m.at(s); at != "" && !slices.Contains(tags, at) {
			tags = append(tags, at)
		}
	}
	return strings.Join(tags, " ")
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
