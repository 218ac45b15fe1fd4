package orchestrator

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// What callers of a store branch on.
var (
	// ErrConflict: a record changed since it was read; load and try again.
	// It is the same error as approvals.ErrConflict.
	ErrConflict = approvals.ErrConflict
	// ErrNotFound: no such record.
	ErrNotFound = errors.New("no such record")
	// ErrLostClaim: the claim's lease ran out and somebody else has the work.
	ErrLostClaim = errors.New("claim was lost")
	// ErrUnavailable: the store cannot be reached or takes no writes now.
	ErrUnavailable = errors.New("store unavailable")
	// ErrNewer: the record was written by a newer gateway (RS-7).
	ErrNewer = errors.New("record is of a newer version")
)

// The kinds of due work besides those of approvals. The key says of what.
const (
	// DueInbox: partition Key has arrivals (RS-3).
	DueInbox approvals.DueKind = "inbox"
	// DueOutbox: lane Key has Outgoings.
	DueOutbox approvals.DueKind = "outbox"
	// DueEval: Thread Key has waiting candidates, notices, or an Eval that
	// the driver has not dealt with. There are three lines (EV-1): what is
	// only a stop word goes first, then explicit candidates and notices, then
	// inferred ones.
	DueEvalFirst approvals.DueKind = "eval_first"
	DueEval      approvals.DueKind = "eval"
	DueEvalLater approvals.DueKind = "eval_later"
	// DueEvalDeadline: the time of Eval Key is over (EV-4).
	DueEvalDeadline approvals.DueKind = "eval_deadline"
	// DueTurn: Ticket Key has Inputs for its Executor.
	DueTurn approvals.DueKind = "turn"
	// DueResume: Ticket Key has messages that wait to resume it.
	DueResume approvals.DueKind = "resume"
)

// EvalLines are the due kinds of Threads with work for the main Session, in
// the order in which it is handed out (EV-1).
func EvalLines() []approvals.DueKind {
	return []approvals.DueKind{DueEvalFirst, DueEval, DueEvalLater}
}

// Receipt is what intake did with an arrival.
type Receipt string

// The receipts.
const (
	Stored    Receipt = "stored"
	Duplicate Receipt = "duplicate"
	NotLive   Receipt = "not_live" // OnlyIfLive, and the Thread is not (AD-9)
)

// FreshThread is how long a Thread counts as live for intake after one of its
// messages was stored: that one may still wait in the inbox (AD-9, SU-8). The
// worker decides properly, and drops what turns out not to be received.
const FreshThread = 10 * time.Minute

// Intake stores arrivals.
type Intake interface {
	// Receive claims the arrival's keys, stores its Trigger (whose ID the
	// caller set) with its raw body and appends it to the inbox of its Lane,
	// in one step (RS-2). A known key makes it a Duplicate and writes nothing.
	Receive(ctx context.Context, a gate.Arrival) (Receipt, error)
	// Known returns the Trigger that claimed a dedupe key; ErrNotFound.
	Known(ctx context.Context, key string) (gate.TriggerID, error)
}

// Want names what Load shall read.
type Want struct {
	Threads  []gate.ThreadID
	Tickets  []gate.TicketID
	Messages []gate.TriggerID
	Evals    []gate.EvalID
	Chats    []string
	Reaches  []gate.PlaceID
	// Questions loads the open questions of the Tickets named.
	Questions bool
}

// PolicyRecord is the Policy in force, and where it came from.
type PolicyRecord struct {
	Policy gate.Policy `json:"policy"`
	// File is the hash of the policy part that was last applied from the file.
	File string    `json:"file,omitempty"`
	By   string    `json:"by,omitempty"`
	At   time.Time `json:"at,omitzero"`
	// Pauses are no part of the Policy; they stand here so that every commit
	// is made under the pauses that it saw.
	Pauses Pauses `json:"pauses,omitzero"`
	// Approvals is the main Session's own policy, as last recorded; "": the
	// configuration's (AP-3). It is no part of the Policy either.
	Approvals approvals.Policy `json:"approvals,omitempty"`

	Version int64 `json:"-"`
}

// States loads and commits aggregates.
type States interface {
	// Load reads the records named; those that do not exist are left out.
	Load(ctx context.Context, w Want) (State, error)
	// Commit writes all Changes or nothing. ErrConflict if a Version or the
	// Guard is not the stored one, ErrLostClaim if the Claim does not hold.
	Commit(ctx context.Context, c Changes) error
	// Inputs of a Ticket with a Seq greater than after, in order.
	Inputs(ctx context.Context, t gate.TicketID, after int) ([]Input, error)
	// Acted returns what an action key of a Ticket did (AC-1); ErrNotFound.
	Acted(ctx context.Context, t gate.TicketID, key string) ([]byte, error)
	// PolicyInForce; ErrNotFound before the first.
	PolicyInForce(ctx context.Context) (PolicyRecord, error)
}

