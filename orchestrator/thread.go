package orchestrator

import (
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// SubscriptionKind is how a Thread feeds a Ticket.
type SubscriptionKind string

// The kinds of Subscriptions (spec page 01).
const (
	SubOwn     SubscriptionKind = "own"
	SubContext SubscriptionKind = "context"
)

// ThreadTicket is a Ticket that a Thread feeds.
type ThreadTicket struct {
	Ticket gate.TicketID    `json:"id"`
	Kind   SubscriptionKind `json:"kind"`
}

// Thread is one conversation with what waits on it.
type Thread struct {
	ID     gate.ThreadID `json:"id"`
	Source gate.SourceID `json:"source"`
	Scope  gate.Scope    `json:"scope"`
	Place  gate.Place    `json:"place"`
	Title  string        `json:"title,omitempty"`
	// Queue are the candidates that wait for an Eval, oldest first (EV-1).
	Queue []gate.TriggerID `json:"queue,omitempty"`
	// Companions wait with an undecided explicit candidate (SU-8).
	Companions []gate.TriggerID `json:"companions,omitempty"`
	// Notices are owned messages that the main Session must hear of (SU-3).
	Notices []gate.TriggerID `json:"notices,omitempty"`
	// Eval is the one under way, or "" (EV-1).
	Eval    gate.EvalID    `json:"eval,omitempty"`
	Tickets []ThreadTicket `json:"tickets,omitempty"`
	// Incidents are of the CI of a default branch (GH-3).
	Incidents []Incident `json:"incidents,omitempty"`
	// Latest is the latest Decision on the Thread.
	Latest       *Decision `json:"latest_decision,omitempty"`
	LastActivity time.Time `json:"last_activity"`

	Version int64 `json:"-"`
}

// Live reports whether messages of the Thread must be stored though they do
// not address the agent (AD-9). The Tickets' Mandates are not looked at: a
// Thread that had a Ticket stays live, which stores more, never less.
func (t *Thread) Live() bool {
	return len(t.Tickets)+len(t.Queue)+len(t.Companions) > 0 || t.Eval != ""
}

// Chat is a DM: which Thread is open in it (TH-2).
type Chat struct {
	// Key is the lane of the chat's arrivals.
	Key    string        `json:"key"`
	Open   gate.ThreadID `json:"open,omitempty"`
	Opened int           `json:"opened"`
	LastAt time.Time     `json:"last_at"`

	Version int64 `json:"-"`
}
