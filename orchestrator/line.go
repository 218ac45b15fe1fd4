package orchestrator

import (
	"cmp"
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Bounds is how much an executor may do (EX-5).
type Bounds struct {
	// MaxConcurrent is how many of its Tickets may have an open turn at once,
	// over all replicas; 0: any number. A turn that waits for an answer does not
	// count (DE-10).
	MaxConcurrent int
	Budget        Budget
	// Remote: the executor reads its Inputs over HTTP or MCP (EX-4).
	Remote bool
}

// Line is what the Tickets of one executor do: how many have an open turn, and
// which wait for one, in order.
type Line struct {
	Running int
	Waiting []Waiter
}

// Waiter is a Ticket that waits for a place at its executor.
type Waiter struct {
	Ticket gate.TicketID
	// Since is when the oldest Input that waits came: the order of the line.
	Since time.Time
	// Asked is when it last asked for a place.
	Asked time.Time
}

// Place is the Ticket's place in the line: 1 is next, 0: it does not wait.
func (l *Line) Place(id gate.TicketID) int {
	return 1 + slices.IndexFunc(l.Waiting, func(w Waiter) bool { return w.Ticket == id })
}

// The tallies of an executor: the Tickets that have a place, and those that
// asked for one and got none. A Ticket that does not ask again leaves the line,
// so that a remote executor that is gone holds up nobody; it comes back to its
// old place, since that goes by how long its Inputs wait.
func turnsOf(executor string) string { return "turns/" + executor }
func lineOf(executor string) string  { return "line/" + executor }

const (
	// askedFor is how long asking keeps a Ticket in the line.
	askedFor = time.Minute
	// askAgain is how old the mark in the line is before it is renewed.
	askAgain = 20 * time.Second
)

// works reports whether the Ticket has a place at its executor: its turn is
// open, and not parked.
func (t *Ticket) works() bool {
	return t.Active() && t.Turn && (t.Parked == 0 || t.Parked != t.Delivered)
}

func (t *Ticket) waiter() Waiter {
	return Waiter{Ticket: t.ID, Since: since(t.WaitsSince, t.ActiveAt)}
}

// before orders the line: who waits longest goes first (EX-5).
func (w Waiter) before(o Waiter) int {
	return cmp.Or(w.Since.Compare(o.Since), cmp.Compare(w.Ticket, o.Ticket))
}

// hasPlace reports whether the executor has a place for the Ticket now: one that
// is free, and not for somebody who waits longer.
func (w *work) hasPlace(t *Ticket) bool {
	most, line := w.Settings.Executors[t.Executor].MaxConcurrent, w.Lines[t.Executor]
	ahead := 0
	for _, o := range line.Waiting {
		if o.Ticket != t.ID && o.before(t.waiter()) < 0 {
			ahead++
		}
	}
	return most <= 0 || line.Running+ahead < most
}

// standInLine puts the Ticket into the line, or keeps it there.
func (w *work) standInLine(t *Ticket) {
	line := w.Lines[t.Executor]
	if i := line.Place(t.ID) - 1; i >= 0 && w.Now.Sub(line.Waiting[i].Asked) < askAgain {
		return
	}
	w.c.Tallies = append(w.c.Tallies, Tally{Set: lineOf(t.Executor), Member: string(t.ID), At: w.Now, Keep: askedFor})
}

// places books who got a place at an executor in this transition, and who gave
// one up, so that the tallies say at all times what the Tickets say.
func (w *work) places() {
	for _, id := range sortedKeys(w.tickets) {
		t, was := w.tickets[id], w.read.Tickets[id]
		switch is, had := t.works(), was.works(); {
		case is && !had:
			w.takePlace(t)
		case had && !is:
			w.freePlace(t)
		}
	}
}

func (w *work) takePlace(t *Ticket) {
	bounds := w.Settings.Executors[t.Executor]
	if !bounds.Budget.none() {
		t.Spent = t.Spent.begin(w.Now)
	}
	if bounds.MaxConcurrent > 0 {
		w.c.Tallies = append(w.c.Tallies,
			Tally{Set: turnsOf(t.Executor), Member: string(t.ID), At: w.Now, Most: bounds.MaxConcurrent},
			Tally{Set: lineOf(t.Executor), Member: string(t.ID), Out: true})
	}
}

// freePlace gives a place up, and lets those in at once who are next.
func (w *work) freePlace(t *Ticket) {
	bounds, line := w.Settings.Executors[t.Executor], w.Lines[t.Executor]
	if !bounds.Budget.none() {
		t.Spent = t.Spent.end(w.Now)
	}
	if bounds.MaxConcurrent <= 0 {
		return
	}
	w.c.Tallies = append(w.c.Tallies, Tally{Set: turnsOf(t.Executor), Member: string(t.ID), Out: true})
	free := max(1, bounds.MaxConcurrent-line.Running+1)
	for _, next := range line.Waiting[:min(free, len(line.Waiting))] {
		w.due(DueTurn, string(next.Ticket))
	}
}
