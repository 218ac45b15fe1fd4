package orchestrator

import (
	"cmp"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// stopCommand stops the Ticket that the command names at once, on whatever
// Thread of the Source it lives, for its requester and the approvers (ST-2).
// Without an id it is the Thread's only one. To all others a Ticket of
// elsewhere is as good as none.
func (w *work) stopCommand(m *Message, c command) {
	may, here := w.theirs(m, c)
	switch {
	case len(may) == 1:
		w.stopNamed(m, may[0])
	case len(may) > 1:
		w.answered(m, w.text(sayStopWhich, strings.Join(tellApart(may), ", ")))
	case here != nil:
		w.answered(m, w.text(sayMayNotStop, here.Short()))
	case c.ticket == "":
		w.answered(m, w.text(sayNothingToStop))
	default:
		w.answered(m, w.text(sayNoSuchTask))
	}
}

// theirs are the Tickets that the command can mean and its sender may stop;
// here is one of the Thread that they may not.
func (w *work) theirs(m *Message, c command) (may []*Ticket, here *Ticket) {
	for _, id := range sortedKeys(w.tickets) {
		t := w.tickets[id]
		own := t.Active() && t.owns(m.Thread) && (c.ticket == "" || t.named(c.ticket))
		switch {
		case !own && !c.about(m, t):
		case w.mayStop(m, t):
			may = append(may, t)
		case own && here == nil:
			here = t
		}
	}
	return may, here
}

func (w *work) mayStop(m *Message, t *Ticket) bool {
	_, may := gate.MayStop(w.answerer(m), &t.Mandate)
	return may
}

func (w *work) answerer(m *Message) gate.Answerer {
	return gate.Answerer{
		Source: m.Source, Who: m.Sender, Lists: w.lists(m.Source, m.Sender), Linked: w.Linked[WhoIs(m.Source, m.Sender)],
	}
}

// stopNamed stops the Ticket and confirms it: where it was said, and where the
// work was asked for.
func (w *work) stopNamed(m *Message, t *Ticket) {
	said := w.text(sayStopped, t.Short(), t.Title)
	if w.public(m, t) {
		w.answered(m, said)
	} else {
		w.answered(m, w.text(sayStoppedElsewhere, t.Short()))
	}
	if m.Thread != t.Mandate.Thread {
		w.sayStop(t)
	}
	w.endByPerson(t, EndManualStop, cmp.Or(m.Sender.Name, m.Sender.ID)+" by "+StopTicket, m.ID)
}

// public: those who read the message may read the Ticket's title, since it is of
// the same chat or repository; in a DM only its sender reads.
func (w *work) public(m *Message, t *Ticket) bool {
	return m.Addressing == gate.Direct || t.owns(m.Thread) || !w.foreign(m, t)
}

// tellApart gives ids that differ: short ones, or where two of those are equal,
// the whole.
func tellApart(list []*Ticket) []string {
	var words []string
	seen := map[string]bool{}
	for _, t := range list {
		seen[t.Short()] = true
	}
	for _, t := range list {
		word := t.Short()
		if len(seen) < len(list) {
			word = string(t.ID)
		}
		words = append(words, "`"+word+"`")
	}
	return words
}
