package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// PolicyQuery is a message that might be said: what the gate would make of it.
type PolicyQuery struct {
	Source     gate.SourceID
	Scope      gate.Scope
	Sender     gate.Sender
	Addressing gate.Addressing
	// Thread, if it is known, brings in the Tickets that stand on it.
	Thread gate.ThreadID
}

// trigger is the message that is asked about.
func (q PolicyQuery) trigger() gate.Trigger {
	t := gate.Trigger{
		Source: q.Source, Scope: q.Scope, Thread: q.Thread, Sender: q.Sender, Addressing: q.Addressing,
		Kind: gate.KindMessage,
	}
	if q.Sender.Kind == gate.NoSender {
		t.Kind = gate.KindCI
	}
	return t
}

// ExplainWith is the gate's working for a message on a Thread without Tickets,
// by a Policy alone: entries of a list that need a look-up name nobody, and
// logins name who has them today.
func ExplainWith(q PolicyQuery, src *gate.Source, p *gate.Policy) (Admission, []gate.Step) {
	t := q.trigger()
	who := q.Sender
	if src != nil && src.Platform == gate.GitHub {
		who = ByLogin(nil, who)
	}
	v, steps := gate.Explain(&t, src, p, gate.NoTicket, ListsOf(p, nil, q.Source, who))
	return Admission{Verdict: v, PolicyVersion: p.Version}, steps
}

// Explain is the gate's working for a message, by the Policy in force, today's
// lists and the Tickets of its Thread. It changes nothing.
func (s *Service) Explain(ctx context.Context, q PolicyQuery) (Admission, []gate.Step, error) {
	var want Want
	if q.Thread != "" {
		want.Threads = []gate.ThreadID{q.Thread}
	}
	st, f, err := s.load(ctx, want)
	if err != nil {
		return Admission{}, nil, err
	}
	standing := gate.NoTicket
	w := begin(st, f.Facts)
	if th := w.threads[q.Thread]; th != nil {
		standing = w.standing(th)
	}
	t := q.trigger()
	v, steps := gate.Explain(&t, s.Sources[q.Source], f.Policy, standing, s.Directory.Lists(ctx, q.Source, q.Sender))
	return Admission{Verdict: v, PolicyVersion: f.Policy.Version}, steps, nil
}

// Differs is a message that another Policy would have admitted otherwise.
type Differs struct {
	Trigger       gate.TriggerID
	Thread        gate.ThreadID
	Before, After Admission
}

// Backtest is what a proposed Policy would have changed (PV-8).
type Backtest struct {
	// Considered are the messages that the gate was asked about.
	Considered int
	Changed    []Differs
}

// Backtest runs a proposed Policy over the messages received since, and
// compares it with the Policy in force; limits and look-ups at the platform
// are left out of both: a login that is not bound yet names who had it. It
// changes nothing.
func (s *Service) Backtest(ctx context.Context, p gate.Policy, since time.Time) (Backtest, error) {
	rec, err := s.Store.PolicyInForce(ctx)
	if err != nil {
		return Backtest{}, fmt.Errorf("load policy: %w", err)
	}
	bound := map[gate.SourceID]map[string]string{}
	for id, src := range s.Sources {
		if src.Platform != gate.GitHub {
			continue
		}
		if bound[id], err = s.Store.Logins(ctx, id); err != nil {
			return Backtest{}, err
		}
	}
	var b Backtest
	for page := (Page{Limit: scanPage}); ; {
		messages, next, err := s.Store.ListMessages(ctx, MessageFilter{}, page)
		if err != nil {
			return Backtest{}, fmt.Errorf("list triggers: %w", err)
		}
		for i := range messages {
			if messages[i].ReceivedAt.Before(since) {
				return b, nil
			}
			m := &messages[i]
			who := m.Sender
			if logins, ok := bound[m.Source]; ok {
				who = ByLogin(logins, who)
			}
			b.try(m, who, s.Sources[m.Source], &rec.Policy, &p)
		}
		if next == "" {
			return b, nil
		}
		page.Cursor = next
	}
}

// try compares what two Policies make of a message that the gate was asked
// about.
func (b *Backtest) try(m *Message, who gate.Sender, src *gate.Source, old, next *gate.Policy) {
	if m.Admission.Rule == "" {
		return
	}
	b.Considered++
	admit := func(p *gate.Policy) Admission {
		v := gate.Admit(&m.Trigger, src, p, m.Standing, ListsOf(p, nil, m.Source, who))
		return Admission{Verdict: v, PolicyVersion: p.Version}
	}
	before, after := admit(old), admit(next)
	if before.Strength != after.Strength || before.Basis != after.Basis {
		b.Changed = append(b.Changed, Differs{Trigger: m.ID, Thread: m.Thread, Before: before, After: after})
	}
}

// PolicyRecord returns the Policy in force and where it came from.
func (s *Service) PolicyRecord(ctx context.Context) (PolicyRecord, error) {
	rec, err := s.Store.PolicyInForce(ctx)
	if errors.Is(err, ErrNotFound) {
		return rec, fmt.Errorf("no policy yet: %w", ErrUnavailable)
	}
	return rec, err
}
