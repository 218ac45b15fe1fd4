package gate

import "time"

// SourceID names one configured connection to a platform, as in the
// configuration: letters, digits and dashes.
type SourceID string

// ThreadID names one conversation. It is URL-safe, unique in a workspace and
// made by the Source's adapter; nobody else looks into it (TH-2, TH-3).
type ThreadID string

// TriggerID is "trg_" and a UUIDv7.
type TriggerID string

// TicketID is "tkt_" and a UUIDv7.
type TicketID string

// EvalID is "evl_" and a UUIDv7.
type EvalID string

// SenderKind tells what kind of account said something.
type SenderKind uint8

// The kinds of senders. Nobody (a deleted account, an unknown type) makes no
// Trigger; NoSender is CI.
const (
	Nobody SenderKind = iota
	Person
	Bot
	NoSender
)

var senderKinds = names{"", "person", "bot", "none"}

func (k SenderKind) String() string                { return senderKinds.word(uint8(k)) }
func (k SenderKind) MarshalText() ([]byte, error)  { return senderKinds.text(uint8(k)) }
func (k *SenderKind) UnmarshalText(b []byte) error { return senderKinds.parse(b, (*uint8)(k)) }

// Sender is who said a message, as the platform's authenticated event names
// them (AD-12), never as a text does.
type Sender struct {
	Kind SenderKind `json:"kind"`
	// ID is the platform's id: a Feishu open_id, a GitHub numeric id.
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// Aliases are the account's other ids in the form of a list's entries:
	// "union:on_…", "user:…" (Feishu); never a login, which changes hands.
	Aliases []string `json:"aliases,omitempty"`
	// Tenant is the Feishu tenant of the sender, or empty.
	Tenant string `json:"tenant,omitempty"`
}

// Same reports whether two senders are one account of one Source.
func (s Sender) Same(o Sender) bool { return s.Kind == o.Kind && s.ID != "" && s.ID == o.ID }

// Addressing tells whether a message addressed the agent. The Source records
// it; no model guesses it.
type Addressing uint8

// The ways a message can address the agent.
const (
	NotAddressed Addressing = iota
	Mention
	Direct
)

var addressings = names{"none", "mention", "direct"}

func (a Addressing) String() string                { return addressings.word(uint8(a)) }
func (a Addressing) MarshalText() ([]byte, error)  { return addressings.text(uint8(a)) }
func (a *Addressing) UnmarshalText(b []byte) error { return addressings.parse(b, (*uint8)(a)) }

// Addresses reports whether the agent was addressed, one way or the other. A
// value that is none of the three did not.
func (a Addressing) Addresses() bool { return a == Mention || a == Direct }

// Kind is what a Trigger is made of.
type Kind string

// The kinds of Triggers (spec page 01).
const (
	KindMessage       Kind = "message"
	KindIssue         Kind = "issue"
	KindPullRequest   Kind = "pull_request"
	KindComment       Kind = "comment"
	KindReview        Kind = "review"
	KindReviewComment Kind = "review_comment"
	KindCI            Kind = "ci"
)

// Place is where a conversation is, in the platform's own ids, so that a reply
// finds its way back. Only the Source's adapter gives the fields a meaning.
type Place struct {
	// Chat is the Feishu chat id, or "owner/repo".
	Chat string `json:"chat"`
	// Root is the Feishu root message's id, or the number of the issue.
	Root string `json:"root,omitempty"`
	// Topic is the Feishu thread_id (omt_…), or the review comment replied to.
	Topic string `json:"topic,omitempty"`
}

// Attachment names a file of a message. Nothing is fetched at intake (PL-6).
type Attachment struct {
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
	Key  string `json:"key"`
	Size int64  `json:"size,omitempty"`
}

// PlatformIDs are the platform's own ids of a Trigger.
type PlatformIDs struct {
	Event    string `json:"event,omitempty"`
	Message  string `json:"message,omitempty"`
	Delivery string `json:"delivery,omitempty"`
}

// Trigger is one normalised message: what was said, where, by whom, and
// whether it addressed the agent (spec page 01).
type Trigger struct {
	ID         TriggerID  `json:"id"`
	Workspace  string     `json:"workspace"`
	Source     SourceID   `json:"source"`
	Scope      Scope      `json:"scope"`
	Thread     ThreadID   `json:"thread"`
	Place      Place      `json:"place"`
	Title      string     `json:"title,omitempty"`
	Kind       Kind       `json:"kind"`
	Sender     Sender     `json:"sender"`
	Addressing Addressing `json:"addressing"`
	// Text is Markdown. Plain is the same without code, quotes and HTML
	// comments: what a mention was looked for in.
	Text        string       `json:"text"`
	Plain       string       `json:"plain,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
	URL         string       `json:"url,omitempty"`
	// ReplyTo is the platform's id of the message replied to.
	ReplyTo    string      `json:"reply_to,omitempty"`
	IDs        PlatformIDs `json:"ids"`
	OccurredAt time.Time   `json:"occurred_at"`
	ReceivedAt time.Time   `json:"received_at"`
	// Bundle makes Triggers of one Thread that have the same one a single
	// candidate (EV-1): a review, or the head commit of CI. "" is none.
	Bundle string `json:"bundle,omitempty"`
	// Run is set where CI of a default branch told it (GH-3).
	Run *Run `json:"run,omitempty"`
	// ReplayedBy is the operator who forced a recorded delivery to be taken in
	// again (TR-7), or "".
	ReplayedBy string `json:"replayed_by,omitempty"`
	// Raw is the key of the raw payload, kept for replay.
	Raw string `json:"raw,omitempty"`
}

// Arrival is what an adapter hands to intake: a Trigger without an id, and
// how to know it again.
type Arrival struct {
	Trigger Trigger
	// Keys are the dedupe keys, each unique in the workspace; one that is
	// known makes the arrival a duplicate (TR-1).
	Keys []string
	// Lane orders: arrivals of one Lane are processed one after another
	// (TH-1). It is the Thread, or the chat where the Thread is found later
	// (a DM, TH-2).
	Lane string
	// OnlyIfLive drops the arrival unless its Thread is live: a Ticket whose
	// Mandate stands has it, or a Trigger of it waits (AD-9).
	OnlyIfLive bool
	// Change, when set, makes the arrival news of an earlier message (TR-4).
	Change Change
	// Raw is the body as received, decrypted.
	Raw []byte
}

// DeliveryKey is the dedupe key of a platform's delivery, which is the same
// however often it is made (TR-1).
func DeliveryKey(source SourceID, guid string) string {
	return string(source) + ":delivery:" + guid
}

// MessageKey is the dedupe key of a platform message: an arrival carries it,
// and the outbox claims it for what the gateway sends, so that an echo of it
// is a duplicate (TR-1, TR-3).
func MessageKey(source SourceID, message string) string {
	return string(source) + ":message:" + message
}
