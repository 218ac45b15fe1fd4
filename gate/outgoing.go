package gate

import "time"

// OutgoingKind is what an Outgoing makes the adapter do.
type OutgoingKind string

// What the gateway says.
const (
	// OutReply says Text in the Thread.
	OutReply OutgoingKind = "reply"
	// OutCard asks the Question as a card in the Thread.
	OutCard OutgoingKind = "card"
	// OutCardUpdate brings the card Message of the Question up to date.
	OutCardUpdate OutgoingKind = "card_update"
	// OutStatus brings Message, which tells of a Ticket, up to date.
	OutStatus OutgoingKind = "status"
	// OutReact puts the Reaction on Message.
	OutReact OutgoingKind = "react"
)

// Reaction is a meaning; the adapter has the platform's emoji for it.
type Reaction string

// The reactions (OUT-4, OUT-6). The last two tell how a Ticket ended (GH-7).
const (
	ReactReceived Reaction = "received"
	ReactRefused  Reaction = "refused"
	ReactDone     Reaction = "done"
	ReactFailed   Reaction = "failed"
)

// Outgoing is one thing that the gateway says: a row of the outbox, sent at
// least once and made effectively once by its ID (OUT-1).
type Outgoing struct {
	// ID is a UUID derived from the intent, so that the same intent has the
	// same id, and the platform can tell a repeat.
	ID   string       `json:"id"`
	Kind OutgoingKind `json:"kind"`
	// Lane orders: rows of one Lane are sent one after another (OUT-2).
	Lane   string   `json:"lane"`
	Source SourceID `json:"source"`
	Thread ThreadID `json:"thread"`
	Place  Place    `json:"place"`
	// Message is the platform message that is replied to, reacted to or
	// updated.
	Message string `json:"message,omitempty"`
	// Direct: the Place is a DM, where there are no topics.
	Direct bool   `json:"direct,omitempty"`
	Text   string `json:"text,omitempty"`
	// Progress is what the Executor reported last, beside the gateway's Text.
	Progress string `json:"progress,omitempty"`
	// Stop: the message offers to stop the Ticket, where the platform has
	// buttons (ST-2).
	Stop     bool     `json:"stop,omitempty"`
	Reaction Reaction `json:"reaction,omitempty"`
	// Question is the id of the approvals row that a card shows, always in
	// its latest state.
	Question string   `json:"question,omitempty"`
	Ticket   TicketID `json:"ticket,omitempty"`
	// Mention is the person that the message calls, or nobody.
	Mention Sender `json:"mention,omitzero"`
	// Others are called beside Mention.
	Others []Sender `json:"others,omitempty"`
	// Requester may be called by the Text, and is not called otherwise.
	Requester Sender    `json:"requester,omitzero"`
	CreatedAt time.Time `json:"created_at"`
	// NotBefore delays the first try; it delays its Lane.
	NotBefore time.Time `json:"not_before,omitzero"`
	Attempts  int       `json:"attempts,omitempty"`
	LastError string    `json:"last_error,omitempty"`
}

// Sent is what the platform gave for an Outgoing.
type Sent struct {
	// Message is the platform's id of the new message; "" for a reaction or
	// an update.
	Message string
	// Chat is where it is.
	Chat string
}
