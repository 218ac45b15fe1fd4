package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// The codes of a refused question: an approval can be asked only while a turn is
// open (AP-7); what is asked breaks DE-2; DE-8.
const (
	ActNoOpenTurn  = "no_open_turn"
	ActInvalid     = "invalid"
	ActTooManyOpen = "too_many_open"
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

// ask opens a question for the Ticket. The question's own key makes it act
// once (DE-3); the guard refuses one for a Ticket that just ended (DE-7).
func (s *Service) ask(ctx context.Context, id gate.TicketID, cmd Command) (Performed, error) {
	if cmd.Ask == nil {
		return refusedAct(ActMissingField, "say what is asked: a key (or requestId), kind approval, clarification or choice, and a prompt"), nil
	}
	if strings.HasPrefix(cmd.Ask.RequestID, askBudget) {
		return refusedAct(ActInvalid, "keys that begin with "+askBudget+" are the gateway's own; use another"), nil
	}
	for range commitTries {
		st, err := s.Store.Load(ctx, Want{Tickets: []gate.TicketID{id}})
		if err != nil {
			return Performed{}, fmt.Errorf("load ticket %s: %w", id, err)
		}
		t, ok := st.Tickets[id]
		switch {
		case !ok || !t.Active():
			return refusedAct(ActTicketEnded, "the ticket has ended; stop working on it"), nil
		case cmd.Ask.Kind == approvals.Approval && !t.Turn:
			return refusedAct(ActNoOpenTurn, "an approval can be asked only while a turn is open"), nil
		}
		session := t.session(s.Settings.Language)
		if session.Review, err = s.reviewOf(ctx, &t); err != nil {
			return Performed{}, err
		}
		q, _, err := s.Asker.Open(ctx, session, *cmd.Ask)
		switch {
		case errors.Is(err, ErrConflict):
			continue
		case errors.Is(err, approvals.ErrInvalid): // it would be again, however often it is tried
			return refusedAct(ActInvalid, err.Error()), nil
		case errors.Is(err, approvals.ErrTooManyOpen):
			return refusedAct(ActTooManyOpen, "too many questions of this session are open; wait for their answers"), nil
		case err != nil:
			return Performed{}, fmt.Errorf("open question for %s: %w", id, err)
		}
		return Performed{OK: true, Question: q.ID}, s.parkRemote(ctx, &t, q)
	}
	return Performed{}, fmt.Errorf("open question for %s: %w", id, ErrConflict)
}

// parkRemote parks the turn of a remote Executor with the question that it
// asked: it is given the answer as an Input. An embedded one parks when it
// returns.
func (s *Service) parkRemote(ctx context.Context, t *Ticket, q approvals.Question) error {
	if !s.Settings.Executors[t.Executor].Remote || q.Status.Terminal() || !t.works() {
		return nil
	}
	return s.park(ctx, t.ID, t.Delivered)
}

// reviewOf is what the Ticket's matched rules ask of its approvals now (RU-4).
func (s *Service) reviewOf(ctx context.Context, t *Ticket) (gate.Review, error) {
	if len(t.Mandate.Rules) == 0 {
		return gate.Review{}, nil
	}
	p, err := s.Store.PolicyInForce(ctx)
	if err != nil {
		return gate.Review{}, fmt.Errorf("load policy: %w", err)
	}
	return p.Policy.ReviewOf(t.Mandate.Rules), nil
}

// session is who asks, as the broker sees a Ticket.
func (t *Ticket) session(language string) approvals.Session {
	return approvals.Session{
		ID: approvals.SessionID(t.ID), Title: t.Title, Short: t.Short(),
		Source: t.Mandate.Source, Thread: t.Mandate.Thread, Place: t.Mandate.Place,
		Anchor: t.Anchor, Direct: t.Direct, Requester: t.Mandate.Sender, Language: language, Executor: t.Executor,
		Guard: approvals.Guard{Kind: KindTicket, ID: string(t.ID), Version: t.Version},
	}
}
