package orchestrator

import (
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// destination is where something is said: in a Thread, as a reply to a
// platform message.
type destination struct {
	source  gate.SourceID
	thread  gate.ThreadID
	place   gate.Place
	message string
	direct  bool
}

// reply is where an answer to the message goes (OUT-2).
func (m *Message) reply() destination {
	return destination{
		source: m.Source, thread: m.Thread, place: m.Place, message: m.IDs.Message,
		direct: m.Addressing == gate.Direct,
	}
}

// home is the Mandate's Thread, where a Ticket answers by default.
func (t *Ticket) home() destination {
	return destination{
		source: t.Mandate.Source, thread: t.Mandate.Thread, place: t.Mandate.Place,
		message: t.Anchor, direct: t.Direct,
	}
}

// outgoing makes a row of the outbox in the Thread's lane.
func (d destination) outgoing(kind gate.OutgoingKind, id string, now time.Time) gate.Outgoing {
	return gate.Outgoing{
		ID: id, Kind: kind, Lane: string(d.thread), Source: d.source, Thread: d.thread,
		Place: d.place, Message: d.message, Direct: d.direct, CreatedAt: now,
	}
}
