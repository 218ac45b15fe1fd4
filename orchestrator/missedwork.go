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

// DueMissed: Source Key is to be searched for deliveries that were missed
// (GH-8). The claim lets one replica do so at a time.
const DueMissed approvals.DueKind = "missed"

// Redeliverer searches a Source's platform for deliveries that it could not
// make, and has them made again (GH-8).
type Redeliverer interface {
	// Redeliver leaves out what known says was dealt with already, and what would
	// come to nothing. Its error is a *gate.SendError, or that of known.
	Redeliver(ctx context.Context, s gate.Search, known func(context.Context, string) (bool, error)) (gate.Found, error)
}

// SearchMissed makes every Source that can be searched due now: on start.
func (s *Service) SearchMissed(ctx context.Context) error {
	var c Changes
	for _, id := range sortedKeys(s.Redeliverers) {
		c.Due = append(c.Due, approvals.Due{Kind: DueMissed, Key: string(id), At: s.Now()})
	}
	if len(c.Due) == 0 {
		return nil
	}
	return s.Store.Commit(ctx, c)
}

// HandleMissed searches a Source from where the last search came to (GH-8). It
// can be interrupted at any time: what was asked for is known by its GUID when
// it comes again.
func (s *Service) HandleMissed(ctx context.Context, c Claim) error {
	source := gate.SourceID(c.Key)
	from, src := s.Redeliverers[source], s.Sources[source]
	if from == nil {
		return s.giveUp(ctx, c)
	}
	next := Changes{Claim: &c, Next: s.Now().Add(s.Settings.missedEvery())}
	if src == nil || !src.Enabled { // what is sent to it now is dropped on purpose (OUT-3)
		return s.Store.Commit(ctx, next)
	}
	members, err := s.Store.Members(ctx, Counts{Set: searchedSet(source)}, Counts{Set: askedSet(source), After: s.Now().Add(-gapsFor)})
	if err != nil {
		return fmt.Errorf("read how far source %s was searched: %w", source, err)
	}
	ask := searchFrom(members[0], s.Now())
	found, err := s.search(ctx, source, ask, members[1])
	if reason, never := dropped(err); never {
		s.Log.WarnContext(ctx, "missed deliveries not searched", "source", source, "reason", reason)
		return s.Store.Commit(ctx, next)
	}
	if err != nil {
		return err
	}
	done := searched(source, ask, found, s.Now())
	done.Claim, done.Next = next.Claim, next.Next
	return s.Store.Commit(ctx, done)
}

// Redeliver searches a Source as far back as an operator says, whatever was
// searched before. ErrNotFound: it is no Source that can be searched.
func (s *Service) Redeliver(ctx context.Context, source gate.SourceID, since time.Time) (gate.Gap, error) {
	if s.Redeliverers[source] == nil {
		return gate.Gap{}, ErrNotFound
	}
	found, err := s.search(ctx, source, gate.Search{Since: since}, nil)
	if err != nil || found.Gap.Found == 0 {
		return found.Gap, err
	}
	found.Came = nil // the next search by itself goes on from where the last came to
	return found.Gap, s.Store.Commit(ctx, searched(source, gate.Search{}, found, s.Now()))
}

// search leaves out what was taken in, and what was asked for before: a delivery
// that fails again is left to an operator.
func (s *Service) search(ctx context.Context, source gate.SourceID, ask gate.Search, asked []Member) (gate.Found, error) {
	known := func(ctx context.Context, guid string) (bool, error) {
		if slices.ContainsFunc(asked, func(m Member) bool { return m.ID == guid }) {
			return true, nil
		}
		_, err := s.Store.Known(ctx, gate.DeliveryKey(source, guid))
		if errors.Is(err, ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
	found, err := s.Redeliverers[source].Redeliver(ctx, ask, known)
	if err != nil {
		return gate.Found{}, fmt.Errorf("search source %s for missed deliveries: %w", source, err)
	}
	if gap := found.Gap; gap.Found > 0 {
		s.Log.InfoContext(ctx, "missed deliveries", "source", source, "from", gap.From, "to", gap.To, "found", gap.Found, "replayed", gap.Replayed)
	}
	return found, nil
}

// Gaps are what the searches of a Source found within a week, the latest first.
func (s *Service) Gaps(ctx context.Context, source gate.SourceID) ([]gate.Gap, error) {
	members, err := s.Store.Members(ctx, Counts{Set: gapsSet(source), After: s.Now().Add(-gapsFor)})
	if err != nil {
		return nil, fmt.Errorf("read the gaps of source %s: %w", source, err)
	}
	return readGaps(members[0]), nil
}
