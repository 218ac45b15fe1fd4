package orchestrator

import (
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// MessageState is the one place where a message is.
type MessageState string

// The places. StateReceived is the inbox; outsiders see it as waiting.
const (
	StateReceived    MessageState = "received"
	StateDelivered   MessageState = "delivered"
	StateOwned       MessageState = "owned"
	StateWaiting     MessageState = "waiting"
	StateQueued      MessageState = "queued"
	StateEvaluating  MessageState = "evaluating"
	StateDecided     MessageState = "decided"
	StateNotAdmitted MessageState = "not_admitted"
	StateRecalled    MessageState = "recalled"
	StateDropped     MessageState = "dropped"
)

// Admission is the gate's latest verdict on a message (AD-14).
type Admission struct {
	gate.Verdict
	PolicyVersion int `json:"policy_version"`
}

// HandBack is why an Executor gave a message back (HB-1).
type HandBack struct {
	Ticket gate.TicketID `json:"ticket"`
	Reason string        `json:"reason"`
}

// Decided is one decision that a message got, kept to recognise a repeat
// (RO-8). Without an Action nobody decided: it is unavailable.
type Decided struct {
	Action   Action        `json:"action"`
	Ticket   gate.TicketID `json:"ticket,omitempty"`
	Decision DecisionID    `json:"decision,omitempty"`
	At       time.Time     `json:"at"`
	// Observed: nothing was done (RU-2).
	Observed bool `json:"observed,omitempty"`
}

// Message is a Trigger and what has become of it so far.
type Message struct {
	gate.Trigger
	State MessageState `json:"state"`
	// Owners are the Tickets that own it; one that ended keeps its place in
	// the list, and owns no more (SU-2, SU-4).
	Owners []gate.TicketID `json:"owners,omitempty"`
	// Standing is what the Thread had when this was said (EN-2).
	Standing  gate.Standing `json:"standing"`
	Admission Admission     `json:"admission,omitzero"`
	// With is the undecided candidate that it waits with: an explicit one
	// (SU-8), or one of its Bundle, with which it is one candidate (EV-1).
	With gate.TriggerID `json:"with,omitempty"`
	// Rode are the messages of its Bundle that shared its latest end.
	Rode []gate.TriggerID `json:"rode,omitempty"`
	// Until is how long a candidate that is a review gathers what else of the
	// review comes; it is not handed out before (EV-1).
	Until     time.Time  `json:"until,omitzero"`
	HandBacks []HandBack `json:"hand_backs,omitempty"`
	Decided   []Decided  `json:"decided,omitempty"`
	Requeues  int        `json:"requeues,omitempty"`
	// Given: a Ticket got it as an Input.
	Given bool `json:"given,omitempty"`
	// Expiries counts Evals that expired on it in a row (EV-4).
	Expiries int `json:"expiries,omitempty"`
	// Why says why it was dropped, or reached nobody.
	Why string `json:"why,omitempty"`
	// Late: it arrived long after it happened (TR-6).
	Late     bool `json:"late,omitempty"`
	Edited   bool `json:"edited,omitempty"`
	Recalled bool `json:"recalled,omitempty"`
	// EditedAt is when the text that it has was written, if it was edited.
	EditedAt time.Time `json:"edited_at,omitzero"`
	// Earlier is the row of the same platform message before an edit added the
	// mention and made this one (TR-4).
	Earlier gate.TriggerID `json:"earlier,omitempty"`
	// Change makes the row no message but news of one, on its way through the
	// inbox. Such a row is listed nowhere.
	Change gate.Change `json:"change,omitzero"`

	Version int64 `json:"-"`
}
