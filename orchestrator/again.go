package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Unresolved counts the unavailable Decisions that still need somebody (EV-8).
func (s *Service) Unresolved(ctx context.Context) (n int, err error) {
	now := s.Now()
	err = s.unavailable(ctx, DecisionFilter{Outcome: Unavailable}, now.Add(-UnresolvedFor), func(d *Decision, m *Message) {
		if Unresolved(d, m, now) {
			n++
		}
	})
	return n, err
}

// unavailable calls do with the unavailable Decisions since oldest, and their
// messages as far as they are there.
func (s *Service) unavailable(ctx context.Context, f DecisionFilter, oldest time.Time, do func(*Decision, *Message)) error {
	for p := (Page{Limit: 200}); ; {
		list, next, err := s.Store.ListDecisions(ctx, f, p)
		if err != nil {
			return fmt.Errorf("list decisions: %w", err)
		}
		var w Want
		for i := range list {
			w.Messages = append(w.Messages, list[i].Trigger)
		}
		st, err := s.Store.Load(ctx, w)
		if err != nil {
			return fmt.Errorf("load triggers of decisions: %w", err)
		}
		for i := range list {
			d := &list[i]
			if m, ok := st.Messages[d.Trigger]; ok && d.Outcome == Unavailable && !d.At.Before(oldest) {
				do(d, &m)
			}
		}
		if p.Cursor = next; next == "" || list[len(list)-1].At.Before(oldest) {
			return nil
		}
	}
}

// EvaluateAgain sends what nobody decided on a Thread to the gate again (EV-9,
// PA-2). A *Refused says why nothing changed.
func (s *Service) EvaluateAgain(ctx context.Context, id gate.ThreadID, by string) error {
	var ids []gate.TriggerID
	// However old: nobody judged them (PA-2).
	err := s.unavailable(ctx, DecisionFilter{Thread: id, Outcome: Unavailable}, time.Time{}, func(d *Decision, m *Message) {
		if m.unjudged() {
			ids = append(ids, d.Trigger)
		}
	})
	if err != nil {
		return err
	}
	return s.command(ctx, Want{Threads: []gate.ThreadID{id}, Messages: ids}, func(st State, f Facts) (Changes, error) {
		return EvaluateAgain(st, id, ids, by, f)
	})
}

// Dismiss marks the unavailable Decisions of a Thread as seen (EV-9).
func (s *Service) Dismiss(ctx context.Context, id gate.ThreadID, by string) error {
	var seen []Decision
	err := s.unavailable(ctx, DecisionFilter{Thread: id, Outcome: Unavailable}, s.Now().Add(-attentionFor), func(d *Decision, _ *Message) {
		seen = append(seen, *d)
	})
	if err != nil {
		return err
	}
	return s.command(ctx, Want{Threads: []gate.ThreadID{id}}, func(st State, f Facts) (Changes, error) {
		return Dismiss(st, id, seen, by, f)
	})
}

// SendToEval sends an owned follow-up to Eval (PA-1). A *Refused says why
// nothing changed.
func (s *Service) SendToEval(ctx context.Context, id gate.TriggerID, by string) error {
	return s.command(ctx, Want{Messages: []gate.TriggerID{id}}, func(st State, f Facts) (Changes, error) {
		return SendToEval(st, id, by, f)
	})
}

// command is a transaction of a transition that may refuse.
func (s *Service) command(ctx context.Context, want Want, step func(State, Facts) (Changes, error)) error {
	var refused error
	err := s.transact(ctx, want, func(st State, f Facts) Changes {
		var c Changes
		c, refused = step(st, f)
		return c
	})
	return errors.Join(refused, err)
}

// AckNoticesOf forgets notices by their Triggers (RO-7). Those that are no
// notice any more are left.
func (s *Service) AckNoticesOf(ctx context.Context, ids []gate.TriggerID) error {
	st, err := s.Store.Load(ctx, Want{Messages: ids})
	if err != nil {
		return fmt.Errorf("load triggers: %w", err)
	}
	seen := map[gate.ThreadID][]gate.TriggerID{}
	for _, m := range st.Messages {
		seen[m.Thread] = append(seen[m.Thread], m.ID)
	}
	for _, id := range sortedKeys(seen) {
		if err := s.AckNotices(ctx, id, seen[id]); err != nil {
			return fmt.Errorf("acknowledge notices of %s: %w", id, err)
		}
	}
	return nil
}

// FailEval records that the evaluation failed (EV-5).
func (s *Service) FailEval(ctx context.Context, id gate.EvalID, reason string) error {
	return s.transact(ctx, Want{Evals: []gate.EvalID{id}}, func(st State, f Facts) Changes {
		return FailEval(st, id, reason, f)
	})
}

// returnEval takes back what the driver did not get (EV-5). The Thread's claim
// stays with its holder.
func (s *Service) returnEval(ctx context.Context, id gate.EvalID) error {
	return s.transact(ctx, Want{Evals: []gate.EvalID{id}}, func(st State, f Facts) Changes {
		ch := ReturnEval(st, id, f)
		ch.Due = withoutLines(ch.Due, st.Evals[id].Thread)
		return ch
	})
}

// withoutLines leaves out that a Thread is due: who returns an Eval has the
// claim of the Thread that it goes by, and gives it up with the time to try
// again.
func withoutLines(due []approvals.Due, of gate.ThreadID) []approvals.Due {
	var rest []approvals.Due
	for _, d := range due {
		if !isLine(d.Kind) || d.Key != string(of) {
			rest = append(rest, d)
		}
	}
	return rest
}

// isLine reports whether a due kind is one of the lines of Evals.
func isLine(k approvals.DueKind) bool { return slices.Contains(evalLines, k) }
