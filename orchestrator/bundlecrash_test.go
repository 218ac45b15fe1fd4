package orchestrator_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

// bundled is a house in which three inferred Threads of one chat wait for a
// session outside.
func bundled(t *testing.T, mem orchestrator.Store, newID func(string) string) *house {
	t.Helper()
	h := newHouseOver(t, mem, newPlatform(), newID)
	handlers := h.svc.Handlers()
	h.worker = orchestrator.NewWorker(orchestrator.WorkerConfig{
		Queue: mem, States: mem, Handlers: handlers, Lease: 10 * time.Second, Poll: 250 * time.Millisecond, Limit: 8, Now: time.Now, Log: h.svc.Log,
	})
	h.policy = edited(func(p *gate.Policy) {
		p.Mode = gate.Auto
		src := p.Sources["feishu"]
		src.Bots = []string{"cli_1"}
		p.Sources["feishu"] = src
	})
	h.run()
	for _, id := range []string{"om_1", "om_2", "om_3"} {
		h.say(words{from: "cli_1", bot: true, text: id, mention: true, id: id})
	}
	h.settle()
	return h
}

// decide takes what a session is given and ignores it, until nothing comes for
// longer than a claim of a process that died holds.
func decide(ctx context.Context, svc *orchestrator.Service, fresh bool) (given []int, err error) {
	for {
		h, ok, err := svc.Next(ctx, "main", fresh, 15*time.Second)
		if err != nil || !ok {
			return given, err
		}
		given, fresh = append(given, len(h.Candidates)), false
		for _, m := range h.Candidates {
			it := orchestrator.Item{Trigger: m.ID, Action: orchestrator.ActIgnore, Reason: "nothing to do"}
			if _, err := svc.Route(ctx, it, orchestrator.Ruling{Eval: h.Eval.ID, By: orchestrator.ByMainSession}); err != nil {
				return given, err
			}
		}
	}
}

func TestABundleGoesThroughASession(t *testing.T) {
	t.Parallel()
	t.Run("three inferred Threads are one hand-out, each with its own Decision (EV-1)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := bundled(t, storetest.NewMem(), counter())
			if given, err := decide(t.Context(), h.svc, false); err != nil || len(given) != 1 || given[0] != 3 {
				t.Errorf("Next gave %v candidates, %v; want 3 at once", given, err)
			}
			decidedOnce(t, h)
		})
	})
	t.Run("an Eval that nobody decides expires for each Thread, and comes again as one (EV-4)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := bundled(t, storetest.NewMem(), counter())
			if _, ok, err := h.svc.Next(t.Context(), "gone", false, 0); !ok || err != nil {
				t.Fatalf("Next = %v, %v", ok, err)
			}
			time.Sleep(11 * time.Minute)
			if given, err := decide(t.Context(), h.svc, false); err != nil || len(given) != 1 || given[0] != 3 {
				t.Errorf("Next gave %v candidates, %v; want 3 at once", given, err)
			}
			decidedOnce(t, h)
		})
	})
	t.Run("the builtin driver decides a bundle (DR-1, EV-1)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := bundled(t, storetest.NewMem(), counter())
			c := &orchestrator.Considerer{Service: h.svc, Driver: orchestrator.Builtin{Settings: h.svc.Settings}, Session: "builtin"}
			claims, err := h.store.Claim(t.Context(), []approvals.DueKind{orchestrator.DueEvalLater}, time.Now(), time.Minute, 1)
			if err != nil || len(claims) != 1 {
				t.Fatalf("Claim = %v, %v", claims, err)
			}
			if err := c.Handle(t.Context(), claims[0]); err != nil {
				t.Fatalf("Handle: %v", err)
			}
			decidedOnce(t, h)
		})
	})
}

// TestABundleSurvivesCrashes kills the process that a session talks to before
// and after each of its writes: forming the Eval, and each Decision. The next
// one gives the session what it holds (EV-5, EV-7).
func TestABundleSurvivesCrashes(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for n, died := 1, true; died; n++ {
			synctest.Test(t, func(t *testing.T) {
				mem, ids := storetest.NewMem(), counter()
				h := bundled(t, mem, ids)
				store := &mortal{Store: mem, at: n, after: after, died: make(chan struct{})}
				_, _ = decide(t.Context(), newHouseOver(t, store, h.out, ids).svc, false)
				if died = store.dead(); died {
					if _, err := decide(t.Context(), h.svc, true); err != nil {
						t.Errorf("EV-7: after a death at write %d, after=%v: %v", n, after, err)
					}
				}
				decidedOnce(t, h)
			})
			if !died && n < 5 {
				t.Errorf("only %d writes were tried", n-1)
			}
		}
	}
}

// decidedOnce: each of the three was decided once, and no Eval is left.
func decidedOnce(t *testing.T, h *house) {
	t.Helper()
	h.settle()
	ds, _, err := h.store.ListDecisions(t.Context(), orchestrator.DecisionFilter{}, orchestrator.Page{Limit: 10})
	seen := map[gate.TriggerID]int{}
	for _, d := range ds {
		seen[d.Trigger]++
	}
	open, _ := h.store.OpenEvals(t.Context())
	threads, _ := h.store.Evaluating(t.Context())
	depths, _ := h.store.Depths(t.Context())
	if err != nil || len(ds) != 3 || len(seen) != 3 || len(open)+len(threads)+depths.Evals > 0 {
		t.Errorf("EV-7: decisions %v of %d, open %d, threads %v, due %d, %v; want each of three once, and nothing left",
			seen, len(ds), len(open), threads, depths.Evals, err)
	}
}
