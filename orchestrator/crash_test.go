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

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

// mortal is a store as one process sees it: at its n-th write the process
// dies, just before or just after, and nothing of it reaches the store again.
type mortal struct {
	orchestrator.Store
	mu    sync.Mutex
	n, at int
	after bool
	died  chan struct{}
	once  sync.Once
}

var errDead = fmt.Errorf("the process is dead: %w", orchestrator.ErrUnavailable)

func (m *mortal) dead() bool {
	select {
	case <-m.died:
		return true
	default:
		return false
	}
}

func (m *mortal) write(do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead() {
		return errDead
	}
	m.n++
	if m.n != m.at {
		return do()
	}
	if m.after {
		_ = do()
	}
	m.once.Do(func() { close(m.died) })
	return errDead
}

func (m *mortal) Receive(ctx context.Context, a gate.Arrival) (r orchestrator.Receipt, err error) {
	err = m.write(func() error { r, err = m.Store.Receive(ctx, a); return err })
	return r, err
}

func (m *mortal) Commit(ctx context.Context, c orchestrator.Changes) error {
	return m.write(func() error { return m.Store.Commit(ctx, c) })
}

func (m *mortal) CommitQuestions(ctx context.Context, c approvals.Change) error {
	return m.write(func() error { return m.Store.CommitQuestions(ctx, c) })
}

func (m *mortal) Claim(ctx context.Context, kinds []approvals.DueKind, now time.Time, lease time.Duration, limit int) ([]orchestrator.Claim, error) {
	if m.dead() {
		return nil, errDead
	}
	return m.Store.Claim(ctx, kinds, now, lease, limit)
}

func (m *mortal) Extend(ctx context.Context, c orchestrator.Claim, until time.Time) error {
	if m.dead() {
		return errDead
	}
	return m.Store.Extend(ctx, c, until)
}

// TestCrashPoints kills the process before and after each of its writes, and
// starts another: the story ends the same, nothing is lost and nothing is
// twice (EV-7, RS-4, OUT-1).
func TestCrashPoints(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			died := false
			ok := t.Run(fmt.Sprintf("write %d, after=%t", at, after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { died = crashStory(t, at, after) })
			})
			if !ok || !died {
				if at < 15 {
					t.Errorf("the story has only %d writes; the search looks at nothing", at)
				}
				break
			}
		}
	}
}

// crashStory plays the main job over a process that dies, and a second one.
func crashStory(t *testing.T, at int, after bool) (died bool) {
	mem, out, ids := storetest.NewMem(), newPlatform(), counter()
	m := &mortal{Store: mem, at: at, after: after, died: make(chan struct{})}
	h := newHouseOver(t, m, out, ids, approvalScript()...)
	h.mayDie()
	stop := h.run()
	next := func() *house {
		if !m.dead() || died {
			return h
		}
		died = true
		stop()
		h = newHouseOver(t, mem, out, ids, approvalScript()...)
		h.run()
		return h
	}
	until(t, "the message is taken", func() bool {
		_, err := next().trySay(words{from: listed, text: "1.4.2", mention: true, id: "om_1"})
		return err == nil
	})
	until(t, "the click is taken", func() bool { return next().click() == nil })
	until(t, "the ticket is completed", func() bool {
		next()
		list, _, _ := mem.ListTickets(t.Context(), orchestrator.TicketFilter{State: orchestrator.TicketEnded}, orchestrator.Page{Limit: 5})
		depths, _ := mem.Depths(t.Context())
		return len(list) > 0 && depths == orchestrator.Depths{}
	})
	_, err := next().trySay(words{from: listed, text: "1.4.2", mention: true, id: "om_1"})
	if err != nil && !errors.Is(err, errDead) {
		t.Errorf("the redelivery was refused: %v", err)
	}
	next().settle()
	checkStory(t, mem, out)
	return died
}

// mayDie: a store that dies is not a failure of the test's own set-up.
func (h *house) mayDie() { h.dying = true }

// click approves the question of the only Ticket on its card.
func (h *house) click() error {
	list, _, err := h.store.ListTickets(h.t.Context(), orchestrator.TicketFilter{}, orchestrator.Page{Limit: 5})
	if err != nil || len(list) == 0 {
		return errors.Join(err, orchestrator.ErrNotFound)
	}
	id := approvals.IDFor("default", approvals.SessionID(list[0].ID), "1/step-0")
	q, err := h.broker.Question(h.t.Context(), id)
	if err != nil || len(q.Messages) == 0 {
		return errors.Join(err, approvals.ErrWrongCard)
	}
	_, err = h.broker.Answer(h.t.Context(), approvals.AnswerRequest{
		ID: id, OptionID: approvals.OptionApprove, Via: approvals.ViaCard, Source: "feishu",
		Who: gate.Sender{Kind: gate.Person, ID: listed}, Message: &q.Messages[0],
	})
	return err
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 600 {
		if holds() {
			return
		}
		time.Sleep(200 * time.Millisecond) // fake time
	}
	t.Fatalf("never: %s", what)
}

// checkStory checks that everything happened, and once.
func checkStory(t *testing.T, store orchestrator.Store, out *platform) {
	t.Helper()
	ctx, page := t.Context(), orchestrator.Page{Limit: 10}
	tickets, _, _ := store.ListTickets(ctx, orchestrator.TicketFilter{}, page)
	decisions, _, _ := store.ListDecisions(ctx, orchestrator.DecisionFilter{}, page)
	messages, _, _ := store.ListMessages(ctx, orchestrator.MessageFilter{}, page)
	if len(tickets) != 1 || len(decisions) != 1 || len(messages) != 1 {
		t.Errorf("%d tickets, %d decisions, %d messages; want one each", len(tickets), len(decisions), len(messages))
		return
	}
	if end := tickets[0].End; end == nil || end.Reason != orchestrator.EndCompleted {
		t.Errorf("the ticket ended as %+v; want completed", end)
	}
	short := tickets[0].Short()
	want := []string{"react received", "reply Accepted `" + short + "`: 1.4.2", "card", "card_update", "reply done: 1.4.2"}
	got := map[string]int{}
	for _, line := range out.lines() {
		got[line]++
	}
	for _, line := range want {
		if got[line] != 1 {
			t.Errorf("%q was said %d times; want once in:\n%s", line, got[line], strings.Join(out.lines(), "\n"))
		}
	}
	if len(got) != len(want) {
		t.Errorf("said:\n%s", strings.Join(out.lines(), "\n"))
	}
}
