package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Sender sends one Outgoing to its platform. It returns a *gate.SendError that
// says what to do with the row; any other error is tried again.
type Sender interface {
	Send(ctx context.Context, o gate.Outgoing) (gate.Sent, error)
}

// Outbox sends what the gateway says, lane by lane (OUT-1, OUT-2).
type Outbox struct {
	Service *Service
	Senders map[gate.SourceID]Sender
	// Keep is how old a row gets before it is dropped with its reason. One that
	// was held up that long, since its Source was off or no gateway ran, is tried
	// leastTries times all the same (OUT-1, OUT-3).
	Keep time.Duration
}

const (
	outboxBatch = 16
	leastTries  = 5
)

// Handle sends the rows of one lane in their order until it is empty or a row
// has to wait. Other lanes go on meanwhile.
func (o *Outbox) Handle(ctx context.Context, c Claim) error {
	s := o.Service
	for {
		rows, err := s.Store.Outbox(ctx, c, outboxBatch)
		if err != nil {
			return fmt.Errorf("read outbox lane: %w", err)
		}
		if len(rows) == 0 {
			return s.giveUp(ctx, c)
		}
		for _, row := range rows {
			wait, err := o.send(ctx, c, row)
			if err != nil || wait {
				return err
			}
		}
	}
}

// send sends one row and records what came of it; wait says that the lane must
// rest, and that the claim was given up.
func (o *Outbox) send(ctx context.Context, c Claim, row gate.Outgoing) (wait bool, err error) {
	s := o.Service
	if now := s.Now(); row.NotBefore.After(now) {
		return true, s.Store.Commit(ctx, Changes{Claim: &c, Next: row.NotBefore})
	}
	src, sender := s.Sources[row.Source], o.Senders[row.Source]
	switch {
	case src == nil || sender == nil:
		return false, o.dropped(ctx, c, row, "its source is not configured any more")
	case !src.Enabled: // replies wait while a Source is off (OUT-3)
		return true, s.Store.Commit(ctx, Changes{Claim: &c, Next: s.Now().Add(lastRetry)})
	}
	if why, err := s.unsaid(ctx, src, row.Thread); err != nil {
		return false, err
	} else if why != "" {
		return false, o.dropped(ctx, c, row, why)
	}
	sent, err := sender.Send(ctx, row)
	if err == nil {
		return false, o.sent(ctx, c, row, sent)
	}
	return o.failed(ctx, c, row, err)
}

// unsaid returns why nothing is said on a Thread, or "": the Source does not
// listen to it any more (OUT-3), or it cannot be reached (EN-5). Where nothing
// was said on it, the configuration chose the place.
func (s *Service) unsaid(ctx context.Context, src *gate.Source, id gate.ThreadID) (string, error) {
	if id == "" {
		return "", nil
	}
	st, err := s.Store.Load(ctx, Want{Threads: []gate.ThreadID{id}, Reaches: id.Places()})
	if err != nil {
		return "", fmt.Errorf("load thread %s: %w", id, err)
	}
	if th := st.Threads[id]; th.Scope != "" && !src.ListensTo(th.Scope, th.Place) {
		return "its source does not listen there any more", nil
	}
	return st.lost(id), nil
}

// sent records a success: the row goes, the echo of the message is known
// (TR-3), and a question knows where it is shown and up to date (CA-6, DE-9).
func (o *Outbox) sent(ctx context.Context, c Claim, row gate.Outgoing, sent gate.Sent) error {
	s := o.Service
	for range commitTries {
		ch := Changes{Claim: &c, Keep: true, SentIDs: []string{row.ID}}
		if sent.Message != "" {
			ch.Seen = []string{gate.MessageKey(row.Source, sent.Message)}
		}
		if err := s.shown(ctx, &ch, row, sent); err != nil {
			return err
		}
		if err := s.noticed(ctx, &ch, row, sent); err != nil {
			return err
		}
		err := s.Store.Commit(ctx, ch)
		if !errors.Is(err, ErrConflict) {
			s.Log.InfoContext(ctx, "sent", "source", row.Source, "thread", row.Thread, "kind", row.Kind,
				"ticket", row.Ticket, "question", row.Question)
			return err
		}
	}
	return fmt.Errorf("record sent %s: %w", row.ID, ErrConflict)
}

