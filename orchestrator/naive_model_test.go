package orchestrator_test

import (
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// naive is a second model of spec pages 01 to 05, written from their text and
// not from the code: plain records, straight loops, everything looked up anew.
// It has the package's words, and none of its functions. TestNaiveModel plays
// the same story to it and to a Service, and compares after every step.
//
// Messages, Tickets and Evals are counted from 1; Threads have letters.
type naive struct {
	now       time.Time
	sources   map[gate.SourceID]*naiveSource
	version   int
	policy    naivePolicy
	policies  map[int]naivePolicy
	messages  []*naiveMessage
	tickets   []*naiveTicket
	threads   map[string]*naiveThread
	decisions []naiveDecision
	said      []string
	refused   map[string]bool
	evals     int
	pausedAll bool
	asked     []naiveAsk
}

// naiveSource is what the configuration says, and whether it is held up.
type naiveSource struct {
	on, paused bool
	listed     bool // follow_ups: listed
	refusal    gate.Refusal
	receive    map[gate.Scope]gate.Receive
}

type naivePolicy struct {
	mode  gate.Mode
	rules map[string]naiveRule
	// The lists and tables are by Source.
	allow, bots map[gate.SourceID]map[string]bool
	cells       map[gate.SourceID]map[gate.Scope]gate.Row
	unlistedAny map[gate.SourceID]bool
	limits      gate.Limits
}

type naiveRule struct {
	enabled, silent, codex bool
	text                   int
}

type naiveVerdict struct {
	strength gate.Strength
	basis    string
}

type naiveMessage struct {
	n         int
	thread    string
	scope     gate.Scope
	kind      gate.SenderKind
	from      string
	addressed bool
	stopWord  bool
	late      bool

	state      orchestrator.MessageState
	standing   string
	verdict    naiveVerdict
	receipt    bool
	with       int // the candidate that it waits with
	owners     []int
	decided    []naiveDecided
	requeues   int
	expiries   int
	given      bool // as context
	handedBack bool
	turnedAway bool // it could not resume a Ticket
	edited     bool
	recalled   bool
}

type naiveDecided struct {
	action   orchestrator.Action
	ticket   int
	at       time.Time
	observed bool
}

type naiveDecision struct {
	message, ticket int
	outcome         orchestrator.Outcome
	would           orchestrator.Action
	verdict         naiveVerdict
	version         int
	matched         []string
	fromCard        bool
	dismissed       bool
	thread          string
	at              time.Time
}

type naiveInput struct {
	kind    orchestrator.InputKind
	owned   bool
	message int
	at      time.Time
}

type naiveTicket struct {
	n         int
	executor  string
	ended     bool
	end       orchestrator.EndReason
	mandate   gate.MandateState
	source    gate.SourceID
	thread    string
	message   int
	verdict   naiveVerdict
	listed    bool
	version   int
	rules     []string
	told      int
	bereft    bool
	own       []string
	context   []string
	inputs    []naiveInput
	delivered int
	covered   int
	upto      int
	// done are the messages that were acked, replied to or handed back.
	done      map[int]bool
	roots     map[int]bool
	root      int
	waiting   []int
	turn      bool
	report    orchestrator.ReportKind
	former    orchestrator.EndReason
	reported  bool // a Report that is not waiting came since the resume
	activeAt  time.Time
	actedAt   time.Time
	keys      map[string]bool
	resumedAt time.Time
	recheck   bool // a pause ended, and nobody looked at the Mandate since
	past      int
}

type naiveThread struct {
	queue   []int
	notices []int
	eval    *naiveEval
	// ahead: it stood in a line before the inferred ones since it was given last.
	ahead bool
}

type naiveEval struct {
	n         int
	undecided []int
	version   int
	deadline  time.Time
	session   string
}

// naiveAsk is an explicit candidate of somebody who is not listed (AD-13).
type naiveAsk struct {
	message int
	at      time.Time
}

func (w *naive) msg(n int) *naiveMessage   { return w.messages[n-1] }
func (w *naive) ticket(n int) *naiveTicket { return w.tickets[n-1] }

func (w *naive) thread(name string) *naiveThread {
	if w.threads[name] == nil {
		w.threads[name] = &naiveThread{}
	}
	return w.threads[name]
}

func (w *naive) say(what string) { w.said = append(w.said, what) }

// answer is the visible end of a message (OUT-6).
func (w *naive) answer(m *naiveMessage) { w.say(saidOf("reply", m)) }

func (m *naiveMessage) undecided() bool {
	return m.state == orchestrator.StateQueued || m.state == orchestrator.StateEvaluating
}

func (t *naiveTicket) byPerson() bool {
	return t.end == orchestrator.EndStopped || t.end == orchestrator.EndManualStop
}

// stands: AD-3, a Mandate that still gives its Threads follow-up strength.
func (t *naiveTicket) stands() bool {
	return t.mandate == gate.MandateActive && (!t.ended || !t.byPerson())
}

// ownedBy names the active Tickets that own a message, and the ended one where
// it waits (SU-2).
func (w *naive) ownedBy(m *naiveMessage) []int {
	var by []int
	for _, n := range m.owners {
		if t := w.ticket(n); !t.ended || slices.Contains(t.waiting, m.n) {
			by = append(by, n)
		}
	}
	return by
}

// held: an *active* Executor owns it (SU-3), or one to be resumed.
func (w *naive) held(m *naiveMessage) bool { return len(w.ownedBy(m)) > 0 }

func (w *naive) hold(source gate.SourceID) bool { return w.pausedAll || w.sources[source].paused }

// lacking returns the list without one number.
func lacking(list []int, n int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(x int) bool { return x == n })
}
