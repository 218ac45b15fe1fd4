package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Reading is what a remote Executor asks of its Ticket's Inputs (EX-4). The
// zero value asks for those that were never handed over.
type Reading struct {
	// Again asks for all with a Seq greater than After, handed over or not.
	Again bool
	After int
	// Unacked asks for those that were handed over and not dealt with (AC-2).
	Unacked bool
}

// Handed is what a read gave: the Ticket as it stands then, and its Inputs,
// oldest first.
type Handed struct {
	Ticket Ticket
	Inputs []HandedInput
}

// HandedInput is an Input as a remote Executor reads it: what is owned, and
// who its sender is, as of now (SU-1).
type HandedInput struct {
	TurnInput
	Requester bool
	Lists     gate.Lists
}

// Read hands Inputs of a Ticket to its remote Executor. Reading is the
// delivery: each Input that was never handed over goes to one reader, and the
// turn is open. A Ticket that ended hands over nothing new. ErrNotFound.
func (s *Service) Read(ctx context.Context, id gate.TicketID, r Reading) (Handed, error) {
	before, err := s.ticket(ctx, id)
	if err != nil {
		return Handed{}, err
	}
	now := before
	if !r.Unacked && before.Active() && before.Seq > before.Delivered {
		if before, now, err = s.hand(ctx, before); err != nil {
			return Handed{}, err
		}
	}
	inputs, err := s.inputsOf(ctx, &now, func(in Input) bool { return r.asks(in, &before, &now) })
	return Handed{Ticket: now, Inputs: inputs}, err
}

// asks reports whether a read that found the Ticket as before, and left it as
// now, is to get an Input.
func (r Reading) asks(in Input, before, now *Ticket) bool {
	switch {
	case in.Seq > now.Delivered:
		return false
	case r.Unacked:
		return now.Active() && in.Seq > now.Covered && !slices.Contains(now.Acked, in.Seq)
	case r.Again:
		return in.Seq > r.After
	}
	return in.Seq > before.Delivered
}

// ticket reads a Ticket; ErrNotFound.
func (s *Service) ticket(ctx context.Context, id gate.TicketID) (Ticket, error) {
	st, err := s.Store.Load(ctx, Want{Tickets: []gate.TicketID{id}})
	if err != nil {
		return Ticket{}, fmt.Errorf("load ticket %s: %w", id, err)
	}
	t, ok := st.Tickets[id]
	if !ok {
		return Ticket{}, fmt.Errorf("load ticket %s: %w", id, ErrNotFound)
	}
	return t, nil
}

// hand takes what waits, unless a turn would begin while processing is paused
// (RE-3), or the executor may not work on it now (EX-5).
func (s *Service) hand(ctx context.Context, t Ticket) (before, after Ticket, err error) {
	if !t.works() {
		wait, err := s.heldUp(ctx, Claim{Kind: DueTurn, Key: string(t.ID)})
		if err != nil || wait > 0 {
			return t, t, err
		}
	}
	before, after, err = s.take(ctx, t.ID)
	if err != nil || !after.blocked(s.Now()) {
		return before, after, err
	}
	// The Ticket changed when it was blocked. A read that finds it changed again
	// leaves the question to the next one.
	stored, err := s.ticket(ctx, t.ID)
	if err == nil {
		err = s.askBudget(ctx, stored)
	}
	if errors.Is(err, ErrConflict) {
		err = nil
	}
	return before, after, err
}

// take opens the turn, if it may, and returns the Ticket before and after it.
func (s *Service) take(ctx context.Context, id gate.TicketID) (before, after Ticket, err error) {
	err = s.transact(ctx, Want{Tickets: []gate.TicketID{id}}, func(st State, f Facts) Changes {
		c := OpenTurn(st, id, f)
		before = st.Tickets[id]
		after = before
		for _, t := range c.Tickets {
			if t.ID == id {
				after = t
			}
		}
		return c
	})
	return before, after, err
}

