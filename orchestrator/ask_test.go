package orchestrator_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// askers is a house that does not work, with Tickets in every state and an Eval
// that the main Session holds until its deadline.
func askers(t *testing.T) *house {
	t.Helper()
	h := newHouse(t)
	if _, err := h.svc.ApplyFile(t.Context(), h.policy); err != nil {
		t.Fatal(err)
	}
	mandate := gate.Mandate{State: gate.MandateActive, Source: "feishu", Sender: gate.Sender{Kind: gate.Person, ID: listed}}
	err := h.store.Commit(t.Context(), orchestrator.Changes{
		Tickets: []orchestrator.Ticket{
			{ID: "tkt_works", State: orchestrator.TicketActive, Turn: true, Mandate: mandate},
			{ID: "tkt_idle", State: orchestrator.TicketActive, Mandate: mandate},
			{ID: "tkt_over", State: orchestrator.TicketEnded, End: &orchestrator.End{Reason: orchestrator.EndManualStop}, Mandate: mandate},
		},
		Evals: []orchestrator.Eval{{ID: "evl_1", Undecided: []gate.TriggerID{"trg_1"}, Deadline: time.Now().Add(time.Minute)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// ask opens a question under a key and says what came of it.
func (h *house) ask(session approvals.SessionID, k approvals.Kind, key string) string {
	h.t.Helper()
	r := approvals.Request{RequestID: key, Kind: k, Prompt: "?", AllowFreeText: true}
	if k == approvals.Approval {
		r.AllowFreeText, r.Operation = false, &approvals.Operation{Tool: "deploy", Reason: "to staging"}
	}
	q, created, err := h.svc.Ask(h.t.Context(), session, r)
	var refused *orchestrator.Refused
	switch {
	case errors.As(err, &refused):
		return refused.Code
	case errors.Is(err, approvals.ErrInvalid):
		return "invalid"
	case errors.Is(err, orchestrator.ErrNotFound):
		return "not found"
	case err != nil:
		return err.Error()
	}
	return fmt.Sprint(created, " ", q.Status)
}

func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := askers(t)
		rows := []struct {
			name    string
			session approvals.SessionID
			kind    approvals.Kind
			key     string
			want    string
		}{
			{"a Ticket asks for an approval in its turn (AP-7)", "tkt_works", approvals.Approval, "a", "true open"},
			{"its key gives the same question (DE-3)", "tkt_works", approvals.Approval, "a", "false open"},
			{"not without a turn (AP-7)", "tkt_idle", approvals.Approval, "a", "no_open_turn"},
			{"other kinds are free (AP-7)", "tkt_idle", approvals.Clarification, "c", "true open"},
			{"a Ticket that was stopped asks nothing (DE-7)", "tkt_over", approvals.Clarification, "c", "ticket_ended"},
			{"nor for an approval (AP-7)", "tkt_over", approvals.Approval, "a", "ticket_ended"},
			{"the main Session asks for an approval while it holds an Eval (AP-7)", approvals.MainSession, approvals.Approval, "a", "true open"},
			{"and what it wants at any time (AP-7)", approvals.MainSession, approvals.Clarification, "c", "true open"},
			{"the host's keys are its own", "tkt_works", approvals.Clarification, "budget_1", "invalid"},
			{"a session that is not there", "tkt_none", approvals.Clarification, "c", "not found"},
		}
		for _, r := range rows {
			if got := h.ask(r.session, r.kind, r.key); got != r.want {
				t.Errorf("%s: Ask(%s, %s) = %s, want %s", r.name, r.session, r.kind, got, r.want)
			}
		}
		time.Sleep(time.Minute)
		if got := h.ask(approvals.MainSession, approvals.Approval, "b"); got != orchestrator.ActNoOpenTurn {
			t.Errorf("AP-7 past the Eval's deadline Ask = %s, want no_open_turn", got)
		}
		if got := h.ask(approvals.MainSession, approvals.Approval, "a"); got != "false open" {
			t.Errorf("DE-3 the key that was used = %s, want the first question", got)
		}
	})
}

// onceMoved is a store on which somebody else moves a Ticket just before the
// first question is stored.
type onceMoved struct {
	orchestrator.Store
	move func()
}

func (s *onceMoved) CommitQuestions(ctx context.Context, c approvals.Change) error {
	if move := s.move; move != nil {
		s.move = nil
		move()
	}
	return s.Store.CommitQuestions(ctx, c)
}

func TestASessionsOwnPolicy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := askers(t)
		set := func(id approvals.SessionID, p approvals.Policy) error {
			return h.svc.SetApprovals(t.Context(), id, p, "api:ops")
		}
		for _, id := range []approvals.SessionID{"tkt_works", approvals.MainSession} {
			for i, step := range []struct {
				p    approvals.Policy
				want string
			}{{approvals.PolicyNever, "true answered"}, {approvals.PolicyAsk, "true open"}} {
				if err := set(id, step.p); err != nil {
					t.Fatalf("SetApprovals(%s, %s): %v", id, step.p, err)
				}
				if got := h.ask(id, approvals.Approval, fmt.Sprint("k", i)); got != step.want {
					t.Errorf("AP-3 under %s an approval of %s is %s, want %s", step.p, id, got, step.want)
				}
			}
		}
		if err := set("tkt_works", "always"); !errors.Is(err, approvals.ErrInvalid) {
			t.Errorf("SetApprovals(always) = %v, want ErrInvalid (AP-3)", err)
		}
		if err := set("tkt_none", approvals.PolicyAsk); !errors.Is(err, orchestrator.ErrNotFound) {
			t.Errorf("SetApprovals of no session = %v, want ErrNotFound", err)
		}
	})
	t.Run("never that was set while an approval is asked counts for it (AP-3)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := askers(t)
			moving := &onceMoved{Store: h.store, move: func() {
				if err := h.svc.SetApprovals(t.Context(), "tkt_works", approvals.PolicyNever, "api:ops"); err != nil {
					t.Error(err)
				}
			}}
			h.svc.Asker = approvals.NewBroker(approvals.BrokerConfig{Workspace: "default", Store: moving, Directory: h.svc.Directory})
			if got := h.ask("tkt_works", approvals.Approval, "a"); got != "true answered" {
				t.Errorf("Ask = %s, want it answered by the policy", got)
			}
		})
	})
}
