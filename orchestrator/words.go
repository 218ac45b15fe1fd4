package orchestrator

import (
	"cmp"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// The commands that the gateway answers itself (OUT-7), beside NewThread.
const (
	Help = "/help"
	// StopTicket is followed by the short id of a Ticket of the Thread (ST-2).
	StopTicket = "/stop"
)

// commanded answers a person's message that is nothing but a command for the
// gateway and addresses it (OUT-7). It grants nothing, reaches no Ticket and is
// no candidate.
func (w *work) commanded(m *Message) bool {
	if m.Sender.Kind != gate.Person || !m.Addressing.Addresses() {
		return false
	}
	if word, short, _ := strings.Cut(strings.TrimSpace(m.Text), " "); word == StopTicket && strings.TrimSpace(short) != "" {
		w.stopCommand(m, strings.TrimSpace(short))
		return true
	}
	answer := sayHelp
	switch strings.TrimSpace(m.Text) {
	case Help:
	case NewThread:
		if m.Addressing != gate.Direct { // there is nothing to open but in a DM (TH-2)
			return false
		}
		answer = sayNewThread
	default:
		return false
	}
	w.answered(m, w.text(answer))
	return true
}

func (w *work) answered(m *Message, text string) {
	m.State, m.Why, m.Raw = StateDelivered, "a command that the gateway answered (OUT-7)", ""
	w.say(m.reply(), "", text, intent("command", string(m.ID)))
}

// stopCommand stops the Ticket of the message's Thread that has the short id, at
// once, for its requester and the approvers (ST-2). Others are refused, and so
// is everybody where no such Ticket is under way.
func (w *work) stopCommand(m *Message, short string) {
	t := w.activeByShort(w.thread(m), short)
	if t == nil {
		w.answered(m, w.text(sayNothingToStop))
		return
	}
	who := gate.Answerer{Source: m.Source, Who: m.Sender, Lists: w.lists(m.Source, m.Sender)}
	if _, may := gate.MayStop(who, &t.Mandate); !may {
		w.answered(m, w.text(sayMayNotStop, t.Short()))
		return
	}
	w.answered(m, w.text(sayStopped, t.Short(), t.Title))
	w.endByPerson(t, EndManualStop, cmp.Or(m.Sender.Name, m.Sender.ID)+" by "+StopTicket, m.ID)
}

func (w *work) activeByShort(th *Thread, short string) *Ticket {
	for _, s := range th.Tickets {
		if t := w.tickets[s.Ticket]; t != nil && t.Active() && s.Kind == SubOwn && t.Short() == short {
			return t
		}
	}
	return nil
}
