package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// Commit implements orchestrator.States: one script, which checks everything
// and then writes everything, or nothing (RS-4).
func (s *Store) Commit(ctx context.Context, c orchestrator.Changes) error {
	if err := sound(&c); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	p, err := s.compile(&c)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	wake := ""
	if wakes(&c) {
		wake = s.keys.wake()
	}
	v, err := s.run(ctx, s.scripts.commit, p.keys, p.args(wake))
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if err := verdict(words(v)); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if wake != "" {
		s.wake.all()
	}
	return nil
}

// CommitQuestions implements approvals.Store.
func (s *Store) CommitQuestions(ctx context.Context, c approvals.Change) error {
	changes := orchestrator.Changes{Questions: c.Questions, Effects: c.Effects}
	if c.Guard.Kind != "" {
		changes.Read = []approvals.Guard{c.Guard}
	}
	return s.Commit(ctx, changes)
}

// compile writes the program of a commit. The order is the contract: rows of
// the claimed list, then the claim is given back, then cancels, then new work.
// What hangs on a Ticket comes before it, since the Ticket gives it its life.
func (s *Store) compile(c *orchestrator.Changes) (*program, error) {
	p := newProgram(s.keys.operation(rand.Text()))
	if c.Claim != nil {
		p.check("claim", p.key(s.keys.claims()), claimField(c.Claim.Kind, c.Claim.Key), c.Claim.Token)
	}
	for _, g := range c.Read {
		p.check("version", p.key(s.keys.record(g.Kind, g.ID)), g.Version)
	}
	for _, step := range []func(*program, *orchestrator.Changes) error{
		s.inputs, s.appended, s.tallies, s.logins, s.records, s.decisions, s.claimed, s.effects,
	} {
		if err := step(p, c); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// wakes reports whether a commit may have made something due.
func wakes(c *orchestrator.Changes) bool {
	return len(c.Out)+len(c.Due) > 0 || (c.Claim != nil && !c.Keep)
}

// verdict turns the script's answer into an error.
func verdict(answer []string) error {
	answer = append(answer, "", "")
	switch answer[0] {
	case "ok":
		return nil
	case "conflict":
		return fmt.Errorf("%s: %w", answer[1], orchestrator.ErrConflict)
	case "newer":
		return fmt.Errorf("%s: %w", answer[1], orchestrator.ErrNewer)
	case "lost":
		return orchestrator.ErrLostClaim
	}
	return fmt.Errorf("unexpected answer %q of the script", answer[0])
}

// sound refuses Changes that cannot be kept.
func sound(c *orchestrator.Changes) error {
	if len(c.SentIDs)+len(c.Retried) > 0 && (c.Claim == nil || c.Claim.Kind != orchestrator.DueOutbox) {
		return errors.New("sent rows without a claimed lane")
	}
	if len(c.Took) > 0 && (c.Claim == nil || c.Claim.Kind != orchestrator.DueInbox) {
		return errors.New("taken arrivals without a claimed partition")
	}
	for _, o := range c.Out {
		if o.ID == "" || o.Lane == "" {
			return errors.New("outgoing without id or lane")
		}
	}
	for _, g := range c.Read {
		if !guardable(g.Kind) {
			return fmt.Errorf("no records of kind %q", g.Kind)
		}
	}
	return actsOnce(c.Acts)
}

// actsOnce refuses two acts of one key in one commit (AC-1).
func actsOnce(acts []orchestrator.Act) error {
	for i, a := range acts {
		for _, b := range acts[:i] {
			if a.Ticket == b.Ticket && a.Key == b.Key {
				return fmt.Errorf("act %s of %s: %w", a.Key, a.Ticket, orchestrator.ErrConflict)
			}
		}
	}
	return nil
}

func guardable(kind string) bool {
	switch kind {
	case orchestrator.KindThread, orchestrator.KindTicket, orchestrator.KindMessage, orchestrator.KindEval,
		orchestrator.KindChat, orchestrator.KindReach, orchestrator.KindQuestion, orchestrator.KindPolicy:
		return true
	}
	return false
}
