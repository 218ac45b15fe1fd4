package api

import (
	"context"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

type input struct {
	ID       string                 `json:"id"`
	Seq      int                    `json:"seq"`
	Kind     orchestrator.InputKind `json:"kind"`
	Owned    bool                   `json:"owned"`
	Sender   *standing              `json:"sender"`         // null: nobody said it
	Trigger  *trigger               `json:"trigger"`        // null: it is about no message
	Decision *question              `json:"decision"`       // null: it is no answer
	Policy   *policyChange          `json:"policy_changed"` // null: the policy did not change
	Note     string                 `json:"note"`
	// Rules and Instructions are empty but in an Input that starts or resumes
	// the work (RU-3).
	Rules        []orchestrator.WorkRule `json:"rules"`
	Instructions string                  `json:"instructions"`
	At           time.Time               `json:"at"`
	// Prompt is all of it as Markdown for a model, in which what people and
	// models wrote stands in fences (PL-4).
	Prompt string `json:"prompt"`
	// What was said near it; only of a Ticket's first Input (EV-2a).
	around
}

// standing is what a sender is as of now (SU-1).
type standing struct {
	Listed    bool `json:"listed"`
	Requester bool `json:"requester"`
	Approver  bool `json:"approver"`
}

type policyChange struct {
	Rules     []gate.RuleChange `json:"rules"`
	Requester string            `json:"requester"`
	Mode      string            `json:"mode"`
}

func inputsOf(ctx context.Context, h *orchestrator.Handed) inputs {
	w := inputs{Items: make([]input, len(h.Inputs)), Ticket: inputsTicket{State: h.Ticket.State}}
	for i := range h.Inputs {
		w.Items[i] = inputOf(ctx, &h.Ticket, &h.Inputs[i])
	}
	if e := h.Ticket.End; e != nil {
		w.Ticket.End = &end{e.Reason, e.By, e.At.UTC()}
	}
	return w
}

func inputOf(ctx context.Context, t *orchestrator.Ticket, in *orchestrator.HandedInput) input {
	near := nearby(ctx, in)
	w := input{
		ID: in.ID, Seq: in.Seq, Kind: in.Kind, Owned: in.Owned, Note: in.Note, At: in.At.UTC(),
		Rules: orEmpty(in.Rules), Instructions: in.Instructions,
		Prompt: promptOf(t, in, near), around: aroundOf(near),
	}
	if m := in.Message; m != nil {
		t := triggerOf(m)
		w.Trigger = &t
		w.Sender = &standing{in.Lists.Allow == gate.Yes, in.Requester, in.Lists.Approver == gate.Yes}
	}
	if in.Question != nil {
		q := questionOf(*in.Question)
		w.Decision = &q
	}
	if p := in.Policy; p != nil {
		w.Policy = &policyChange{orEmpty(p.Rules), p.Requester, p.Mode}
	}
	return w
}

// nearby is what was said near a Ticket's first Input, nil for any other (EV-2a).
func nearby(ctx context.Context, in *orchestrator.HandedInput) *gate.Surroundings {
	if in.Around == nil {
		return nil
	}
	s := in.Around(ctx)
	return &s
}

// promptOf says with the first Input what the work is.
func promptOf(t *orchestrator.Ticket, in *orchestrator.HandedInput, near *gate.Surroundings) string {
	p := orchestrator.Prompt{Input: *in, Around: near}
	if in.Seq == 1 {
		p.Ticket = t
	}
	return p.Markdown()
}

// question is the approvals' decision of page 07. Like all of page 06 it keeps
// the names of its origin.
type question struct {
	ID             approvals.ID         `json:"id"`
	Short          string               `json:"shortId"`
	Session        approvals.SessionID  `json:"session"`
	RequestID      string               `json:"requestId"`
	Kind           approvals.Kind       `json:"kind"`
	Outcome        *string              `json:"outcome"` // null: none yet, or not an approval
	Operation      *approvals.Operation `json:"operation"`
	Prompt         string               `json:"prompt"`
	Options        []approvals.Option   `json:"options"`
	Recommendation string               `json:"recommendation"`
	AllowFreeText  bool                 `json:"allowFreeText"`
	Status         approvals.Status     `json:"status"`
	Answer         *questionAnswer      `json:"answer"` // null: not answered
	Deduped        bool                 `json:"deduped"`
	CreatedAt      time.Time            `json:"createdAt"`
	Deadline       time.Time            `json:"deadline"`
	Events         []questionEvent      `json:"events"`
}

type questionAnswer struct {
	OptionID string        `json:"optionId"`
	Text     string        `json:"text"`
	By       sender        `json:"by"`
	Via      approvals.Via `json:"via"`
	At       time.Time     `json:"at"`
}

type questionEvent struct {
	Type   approvals.EventType `json:"type"`
	At     time.Time           `json:"at"`
	By     *sender             `json:"by,omitempty"`
	Via    approvals.Via       `json:"via,omitempty"`
	Detail string              `json:"detail,omitempty"`
	More   int                 `json:"more,omitempty"`
}

// questionOf shows a question as the Broker gave it. It does not look at the
// clock again: a time-out is told when it is stored, and not before (DE-5).
func questionOf(q approvals.Question) question {
	w := question{
		ID: q.ID, Short: q.ID.Short(), Session: q.Session.ID, RequestID: q.RequestID, Kind: q.Kind,
		Outcome: orNull(q.Outcome), Operation: q.Operation, Prompt: q.Prompt, Options: orEmpty(q.Options),
		Recommendation: q.Recommendation, AllowFreeText: q.AllowFreeText, Status: q.Status,
		CreatedAt: q.CreatedAt.UTC(), Deadline: q.Deadline.UTC(), Events: make([]questionEvent, len(q.Events)),
	}
	if a := q.Answer; a != nil {
		w.Answer = &questionAnswer{a.OptionID, a.Text, senderOf(a.By), a.Via, a.At.UTC()}
	}
	for i, e := range q.Events {
		w.Events[i] = questionEvent{Type: e.Type, At: e.At.UTC(), Via: e.Via, Detail: e.Detail, More: e.More}
		if e.By.ID != "" {
			by := senderOf(e.By)
			w.Events[i].By = &by
		}
	}
	return w
}
