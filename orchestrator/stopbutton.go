package orchestrator

import (
	"cmp"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// StopButton is through what a click stopped a Ticket.
const StopButton = "the Stop button"

// StopClicked decides a click on the Stop button of a Ticket's message: it
// counts from that message only, and stops at once for the requester, the
// approvers and operators (ST-2). A refused one is recorded and changes nothing
// else.
func StopClicked(s State, c gate.StopClick, by gate.Answerer, f Facts) (Changes, gate.StopAnswer) {
	w := begin(s, f)
	t := w.tickets[c.Ticket]
	switch {
	case t == nil:
		return Changes{}, gate.StopAnswer{Result: gate.StopUnknown}
	case t.Notice == nil:
		return Changes{}, gate.StopAnswer{Result: gate.StopNotShown}
	case t.Mandate.Source != c.Source || t.Notice.Message != c.Message || t.Notice.Chat != c.Chat:
		return w.notStopped(t, c, gate.StopWrongCard, "not the ticket's message")
	}
	if why, may := gate.MayStop(by, &t.Mandate); !may {
		return w.notStopped(t, c, gate.StopNotAllowed, why)
	}
	result := gate.StopLate
	if t.Active() {
		result = gate.StopDone
		w.stopper = c.Who
		w.endByPerson(t, EndManualStop, cmp.Or(c.Who.Name, c.Who.ID)+" by "+StopButton, "")
	}
	now := *t
	a := gate.StopAnswer{Result: result, Notice: w.edition(&now)}
	if result == gate.StopDone {
		a.Notice.Mention = c.Who
	}
	return w.done(), a
}

func (w *work) notStopped(t *Ticket, c gate.StopClick, r gate.StopResult, why string) (Changes, gate.StopAnswer) {
	w.log("ticket.stop_refused", approvals.SessionID(t.ID), map[string]any{"ticket": t.ID, "sender": c.Who.ID, "reason": why})
	return w.done(), gate.StopAnswer{Result: r}
}
