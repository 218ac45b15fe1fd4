package orchestrator

import (
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// State is the part of the workspace that one transition reads. Transitions
// never change it: they work on copies and return Changes.
type State struct {
	Threads  map[gate.ThreadID]Thread
	Tickets  map[gate.TicketID]Ticket
	Messages map[gate.TriggerID]Message
	Evals    map[gate.EvalID]Eval
	Chats    map[string]Chat
	// Reaches are of the places that Threads are in; without one a place can
	// be reached (EN-5).
	Reaches map[gate.PlaceID]Reach
	// Questions are the open ones of the Tickets.
	Questions map[approvals.ID]approvals.Question
}

// Act is what an action key did, kept so that the same key acts once (AC-1).
type Act struct {
	Ticket gate.TicketID
	Key    string
	// Result is JSON.
	Result []byte
}

// Tally puts a member into a named set, or takes it out.
type Tally struct {
	Set, Member string
	At          time.Time
	// Keep is how long a member counts; 0: until it is taken out.
	Keep time.Duration
	Out  bool
	// Most, where positive, is how many members the set may have with this one:
	// a commit that would put in one more is ErrConflict (EX-5).
	Most int
}

// Changes is one atomic commit (RS-4): the new state of the aggregates that
// changed, the versions of those that were only read, and the effects. Each
// record's Version is the one that was read; 0 creates.
type Changes struct {
	Threads   []Thread
	Tickets   []Ticket
	Messages  []Message
	Evals     []Eval
	Chats     []Chat
	Reaches   []Reach
	Questions []approvals.Question
	Policy    *PolicyRecord
	// Versions are appended to the history of the Policy.
	Versions []PolicyVersion
	// Read are the records that were read and must not have moved.
	Read []approvals.Guard

	// Logins are bindings to keep; one that is there stays as it is (GH-6).
	Logins []Login

	// Tallies are changes of the named sets that limits count.
	Tallies []Tally

	// Appended rows. Decisions are also upserted by id when dismissed.
	Decisions []Decision
	Inputs    []Input
	Acts      []Act

	approvals.Effects

	// Claim, when set, must still hold. Next says when its work is due again;
	// zero: it is done, and the claim is given up. Keep leaves the claim with
	// its holder.
	Claim *Claim
	Next  time.Time
	Keep  bool
	// Took are the arrivals of the claimed partition that this commit dealt
	// with, SentIDs the Outgoings of the claimed lane. A lane that still has
	// rows stays due.
	Took    []gate.TriggerID
	SentIDs []string
	// Retried are rows of the claimed lane to keep, with their new Attempts
	// and LastError.
	Retried []gate.Outgoing
	// Seen are dedupe keys claimed by the gateway itself: the ids of messages
	// it sent, so that an echo is a duplicate (TR-3).
	Seen []string
	// Names say which Trigger a dedupe key stands for from now on (TR-4).
	Names []Name
}

// Name gives a dedupe key to a Trigger for the life of such keys, whoever had
// it. Without a Trigger it marks the key for a while, if it is free: what comes
// under it then is a duplicate (TR-4a).
type Name struct {
	Key     string
	Trigger gate.TriggerID
	For     time.Duration
}

// The kinds of records that a Guard can name.
const (
	KindThread   = "thread"
	KindTicket   = "ticket"
	KindMessage  = "trigger"
	KindEval     = "eval"
	KindChat     = "chat"
	KindReach    = "reach"
	KindQuestion = "question"
	KindPolicy   = "policy"
)
