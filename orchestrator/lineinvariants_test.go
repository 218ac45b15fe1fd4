package orchestrator_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// bound bounds the executor of a small world.
func bound(f *orchestrator.Facts, most int) {
	f.Settings.Executors = map[string]orchestrator.Bounds{"default": {MaxConcurrent: most}}
}

// lineOf is what the tallies of a small world say, in which everybody who has
// something to do asks.
func lineOf(s *orchestrator.State) map[string]orchestrator.Line {
	var l orchestrator.Line
	for _, id := range sortedIDs(s.Tickets) {
		t := s.Tickets[id]
		switch {
		case t.Active() && t.Turn:
			l.Running++
		case t.Active() && t.Seq > t.Delivered:
			l.Waiting = append(l.Waiting, orchestrator.Waiter{Ticket: id, Since: sinceWhen(&t)})
		}
	}
	slices.SortStableFunc(l.Waiting, func(a, b orchestrator.Waiter) int { return a.Since.Compare(b.Since) })
	return map[string]orchestrator.Line{"default": l}
}

func sinceWhen(t *orchestrator.Ticket) time.Time {
	if t.WaitsSince.IsZero() {
		return t.ActiveAt
	}
	return t.WaitsSince
}

// lineKey tells worlds apart in which others are next.
func lineKey(s *orchestrator.State) (key string) {
	line := lineOf(s)["default"]
	for _, w := range line.Waiting {
		key += "<" + string(w.Ticket)
	}
	return key
}

// keepsLine: no more turns are open than the bound, who waits longest goes
// first and is let in when a place is free, and the tallies agree (EX-5).
func keepsLine(st *step) error {
	most := st.f.Settings.Executors["default"].MaxConcurrent
	if most == 0 {
		return nil
	}
	before, after := lineOf(&st.before)["default"], lineOf(&st.after)["default"]
	if after.Running > most {
		return fmt.Errorf("%d turns are open, the bound is %d", after.Running, most)
	}
	if err := opensInTurn(st, &before, most); err != nil {
		return err
	}
	if before.Running > after.Running && len(before.Waiting) > 0 {
		next := before.Waiting[0].Ticket
		if t := st.after.Tickets[next]; t.Active() && !turnDue(&st.c, next) {
			return fmt.Errorf("a place is free, and %s is not let in", next)
		}
	}
	return booked(st)
}

func opensInTurn(st *step, line *orchestrator.Line, most int) error {
	if st.move.kind != mvTurn {
		return nil
	}
	was, is := st.before.Tickets[st.move.ticket], st.after.Tickets[st.move.ticket]
	place := line.Place(was.ID)
	if was.Turn || !was.Active() || place == 0 {
		return nil
	}
	if may := line.Running+place <= most; is.Turn != may {
		return fmt.Errorf("it is at place %d with %d of %d at work; its turn is open: %v", place, line.Running, most, is.Turn)
	}
	return nil
}

// booked: a place is booked exactly when a turn opens or ends.
func booked(st *step) error {
	for id, t := range st.after.Tickets {
		was := st.before.Tickets[id]
		open, closed := 0, 0
		for _, row := range st.c.Tallies {
			switch {
			case row.Set != "turns/default" || row.Member != string(id):
			case row.Out:
				closed++
			default:
				open++
			}
		}
		if want := oneIf(t.Turn && !was.Turn); open != want {
			return fmt.Errorf("%s took %d places, want %d", id, open, want)
		}
		if want := oneIf(was.Turn && !t.Turn); closed != want {
			return fmt.Errorf("%s gave %d places up, want %d", id, closed, want)
		}
	}
	return nil
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

func turnDue(c *orchestrator.Changes, id gate.TicketID) bool {
	return slices.ContainsFunc(c.Due, func(d approvals.Due) bool { return d.Kind == orchestrator.DueTurn && d.Key == string(id) })
}