// shown notes on the question that a card shows it, or shows its end. One that
// is forgotten by now needs no note.
func (s *Service) shown(ctx context.Context, ch *Changes, row gate.Outgoing, sent gate.Sent) error {
	asks := row.Kind == gate.OutCard && sent.Message != ""
	if !asks && row.Kind != gate.OutCardUpdate {
		return nil
	}
	q, err := s.Store.Question(ctx, approvals.ID(row.Question))
	switch {
	case errors.Is(err, approvals.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("load question %s: %w", row.Question, err)
	}
	var effects approvals.Effects
	if asks {
		q, effects = approvals.Presented(q, approvals.Message{Source: row.Source, Chat: sent.Chat, Message: sent.Message}, s.Now())
	} else {
		q = approvals.Updated(q, approvals.Message{Source: row.Source, Chat: row.Place.Chat, Message: row.Message}, s.Now())
	}
	ch.Questions = []approvals.Question{q}
	ch.Add(effects)
	return nil
}

// noticed notes on the Ticket which message tells of it and offers to stop it.
func (s *Service) noticed(ctx context.Context, ch *Changes, row gate.Outgoing, sent gate.Sent) error {
	if !row.Stop || row.Kind != gate.OutReply || sent.Message == "" {
		return nil
	}
	st, err := s.Store.Load(ctx, Want{Tickets: []gate.TicketID{row.Ticket}})
	if err != nil {
		return fmt.Errorf("load ticket %s: %w", row.Ticket, err)
	}
	t, ok := st.Tickets[row.Ticket]
	if !ok {
		return nil
	}
	if t, edits, changed := Noticed(t, sent, s.Settings, s.Now()); changed {
		ch.Tickets, ch.Out = []Ticket{t}, append(ch.Out, edits...)
	}
	return nil
}

// failed keeps the row for another try, or drops it with its reason.
func (o *Outbox) failed(ctx context.Context, c Claim, row gate.Outgoing, cause error) (wait bool, err error) {
	s := o.Service
	after, reason := time.Duration(0), "could not be sent"
	var refusal *gate.SendError
	if errors.As(cause, &refusal) {
		after, reason = refusal.After, refusal.Reason
		if refusal.Class == gate.SendDropped {
			return false, o.dropped(ctx, c, row, reason)
		}
	}
	if s.Now().Sub(row.CreatedAt) > o.Keep && row.Attempts >= leastTries {
		return false, o.dropped(ctx, c, row, "tried for too long: "+reason)
	}
	row.Attempts++
	row.LastError = reason
	after = max(after, min(lastRetry, time.Second<<min(row.Attempts, 10)))
	s.Log.WarnContext(ctx, "send failed", "source", row.Source, "thread", row.Thread, "kind", row.Kind,
		"reason", reason, "attempts", row.Attempts, "again_in", after)
	return true, s.Store.Commit(ctx, Changes{Claim: &c, Next: s.Now().Add(after), Retried: []gate.Outgoing{row}})
}

// dropped gives a row up and records why (OUT-3, EN-5). A question is asked
// elsewhere then; one that reaches nobody is unavailable (CA-7).
func (o *Outbox) dropped(ctx context.Context, c Claim, row gate.Outgoing, reason string) error {
	s := o.Service
	s.Log.ErrorContext(ctx, "reply dropped", "source", row.Source, "thread", row.Thread, "kind", row.Kind, "reason", reason)
	for range commitTries {
		ch := Changes{Claim: &c, Keep: true, SentIDs: []string{row.ID}}
		ch.Log = append(ch.Log, approvals.Record{
			Type: "outgoing.dropped", At: s.Now(), Session: approvals.SessionID(row.Ticket),
			Data: map[string]any{"id": row.ID, "kind": row.Kind, "thread": row.Thread, "reason": reason},
		})
		if row.Kind == gate.OutCard {
			if err := s.unreachable(ctx, &ch, row, reason); err != nil {
				return err
			}
		}
		if err := s.Store.Commit(ctx, ch); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("record dropped %s: %w", row.ID, ErrConflict)
}

func (s *Service) unreachable(ctx context.Context, ch *Changes, row gate.Outgoing, reason string) error {
	q, err := s.Store.Question(ctx, approvals.ID(row.Question))
	switch {
	case errors.Is(err, approvals.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("load question %s: %w", row.Question, err)
	case q.Status.Terminal():
		return nil
	}
	lost, err := s.lost(ctx, s.Settings.Rooms.Thread())
	if err != nil {
		return err
	}
	moved, effects := approvals.Unreached(q, row.ID, reason, s.Settings.rooms(lost), s.Now())
	ch.Questions = []approvals.Question{moved}
	ch.Add(effects)
	return nil
}
