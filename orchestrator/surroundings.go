package orchestrator

import (
	"context"
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Quote is something that was said near a Trigger. All of it is untrusted.
type Quote struct {
	Sender gate.Sender
	Title  string
	Text   string
	URL    string
	At     time.Time
}

// The parts of Surroundings, as Unread names them.
const (
	PartOpening   = "opening"
	PartRepliedTo = "replied_to"
	PartEarlier   = "earlier"
)

// Surroundings are a Thread as of a Trigger's time (EV-2a): how it began, what
// the Trigger replies to, and up to 20 earlier messages, oldest first. What
// could not be read is named in Unread.
type Surroundings struct {
	Opening   *Quote
	RepliedTo *Quote
	Earlier   []Quote
	Unread    []string
}

// Context reads the Surroundings of a Trigger at the platform (EV-2a).
type Context interface {
	Around(ctx context.Context, t gate.Trigger) (Surroundings, error)
}

// maxEarlier is how many earlier messages a card carries (EV-2a).
const maxEarlier = 20

// Around returns the Surroundings of a message: from the platform where that
// can be asked, else what the gateway itself received, and then what was said
// besides counts as unread.
func (s *Service) Around(ctx context.Context, m Message) Surroundings {
	if s.Context != nil {
		around, err := s.Context.Around(ctx, m.Trigger)
		if err == nil {
			return around
		}
		s.Log.WarnContext(ctx, "read the context of a trigger", "trigger", m.ID, "err", err)
	}
	known, _, err := s.Store.ListMessages(ctx, MessageFilter{Thread: m.Thread}, Page{Limit: 100})
	if err != nil {
		known = nil
	}
	return surroundings(m, known)
}

// surroundings are those that the messages of its Thread give, newest first as
// a list has them.
func surroundings(m Message, known []Message) Surroundings {
	out := Surroundings{Unread: []string{PartEarlier}}
	for i := range known {
		k := &known[i]
		if k.ID == m.ID || k.State == StateRecalled || k.State == StateReceived || k.ReceivedAt.After(m.ReceivedAt) {
			continue
		}
		q := Quote{Sender: k.Sender, Title: k.Title, Text: k.Text, URL: k.URL, At: k.OccurredAt}
		if k.IDs.Message != "" && k.IDs.Message == m.ReplyTo {
			out.RepliedTo = &q
		}
		switch {
		case k.IDs.Message != "" && k.IDs.Message == m.Place.Root:
			out.Opening = &q
		case len(out.Earlier) < maxEarlier:
			out.Earlier = append(out.Earlier, q)
		}
	}
	slices.Reverse(out.Earlier)
	begins := m.Place.Root == "" || m.IDs.Message == m.Place.Root
	if out.Opening == nil && !begins {
		out.Unread = append(out.Unread, PartOpening)
	}
	if out.RepliedTo == nil && m.ReplyTo != "" {
		out.Unread = append(out.Unread, PartRepliedTo)
	}
	return out
}
