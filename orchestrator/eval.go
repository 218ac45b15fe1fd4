package orchestrator

import (
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Action is what a route item does with a candidate.
type Action string

// The actions of orchestrator_route (spec page 03).
const (
	ActAccept  Action = "accept"
	ActAttach  Action = "attach"
	ActStop    Action = "stop"
	ActIgnore  Action = "ignore"
	ActRequeue Action = "requeue"
	// ActNote is about a Ticket and no Trigger (RO-9a).
	ActNote Action = "note"
)

// Eval is the consideration of waiting candidates: of one Thread, or of up to
// 20 Threads of one Feishu chat on which only inferred ones wait (EV-1).
type Eval struct {
	ID gate.EvalID `json:"id"`
	// Thread is the one that was claimed. The Eval is handed out, and given
	// again, by it, and it has the Eval to the end.
	Thread gate.ThreadID `json:"thread"`
	// More are the other Threads. One whose candidates are all decided leaves,
	// so that what is said on it next need not wait for the rest. An Eval of an
	// older gateway has none.
	More []gate.ThreadID `json:"more,omitempty"`
	// Undecided are the candidates that still need an item (EV-3a).
	Undecided     []gate.TriggerID `json:"undecided"`
	Decided       []gate.TriggerID `json:"decided,omitempty"`
	PolicyVersion int              `json:"policy_version"`
	Session       string           `json:"session,omitempty"`
	DeliveredAt   time.Time        `json:"delivered_at,omitzero"`
	Deadline      time.Time        `json:"deadline,omitzero"`
	// Again: its session asked for what it holds, and has not got it yet (EV-5).
	Again bool `json:"again,omitempty"`

	Version int64 `json:"-"`
}

// Open reports whether a candidate is still undecided.
func (e *Eval) Open() bool { return len(e.Undecided) > 0 }

// Threads are those that have the Eval, the claimed one first.
func (e *Eval) Threads() []gate.ThreadID { return append([]gate.ThreadID{e.Thread}, e.More...) }

// DecisionID is "dec_" and a UUIDv7.
type DecisionID string

// Outcome is what an Eval decided for a Trigger.
type Outcome string

// The outcomes of a Decision.
const (
	Accepted    Outcome = "accepted"
	Attached    Outcome = "attached"
	Stopped     Outcome = "stopped"
	Ignored     Outcome = "ignored"
	Unavailable Outcome = "unavailable"
	Observed    Outcome = "observed"
)

// RuleVerdict is the judgement of one rule (RU-1).
type RuleVerdict struct {
	Rule   string `json:"rule"`
	Match  bool   `json:"match"`
	Reason string `json:"reason"`
}

// Decision is the durable row that says what an Eval decided for a Trigger,
// under which Policy version (PV-2). Rows are never changed but to dismiss.
type Decision struct {
	ID              DecisionID     `json:"id"`
	Eval            gate.EvalID    `json:"eval"`
	Thread          gate.ThreadID  `json:"thread"`
	Trigger         gate.TriggerID `json:"trigger"`
	Outcome         Outcome        `json:"outcome"`
	Would           Action         `json:"would,omitempty"`
	Ticket          gate.TicketID  `json:"ticket,omitempty"`
	Strength        gate.Strength  `json:"strength"`
	Basis           gate.Basis     `json:"basis"`
	PolicyVersion   int            `json:"policy_version"`
	Verdicts        []RuleVerdict  `json:"verdicts,omitempty"`
	IgnoredFromCard bool           `json:"ignored_from_card"`
	Reason          string         `json:"reason"`
	By              string         `json:"by"`
	At              time.Time      `json:"at"`
	Dismissed       bool           `json:"dismissed"`
}
