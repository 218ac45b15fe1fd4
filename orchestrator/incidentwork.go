package orchestrator

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

const (
	// DueWitness: CI told Trigger Key, and its branch is to be looked at first.
	DueWitness approvals.DueKind = "witness"
	// DueIncidents: Thread Key may have red workflows that are green by now.
	DueIncidents approvals.DueKind = "incidents"
)

// Witness looks at a Source's CI (GH-3). Both return a *gate.SendError that says
// whether trying again can help.
type Witness interface {
	// Look returns the Trigger with the Top of its Run, and of a red one with the
	// failing jobs and the tail of their logs, as far as they can be read.
	Look(ctx context.Context, t gate.Trigger) (gate.Trigger, error)
	// Green returns those of the runs whose workflow is green at the head of
	// their branch, each as the run that is.
	Green(ctx context.Context, place gate.Place, red []gate.Run) ([]gate.Run, error)
}

// passes reports whether anything can follow from a green run: its workflow is
// red. Of a red one that is not dealt with yet the sweep will see that it is
// green.
func (s *Service) passes(ctx context.Context, t *gate.Trigger) (bool, error) {
	st, err := s.Store.Load(ctx, Want{Threads: []gate.ThreadID{t.Thread}})
	if err != nil {
		return false, fmt.Errorf("load thread %s: %w", t.Thread, err)
	}
	th := st.Threads[t.Thread]
	in := th.incident(t.Run.Workflow)
	return in != nil && in.open(s.Now()), nil
}

// arriveUnseen takes what CI told out of a claimed inbox partition: the platform
// must not hold up a partition.
func (s *Service) arriveUnseen(ctx context.Context, m *Message, c Claim) error {
	return s.Store.Commit(ctx, Changes{
		Claim: &c, Keep: true, Took: []gate.TriggerID{m.ID},
		Effects: approvals.Effects{Due: []approvals.Due{{Kind: DueWitness, Key: string(m.ID), At: s.Now()}}},
	})
}

// HandleWitness looks at the branch of what CI told and carries it out (GH-3).
func (s *Service) HandleWitness(ctx context.Context, c Claim) error {
	id := gate.TriggerID(c.Key)
	st, err := s.Store.Load(ctx, Want{Messages: []gate.TriggerID{id}})
	if err != nil {
		return fmt.Errorf("load trigger %s: %w", id, err)
	}
	m, ok := st.Messages[id]
	if !ok || m.State != StateReceived || m.Run == nil {
		return s.giveUp(ctx, c)
	}
	if m.Run.Top == "" {
		if err := s.look(ctx, &m, c); err != nil {
			return err
		}
	}
	return s.transact(ctx, Want{Messages: []gate.TriggerID{id}}, func(st State, f Facts) Changes {
		ch := Witnessed(st, id, f)
		ch.Claim = &c
		return ch
	})
}

// look puts what was seen into the row. Where the platform will never tell, the
// run counts as one of its branch's head: a failure is told rather than lost.
func (s *Service) look(ctx context.Context, m *Message, c Claim) error {
	seen := m.Trigger
	if from := s.Witnesses[m.Source]; from != nil {
		var err error
		seen, err = from.Look(ctx, m.Trigger)
		if refused, ok := dropped(err); ok {
			s.Log.WarnContext(ctx, "ci not looked at", "source", m.Source, "trigger", m.ID, "reason", refused)
			seen = m.Trigger
		} else if err != nil {
			return fmt.Errorf("look at the CI of trigger %s: %w", m.ID, err)
		}
	}
	run := *seen.Run
	if run.Top == "" {
		run.Top = run.Head
	}
	m.Text, m.Plain, m.Run = seen.Text, seen.Plain, &run
	if err := s.Store.Commit(ctx, Changes{Claim: &c, Keep: true, Messages: []Message{*m}}); err != nil {
		return fmt.Errorf("keep what CI says of trigger %s: %w", m.ID, err)
	}
	return nil
}

// dropped reports why the platform will never do what it was asked for.
func dropped(err error) (reason string, ok bool) {
	var refusal *gate.SendError
	if errors.As(err, &refusal) && refusal.Class == gate.SendDropped {
		return refusal.Reason, true
	}
	return "", false
}

// HandleIncidents closes the incidents of a branch that are over (GH-3).
func (s *Service) HandleIncidents(ctx context.Context, c Claim) error {
	id := gate.ThreadID(c.Key)
	st, err := s.Store.Load(ctx, Want{Threads: []gate.ThreadID{id}})
	if err != nil {
		return fmt.Errorf("load thread %s: %w", id, err)
	}
	th, ok := st.Threads[id]
	if !ok {
		return s.giveUp(ctx, c)
	}
	var green []gate.Run
	from, red := s.Witnesses[th.Source], th.Red(s.Now())
	if src := s.Sources[th.Source]; from != nil && len(red) > 0 && src != nil && src.Enabled {
		if green, err = from.Green(ctx, th.Place, red); err != nil {
			s.Log.WarnContext(ctx, "ci not swept", "source", th.Source, "thread", id, "err", err)
		}
	}
	return s.transact(ctx, Want{Threads: []gate.ThreadID{id}}, func(st State, f Facts) Changes {
		ch := Swept(st, id, green, f)
		ch.Claim = &c
		return ch
	})
}
