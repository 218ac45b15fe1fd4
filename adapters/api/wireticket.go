package api

import (
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

type ticket struct {
	ID            gate.TicketID               `json:"id"`
	Short         string                      `json:"shortId"`
	State         orchestrator.TicketState    `json:"state"`
	Stage         orchestrator.TicketStage    `json:"stage"`
	Title         string                      `json:"title"`
	Brief         string                      `json:"brief"`
	Executor      string                      `json:"executor"`
	End           *end                        `json:"end"` // null: active
	Mandate       mandate                     `json:"mandate"`
	Subs          []orchestrator.Subscription `json:"subscriptions"`
	CreatedAt     time.Time                   `json:"created_at"`
	QueuePosition int                         `json:"queue_position"` // 0: it does not wait for its executor
}

type end struct {
	Reason orchestrator.EndReason `json:"reason"`
	By     string                 `json:"by"`
	At     time.Time              `json:"at"`
}

type mandate struct {
	State         string         `json:"state"`
	Source        gate.SourceID  `json:"source"`
	Scope         gate.Scope     `json:"scope"`
	Thread        gate.ThreadID  `json:"thread"`
	Trigger       gate.TriggerID `json:"trigger"`
	Sender        sender         `json:"sender"`
	Strength      string         `json:"strength"`
	Basis         string         `json:"basis"`
	PolicyVersion int            `json:"policy_version"`
	Rules         []string       `json:"rules"`
	RevokedReason string         `json:"revoked_reason"`
}

func ticketOf(t *orchestrator.Ticket, stage orchestrator.TicketStage, place int) ticket {
	w := ticket{
		ID: t.ID, Short: t.Short(), State: t.State, Stage: stage, Title: t.Title, Brief: t.Brief,
		Executor: t.Executor, Mandate: mandateOf(&t.Mandate), Subs: orEmpty(t.Subs), CreatedAt: t.CreatedAt.UTC(),
		QueuePosition: place,
	}
	if t.End != nil {
		w.End = &end{t.End.Reason, t.End.By, t.End.At.UTC()}
	}
	return w
}

func mandateOf(m *gate.Mandate) mandate {
	return mandate{
		State: m.State.String(), Source: m.Source, Scope: m.Scope, Thread: m.Thread, Trigger: m.Trigger,
		Sender: senderOf(m.Sender), Strength: m.Strength.String(), Basis: m.Basis.String(),
		PolicyVersion: m.PolicyVersion, Rules: orEmpty(m.Rules), RevokedReason: m.RevokedReason,
	}
}
