package orchestrator_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

// bounded bounds every house's executor "default".
func (h *house) bounded(b orchestrator.Bounds) *house {
	h.svc.Settings.Executors = map[string]orchestrator.Bounds{"default": b}
	return h
}

// sluggish is an Executor whose turns end when it is told so.
type sluggish struct {
	mu      sync.Mutex
	open    map[gate.TicketID]bool
	began   []gate.TicketID
	most    int
	release chan struct{}
}

func newSluggish() *sluggish {
	return &sluggish{open: map[gate.TicketID]bool{}, release: make(chan struct{})}
}

func (s *sluggish) Turn(ctx context.Context, t orchestrator.Turn) error {
	s.mu.Lock()
	s.open[t.Ticket.ID] = true
	s.began, s.most = append(s.began, t.Ticket.ID), max(s.most, len(s.open))
	s.mu.Unlock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.release:
	}
	s.mu.Lock()
	delete(s.open, t.Ticket.ID)
	s.mu.Unlock()
	return nil
}

func (h *house) tickets() []orchestrator.Ticket {
	h.t.Helper()
	list, _, err := h.store.ListTickets(h.t.Context(), orchestrator.TicketFilter{}, orchestrator.Page{Limit: 20})
	if err != nil {
		h.t.Fatal(err)
	}
	slices.SortFunc(list, func(a, b orchestrator.Ticket) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// shown is what people see of the Tickets, the oldest first: stage and place.
func (h *house) shown() []string {
	h.t.Helper()
	list, err := h.shownOr()
	if err != nil {
		h.t.Fatal(err)
	}
	return list
}

func (h *house) shownOr() (list []string, err error) {
	h.t.Helper()
	tickets := h.tickets()
	places, err := h.svc.Places(h.t.Context(), tickets)
	if err != nil {
		return nil, err
	}
	for _, t := range tickets {
		stage := orchestrator.Stage(t, false, places[t.ID], time.Now(), time.Hour)
		list = append(list, fmt.Sprintf("%s %d", stage, places[t.ID]))
	}
	return list, nil
}

func (h *house) see(what string, want ...string) {
	h.t.Helper()
	if got := h.shown(); !slices.Equal(got, want) {
		h.t.Errorf("%s: tickets are %q, want %q", what, got, want)
	}
}

func TestConcurrency(t *testing.T) {
	t.Parallel()
	t.Run("over all replicas no more turns are open than the bound; who waits longest goes first, and shows its place (EX-5)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			mem, out, ids, ex := storetest.NewMem(), newPlatform(), counter(), newSluggish()
			var h *house
			for range 2 {
				h = newHouseOver(t, mem, out, ids).bounded(orchestrator.Bounds{MaxConcurrent: 2})
				h.runner.Executors["default"] = ex
				h.run()
			}
			for i := range 5 {
				h.say(words{from: listed, text: "work", mention: true, id: fmt.Sprintf("om_%d", i)})
				h.settle()
			}
			h.see("five asked", "working 0", "working 0", "queued 1", "queued 2", "queued 3")
			time.Sleep(10 * time.Minute)
			h.see("a long wait is no trouble of delivery", "working 0", "working 0", "queued 1", "queued 2", "queued 3")
			for range 5 {
				ex.release <- struct{}{}
				synctest.Wait()
			}
			h.settle()
			h.see("all ended their turns", "idle 0", "idle 0", "idle 0", "idle 0", "idle 0")
			var order []gate.TicketID
			for _, tk := range h.tickets() {
				order = append(order, tk.ID)
			}
			if ex.most != 2 || !slices.Equal(ex.began, order) {
				t.Errorf("%d turns at once, in the order %v; want 2, in %v", ex.most, ex.began, order)
			}
		})
	})
	t.Run("a turn that waits for an answer holds no place (EX-5, DE-10)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, approvalScript()...).bounded(orchestrator.Bounds{MaxConcurrent: 1})
			h.run()
			for i := range 3 {
				h.say(words{from: listed, text: "1.4.2", mention: true, id: fmt.Sprintf("om_%d", i)})
			}
			h.settle()
			h.settle()
			if d, err := h.store.Depths(t.Context()); err != nil || d.Questions != 3 {
				t.Errorf("%d questions are open, %v; want all three", d.Questions, err)
			}
		})
	})
	t.Run("a turn that ends lets the next in at once (EX-5)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ex := newSluggish()
			h := newHouse(t).bounded(orchestrator.Bounds{MaxConcurrent: 1})
			h.runner.Executors["default"] = ex
			h.run()
			for i := range 2 {
				h.say(words{from: listed, text: "work", mention: true, id: fmt.Sprintf("om_%d", i)})
			}
			h.settle()
			began := time.Now()
			ex.release <- struct{}{}
			ex.release <- struct{}{} // the second turn has begun
			if took := time.Since(began); took > 500*time.Millisecond {
				t.Errorf("the next turn began after %v", took)
			}
		})
	})
	t.Run("of many that race for the last place one gets it (EX-5, RS-4)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouseOver(t, slowLook{storetest.NewMem()}, newPlatform(), counter()).bounded(orchestrator.Bounds{MaxConcurrent: 2, Remote: true})
			delete(h.runner.Executors, "default")
			h.run()
			for i := range 8 {
				h.say(words{from: listed, text: "work", mention: true, id: fmt.Sprintf("om_%d", i)})
			}
			h.settle()
			h.settle()
			var wg sync.WaitGroup
			for _, tk := range h.tickets() {
				wg.Go(func() { _, _ = h.svc.Read(t.Context(), tk.ID, orchestrator.Reading{}) })
			}
			wg.Wait()
			open := 0
			for _, tk := range h.tickets() {
				if tk.Turn {
					open++
				}
			}
			if open != 2 {
				t.Errorf("%d turns are open, want 2", open)
			}
		})
	})
}

