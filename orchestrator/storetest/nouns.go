package storetest

import (
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// diff compares what came back with what was stored: an empty list is a
// missing one, a time is an instant.
func diff(got, want any) string {
	return cmp.Diff(got, want, cmpopts.EquateEmpty(), cmpopts.EquateErrors())
}

func trigger(id gate.TriggerID, thread gate.ThreadID) gate.Trigger {
	return gate.Trigger{
		ID: id, Workspace: "w", Source: "feishu", Scope: gate.DirectChat, Thread: thread,
		Kind: gate.KindMessage, Addressing: gate.Mention, Text: "please look at " + string(id),
		Sender:     gate.Sender{Kind: gate.Person, ID: "ou_1", Aliases: []string{"union:on_1"}},
		OccurredAt: start, ReceivedAt: start,
	}
}

func arrival(id gate.TriggerID, thread gate.ThreadID, keys ...string) gate.Arrival {
	return gate.Arrival{
		Trigger: trigger(id, thread), Keys: keys, Lane: string(thread),
		Raw: []byte(`{"event_id":"` + string(id) + `"}`),
	}
}

func newThread(id gate.ThreadID) orchestrator.Thread {
	return orchestrator.Thread{ID: id, Source: "feishu", Scope: gate.DirectChat, LastActivity: start}
}

func liveThread(id gate.ThreadID) orchestrator.Thread {
	t := newThread(id)
	t.Queue = []gate.TriggerID{"trg_q"}
	return t
}

func newTicket(id gate.TicketID) orchestrator.Ticket {
	return orchestrator.Ticket{
		ID: id, Title: "Fix it", Executor: "default", State: orchestrator.TicketActive,
		Mandate:   gate.Mandate{State: gate.MandateActive, Source: "feishu", Strength: gate.Explicit},
		Notice:    &orchestrator.Notice{Chat: "oc_1", Message: "om_" + string(id), Edits: 2},
		CreatedAt: start, ActiveAt: start,
	}
}

func newQuestion(id approvals.ID, session approvals.SessionID) approvals.Question {
	return approvals.Question{
		ID: id, Workspace: "w", Session: approvals.Session{ID: session}, RequestID: "r-" + string(id),
		Kind: approvals.Choice, Prompt: "which?", Status: approvals.StatusOpen,
		CreatedAt: start, Deadline: after(5 * time.Minute),
	}
}

func newDecision(id orchestrator.DecisionID, thread gate.ThreadID, at time.Time) orchestrator.Decision {
	return orchestrator.Decision{
		ID: id, Eval: "evl_1", Thread: thread, Trigger: "trg_1", Outcome: orchestrator.Ignored,
		Strength: gate.Inferred, Basis: gate.Basis{Kind: gate.BotList}, At: at,
	}
}

func row(id, lane string) gate.Outgoing {
	return gate.Outgoing{
		ID: id, Kind: gate.OutReply, Lane: lane, Source: "feishu", Text: "done " + id, CreatedAt: start,
		Progress: "half", Stop: true,
		Mention: gate.Sender{Kind: gate.Person, ID: "ou_1"},
	}
}

func say(rows ...gate.Outgoing) orchestrator.Changes {
	return orchestrator.Changes{Effects: approvals.Effects{Out: rows}}
}

func plan(due ...approvals.Due) orchestrator.Changes {
	return orchestrator.Changes{Effects: approvals.Effects{Due: due}}
}

func evalDue(key string, at time.Time) approvals.Due {
	return approvals.Due{Kind: orchestrator.DueEval, Key: key, At: at}
}
