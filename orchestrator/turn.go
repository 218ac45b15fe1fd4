package orchestrator

import (
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// OpenTurn hands a Ticket's Inputs to its Executor: all that were appended
// count as delivered, and the turn is open. Where the executor has no place
// free, or the day's budget is used up, they wait and nothing is lost (EX-5).
func OpenTurn(s State, id gate.TicketID, f Facts) Changes {
	w := begin(s, f)
	if t := w.tickets[id]; t != nil && t.Active() {
		w.openTurn(t)
	}
	return w.done()
}

func (w *work) openTurn(t *Ticket) {
	if !w.affords(t) {
		return
	}
	if !t.works() && !w.hasPlace(t) {
		w.standInLine(t)
		return
	}
	if !t.Turn {
		t.Upto, t.ActedAt = 0, w.Now
	}
	t.Delivered, t.Turn, t.Parked, t.WaitsSince = t.Seq, true, 0, time.Time{}
}

// Park notes how far an Executor got that waits for an answer now. Its place
// is free for others meanwhile (DE-10, EX-5).
func Park(s State, id gate.TicketID, upto int, f Facts) Changes {
	w := begin(s, f)
	if t := w.tickets[id]; t != nil && t.Active() {
		t.Parked = upto
	}
	return w.done()
}