// Claim is the right to do a piece of due work until its lease runs out. The
// Token is unique for ever; a commit that carries the Claim fails once
// somebody else has it (RS-3).
type Claim struct {
	Kind  approvals.DueKind
	Key   string
	Token int64
}

// Queue hands out due work.
type Queue interface {
	// Claim takes up to limit pieces of work of these kinds that are due at
	// now, and hides each until now plus lease.
	Claim(ctx context.Context, kinds []approvals.DueKind, now time.Time, lease time.Duration, limit int) ([]Claim, error)
	// Extend renews a lease until the time given; ErrLostClaim.
	Extend(ctx context.Context, c Claim, until time.Time) error
	// Inbox reads the oldest arrivals of a claimed partition.
	Inbox(ctx context.Context, c Claim, limit int) ([]gate.TriggerID, error)
	// Outbox reads the oldest Outgoings of a claimed lane.
	Outbox(ctx context.Context, c Claim, limit int) ([]gate.Outgoing, error)
	// Wake returns a channel that receives when something may have become
	// due, until ctx ends. Wake-ups can be lost; callers also poll.
	Wake(ctx context.Context) <-chan struct{}
}

// Page asks for one page of a list, newest first.
type Page struct {
	Cursor string
	Limit  int
}

// Filters of the lists; empty fields do not filter.
type (
	MessageFilter struct {
		Source gate.SourceID
		Thread gate.ThreadID
	}
	TicketFilter struct {
		State    TicketState
		Executor string
	}
	DecisionFilter struct {
		Thread  gate.ThreadID
		Outcome Outcome
	}
	QuestionFilter struct {
		Session approvals.SessionID // needed
		Status  approvals.Status
	}
)

// Depths are the lengths of the queues, for status.
type Depths struct {
	Inbox     int `json:"inbox"`
	Evals     int `json:"evals"`
	Outbox    int `json:"outbox"`
	Questions int `json:"questions"`
}

// Reader lists records. The string returned is the next page's cursor, or "".
type Reader interface {
	ListMessages(ctx context.Context, f MessageFilter, p Page) ([]Message, string, error)
	ListTickets(ctx context.Context, f TicketFilter, p Page) ([]Ticket, string, error)
	ListDecisions(ctx context.Context, f DecisionFilter, p Page) ([]Decision, string, error)
	ListThreads(ctx context.Context, p Page) ([]Thread, string, error)
	Depths(ctx context.Context) (Depths, error)
}

// Questions lists what a session asked, closed or not.
type Questions interface {
	ListQuestions(ctx context.Context, f QuestionFilter, p Page) ([]approvals.Question, string, error)
}

// Versions keeps what was in force (PV-1).
type Versions interface {
	// PolicyVersion returns the version of that number; ErrNotFound.
	PolicyVersion(ctx context.Context, number int) (PolicyVersion, error)
	// ListPolicyVersions lists them, the newest first.
	ListPolicyVersions(ctx context.Context, p Page) ([]PolicyVersion, string, error)
	// Evaluating names the Threads that have an Eval under way (PV-3).
	Evaluating(ctx context.Context) ([]gate.ThreadID, error)
}

// Counts asks how many members a tally has that were added after a time; the
// zero time counts all.
type Counts struct {
	Set   string
	After time.Time
}

// Member is one of a tally, and when it was put in last.
type Member struct {
	ID string
	At time.Time
}

// Tallies reads what commits have put into named sets (AD-13, EX-5).
type Tallies interface {
	Tallied(ctx context.Context, sets ...Counts) ([]int, error)
	// Members lists the members that Tallied would count, by when they were
	// put in.
	Members(ctx context.Context, sets ...Counts) ([][]Member, error)
}

// Evals lists what the main Session holds, and what waits for it.
type Evals interface {
	// OpenEvals returns the Evals under way, the oldest delivery first.
	OpenEvals(ctx context.Context) ([]Eval, error)
	// Waiting returns the keys of up to limit pieces of work of a kind that are
	// due at now and that nobody has claimed, what is due first first (EV-1).
	Waiting(ctx context.Context, kind approvals.DueKind, now time.Time, limit int) ([]string, error)
}

// Reaches lists what cannot be reached.
type Reaches interface {
	// LostPlaces returns the wide places where the gateway cannot speak now,
	// the latest first (EN-5).
	LostPlaces(ctx context.Context) ([]Reach, error)
}

// Store is all that the orchestrator asks of a store. storetest holds its
// contract as a test suite.
type Store interface {
	Intake
	States
	Queue
	Reader
	Questions
	Versions
	Tallies
	Evals
	Reaches
	LoginBook
	approvals.Store
}
