package orchestrator

import (
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Help is the command that says what the gateway does (OUT-7).
const Help = "/help"

// commanded answers a person's message that is nothing but a command for the
// gateway and addresses it (OUT-7). It grants nothing, reaches no Ticket and is
// no candidate.
func (w *work) commanded(m *Message) bool {
	if m.Sender.Kind != gate.Person || !m.Addressing.Addresses() {
		return false
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
	m.State, m.Why, m.Raw = StateDelivered, "a command that the gateway answered (OUT-7)", ""
	w.say(m.reply(), "", w.text(answer), intent("command", string(m.ID)))
	return true
}
