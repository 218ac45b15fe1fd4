package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Act does one action of a Ticket's Executor. The same key gives the same
// result and acts once, also after the Ticket ended (AC-1). A refusal is a
// Performed with its Error; an error means that we do not know.
func (s *Service) Act(ctx context.Context, id gate.TicketID, cmd Command) (Performed, error) {
	if done, err := s.acted(ctx, id, cmd.Key); done != nil || err != nil {
		return deref(done), err
	}
	if cmd.Verb == VerbAsk {
		return s.ask(ctx, id, cmd)
	}
	cmd, unknown, err := s.name(ctx, id, cmd)
	if unknown != nil || err != nil {
		return deref(unknown), err
	}
	if cmd, err = s.asked(ctx, id, cmd); err != nil {
		return Performed{}, err
	}
	var p Performed
	err = s.transact(ctx, cmd.want(id), func(st State, f Facts) Changes {
		var c Changes
		c, p = Perform(st, id, cmd, f)
		return c
	})
	if errors.Is(err, ErrConflict) {
		// Another call with the same key may have won every try.
		if done, again := s.acted(ctx, id, cmd.Key); done != nil || again != nil {
			return deref(done), again
		}
	}
	if err == nil {
		s.Log.InfoContext(ctx, "executor acted", "ticket", id, "action", cmd.Verb, "refused", p.Error != nil)
	}
	return p, err
}

func deref(p *Performed) Performed {
	if p == nil {
		return Performed{}
	}
	return *p
}

func (cmd Command) want(id gate.TicketID) Want {
	w := Want{Tickets: []gate.TicketID{id}}
	for _, in := range cmd.Inputs {
		w.Messages = append(w.Messages, in.Trigger)
	}
	if cmd.Thread != "" {
		w.Threads = append(w.Threads, cmd.Thread)
	}
	if cmd.Opened != nil {
		w.Threads = append(w.Threads, cmd.Opened.Thread)
	}
	return w
}

// asked asks the platform about what an Executor says that it opened (SU-9).
func (s *Service) asked(ctx context.Context, id gate.TicketID, cmd Command) (Command, error) {
	if cmd.Verb != VerbOpened || cmd.URL == "" || s.Opener == nil {
		return cmd, nil
	}
	o, err := s.Opener.Opened(ctx, cmd.URL)
	switch {
	case errors.Is(err, ErrNotFound):
		return cmd, nil
	case err != nil:
		return cmd, fmt.Errorf("ask about what %s opened: %w", id, err)
	}
	cmd.Opened = &o
	return cmd, nil
}

// acted returns what a key did before, or nil.
func (s *Service) acted(ctx context.Context, id gate.TicketID, key string) (*Performed, error) {
	if key == "" {
		return nil, nil
	}
	data, err := s.Store.Acted(ctx, id, key)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up action key: %w", err)
	}
	var p Performed
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("read action result: %w", err)
	}
	p.Deduped = true
	return &p, nil
}
