package orchestrator

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// DueReread: news Key tells only that there was an edit; the message is to be
// read back from the platform.
const DueReread approvals.DueKind = "reread"

// Rereader reads a message back from its platform. It returns a
// *gate.SendError that says whether trying again can help.
type Rereader interface {
	// Reread returns the message as it reads now; false when it is not there
	// any more, or is none that we may read.
	Reread(ctx context.Context, t gate.Trigger) (gate.Trigger, bool, error)
}

// meant finds the message that news is of, and gives the news that message's
// lane (TH-1). It reports false where nothing can follow from it: an edit of
// what was never stored and still does not address the agent; and whatever
// happens to what the gateway said itself, or to what was taken back before it
// came.
func (s *Service) meant(ctx context.Context, a *gate.Arrival) (bool, error) {
	if a.Change.Kind == gate.ChangePassed {
		return s.passes(ctx, &a.Trigger)
	}
	if len(a.Change.Reach) > 0 { // news of a place counts whatever else it brings
		return true, nil
	}
	id, err := s.Store.Known(ctx, gate.MessageKey(a.Trigger.Source, a.Trigger.IDs.Message))
	switch {
	case errors.Is(err, ErrNotFound):
		return a.Change.Kind == gate.ChangeRecall || a.Change.Adds || a.Change.Reread, nil
	case err != nil:
		return false, fmt.Errorf("find the changed message: %w", err)
	case id == "":
		return false, nil
	}
	st, err := s.Store.Load(ctx, Want{Messages: []gate.TriggerID{id}})
	if err != nil {
		return false, fmt.Errorf("load trigger %s: %w", id, err)
	}
	switch m := st.Messages[id]; {
	case m.Addressing == gate.Direct:
		a.Lane = DirectLane(m.Source, m.Place.Chat)
	case m.Thread != "":
		a.Lane = string(m.Thread)
	}
	return true, nil
}

// arriveChange takes news of a message out of a claimed inbox partition. What
// has to be read back first becomes work of its own: the platform must not hold
// up a partition.
func (s *Service) arriveChange(ctx context.Context, n *Message, c Claim) error {
	if err := s.reached(ctx, n); err != nil {
		return err
	}
	if n.Change.Reread {
		return s.Store.Commit(ctx, Changes{
			Claim: &c, Keep: true, Took: []gate.TriggerID{n.ID},
			Effects: approvals.Effects{Due: []approvals.Due{{Kind: DueReread, Key: string(n.ID), At: s.Now()}}},
		})
	}
	return s.changed(ctx, n, Changes{Claim: &c, Keep: true, Took: []gate.TriggerID{n.ID}})
}

// changed carries news out; of says what of the claimed work is done by it. A
// recall of what is not known leaves a mark first, and looks again: whatever
// came between has its Trigger by then, and whatever comes later is a duplicate
// (TR-4a).
func (s *Service) changed(ctx context.Context, n *Message, done Changes) error {
	key := gate.MessageKey(n.Source, n.IDs.Message)
	id, err := s.Store.Known(ctx, key)
	if errors.Is(err, ErrNotFound) && n.Change.Kind == gate.ChangeRecall {
		mark := Changes{Claim: done.Claim, Keep: true, Names: []Name{overtaken(n.Source, n.IDs.Message)}}
		if err := s.Store.Commit(ctx, mark); err != nil {
			return fmt.Errorf("mark a recalled message: %w", err)
		}
		id, err = s.Store.Known(ctx, key)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("find the changed message: %w", err)
	}
	return s.transact(ctx, Want{Messages: []gate.TriggerID{n.ID, id}}, func(st State, f Facts) Changes {
		ch := Changed(st, n.ID, id, f)
		ch.Claim, ch.Keep, ch.Took = done.Claim, done.Keep, done.Took
		return ch
	})
}

// HandleReread reads an edited message back and carries the edit out (TR-4).
func (s *Service) HandleReread(ctx context.Context, c Claim) error {
	id := gate.TriggerID(c.Key)
	st, err := s.Store.Load(ctx, Want{Messages: []gate.TriggerID{id}})
	if err != nil {
		return fmt.Errorf("load trigger %s: %w", id, err)
	}
	n, ok := st.Messages[id]
	switch {
	case !ok || n.State != StateReceived:
		return s.giveUp(ctx, c)
	case n.Change.Reread:
		there, err := s.reread(ctx, &n, c)
		if err != nil {
			return err
		}
		if !there {
			return s.giveUp(ctx, c)
		}
	}
	return s.changed(ctx, &n, Changes{Claim: &c})
}

// reread puts what the message reads now into the row that brought the news.
func (s *Service) reread(ctx context.Context, n *Message, c Claim) (there bool, err error) {
	from := s.Rereaders[n.Source]
	if from == nil {
		return false, nil
	}
	now, there, err := from.Reread(ctx, n.Trigger)
	reason, never := dropped(err)
	switch {
	case never:
		s.Log.WarnContext(ctx, "edit not read back", "source", n.Source, "trigger", n.ID, "reason", reason)
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read trigger %s back: %w", n.ID, err)
	case !there:
		return false, nil
	}
	n.reads(&now)
	return true, s.Store.Commit(ctx, Changes{Claim: &c, Keep: true, Messages: []Message{*n}})
}
