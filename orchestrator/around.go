package orchestrator

import (
	"slices"
	"unicode/utf8"

	"github.com/gatehouse-bot/gatehouse/gate"
)

const (
	// maxEarlier is how many earlier messages a card carries (EV-2a).
	maxEarlier = 20
	// maxQuote and maxEarlierQuote bound a quoted text, in bytes.
	maxQuote        = 16 << 10
	maxEarlierQuote = 4 << 10
)

func unreadAll(why string) gate.Surroundings {
	return gate.Surroundings{Unread: []gate.Unread{
		{Part: gate.PartOpening, Why: why}, {Part: gate.PartRepliedTo, Why: why}, {Part: gate.PartEarlier, Why: why},
	}}
}

// settleAround makes of what the platform gave, and of the messages of the
// Thread that the gateway itself received, newest first, what is handed out.
// Nothing of it is later than the message. A part that the platform did not
// give is taken from what was received; what was said besides that stays
// unread.
func settleAround(m *Message, read gate.Surroundings, known []Message) gate.Surroundings {
	own := received(m, known)
	out := gate.Surroundings{Opening: read.Opening, RepliedTo: read.RepliedTo, Earlier: slices.Clone(read.Earlier)}
	for _, u := range read.Unread {
		switch {
		case u.Part == gate.PartOpening && (own.Opening != nil || m.begins()):
			out.Opening = own.Opening
		case u.Part == gate.PartRepliedTo && (own.RepliedTo != nil || m.ReplyTo == ""):
			out.RepliedTo = own.RepliedTo
		case u.Part == gate.PartEarlier && len(out.Earlier) == 0:
			out.Earlier = own.Earlier
			out.Unread = append(out.Unread, u)
		default:
			out.Unread = append(out.Unread, u)
		}
	}
	if out.Opening != nil && out.Opening.Message == "" && own.Opening != nil {
		out.Opening.Message = own.Opening.Message
	}
	return m.bounded(out, latest(known))
}

// begins: the message is how its Thread began: a root message, or an issue or
// pull request itself.
func (m *Message) begins() bool {
	return m.Kind == gate.KindIssue || m.Kind == gate.KindPullRequest || m.Place.Root == "" || m.IDs.Message == m.Place.Root
}

// received is what the gateway itself received near a message.
func received(m *Message, known []Message) (out gate.Surroundings) {
	for i := range known {
		k := &known[i]
		if k.ID == m.ID || k.State == StateReceived || k.ReceivedAt.After(m.ReceivedAt) || k.Text == "" {
			continue
		}
		q := gate.Quote{Message: k.IDs.Message, Sender: k.Sender, Title: k.Title, Text: k.Text, URL: k.URL, At: k.OccurredAt}
		if q.Message != "" && q.Message == m.ReplyTo {
			out.RepliedTo = &q
		}
		if k.begins() && k.Place.Root == m.Place.Root {
			out.Opening = &q
		}
		out.Earlier = append(out.Earlier, q)
	}
	return out
}

// latest are messages by the platform's id; of two rows of one message the
// newer.
func latest(known []Message) map[string]*Message {
	by := make(map[string]*Message, len(known))
	for i := range known {
		if id := known[i].IDs.Message; id != "" && by[id] == nil {
			by[id] = &known[i]
		}
	}
	return by
}

// bounded leaves out what is later than the message, what was taken back and
// what stands elsewhere already, and keeps the rest within bounds.
func (m *Message) bounded(s gate.Surroundings, known map[string]*Message) gate.Surroundings {
	s.Opening, s.RepliedTo = m.quoted(s.Opening, known, maxQuote), m.quoted(s.RepliedTo, known, maxQuote)
	var earlier []gate.Quote
	for i := range s.Earlier {
		q := m.quoted(&s.Earlier[i], known, maxEarlierQuote)
		if q == nil || s.Opening != nil && q.Message == s.Opening.Message && q.Message != "" {
			continue
		}
		earlier = append(earlier, *q)
	}
	s.Earlier = newestOf(earlier)
	return s
}

// quoted is a quote as it may be handed out, or nil. A text that was edited
// later is replaced by what the gateway received before.
func (m *Message) quoted(in *gate.Quote, known map[string]*Message, most int) *gate.Quote {
	if in == nil || in.At.After(m.OccurredAt) || in.Message != "" && in.Message == m.IDs.Message {
		return nil
	}
	q := *in
	if k := known[q.Message]; k != nil {
		switch {
		case k.Recalled:
			return nil
		case q.Edited && !k.EditedAt.After(m.OccurredAt):
			q.Text = k.Text
		}
	}
	q.Text, q.Cut = cut(q.Text, most)
	q.Title, _ = cut(q.Title, maxEarlierQuote)
	return &q
}

// cut keeps the first bytes of a text, whole characters.
func cut(s string, most int) (kept string, isCut bool) {
	if len(s) <= most {
		return s, false
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most], true
}

// newestOf are the last earlier messages, oldest first (EV-2a).
func newestOf(earlier []gate.Quote) []gate.Quote {
	slices.SortStableFunc(earlier, func(a, b gate.Quote) int { return a.At.Compare(b.At) })
	return earlier[max(0, len(earlier)-maxEarlier):]
}

// opens reports whether an Input is the first of its Ticket, the request that
// it was accepted for: that one carries the Surroundings (EV-2a).
func (t *Ticket) opens(in *TurnInput) bool {
	return in.Message != nil && in.Kind == InputMessage && in.Trigger == t.Mandate.Trigger
}
