package orchestrator

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Context reads the Surroundings of a Trigger at its platform (EV-2a): as of
// the Trigger's time, nothing later, and what was edited since is marked. What
// it cannot read it names in Unread; it never fails as a whole. It gives what
// the platform has, in any number; messages of the same time in their order.
type Context interface {
	Around(ctx context.Context, t gate.Trigger) gate.Surroundings
}

// How Surroundings are read.
const (
	// aroundTime bounds the reading for one hand-out: what has not come by
	// then is unread.
	aroundTime = 4 * time.Second
	// aroundAtOnce is how many messages of one hand-out are read for at once.
	aroundAtOnce = 4
	// aroundKnown is how many messages of a Thread are looked at.
	aroundKnown = 100
)

// Around returns the Surroundings of each message (EV-2a): from the platform
// where that can be asked, else what the gateway itself received. They are read
// anew each time and stored nowhere, so a recall leaves no copy behind (TR-4a)
// and a hand-out that is repeated after a crash has them again (EV-7).
func (s *Service) Around(ctx context.Context, messages []Message) []gate.Surroundings {
	reading, cancel := context.WithTimeout(ctx, aroundTime)
	defer cancel()
	all := make([]gate.Surroundings, len(messages))
	turns := make(chan struct{}, aroundAtOnce)
	var wg sync.WaitGroup
	for i := range messages {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			read := s.readAround(reading, &messages[i])
			all[i] = settleAround(&messages[i], read, s.knownOn(ctx, messages[i].Thread))
		})
	}
	wg.Wait()
	return all
}

// readAround asks the platform.
func (s *Service) readAround(ctx context.Context, m *Message) gate.Surroundings {
	c := s.Contexts[m.Source]
	if c == nil {
		return unreadAll("the platform is not asked")
	}
	read := c.Around(ctx, m.Trigger)
	for _, u := range read.Unread {
		s.Log.WarnContext(ctx, "context not read", "trigger", m.ID, "source", m.Source, "reason", string(u.Part)+": "+u.Why)
	}
	return read
}

// knownOn are the messages of a Thread that the gateway received, newest first.
func (s *Service) knownOn(ctx context.Context, thread gate.ThreadID) []Message {
	known, _, err := s.Store.ListMessages(ctx, MessageFilter{Thread: thread}, Page{Limit: aroundKnown})
	if err != nil {
		s.Log.WarnContext(ctx, "list messages of a thread", "thread", thread, "err", err)
		return nil
	}
	return known
}

// surround lets a Ticket's first Input, if it is among them, read its
// Surroundings.
func (s *Service) surround(t *Ticket, inputs []TurnInput) []TurnInput {
	for i := range inputs {
		if !t.opens(&inputs[i]) {
			continue
		}
		of := []Message{*inputs[i].Message}
		inputs[i].Around = func(ctx context.Context) gate.Surroundings { return s.Around(ctx, of)[0] }
	}
	return inputs
}
