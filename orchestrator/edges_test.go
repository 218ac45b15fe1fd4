package orchestrator_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func TestReadItem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ says, raw, code, names string }{
		{"an item in full is read (RO-1)", `{"trigger":"trg_1","action":"accept","title":"t","policy_version":3,"verdicts":[{"rule":"r","match":true,"reason":"x"}]}`, "", ""},
		{"a bare word is no item (RO-1)", `"accept"`, "missing_field", "object"},
		{"null is no item (RO-1)", `null`, "missing_field", "object"},
		{"a field of a wrong type is named (RO-1)", `{"trigger":7}`, "missing_field", "trigger"},
		{"a policy version that is no number is named (RO-9)", `{"policy_version":"three"}`, "missing_field", "policy_version"},
		{"verdicts of a wrong shape are named (RU-1)", `{"verdicts":{"r":true}}`, "verdicts_incomplete", "verdicts"},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			it, j, refused := orchestrator.ReadItem([]byte(c.raw))
			switch {
			case c.code == "" && (refused != nil || it.Trigger != "trg_1" || j.PolicyVersion != 3 || len(j.Verdicts) != 1):
				t.Errorf("ReadItem(%s) = %+v, %+v, %v", c.raw, it, j, refused)
			case c.code != "" && (refused == nil || string(refused.Code) != c.code || !strings.Contains(refused.Message, c.names)):
				t.Errorf("ReadItem(%s) = %+v, want %s that names %s", c.raw, refused, c.code, c.names)
			}
		})
	}
}

// eval returns a State with one Eval under way on Thread A, of candidate m1.
func evalState(t *testing.T) (orchestrator.State, orchestrator.Facts, gate.EvalID) {
	t.Helper()
	s, f, m := emptyState(), smallFacts(epoch), said("m1", "Alin@")
	s.Messages["m1"] = m
	s = apply(s, orchestrator.Arrive(s, "m1", f))
	s = apply(s, orchestrator.FormEval(s, "A", nil, "main", f))
	id := s.Threads["A"].Eval
	if id == "" {
		t.Fatal("no Eval is under way")
	}
	return s, f, id
}

func TestEvalsThatAreNotUnderWay(t *testing.T) {
	t.Parallel()
	t.Run("an Eval that its session must be given again is marked so, once (EV-5)", func(t *testing.T) {
		t.Parallel()
		s, f, id := evalState(t)
		s = apply(s, orchestrator.MarkEval(s, id, true, f))
		if !s.Evals[id].Again {
			t.Error("MarkEval left no mark")
		}
		if c := orchestrator.MarkEval(s, "evl_none", true, f); len(c.Evals) > 0 {
			t.Errorf("MarkEval of no Eval = %+v, want nothing", c.Evals)
		}
	})
	t.Run("an Eval that its Thread does not know any more is over (EV-1)", func(t *testing.T) {
		t.Parallel()
		s, f, id := evalState(t)
		th := s.Threads["A"]
		th.Eval = "evl_other"
		s.Threads["A"] = th
		f.Now = f.Now.Add(time.Hour)
		if c := orchestrator.ExpireEval(s, id, f); len(c.Evals)+len(c.Decisions) > 0 {
			t.Errorf("ExpireEval = %+v, %+v, want nothing", c.Evals, c.Decisions)
		}
	})
	t.Run("a candidate without its record is given back with the others (EV-4)", func(t *testing.T) {
		t.Parallel()
		s, f, id := evalState(t)
		delete(s.Messages, "m1")
		f.Now = f.Now.Add(time.Hour)
		if c := orchestrator.ExpireEval(s, id, f); len(c.Decisions) > 0 {
			t.Errorf("ExpireEval decided %+v about a message that there is not", c.Decisions)
		}
		if c := orchestrator.FailEval(s, id, "x", f); len(c.Messages) > 0 {
			t.Errorf("FailEval wrote %+v", c.Messages)
		}
	})
	t.Run("what Thread there is not asks for nobody (EV-9)", func(t *testing.T) {
		t.Parallel()
		s, f, _ := evalState(t)
		if _, err := orchestrator.Dismiss(s, "none", nil, "ops", f); !errors.Is(err, orchestrator.ErrNotFound) {
			t.Errorf("Dismiss = %v, want ErrNotFound", err)
		}
		d := orchestrator.Decision{ID: "d", Outcome: orchestrator.Ignored}
		if c, err := orchestrator.Dismiss(s, "A", []orchestrator.Decision{d}, "ops", f); err != nil || len(c.Decisions) > 0 {
			t.Errorf("Dismiss of an ignored one = %+v, %v; want nothing", c.Decisions, err)
		}
	})
	t.Run("a Thread that was followed before anything was said on it learns where it is (SU-5a)", func(t *testing.T) {
		t.Parallel()
		s, f, m := emptyState(), smallFacts(epoch), said("m1", "Alin@")
		s.Messages["m1"] = m
		s.Threads["A"] = orchestrator.Thread{ID: "A", Source: m.Source, Place: m.Place}
		s = apply(s, orchestrator.Arrive(s, "m1", f))
		if got := s.Threads["A"].Scope; got != m.Scope || got == "" {
			t.Errorf("scope = %q, want %q", got, m.Scope)
		}
	})
}

func TestRecordsThatAreMissing(t *testing.T) {
	t.Parallel()
	t.Run("a queue that names a message without a record is due all the same (EV-5)", func(t *testing.T) {
		t.Parallel()
		s, f, id := evalState(t)
		th := s.Threads["A"]
		th.Queue = []gate.TriggerID{"ghost"}
		s.Threads["A"] = th
		if c := orchestrator.ReturnEval(s, id, f); len(c.Due) == 0 {
			t.Error("ReturnEval made nothing due")
		}
	})
	t.Run("a decision under an old version on a Thread without a record is stale (RO-9)", func(t *testing.T) {
		t.Parallel()
		s, f, id := evalState(t)
		delete(s.Threads, "A")
		_, r := orchestrator.Route(s, orchestrator.Item{Trigger: "m1", Action: orchestrator.ActIgnore, Reason: "x"},
			orchestrator.Ruling{Eval: id, PolicyVersion: f.Policy.Version + 1}, f)
		if r.Error == nil || r.Error.Code != orchestrator.CodeStalePolicy {
			t.Errorf("Route = %+v, want stale_policy", r)
		}
	})
	t.Run("a Ticket of an older gateway counts from its newest activity", func(t *testing.T) {
		t.Parallel()
		tk := orchestrator.Ticket{State: orchestrator.TicketActive, Seq: 2, Delivered: 1, ActiveAt: epoch}
		if got := orchestrator.Stage(tk, false, 0, epoch.Add(3*time.Minute), time.Hour); got != orchestrator.StageDelivery {
			t.Errorf("Stage = %s, want delivery", got)
		}
		tk.WaitsSince = epoch.Add(2 * time.Minute)
		if got := orchestrator.Stage(tk, false, 0, epoch.Add(3*time.Minute), time.Hour); got != orchestrator.StageQueued {
			t.Errorf("Stage = %s, want queued: its oldest Input waits for a minute", got)
		}
	})
}
