package approvals

import (
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// DueKind is a kind of work that becomes due at a time. The orchestrator adds
// its own kinds.
type DueKind string

// The kinds of due work that questions make.
const (
	// DueDeadline: the deadline of question Key has come (DE-6).
	DueDeadline DueKind = "deadline"
	// DueSettled: question Key came to its end; its asker must hear (DE-10).
	DueSettled DueKind = "settled"
	// DueLate: somebody who may answer did so after the deadline of question
	// Key; its asker gets a note, so that it can ask again (CA-9). At most
	// once a question.
	DueLate DueKind = "late"
)

// Due is work for any one replica at a time not before At, kept until it is
// done (RS-5). Kind and Key name it: a second Due with the same name can only
// bring it forward.
type Due struct {
	Kind DueKind
	Key  string
	At   time.Time
}

// Record is one line of the workspace's event log: what happened, for
// subscribers and for the audit (DE-11, AP-5). Data is JSON.
type Record struct {
	Type string    `json:"type"`
	At   time.Time `json:"at"`
	// Session is the session whose event it is, or "".
	Session SessionID `json:"session,omitempty"`
	Data    any       `json:"data,omitempty"`
}

// Effects is what a transition wants done. They are committed with the new
// state in one step, or not at all (RS-4).
type Effects struct {
	Out []gate.Outgoing
	Due []Due
	// Cancel names due work that is not needed any more.
	Cancel []Due
	Log    []Record
}

// Add appends the effects of another transition.
func (e *Effects) Add(o Effects) {
	e.Out = append(e.Out, o.Out...)
	e.Due = append(e.Due, o.Due...)
	e.Cancel = append(e.Cancel, o.Cancel...)
	e.Log = append(e.Log, o.Log...)
}
