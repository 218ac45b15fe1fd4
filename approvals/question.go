package approvals

import (
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// ID is the UUIDv5 of workspace, session and request id (DE-3).
type ID string

// Short is the first 8 hex digits, what a card shows (CA-8).
func (id ID) Short() string {
	if len(id) < 8 {
		return string(id)
	}
	return string(id[:8])
}

// SessionID is a Ticket's id, or MainSession.
type SessionID string

// MainSession is the session of the agent that routes candidates.
const MainSession SessionID = "main"

// Kind is what is asked.
type Kind string

// The kinds of questions (DE-2).
const (
	Approval      Kind = "approval"
	Clarification Kind = "clarification"
	Choice        Kind = "choice"
)

// Status is where a Question stands (DE-1).
type Status string

// The states. The last three are terminal.
const (
	StatusOpen      Status = "open"
	StatusAnswered  Status = "answered"
	StatusTimedOut  Status = "timed_out"
	StatusCancelled Status = "cancelled"
)

// Terminal reports whether no way leads out of the state.
func (s Status) Terminal() bool { return s != StatusOpen }

// Outcome is what an approval came to. The zero value refuses; only
// AllowedOnce lets the caller go on, once, for that operation (AP-2).
type Outcome string

// The closed set of outcomes.
const (
	NoOutcome   Outcome = ""
	AllowedOnce Outcome = "allowed_once"
	Rejected    Outcome = "rejected"
	Cancelled   Outcome = "cancelled"
	Unavailable Outcome = "unavailable"
)

// Allows reports whether the operation may go on.
func (o Outcome) Allows() bool { return o == AllowedOnce }

// The host's two options of an approval (AP-2a).
const (
	OptionApprove = "approve"
	OptionReject  = "reject"
)

// Option is one answer that can be clicked.
type Option struct {
	ID          string `json:"id"`
	Label       string `json:"label"`
	Style       string `json:"style,omitempty"`
	Description string `json:"description,omitempty"`
}

// Operation is the one operation that an approval is about (AP-1).
type Operation struct {
	Tool    string `json:"tool"`
	CallID  string `json:"callId,omitempty"`
	Preview string `json:"preview,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Via is the way an answer came.
type Via string

// The ways.
const (
	ViaCard   Via = "card"
	ViaAPI    Via = "api"
	ViaPanel  Via = "panel"
	ViaGitHub Via = "github"
	ViaPolicy Via = "policy"
	// ViaReply is the reply command where no card could be sent (CA-7).
	ViaReply Via = "reply"
	// ViaMachine is the configuration's answerer of a session that was given
	// to automation (AP-4).
	ViaMachine Via = "machine"
)

// Answer is what somebody answered.
type Answer struct {
	OptionID string        `json:"optionId,omitempty"`
	Text     string        `json:"text,omitempty"`
	By       gate.Sender   `json:"by"`
	Source   gate.SourceID `json:"source,omitempty"`
	Via      Via           `json:"via"`
	At       time.Time     `json:"at"`
	// Linked are the answerer's other accounts (PL-3), so that nobody counts
	// twice (RU-4).
	Linked []gate.Account `json:"-"`
}

// Same reports whether two answers say the same (DE-4).
func (a Answer) Same(b Answer) bool { return a.OptionID == b.OptionID && a.Text == b.Text }

// EventType is one kind of thing that happened to a Question (DE-9).
type EventType string

// The events.
const (
	EventOpened     EventType = "opened"
	EventReopened   EventType = "reopened" // the key was used again, with another question (DE-3)
	EventPresented  EventType = "presented"
	EventUnreached  EventType = "unreached" // a card reached nobody (CA-7, EN-5)
	EventUpdated    EventType = "presentation_updated"
	EventApproved   EventType = "approved" // by one person, and others must too (RU-4)
	EventAnswered   EventType = "answered"
	EventDeduped    EventType = "deduped"
	EventConflicted EventType = "conflicted"
	EventRefused    EventType = "refused"
	EventTimedOut   EventType = "timed_out"
	EventCancelled  EventType = "cancelled"
	EventLate       EventType = "late" // an answer came after the end and was dropped (AP-6, CA-9)
)

// Event is a line of a Question's own history.
type Event struct {
	Type   EventType   `json:"type"`
	At     time.Time   `json:"at"`
	By     gate.Sender `json:"by,omitzero"`
	Via    Via         `json:"via,omitempty"`
	Detail string      `json:"detail,omitempty"`
	// More counts further events of this type that got no line of their own,
	// so that nobody can make a row grow by clicking.
	More int `json:"more,omitempty"`
}

// Message is one place where a Question is shown.
type Message struct {
	Source  gate.SourceID `json:"source"`
	Chat    string        `json:"chat"`
	Message string        `json:"message"`
}

// Session is who asks: where the question is shown, and who stands behind it.
type Session struct {
	ID    SessionID `json:"id"`
	Title string    `json:"title,omitempty"`
	// Short is the Ticket's short id.
	Short  string        `json:"short,omitempty"`
	Source gate.SourceID `json:"source,omitempty"`
	Thread gate.ThreadID `json:"thread,omitempty"`
	Place  gate.Place    `json:"place,omitzero"`
	// Anchor is the platform message that the card replies to.
	Anchor    string      `json:"anchor,omitempty"`
	Direct    bool        `json:"direct,omitempty"`
	Requester gate.Sender `json:"requester,omitzero"`
	Language  string      `json:"language,omitempty"`
	// Alone: nobody who approves reads the thread (CA-1).
	Alone bool `json:"-"`
	// Executor is whose work it is; "" for the main Session.
	Executor string `json:"-"`
	// Policy is the session's own, as last recorded; "" means the
	// configuration's (AP-3).
	Policy Policy `json:"-"`
	// Review is what the Ticket's matched rules ask of its approvals (RU-4).
	Review gate.Review `json:"-"`
	// Guard is the record whose version Open's commit must still find, so
	// that a question is never opened for a session that just ended.
	Guard Guard `json:"-"`
}

// Guard names a record and the version that was read.
type Guard struct {
	Kind    string
	ID      string
	Version int64
}

// Question is one durable question to people.
type Question struct {
	ID             ID         `json:"id"`
	Workspace      string     `json:"workspace"`
	Session        Session    `json:"session"`
	RequestID      string     `json:"requestId"`
	Kind           Kind       `json:"kind"`
	Prompt         string     `json:"prompt"`
	Options        []Option   `json:"options,omitempty"`
	Recommendation string     `json:"recommendation,omitempty"`
	AllowFreeText  bool       `json:"allowFreeText,omitempty"`
	Operation      *Operation `json:"operation,omitempty"`
	// AsStated: what the card shows is the agent's word; the host did not see
	// the call (AP-1).
	AsStated  bool     `json:"asStated,omitempty"`
	Answerers []string `json:"answerers,omitempty"`
	// Review narrows who may give an approval, and says how many must (RU-4).
	// Approved are those who did so far; the one who settles it gave Answer.
	Review    gate.Review `json:"review,omitzero"`
	Approved  []Answer    `json:"approved,omitempty"`
	Status    Status      `json:"status"`
	Outcome   Outcome     `json:"outcome,omitempty"`
	Answer    *Answer     `json:"answer,omitempty"`
	CreatedAt time.Time   `json:"createdAt"`
	Deadline  time.Time   `json:"deadline"`
	ClosedAt  time.Time   `json:"closedAt,omitzero"`
	Events    []Event     `json:"events,omitempty"`
	Messages  []Message   `json:"messages,omitempty"`
	// Asked are the cards by which it was sent to people.
	Asked []Asking `json:"asked,omitempty"`
	// ApprovalID pairs the two audit lines (AP-5).
	ApprovalID string `json:"approvalId,omitempty"`

	// Version is the stored version that was read; 0: not stored yet.
	Version int64 `json:"-"`
}

// Request is what an asker asks (DE-2).
type Request struct {
	RequestID      string        `json:"requestId"`
	Kind           Kind          `json:"kind"`
	Prompt         string        `json:"prompt"`
	Options        []Option      `json:"options,omitempty"`
	Recommendation string        `json:"recommendation,omitempty"`
	AllowFreeText  bool          `json:"allowFreeText,omitempty"`
	Timeout        time.Duration `json:"-"`
	Answerers      []string      `json:"answerers,omitempty"`
	Operation      *Operation    `json:"operation,omitempty"`
	AsStated       bool          `json:"-"`
	// Withdrawn: the asker gave up before anybody was asked. The question is
	// recorded, as cancelled (AP-5, AP-6).
	Withdrawn bool `json:"-"`
}
