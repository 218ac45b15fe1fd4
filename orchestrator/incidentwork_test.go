package orchestrator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

const mainCI = gate.ThreadID("feishu~acme~shop~ci~main")

// tower is a Witness: what is the head of main, what is green there, and whether
// the platform answers.
type tower struct {
	mu    sync.Mutex
	head  string
	green []gate.Run
	err   error
	looks int
}

func (w *tower) Look(_ context.Context, t gate.Trigger) (gate.Trigger, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	if w.err != nil {
		return gate.Trigger{}, w.err
	}
	run := *t.Run
	run.Top = w.head
	t.Run, t.Text = &run, t.Text+" and its log says why"
	return t, nil
}

func (w *tower) Green(context.Context, gate.Place, []gate.Run) ([]gate.Run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.green, w.err
}

func (w *tower) set(head string, err error, green ...gate.Run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.head, w.err, w.green = head, err, green
}

// watchesCI makes the Source receive CI, and the builtin driver accept it.
func watchesCI(h *house) {
	h.svc.Sources["feishu"].Scopes[gate.CI] = gate.ReceiveAll
	h.policy.Mode = gate.Auto
	h.policy.Rules = []gate.Rule{{ID: "ci", Enabled: true, Match: "failed", Acknowledge: true, Executors: []string{"default"}}}
	h.policy.Sources["feishu"].Table[gate.CI] = gate.Row{UnlistedUnaddressed: gate.Inferred}
}

// red is a run of the build that failed.
func red(head string) gate.Run {
	return gate.Run{Workflow: "build", Name: "Build", Branch: "main", Head: head, Failed: true}
}

// ciTold is what CI tells of a run on main; the event's name makes it known again.
func (h *house) ciTold(event string, r gate.Run) error {
	if r.Began.IsZero() {
		r.Began = time.Now()
	}
	a := gate.Arrival{
		Trigger: gate.Trigger{
			Source: "feishu", Scope: gate.CI, Thread: mainCI, Kind: gate.KindCI, Place: gate.Place{Chat: "acme/shop", Root: r.Head},
			Sender: gate.Sender{Kind: gate.NoSender}, Title: "CI of main", Text: "the build failed at " + r.Head,
			Bundle: "head:" + r.Head, Run: &r, OccurredAt: time.Now(),
		},
		Keys: []string{"feishu:run:" + event}, Lane: string(mainCI),
	}
	if !r.Failed {
		a.Change.Kind = gate.ChangePassed
	}
	return h.svc.Receive(h.t.Context(), a)
}

func (h *house) mustTell(event string, r gate.Run) {
	h.t.Helper()
	if err := h.ciTold(event, r); err != nil {
		h.t.Fatalf("Receive: %v", err)
	}
	h.settle()
}

// redOf are the commits of the red workflows of main.
func redOf(t *testing.T, s orchestrator.Store) string {
	t.Helper()
	st, err := s.Load(t.Context(), orchestrator.Want{Threads: []gate.ThreadID{mainCI}})
	if err != nil {
		t.Fatal(err)
	}
	th := st.Threads[mainCI]
	return list(th.Red(time.Now()), func(r gate.Run) string { return r.Head })
}

// states are those of what CI told, the oldest first.
func (h *house) states() string {
	h.t.Helper()
	all, _, err := h.store.ListMessages(h.t.Context(), orchestrator.MessageFilter{}, orchestrator.Page{Limit: 20})
	if err != nil {
		h.t.Fatal(err)
	}
	var words []string
	for i := range all {
		words = append([]string{all[i].Run.Head + ":" + string(all[i].State)}, words...)
	}
	return strings.Join(words, " ")
}

func newTower(t *testing.T) (*house, *tower) {
	t.Helper()
	h, w := newHouse(t), &tower{head: "h1"}
	watchesCI(h)
	h.bounded(orchestrator.Bounds{Remote: true}) // so that a Ticket ends when the test says so
	delete(h.runner.Executors, "default")
	h.svc.Witnesses = map[gate.SourceID]orchestrator.Witness{"feishu": w}
	h.run()
	return h, w
}

func (h *house) wantStates(want string) {
	h.t.Helper()
	if got := h.states(); got != want {
		h.t.Errorf("GH-3: %s; want %s", got, want)
	}
}

