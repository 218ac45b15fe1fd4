package orchestrator

import (
	"context"
	"fmt"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// StopByClick carries out StopClicked, under today's lists. An error means that
// we do not know whether the Ticket was stopped.
func (s *Service) StopByClick(ctx context.Context, c gate.StopClick) (gate.StopAnswer, error) {
	by := gate.Answerer{
		Source: c.Source, Who: c.Who, Lists: s.Directory.Lists(ctx, c.Source, c.Who), Linked: s.Links.Of(c.Source, c.Who),
	}
	var a gate.StopAnswer
	err := s.transact(ctx, Want{Tickets: []gate.TicketID{c.Ticket}}, func(st State, f Facts) Changes {
		var ch Changes
		ch, a = StopClicked(st, c, by, f)
		return ch
	})
	if err != nil {
		return gate.StopAnswer{}, fmt.Errorf("stop ticket %s: %w", c.Ticket, err)
	}
	s.Log.InfoContext(ctx, "stop clicked", "ticket", c.Ticket, "source", c.Source, "sender", c.Who.ID, "verdict", a.Result)
	return a, nil
}
