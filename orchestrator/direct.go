package orchestrator

import (
	"strconv"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// NewThread is the command that opens a new Thread in a DM (TH-2, OUT-7).
const NewThread = "/new"

// DirectLane is the lane of a DM's arrivals, and the key of its Chat.
func DirectLane(source gate.SourceID, chat string) string { return string(source) + "~" + chat }

// place finds the Thread of a message in a DM (TH-2): a reply belongs to its
// root's Thread; any other message to the chat's open Thread, unless "/new" or a long silence without active work opens another.
func (w *work) place(m *Message) {
	if m.Addressing != gate.Direct {
		return
	}
	key := DirectLane(m.Source, m.Place.Chat)
	c := w.chats[key]
	if c == nil {
		c = &Chat{Key: key}
		w.chats[key] = c
	}
	m.Thread = w.rootThread(m)
	if m.Thread == "" && (c.Open == "" || strings.TrimSpace(m.Text) == NewThread || w.quiet(c)) {
		c.Opened++
		c.Open = gate.ThreadID(key + "~" + strconv.Itoa(c.Opened))
	}
	if m.Thread == "" {
		m.Thread = c.Open
	}
	c.LastAt = w.Now
}

// rootThread is the Thread of the message that a reply goes back to, or "".
func (w *work) rootThread(m *Message) gate.ThreadID {
	for _, r := range w.messages {
		if m.Place.Root != "" && r.Source == m.Source && r.IDs.Message == m.Place.Root {
			return r.Thread
		}
	}
	return ""
}

func (w *work) quiet(c *Chat) bool {
	if w.Now.Sub(c.LastAt) < w.Settings.DirectQuiet {
		return false
	}
	th := w.threads[c.Open]
	if th == nil {
		return true
	}
	for _, s := range th.Tickets {
		if t := w.tickets[s.Ticket]; t != nil && t.Active() {
			return false
		}
	}
	return true
}
