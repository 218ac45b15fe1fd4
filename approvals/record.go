package approvals

import (
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// The types of the lines that questions write to the workspace's event log.
const (
	RecordOpened    = "decision.opened" // DE-11
	RecordAnswered  = "decision.answered"
	RecordTimedOut  = "decision.timed_out"
	RecordCancelled = "decision.cancelled"
	RecordAsked     = "approval/asked" // AP-5
	RecordDecided   = "approval/decided"
	RecordPolicy    = "approval/policy" // AP-3
)

// Notice is the Data of the decision.* lines (DE-11).
type Notice struct {
	Decision  ID        `json:"decision"`
	ShortID   string    `json:"shortId"`
	RequestID string    `json:"requestId"`
	Kind      Kind      `json:"kind"`
	Status    Status    `json:"status"`
	Outcome   Outcome   `json:"outcome,omitempty"`
	Answer    *Answer   `json:"answer,omitempty"`
	Deadline  time.Time `json:"deadline"`
}

// Audit is the Data of the approval/asked and approval/decided lines, which
// ApprovalID pairs (AP-5). Outcome, By and Via are of a decided line.
type Audit struct {
	ApprovalID string        `json:"approvalId"`
	Decision   ID            `json:"decision"`
	Tool       string        `json:"tool"`
	CallID     string        `json:"callId,omitempty"`
	Reason     string        `json:"reason"`
	AsStated   bool          `json:"asStated,omitempty"`
	Requester  gate.Sender   `json:"requester,omitzero"`
	Outcome    Outcome       `json:"outcome,omitempty"`
	By         gate.Sender   `json:"by,omitzero"`
	Source     gate.SourceID `json:"source,omitempty"`
	Via        Via           `json:"via,omitempty"`
}

// PolicyChange is the Data of an approval/policy line (AP-3).
type PolicyChange struct {
	Policy Policy `json:"policy"`
	By     string `json:"by,omitempty"`
}

// SetPolicy is the one recorded write that sets a session's policy; the last
// such record is in force (AP-3). A word that is no policy is ErrInvalid.
func SetPolicy(s SessionID, p Policy, by string, now time.Time) (Record, error) {
	switch p {
	case PolicyAsk, PolicyNever:
		return Record{Type: RecordPolicy, At: now, Session: s, Data: PolicyChange{Policy: p, By: by}}, nil
	}
	return Record{}, invalid("policy: %q is none of ask, never", p)
}

func opened(q Question, now time.Time) []Record {
	log := []Record{line(RecordOpened, q, now, notice(q))}
	if q.Kind == Approval {
		log = append(log, line(RecordAsked, q, now, audit(q)))
	}
	return log
}

func ended(q Question, now time.Time) []Record {
	log := []Record{line(endType(q.Status), q, now, notice(q))}
	if q.Kind != Approval {
		return log
	}
	a := audit(q)
	a.Outcome = q.Outcome
	if q.Answer != nil {
		a.By, a.Source, a.Via = q.Answer.By, q.Answer.Source, q.Answer.Via
	}
	return append(log, line(RecordDecided, q, now, a))
}

func endType(s Status) string {
	switch s {
	case StatusAnswered:
		return RecordAnswered
	case StatusTimedOut:
		return RecordTimedOut
	case StatusCancelled, StatusOpen:
	}
	return RecordCancelled
}

func line(kind string, q Question, now time.Time, data any) Record {
	return Record{Type: kind, At: now, Session: q.Session.ID, Data: data}
}

func notice(q Question) Notice {
	return Notice{
		Decision: q.ID, ShortID: q.ID.Short(), RequestID: q.RequestID, Kind: q.Kind,
		Status: q.Status, Outcome: q.Outcome, Answer: q.Answer, Deadline: q.Deadline,
	}
}

// audit tolerates a row without operation: a line is written for it too.
func audit(q Question) Audit {
	a := Audit{ApprovalID: q.ApprovalID, Decision: q.ID, AsStated: q.AsStated, Requester: q.Session.Requester}
	if op := q.Operation; op != nil {
		a.Tool, a.CallID, a.Reason = op.Tool, op.CallID, op.Reason
	}
	return a
}