// inputsOf reads the Inputs that are wanted, with what they point to.
func (s *Service) inputsOf(ctx context.Context, t *Ticket, wanted func(Input) bool) ([]HandedInput, error) {
	if t.Delivered == 0 {
		return nil, nil
	}
	all, err := s.Store.Inputs(ctx, t.ID, 0)
	if err != nil {
		return nil, fmt.Errorf("load inputs of %s: %w", t.ID, err)
	}
	var full []TurnInput
	for _, in := range all {
		if !wanted(in) {
			continue
		}
		f, err := s.resolve(ctx, in)
		if err != nil {
			return nil, err
		}
		full = append(full, f)
	}
	var out []HandedInput
	for _, in := range s.surround(t, t.kept(full)) {
		out = append(out, s.handed(ctx, t, in))
	}
	return out, nil
}

func (s *Service) handed(ctx context.Context, t *Ticket, in TurnInput) HandedInput {
	h := HandedInput{TurnInput: in}
	if m := in.Message; m != nil {
		h.Owned = in.Owned && slices.Contains(m.Owners, t.ID)
		h.Lists = s.Directory.Lists(ctx, m.Source, m.Sender)
		h.Requester = WhoIs(m.Source, m.Sender) == WhoIs(t.Mandate.Source, t.Mandate.Sender) && m.Sender.Kind == gate.Person
	}
	return h
}

// name finds the Inputs that a Command names by their ids, and all messages
// that the Ticket owns on a Thread that it hands back or leaves (HB-2). An
// Input that was not handed over yet is as unknown as one that does not exist.
func (s *Service) name(ctx context.Context, id gate.TicketID, cmd Command) (Command, *Performed, error) {
	ofThread := cmd.Thread != "" && (cmd.Verb == VerbHandBack || cmd.Verb == VerbUnfollow)
	if len(cmd.Named) == 0 && !ofThread {
		return cmd, nil, nil
	}
	t, err := s.ticket(ctx, id)
	if err != nil {
		return cmd, nil, err
	}
	all, err := s.Store.Inputs(ctx, id, 0)
	if err != nil {
		return cmd, nil, fmt.Errorf("load inputs of %s: %w", id, err)
	}
	for _, name := range cmd.Named {
		i := slices.IndexFunc(all, func(in Input) bool { return in.ID == name && in.Seq <= t.Delivered })
		if i < 0 {
			p := refusedAct(ActUnknownInput, "the ticket was given no such input; use an id that was read")
			return cmd, &p, nil
		}
		cmd.Inputs = append(cmd.Inputs, all[i])
	}
	if !ofThread {
		return cmd, nil, nil
	}
	cmd.Inputs, err = s.onThread(ctx, all, cmd.Thread, cmd.Inputs)
	return cmd, nil, err
}

// onThread adds the owned Inputs whose messages were said on a Thread.
func (s *Service) onThread(ctx context.Context, all []Input, on gate.ThreadID, to []Input) ([]Input, error) {
	var w Want
	for _, in := range all {
		if in.Owned {
			w.Messages = append(w.Messages, in.Trigger)
		}
	}
	if len(w.Messages) == 0 {
		return to, nil
	}
	st, err := s.Store.Load(ctx, w)
	if err != nil {
		return nil, fmt.Errorf("load messages of %s: %w", on, err)
	}
	for _, in := range all {
		if m, ok := st.Messages[in.Trigger]; in.Owned && ok && m.Thread == on {
			to = append(to, in)
		}
	}
	return to, nil
}

// Unsubscribe ends a Subscription for an operator, who may end any (SU-5a).
func (s *Service) Unsubscribe(ctx context.Context, id gate.TicketID, thread gate.ThreadID, by string) error {
	var refused error
	err := s.transact(ctx, Want{Tickets: []gate.TicketID{id}, Threads: []gate.ThreadID{thread}}, func(st State, f Facts) Changes {
		var c Changes
		c, refused = Unsubscribe(st, id, thread, by, f)
		return c
	})
	if err == nil {
		err = refused
	}
	return err
}
