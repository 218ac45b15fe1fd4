package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// DueReach: something changed in where the gateway can speak in Source Key; its
// Tickets are to be told (EN-5).
const DueReach approvals.DueKind = "reach"

// reachStep is how many places one commit records.
const reachStep = 50

// reached records the places that news brings. It can be begun again: what is
// known already changes nothing.
func (s *Service) reached(ctx context.Context, n *Message) error {
	for part := range slices.Chunk(n.Change.Reach, reachStep) {
		want := Want{}
		for _, r := range part {
			want.Reaches = append(want.Reaches, r.Place, gate.PlaceID(r.Place.Source()))
		}
		err := s.transact(ctx, want, func(st State, f Facts) Changes { return Reached(st, part, n.OccurredAt, f) })
		if err != nil {
			return fmt.Errorf("record what can be reached: %w", err)
		}
	}
	return nil
}

// HandleReach tells the active Tickets of a Source what can be reached, one by
// one. It can be interrupted and begun again at any time: each knows what it
// was told. A Ticket that is accepted meanwhile looks by itself.
func (s *Service) HandleReach(ctx context.Context, c Claim) error {
	whole := gate.PlaceID(c.Key)
	for {
		st, err := s.Store.Load(ctx, Want{Reaches: []gate.PlaceID{whole}})
		if err != nil {
			return fmt.Errorf("load source %s: %w", whole, err)
		}
		if err := s.eachActive(ctx, func(t *Ticket) error { return s.lookAround(ctx, t, whole.Source()) }); err != nil {
			return err
		}
		err = s.giveUp(ctx, c, approvals.Guard{Kind: KindReach, ID: string(whole), Version: st.Reaches[whole].Version})
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
}

func (s *Service) lookAround(ctx context.Context, t *Ticket, source gate.SourceID) error {
	within := func(id gate.ThreadID) bool { return gate.PlaceID(id).Source() == source }
	if !slices.ContainsFunc(t.ownThreads(), within) {
		return nil
	}
	err := s.transact(ctx, Want{
		Tickets: []gate.TicketID{t.ID}, Reaches: s.Settings.Rooms.Thread().Places(),
	}, func(st State, f Facts) Changes { return LookAround(st, t.ID, f) })
	if err != nil {
		return fmt.Errorf("tell %s what can be reached: %w", t.ID, err)
	}
	return nil
}

// lost returns why the gateway cannot speak on a Thread, or "".
func (s *Service) lost(ctx context.Context, id gate.ThreadID) (string, error) {
	st, err := s.Store.Load(ctx, Want{Reaches: id.Places()})
	if err != nil {
		return "", fmt.Errorf("load what can be reached: %w", err)
	}
	return st.lost(id), nil
}
