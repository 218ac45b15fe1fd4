package api_test

import (
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// An Input of each kind as an executor reads it (page 07), with the rules and
// instructions of the first (RU-3).
func TestInputShapes(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.FixedZone("CST", 8*60*60))
		lin := gate.Sender{Kind: gate.Person, ID: "ou_lin", Name: "Lin"}
		m := orchestrator.Message{State: orchestrator.StateOwned, Owners: []gate.TicketID{"tkt_1"}, Trigger: gate.Trigger{
			ID: "trg_1", Workspace: "default", Source: "fs", Scope: gate.ChatScope("oc_1"), Thread: "fs~oc_1~om_1", Place: gate.Place{Chat: "oc_1", Root: "om_1"},
			Kind: gate.KindMessage, Sender: lin, Addressing: gate.Mention, Text: "it crashes", Plain: "it crashes", OccurredAt: at, ReceivedAt: at,
		}}
		seen := m
		seen.ID, seen.Text, seen.Sender, seen.State, seen.Owners = "trg_2", "build 7 is red", gate.Sender{Kind: gate.Bot, ID: "cli_1"}, orchestrator.StateDelivered, nil
		q := approvals.Question{
			ID: "7d9f0a00-0000-5000-8000-000000000000", Session: approvals.Session{ID: "tkt_1"}, RequestID: "go", Kind: approvals.Approval, Prompt: "deploy?",
			Operation: &approvals.Operation{Tool: "deploy", Reason: "to staging"}, Status: approvals.StatusAnswered, Outcome: approvals.AllowedOnce,
			Answer:    &approvals.Answer{OptionID: approvals.OptionApprove, By: lin, Source: "fs", Via: approvals.ViaCard, At: at},
			CreatedAt: at, Deadline: at.Add(time.Hour), ClosedAt: at,
		}
		tk := orchestrator.Ticket{
			ID: "tkt_1", Title: "It crashes", Brief: "it crashes", Executor: "default", State: orchestrator.TicketActive, Seq: 5, Delivered: 5, Turn: true,
			Mandate: gate.Mandate{State: gate.MandateActive, Source: "fs", Thread: m.Thread, Place: m.Place, Sender: lin, Rules: []string{"triage"}},
			Subs:    []orchestrator.Subscription{{Thread: m.Thread, Kind: orchestrator.SubOwn}}, CreatedAt: at, ActiveAt: at,
		}
		review := gate.Review{Reviewers: []string{"ou_lin"}, Approvals: 1}
		inputs := []orchestrator.Input{
			{Kind: orchestrator.InputMessage, Owned: true, Trigger: "trg_1", Instructions: "Write tests first.",
				Rules: []orchestrator.WorkRule{{ID: "triage", Name: "Triage", Instructions: "Label it.", Review: review}}},
			{Kind: orchestrator.InputContext, Trigger: "trg_2"},
			{Kind: orchestrator.InputPolicyChanged, Policy: &gate.PolicyChange{
				Mode: gate.ReasonNowOff, Rules: []gate.RuleChange{{ID: "triage", Name: "Triage", Text: "Label it twice.", Review: review}},
			}},
			{Kind: orchestrator.InputNote, Note: "The question timed out; ask again."},
			{Kind: orchestrator.InputAnswer, Question: q.ID},
		}
		for i := range inputs {
			inputs[i].ID, inputs[i].Ticket, inputs[i].Seq, inputs[i].At = "inp_"+string(rune('1'+i)), "tkt_1", i+1, at
		}
		if err := o.mem.Commit(t.Context(), orchestrator.Changes{
			Messages: []orchestrator.Message{m, seen}, Questions: []approvals.Question{q}, Tickets: []orchestrator.Ticket{tk}, Inputs: inputs,
		}); err != nil {
			t.Fatal(err)
		}
		_, body := o.remote(agent).call("GET", "/v1/tickets/tkt_1/inputs?after=0", "")
		golden(t, "inputs", body)
	})
}
