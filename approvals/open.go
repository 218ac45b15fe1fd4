package approvals

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// space is the name space of all ids that are derived here.
var space = uuid.MustParse("7f0c3c52-4d0b-5c3e-9a51-3d2d6c9c5b10")

// IDFor is the id of the question that an asker of a session asks under a
// key: the same on every replica, for ever (DE-3).
func IDFor(workspace string, session SessionID, requestID string) ID {
	return ID(derive("question", workspace, string(session), requestID))
}

// derive makes a UUIDv5 of words; no two lists of words share one.
func derive(words ...string) string {
	u := space
	for _, w := range words {
		u = uuid.NewSHA1(u, []byte(w))
	}
	return u.String()
}

// IDs are the identities that Open is given.
type IDs struct {
	Workspace string
	// Approval is fresh for each request; it pairs the audit lines (AP-5).
	Approval string
}

// Open makes the question of a request. People are asked on a card until the
// deadline, unless the request is decided at once: it was withdrawn (AP-5),
// the session's policy is never (AP-3), or automation answers (AP-4). A
// request that breaks DE-2 is an ErrInvalid that names the field.
func Open(r Request, s Session, cfg Settings, ids IDs, now time.Time) (Question, Effects, error) {
	if err := check(r, s, cfg); err != nil {
		return Question{}, Effects{}, err
	}
	q := draft(r, s, cfg)
	q.ID, q.Workspace = IDFor(ids.Workspace, s.ID, r.RequestID), ids.Workspace
	q.Status, q.CreatedAt = StatusOpen, now
	// Stores time work in milliseconds; nothing may become due before that.
	q.Deadline = now.Add(cfg.timeout(r.Timeout, s.Source)).Truncate(time.Millisecond)
	if q.Kind == Approval {
		q.ApprovalID = ids.Approval
	}
	q = q.note(Event{Type: EventOpened, At: now})
	eff := Effects{Log: opened(q, now)}
	if decided, more, ok := atOnce(q, r, s, cfg, now); ok {
		eff.Add(more)
		return decided, eff, nil
	}
	q, more := ask(q, cfg, now)
	q.Session.Alone = false
	eff.Add(more)
	return q, eff, nil
}

// draft is the content of a valid request: what DE-3 compares.
func draft(r Request, s Session, cfg Settings) Question {
	q := Question{
		Session: s, RequestID: r.RequestID, Kind: r.Kind, Prompt: r.Prompt,
		Recommendation: r.Recommendation, AllowFreeText: r.AllowFreeText,
		AsStated: r.AsStated, Answerers: slices.Clone(r.Answerers),
	}
	q.Session.Guard, q.Session.Policy, q.Session.Review, q.Session.Executor = Guard{}, "", gate.Review{}, ""
	if r.Kind == Approval {
		op := *r.Operation
		q.Review = s.Review
		q.Operation, q.Options, q.AllowFreeText = &op, cfg.options(s.Language), false
		return q
	}
	for _, o := range r.Options {
		o.Label = cmp.Or(strings.TrimSpace(o.Label), o.ID)
		q.Options = append(q.Options, o)
	}
	return q
}

// atOnce decides a question that nobody is asked; ok is false when people are.
// The policy comes before every answerer (AP-3). Automation cannot give an
// approval that a rule wants people to review (RU-4).
func atOnce(q Question, r Request, s Session, cfg Settings, now time.Time) (_ Question, eff Effects, ok bool) {
	never := cfg.policy(s) == PolicyNever
	option, automated := cfg.machine(s)
	switch {
	case r.Withdrawn:
		q, eff = Cancel(q, "withdrawn before anybody was asked", now)
	case never && q.Kind == Approval:
		q, eff = answer(q, Answer{OptionID: OptionReject, Via: ViaPolicy}, now)
	case never:
		q, eff = Cancel(q, "the session's policy is never", now)
	case automated && q.Kind == Approval && (option != OptionApprove || !q.reviewed()):
		q, eff = answer(q, Answer{OptionID: option, Via: ViaMachine}, now)
	default:
		return q, Effects{}, false
	}
	return q, eff, true
}
