package orchestrator

import (
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// page is Markdown for a model under way. What it says of its own is the
// gateway's; everything else goes through fact or untrusted.
type page struct{ b strings.Builder }

func (p *page) head(level int, text string) {
	p.gap()
	p.b.WriteString(strings.Repeat("#", level) + " " + text + "\n\n")
}

// gap leaves a line free.
func (p *page) gap() {
	if p.b.Len() > 0 && !strings.HasSuffix(p.b.String(), "\n\n") {
		p.b.WriteString("\n")
	}
}

func (p *page) say(text string) { p.b.WriteString(text + "\n") }

// fact is a line with a word of the gateway's or the platform's; an empty one
// is left out.
func (p *page) fact(name, value string) {
	if value != "" {
		p.say("- " + name + ": " + value)
	}
}

// untrusted is a block of what somebody wrote: short lines by name, then the
// text.
func (p *page) untrusted(text string, lines ...[2]string) {
	var b strings.Builder
	for _, l := range lines {
		if l[1] != "" {
			b.WriteString(l[0] + ": " + oneLine(visible(l[1]), 300) + "\n")
		}
	}
	if b.Len() > 0 && text != "" {
		b.WriteString("\n")
	}
	b.WriteString(visible(text))
	if b.Len() > 0 {
		p.gap()
		p.b.WriteString(fence(b.String()) + "\n")
	}
}

// message is what was said: who, when and where as facts, the words fenced.
func (p *page) message(m *Message) {
	p.fact("said", stamp(m.OccurredAt))
	p.fact("link", word(m.URL))
	switch {
	case m.Recalled:
		p.fact("recalled", "its author took it back")
	case m.Edited:
		p.fact("edited", "this is how it reads now")
	}
	if m.ReplayedBy != "" {
		p.fact("replayed", "an operator forced it to be taken in again")
	}
	if m.Late {
		p.fact("late", "it arrived "+m.ReceivedAt.Sub(m.OccurredAt).Round(time.Minute).String()+" after it was said")
	}
	lines := [][2]string{{"from", m.Sender.Name}, {"title", m.Title}}
	for _, a := range m.Attachments {
		lines = append(lines, [2]string{"attached", strings.TrimSpace(a.Kind + " " + a.Name)})
	}
	p.untrusted(m.Text, lines...)
}

// around is what was said near a message (EV-2a).
func (p *page) around(level int, s *gate.Surroundings) {
	if s == nil {
		return
	}
	for _, q := range []struct {
		head string
		said *gate.Quote
	}{{"How the thread began", s.Opening}, {"What it replies to", s.RepliedTo}} {
		if q.said != nil {
			p.head(level, q.head)
			p.quote(q.said)
		}
	}
	if len(s.Earlier) > 0 {
		p.head(level, "Said before, the oldest first")
	}
	for i := range s.Earlier {
		p.quote(&s.Earlier[i])
	}
	if len(s.Unread) > 0 {
		p.head(level, "What could not be read")
	}
	for _, u := range s.Unread {
		p.say("- " + unread(u.Part) + because(u.Why))
	}
}

func (p *page) quote(q *gate.Quote) {
	who := kindOf(q.Sender)
	if q.Own {
		who = "the agent itself"
	}
	p.say("- " + strings.TrimSpace(who+", "+stamp(q.At)+" "+word(q.URL)))
	if q.Edited {
		p.say("- edited after the request: how it reads now is not shown")
	}
	if q.Cut {
		p.say("- only its beginning")
	}
	p.untrusted(q.Text, [2]string{"from", q.Sender.Name}, [2]string{"title", q.Title})
}

// unread says which part of the Surroundings is missing.
func unread(part gate.Part) string {
	switch part {
	case gate.PartOpening:
		return "how the thread began"
	case gate.PartRepliedTo:
		return "the message that this one replies to"
	case gate.PartEarlier:
		return "all that was said before: there may be more than stands here"
	}
	return word(string(part))
}

// because adds a reason, which is in the gateway's own words.
func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + oneLine(why, 200) + ")"
}

// kindOf says what kind of account spoke, and its id.
func kindOf(s gate.Sender) string {
	switch s.Kind {
	case gate.Person:
		return "a person (" + word(s.ID) + ")"
	case gate.Bot:
		return "a bot (" + word(s.ID) + ")"
	case gate.NoSender:
		return "nobody: CI"
	case gate.Nobody:
	}
	return "nobody that is known"
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }
