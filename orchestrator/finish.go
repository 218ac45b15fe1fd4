package orchestrator

import (
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// end closes an active Ticket and releases the messages that it owned but did
// not deal with (EN-1), except one: those never delivered, and those beyond
// what its Reports and turn ends cover. What started or resumed it stays.
func (w *work) end(t *Ticket, reason EndReason, by string, except gate.TriggerID) {
	var left []gate.TriggerID
	for _, h := range t.Held {
		if !h.Root && (h.Seq > t.Delivered || h.Seq > t.Covered) {
			left = append(left, h.Trigger)
		}
	}
	t.State, t.End = TicketEnded, &End{Reason: reason, By: by, At: w.Now}
	t.Turn, t.Upto, t.Held, t.Former, t.ActiveAt, t.Past = false, 0, nil, nil, w.Now, t.Seq
	t.Acked, t.Lost, t.WaitsSince, t.Muted, t.Spent.Ask = nil, nil, time.Time{}, false, ""
	w.c.Cancel = append(w.c.Cancel, approvals.Due{Kind: DueTurn, Key: string(t.ID)})
	w.cancelQuestions(t, "ticket ended", func(*approvals.Question) bool { return true })
	w.release(t, left, except)
	w.retell(t, w.stopper)
	w.log("ticket.ended", approvals.SessionID(t.ID), map[string]any{"ticket": t.ID, "reason": reason})
}

// endByPerson stops a Ticket, active or ended, and withdraws its Mandate
// (RO-4, ST-3). The message that said so is not sent to Eval again (EN-3).
func (w *work) endByPerson(t *Ticket, reason EndReason, by string, said gate.TriggerID) {
	if t.Mandate.Stands() {
		t.Mandate.State = gate.MandateWithdrawn
	}
	if t.Active() {
		w.end(t, reason, by, said)
	} else {
		t.End = &End{Reason: reason, By: by, At: w.Now}
		w.release(t, t.Waiting, said)
		t.Waiting = nil
		w.retell(t, w.stopper)
	}
	if m := w.messages[said]; m != nil {
		m.Owners = drop(m.Owners, t.ID)
	}
}

// StopByCommand stops a Ticket at once for a person who may (ST-2): from the
// panel, by API, by a button.
func StopByCommand(s State, id gate.TicketID, by string, f Facts) (Changes, error) {
	w := begin(s, f)
	t := w.tickets[id]
	if t == nil {
		return Changes{}, ErrNotFound
	}
	if !t.End.ByPerson() {
		w.sayStop(t)
		w.endByPerson(t, EndManualStop, by, "")
	}
	return w.done(), nil
}

// sayStop confirms a stop where the work was asked for (OUT-6). One of work that
// had ended already only keeps it from being resumed, and is said by who did it.
func (w *work) sayStop(t *Ticket) {
	if t.Active() {
		w.say(t.home(), t.ID, w.text(sayStopped, t.Short(), t.Title), intent("stopped", string(t.ID)))
	}
}

// kept leaves out the messages that left the Ticket when it ended: they are the
// gate's again, or somebody else's (EN-2), and are not handed over when the Ticket
// is resumed. One that came back since has an Input of its own.
func (t *Ticket) kept(inputs []TurnInput) []TurnInput {
	last := map[gate.TriggerID]int{}
	for _, in := range inputs {
		if in.Owned {
			last[in.Trigger] = in.Seq
		}
	}
	return slices.DeleteFunc(inputs, func(in TurnInput) bool {
		left := in.Message != nil && !slices.Contains(in.Message.Owners, t.ID)
		return in.Withdrawn(in.Message) || in.Owned && in.Seq <= t.Past && (left || in.Seq != last[in.Trigger])
	})
}

// cover records that a Report or turn end deals with the Inputs up to a seq.
func (t *Ticket) cover(upto int) {
	t.Covered = max(t.Covered, min(upto, t.Delivered))
	t.Held = slices.DeleteFunc(t.Held, func(h Held) bool { return h.Seq <= t.Covered })
	t.Acked = slices.DeleteFunc(t.Acked, func(seq int) bool { return seq <= t.Covered })
}
