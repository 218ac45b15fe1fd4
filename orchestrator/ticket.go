package orchestrator

import (
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// TicketState is whether a Ticket is being worked on.
type TicketState string

// The states of a Ticket.
const (
	TicketActive TicketState = "active"
	TicketEnded  TicketState = "ended"
)

// EndReason is why a Ticket ended.
type EndReason string

// The ends. The last two are a person's stop: nothing wakes the Ticket (ST-3).
const (
	EndCompleted  EndReason = "completed"
	EndFailed     EndReason = "failed"
	EndStopped    EndReason = "stopped"
	EndManualStop EndReason = "manual_stop"
)

// End is how a Ticket ended.
type End struct {
	Reason EndReason `json:"reason"`
	By     string    `json:"by,omitempty"`
	At     time.Time `json:"at"`
}

// ByPerson reports whether a person stopped the Ticket.
func (e *End) ByPerson() bool {
	return e != nil && (e.Reason == EndStopped || e.Reason == EndManualStop)
}

// Subscription is a Thread that feeds the Ticket.
type Subscription struct {
	Thread gate.ThreadID    `json:"thread"`
	Kind   SubscriptionKind `json:"kind"`
}

// Held is a message that the Ticket owns and has not dealt with.
type Held struct {
	Trigger gate.TriggerID `json:"trigger"`
	// Seq is the Input that carries it.
	Seq int `json:"seq"`
	// Root: it started or resumed the Ticket, so it is never released (EN-1).
	Root bool `json:"root,omitempty"`
}

// ReportKind is what an Executor says of its work.
type ReportKind string

// The kinds of Reports (spec page 04).
const (
	ReportProgress ReportKind = "progress"
	ReportWaiting  ReportKind = "waiting"
	ReportReady    ReportKind = "ready"
	ReportBlocked  ReportKind = "blocked"
	ReportFailed   ReportKind = "failed"
	ReportDone     ReportKind = "done"
)

// Report is the latest of a Ticket.
type Report struct {
	Kind ReportKind `json:"kind"`
	Text string     `json:"text,omitempty"`
	At   time.Time  `json:"at"`
}

// Ticket is one piece of accepted work.
type Ticket struct {
	ID       gate.TicketID  `json:"id"`
	Title    string         `json:"title"`
	Brief    string         `json:"brief,omitempty"`
	Executor string         `json:"executor"`
	State    TicketState    `json:"state"`
	End      *End           `json:"end,omitempty"`
	Mandate  gate.Mandate   `json:"mandate"`
	Subs     []Subscription `json:"subscriptions"`
	// Anchor is where its answers and cards go.
	Anchor string `json:"anchor,omitempty"`
	Direct bool   `json:"direct,omitempty"`

	// Seq is the last Input appended, Delivered the last handed to the
	// Executor, Covered the last that a Report or turn end covers.
	Seq       int `json:"seq"`
	Delivered int `json:"delivered"`
	Covered   int `json:"covered"`
	// Past is the last Input of before the Ticket's latest end.
	Past int `json:"past,omitempty"`
	// Upto is what a Report or turn end covers by default: the last Input that
	// was delivered before the first action of this turn; 0: none acted yet.
	Upto int    `json:"upto,omitempty"`
	Held []Held `json:"held,omitempty"`
	// Acked are the Inputs beyond Covered that an action dealt with one by
	// one: they are not read again as unacked (AC-2).
	Acked []int `json:"acked,omitempty"`
	// LastOwned is the latest message that it came to own: its result goes
	// there too (OUT-2).
	LastOwned gate.TriggerID `json:"last_owned,omitempty"`
	// Root is the message that started it, or resumed it last: its result is
	// shown there (GH-7).
	Root gate.TriggerID `json:"root,omitempty"`
	// Waiting are messages that wait to resume it, oldest first (EN-4).
	Waiting []gate.TriggerID `json:"waiting,omitempty"`
	// Parked is the last Input that the Executor had dealt with when it began to
	// wait for an answer; 0: it does not. Beyond it a turn was interrupted (AC-2).
	Parked int `json:"parked,omitempty"`
	// Turn: the Executor's turn is open (AP-7).
	Turn   bool    `json:"turn,omitempty"`
	Report *Report `json:"report,omitempty"`
	// Former is the end that a resumed Ticket goes back to if its turn ends
	// with nothing to report (RE-1b).
	Former *End `json:"former,omitempty"`
	// Notice is the message that tells of it (OUT-4), where it can be edited.
	Notice *Notice `json:"notice,omitempty"`
	// Muted: progress is not said until the Ticket ends (OUT-7).
	Muted bool `json:"muted,omitempty"`
	// Lost are its own Threads on which the gateway cannot speak (EN-5).
	Lost []LostThread `json:"lost,omitempty"`
	// Told is the Policy version that its Executor knows of, if that is newer
	// than its Mandate's (PV-4).
	Told int `json:"told,omitempty"`
	// Bereft: its Executor was told that its requester may no longer start work,
	// or it was resumed though that was so; it is not told again (PV-4).
	Bereft bool `json:"bereft,omitempty"`
	// Checked counts the pauses of its Source that had ended when its Mandate
	// was last looked at (RE-3).
	Checked int `json:"checked,omitempty"`
	// Approvals is the session's own policy, as last recorded; "": the
	// configuration's (AP-3).
	Approvals approvals.Policy `json:"approvals,omitempty"`
	// Spent is what it used of its budget (EX-5).
	Spent     Spent     `json:"spent,omitzero"`
	CreatedAt time.Time `json:"created_at"`
	// ActiveAt is its newest activity (RE-1a).
	ActiveAt time.Time `json:"active_at"`
	// WaitsSince is when the oldest Input that was not handed over yet came;
	// zero: none waits. ActedAt is the last sign of life of the open turn: its
	// begin, an action, an answer that it waited for. Both are for Stage.
	WaitsSince time.Time `json:"waits_since,omitzero"`
	ActedAt    time.Time `json:"acted_at,omitzero"`

	Version int64 `json:"-"`
}

// Short is the last 8 hex digits of the id, what people see.
func (t *Ticket) Short() string { return short(t.ID) }

func short(id gate.TicketID) string {
	if len(id) < 8 {
		return string(id)
	}
	return string(id[len(id)-8:])
}

// Active reports whether the Ticket is being worked on.
func (t *Ticket) Active() bool { return t.State == TicketActive }

// ownThreads are the Threads that the Ticket speaks on.
func (t *Ticket) ownThreads() []gate.ThreadID {
	var own []gate.ThreadID
	for _, s := range t.Subs {
		if s.Kind == SubOwn {
			own = append(own, s.Thread)
		}
	}
	return own
}

func (t *Ticket) owns(thread gate.ThreadID) bool {
	for _, s := range t.Subs {
		if s.Thread == thread && s.Kind == SubOwn {
			return true
		}
	}
	return false
}

// InputKind is what an Executor is given.
type InputKind string

// The kinds of Inputs (spec page 01).
const (
	InputMessage       InputKind = "message"
	InputContext       InputKind = "context"
	InputPolicyChanged InputKind = "policy_changed"
	InputNote          InputKind = "note"
	InputAnswer        InputKind = "answer"
)

// Input is one thing delivered to an Executor. Seq counts up within a Ticket.
type Input struct {
	ID      string         `json:"id"`
	Ticket  gate.TicketID  `json:"ticket"`
	Seq     int            `json:"seq"`
	Kind    InputKind      `json:"kind"`
	Owned   bool           `json:"owned"`
	Trigger gate.TriggerID `json:"trigger,omitempty"`
	// Question is the one that is answered.
	Question approvals.ID       `json:"question,omitempty"`
	Note     string             `json:"note,omitempty"`
	Policy   *gate.PolicyChange `json:"policy_changed,omitempty"`
	// Rules and Instructions are in the Input that starts or resumes the work:
	// the matched rules, and what the configuration tells the executor (RU-3).
	Rules        []WorkRule `json:"rules,omitempty"`
	Instructions string     `json:"instructions,omitempty"`
	At           time.Time  `json:"at"`
}
