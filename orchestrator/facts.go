package orchestrator

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Facts are what a transition knows besides the State: the time, the Policy
// and the lists of this moment, the configuration. A transition with the same
// State, event and Facts gives the same Changes.
type Facts struct {
	Now     time.Time
	Policy  *gate.Policy
	Sources map[gate.SourceID]*gate.Source
	// Lists holds today's lists of every sender that the State names.
	Lists map[Who]gate.Lists
	// Linked are the other accounts of who said the State's messages (PL-3).
	Linked   map[Who][]gate.Account
	Settings Settings
	// Pauses say whose processing is held up (RE-3).
	Pauses Pauses
	// Usage is what the senders of new messages have used of the limits (AD-13).
	Usage map[gate.TriggerID]gate.Usage
	// Lines are those of the executors that have a bound, where the State's
	// Tickets work or have something to do (EX-5).
	Lines map[string]Line
	// Verdicts say of the questions that a message's reply commands can mean
	// whether its sender may answer them (CA-8).
	Verdicts map[approvals.ID]Verdict
	// NewID returns a fresh id with that prefix ("tkt_").
	NewID func(prefix string) string
}

// Who is one account of one Source.
type Who struct {
	Source gate.SourceID
	Kind   gate.SenderKind
	ID     string
}

// WhoIs names a sender of a Source.
func WhoIs(source gate.SourceID, s gate.Sender) Who { return Who{source, s.Kind, s.ID} }

// Settings is the part of the configuration that transitions read.
type Settings struct {
	Workspace string
	// Language of what the gateway says: zh or en.
	Language    string
	StopWords   []string
	EvalTimeout time.Duration
	MaxRequeues int
	DirectQuiet time.Duration
	// LateAfter: a Trigger that arrives longer after it happened is late (TR-6).
	LateAfter time.Duration
	// DedupeLife: what is older counts as a duplicate (TR-6).
	DedupeLife time.Duration
	// Redeliver is how often Sources are searched for missed deliveries, and red
	// branches are looked at; 0: every 5 min (GH-8, GH-3).
	Redeliver time.Duration
	// Rooms are where questions are asked whose own conversation cannot be
	// reached (EN-5, CA-1); the zero value: nowhere.
	Rooms approvals.Rooms
	// FourEyes: the requester may not answer (DE-2).
	FourEyes bool
	// KeepRefused keeps the text of what was not admitted (PL-5).
	KeepRefused bool
	// TeamPrompt is what every Ticket's Executor is told, Instructions what
	// each executor is, by its name.
	TeamPrompt   string
	Instructions map[string]string
	// Follow names by executor what its Tickets may follow beside the chat or
	// repository of their Mandate (SU-5a).
	Follow map[string][]Follow
	// Executors are the bounds of each (EX-5).
	Executors map[string]Bounds
}

func (f *Facts) lists(source gate.SourceID, s gate.Sender) gate.Lists {
	return f.Lists[WhoIs(source, s)]
}

// runs reports whether the configuration has an executor of that name. Where
// none are told, any is taken to be there.
func (s *Settings) runs(executor string) bool {
	_, ok := s.Executors[executor]
	return ok || len(s.Executors) == 0
}

// stopWord reports whether a text is nothing but a stop word (DR-1).
func (s *Settings) stopWord(text string) bool {
	said := strings.Trim(text, " \t\r\n.!。！~～")
	for _, w := range s.StopWords {
		if strings.EqualFold(said, w) {
			return true
		}
	}
	return false
}

// outboxNamespace is the namespace of the ids derived by intent.
var outboxNamespace = uuid.MustParse("6f1a4c1e-0c55-4d0c-9d6e-3b1f5b0c2a70")

// intent derives an id from what is intended, so that the same intent has the
// same id however often it is computed (OUT-1).
func intent(parts ...string) string {
	return uuid.NewSHA1(outboxNamespace, []byte(strings.Join(parts, "\x00"))).String()
}
