package orchestrator

import (
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// The commands that the gateway answers itself (OUT-7), beside NewThread.
const (
	Help = "/help"
	// TicketStatus tells the sender of the Tickets that they asked for.
	TicketStatus = "/status"
	// StopTicket may be followed by the short id of a Ticket (ST-2).
	StopTicket = "/stop"
	// Mute keeps progress of the Thread's Tickets from being said until their
	// results, Unmute undoes it.
	Mute   = "/mute"
	Unmute = "/unmute"
)

// command is a word for the gateway, and the Ticket that it names.
type command struct{ word, ticket string }

// command reads a person's message that addresses the gateway and is nothing
// but a command (OUT-7). A message that an operator replayed commands nothing
// (TR-7).
func (m *Message) command() (c command, ok bool) {
	said := strings.Fields(m.Text)
	if m.ReplayedBy != "" || m.Sender.Kind != gate.Person || !m.Addressing.Addresses() || len(said) == 0 || len(said) > 2 {
		return command{}, false
	}
	c.word = said[0]
	if len(said) == 2 {
		c.ticket = strings.ToLower(strings.Trim(said[1], "`"))
	}
	switch c.word {
	case Help, TicketStatus, Mute, Unmute:
		return c, c.ticket == ""
	case NewThread: // there is nothing to open but in a DM (TH-2)
		return c, c.ticket == "" && m.Addressing == gate.Direct
	case StopTicket:
		return c, true
	}
	return command{}, false
}

// about reports whether a command of the message concerns a Ticket of its
// Source, wherever that was asked for.
func (c command) about(m *Message, t *Ticket) bool {
	switch {
	case !t.Active() || t.Mandate.Source != m.Source:
		return false
	case c.word == TicketStatus:
		return t.Mandate.Sender.Same(m.Sender)
	}
	return c.word == StopTicket && t.named(c.ticket)
}

// named: the word is the beginning of the Ticket's short id, or a longer end of
// its id.
func (t *Ticket) named(word string) bool {
	if word == "" {
		return false
	}
	return strings.HasPrefix(t.Short(), word) || len(word) > len(t.Short()) && strings.HasSuffix(string(t.ID), word)
}

// commanded answers a command (OUT-7). It grants nothing, reaches no Ticket and
// is no candidate.
func (w *work) commanded(m *Message) bool {
	c, ok := m.command()
	if !ok {
		return false
	}
	switch c.word {
	case TicketStatus:
		w.answered(m, w.status(m, c))
	case StopTicket:
		w.stopCommand(m, c)
	case Mute, Unmute:
		w.answered(m, w.mute(m, c.word == Mute))
	case NewThread:
		w.answered(m, w.text(sayNewThread))
	default:
		w.answered(m, w.text(sayHelp))
	}
	return true
}

func (w *work) answered(m *Message, text string) {
	m.State, m.Why, m.Raw = StateDelivered, "a command that the gateway answered (OUT-7)", ""
	w.say(m.reply(), "", text, intent("command", string(m.ID)))
}

// mute says whether progress of the Thread's Tickets is said. Those may who may
// stop the Ticket, and whoever is listed.
func (w *work) mute(m *Message, quiet bool) string {
	said := sayNothingToStop
	for _, id := range sortedKeys(w.tickets) {
		t := w.tickets[id]
		switch {
		case !t.Active() || !t.owns(m.Thread):
		case w.lists(m.Source, m.Sender).Allow == gate.Yes || w.mayStop(m, t):
			t.Muted, said = quiet, sayUnmuted
			if quiet {
				said = sayMuted
			}
		case said == sayNothingToStop:
			said = sayMayNotMute
		}
	}
	return w.text(said)
}

// muted: a Report that the Ticket's people asked not to hear. What wants a
// person, and the result, is said in any case.
func (t *Ticket) muted(k ReportKind) bool {
	return t.Muted && (k == ReportProgress || k == ReportWaiting)
}