// slowLook is a store in which all that look at one time see the same line.
type slowLook struct{ orchestrator.Store }

func (s slowLook) Members(ctx context.Context, sets ...orchestrator.Counts) ([][]orchestrator.Member, error) {
	all, err := s.Store.Members(ctx, sets...)
	time.Sleep(100 * time.Millisecond) // fake time
	return all, err
}

// remoteHouse is one whose executor reads from afar, with a Ticket a message.
func remoteHouse(t *testing.T, b orchestrator.Bounds, messages int) *house {
	t.Helper()
	b.Remote = true
	h := newHouse(t).bounded(b)
	delete(h.runner.Executors, "default")
	h.run()
	for i := range messages {
		h.say(words{from: listed, text: "work", mention: true, id: fmt.Sprintf("om_%d", i)})
		h.settle()
	}
	return h
}

// reads has the remote executor of the n-th Ticket read, and says how many
// Inputs it got.
func (h *house) reads(n int) int {
	h.t.Helper()
	got, err := h.svc.Read(h.t.Context(), h.tickets()[n].ID, orchestrator.Reading{})
	if err != nil {
		h.t.Fatalf("Read: %v", err)
	}
	return len(got.Inputs)
}

func (h *house) does(n int, cmd orchestrator.Command) orchestrator.Performed {
	h.t.Helper()
	p, err := h.svc.Act(h.t.Context(), h.tickets()[n].ID, cmd)
	if err != nil || !p.OK {
		h.t.Fatalf("Act(%s) = %+v, %v", cmd.Verb, p, err)
	}
	return p
}

func TestRemoteConcurrency(t *testing.T) {
	t.Parallel()
	stories := []struct {
		name string
		play func(t *testing.T, h *house)
	}{
		{"a read that would open a turn over the bound gets nothing yet (EX-5, EX-4)", func(t *testing.T, h *house) {
			if a, b := h.reads(0), h.reads(1); a != 1 || b != 0 {
				t.Errorf("read %d and %d inputs, want 1 and none", a, b)
			}
			h.see("one works", "working 0", "queued 1", "delivery 0")
			h.does(0, orchestrator.Command{Verb: orchestrator.VerbTurnEnd})
			if n := h.reads(1); n != 1 {
				t.Errorf("read %d inputs after the other's turn end, want 1", n)
			}
		}},
		{"a place is kept for who waits longer (EX-5)", func(t *testing.T, h *house) {
			h.reads(0)
			h.reads(2)
			h.reads(1)
			h.see("both asked", "working 0", "queued 1", "queued 2")
			h.does(0, orchestrator.Command{Verb: orchestrator.VerbReport, Kind: orchestrator.ReportDone})
			if c, b := h.reads(2), h.reads(1); c != 0 || b != 1 {
				t.Errorf("the later got %d, the earlier %d; want 0 and 1", c, b)
			}
		}},
		{"who does not ask any more holds up nobody, and finds its old place (EX-5)", func(t *testing.T, h *house) {
			h.reads(0)
			h.reads(1)
			time.Sleep(50 * time.Second)
			h.reads(2)
			h.reads(1) // asks again
			time.Sleep(50 * time.Second)
			h.see("both asked within a minute", "working 0", "queued 1", "queued 2")
			time.Sleep(50 * time.Second)
			h.see("none asks any more", "working 0", "delivery 0", "delivery 0")
			h.does(0, orchestrator.Command{Verb: orchestrator.VerbTurnEnd})
			if n := h.reads(2); n != 1 {
				t.Errorf("read %d inputs, want 1", n)
			}
			h.reads(1)
			h.see("it is next again", "idle 0", "queued 1", "working 0")
		}},
		{"a stop gives the place up (EX-5, ST-3)", func(t *testing.T, h *house) {
			h.reads(0)
			if err := h.svc.StopByCommand(t.Context(), h.tickets()[0].ID, "api:ops"); err != nil {
				t.Fatal(err)
			}
			if n := h.reads(1); n != 1 {
				t.Errorf("read %d inputs, want 1", n)
			}
		}},
		{"a remote turn parks with its question, and needs a place for the answer (EX-5, DE-10)", func(t *testing.T, h *house) {
			h.reads(0)
			h.does(0, orchestrator.Command{Verb: orchestrator.VerbAsk, Ask: choice("k1")})
			if n := h.reads(1); n != 1 {
				t.Errorf("read %d inputs while the other asks, want 1", n)
			}
			h.answer(h.tickets()[0].ID, "yes")
			h.settle()
			if n := h.reads(0); n != 0 {
				t.Errorf("read %d inputs, want none while the other works", n)
			}
			h.see("the answer waits", "queued 1", "working 0", "delivery 0")
			h.does(1, orchestrator.Command{Verb: orchestrator.VerbTurnEnd})
			if n := h.reads(0); n != 1 {
				t.Errorf("read %d inputs, want the answer", n)
			}
		}},
	}
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := remoteHouse(t, orchestrator.Bounds{MaxConcurrent: 1}, 3)
				time.Sleep(3 * time.Minute)
				s.play(t, h)
			})
		})
	}
}
