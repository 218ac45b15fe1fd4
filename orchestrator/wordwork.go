package orchestrator

import (
	"context"
	"fmt"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// maxNamed bounds how many Tickets one command looks at.
const maxNamed = 50

// commandedOn names the Tickets that a command is about beside those of its
// Thread.
func (s *Service) commandedOn(ctx context.Context, m *Message) (ids []gate.TicketID, err error) {
	c, ok := m.command()
	if !ok || c.word != TicketStatus && (c.word != StopTicket || c.ticket == "") {
		return nil, nil
	}
	err = s.eachActive(ctx, func(t *Ticket) error {
		if c.about(m, t) && len(ids) < maxNamed {
			ids = append(ids, t.ID)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find the tickets of a command: %w", err)
	}
	return ids, nil
}