func TestQuietWitness(t *testing.T) {
	t.Parallel()
	t.Run("red, accepted, red again, green, red (GH-3)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h, w := newTower(t)
			h.mustTell("1", red("h1"))
			if tk := h.ticket(); tk.Mandate.Place.Root != "h1" || !tk.Active() {
				t.Fatalf("GH-3: the ticket is %s at %s; want it at work at h1", tk.State, tk.Mandate.Place.Root)
			}
			w.set("h2", nil)
			h.mustTell("2", red("h2"))
			h.wantStates("h1:owned h2:delivered")
			h.mustTell("3", gate.Run{Workflow: "build", Name: "Build", Branch: "main", Head: "h2"})
			if n := notes(t, h.store, "CI is green again on main: Build"); n != 1 || redOf(t, h.store) != "" {
				t.Errorf("GH-3: %d notes of green, red %q; want one, and no incident", n, redOf(t, h.store))
			}
			w.set("h3", nil)
			h.mustTell("4", red("h3"))
			if n, _, _ := h.store.ListDecisions(t.Context(), orchestrator.DecisionFilter{}, orchestrator.Page{Limit: 5}); len(n) != 2 {
				t.Errorf("GH-3: %d decisions; want a second one, of the red after the green", len(n))
			}
			h.mustTell("4", red("h3"))
			h.wantStates("h1:owned h2:delivered h3:owned")
		})
	})
	t.Run("the branch is looked at before anything starts, and what the look found is in the text (GH-3)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h, w := newTower(t)
			w.set("h1", &gate.SendError{Class: gate.SendRetry, Reason: "away"})
			h.mustTell("1", red("h1"))
			h.wantStates("h1:received")
			w.set("h1", nil)
			h.settle()
			st, err := h.store.Load(t.Context(), orchestrator.Want{Messages: []gate.TriggerID{h.ticket().Mandate.Trigger}})
			if m := st.Messages[h.ticket().Mandate.Trigger]; err != nil || !strings.HasSuffix(m.Text, "its log says why") {
				t.Errorf("GH-3: the text is %q, %v; want the log in it", m.Text, err)
			}
			h.mustTell("2", red("h0"))
			h.wantStates("h1:owned h0:delivered")
		})
	})
	t.Run("a failure that can never be looked at is told as it is (GH-3)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h, w := newTower(t)
			w.set("", &gate.SendError{Class: gate.SendDropped, Reason: "no access"})
			h.mustTell("1", red("h1"))
			h.wantStates("h1:owned")
		})
	})
	t.Run("the sweep finds the head green, also after a while without an answer (GH-3)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h, w := newTower(t)
			h.mustTell("1", red("h1"))
			w.set("h1", errors.New("away"))
			time.Sleep(6 * time.Minute)
			if got := redOf(t, h.store); got != "h1" {
				t.Errorf("GH-3: red %q; want h1, as long as nobody knows", got)
			}
			green := red("h1")
			green.Failed, green.Began = false, time.Now()
			w.set("h1", nil, green)
			time.Sleep(6 * time.Minute)
			if got := redOf(t, h.store); got != "" {
				t.Errorf("GH-3: red %q; want it closed by the sweep", got)
			}
		})
	})
	t.Run("green of what was never red is not even stored (GH-3)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h, w := newTower(t)
			h.mustTell("1", gate.Run{Workflow: "build", Head: "h1"})
			if d, err := h.store.Depths(t.Context()); err != nil || w.looks != 0 || d.Inbox != 0 {
				t.Errorf("GH-3: %d looks, %+v, %v; want nothing done", w.looks, d, err)
			}
			_, err := h.store.Known(t.Context(), "feishu:run:1")
			if !errors.Is(err, orchestrator.ErrNotFound) {
				t.Errorf("Known = %v; want that it was not stored", err)
			}
		})
	})
	t.Run("work on what is gone is given up (GH-3)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h, _ := newTower(t)
			h.mustTell("1", red("h1"))
			for _, kind := range []orchestrator.Handler{h.svc.HandleWitness, h.svc.HandleIncidents} {
				err := kind(t.Context(), orchestrator.Claim{Key: "gone"})
				if err != nil && !errors.Is(err, orchestrator.ErrLostClaim) {
					t.Errorf("a handler of what is gone: %v", fmt.Errorf("%w", err))
				}
			}
		})
	})
}
