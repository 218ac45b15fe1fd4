package github

import "github.com/gatehouse-bot/gatehouse/gate"

// Outcome is what a delivery turned out to be. The zero value refuses.
type Outcome uint8

// The closed set of outcomes (GH-2). All but Refused are answered 2xx.
const (
	// Refused: nothing that GitHub sends; 400.
	Refused Outcome = iota
	// Ignored: nothing follows from it; counted by Reason.
	Ignored
	// Context: something happened on a Thread that Tickets may follow; never a
	// Trigger by itself.
	Context
	// State: something about the Source itself changed.
	State
	// Triggered: a message that the gate must judge.
	Triggered
	// Changed: news of an earlier message, an edit or a deletion (TR-4, TR-4a).
	Changed
)

// String is the word that `gatehouse replay` prints.
func (o Outcome) String() string {
	switch o {
	case Ignored:
		return "ignored"
	case Context:
		return "context"
	case State:
		return "state"
	case Triggered:
		return "trigger"
	case Changed:
		return "change"
	case Refused:
		return "refused"
	}
	return "refused"
}

// MarshalText gives the word.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Reason is why a delivery made no Trigger, or what kind of context or state it
// is: a fixed word for counters, logs and replay (PL-5, TR-5).
type Reason string

// Why a request is refused (GH-1). The caller is not told which, beyond the
// status.
const (
	ReasonMethod      Reason = "not_post"       // 405
	ReasonMedia       Reason = "content_type"   // 415
	ReasonEncoding    Reason = "encoded"        // 415
	ReasonTooLarge    Reason = "too_large"      // 413
	ReasonNoSignature Reason = "no_signature"   // 401
	ReasonSignature   Reason = "bad_signature"  // 401
	ReasonHeaders     Reason = "headers"        // 400
	ReasonForm        Reason = "form"           // 400
	ReasonBody        Reason = "unreadable"     // 400
	ReasonBusy        Reason = "busy"           // 503
	ReasonNotReady    Reason = "not_ready"      // 503
	ReasonNotDurable  Reason = "not_durable"    // 503
	ReasonUnsound     Reason = "unsound_object" // 200: an event without the parts that it must have
)

// Why a delivery of ours is ignored.
const (
	ReasonPing         Reason = "ping"
	ReasonUnknownEvent Reason = "unknown_event"
	ReasonSourceOff    Reason = "source_off"
	ReasonRepo         Reason = "repository_not_received"
	ReasonNotReceived  Reason = "scope_not_received"
	ReasonOwn          Reason = "own_message"
	ReasonNobody       Reason = "nobody"
	ReasonNotAuthor    Reason = "sender_is_not_author"
	ReasonDraft        Reason = "draft"
	ReasonEmptyReview  Reason = "empty_review"
	ReasonEdited       Reason = "edit_adds_no_mention"
	ReasonNoTextChange Reason = "edit_changes_no_text"
	ReasonRecalled     Reason = "recalled"
	ReasonDiscussion   Reason = "discussion"
	ReasonCIDetail     Reason = "ci_detail"
	ReasonCIRunning    Reason = "ci_not_completed"
	ReasonPanic        Reason = "panic"
)

// What kind of context or state it is.
const (
	ReasonIssueChanged   Reason = "issue_changed"
	ReasonTransferredIn  Reason = "issue_transferred_in"
	ReasonPullChanged    Reason = "pull_request_changed"
	ReasonReviewChanged  Reason = "review_changed"
	ReasonPushed         Reason = "pushed"
	ReasonCI             Reason = "ci"
	ReasonInstallation   Reason = "installation"
	ReasonRepository     Reason = "repository"
	ReasonOrganization   Reason = "organization"
	ReasonHookRemoved    Reason = "hook_removed"
	ReasonRevoked        Reason = "authorization_revoked"
	ReasonRepositoryIdle Reason = "repository_detail" // ignored: nothing of it concerns us
)

// Event is what Translate makes of a delivery.
type Event struct {
	Outcome Outcome
	Reason  Reason
	// Name is X-GitHub-Event, Action the body's, Delivery the GUID.
	Name, Action, Delivery string
	// Repo is owner/repo, or "" where the delivery is about none.
	Repo string
	// Installation is the App's installation that the delivery is for, or 0.
	Installation int64
	// Thread is the conversation that a Context is about, or "".
	Thread gate.ThreadID
	// Arrival is set where Triggered or Changed, and where there is news of what
	// can be reached (EN-5).
	Arrival gate.Arrival
}

func refused(r Reason) Event { return Event{Outcome: Refused, Reason: r} }

func ignored(r Reason) Event { return Event{Outcome: Ignored, Reason: r} }

func state(r Reason) Event { return Event{Outcome: State, Reason: r} }

func about(t gate.ThreadID, r Reason) Event { return Event{Outcome: Context, Reason: r, Thread: t} }
