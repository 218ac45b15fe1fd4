package orchestrator

import "github.com/gatehouse-bot/gatehouse/gate"

// NoteEdited is what the context Input of an edited message says.
const NoteEdited = "its author edited this message after you were given it; it reads as follows now"

// edit carries out an edit of a message, or of one that was never stored: m is
// nil (TR-4). n brings it. Only its author's counts: nobody speaks for another
// (GH-5); and an edit that comes late does not undo a newer one.
func (w *work) edit(m, n *Message) {
	switch {
	case m == nil && n.Change.Adds, m != nil && m.renewedBy(n):
		w.renew(m, n)
		return
	case m == nil, m.gone(), !m.Sender.Same(n.Sender), !n.OccurredAt.After(m.EditedAt):
	default:
		w.rewrite(m, n)
	}
	n.spent()
}

// gone: its author took it back, or we never were to keep it.
func (m *Message) gone() bool {
	return m.Recalled || m.State == StateRecalled || m.State == StateDropped
}

// renewedBy: the author adds the mention to a message that did not address the
// agent and was not admitted (TR-4).
func (m *Message) renewedBy(n *Message) bool {
	if !n.Change.Adds || m.Addressing.Addresses() || m.Recalled || m.Admission.Admitted() {
		return false
	}
	switch m.State {
	case StateNotAdmitted, StateDelivered, StateDropped:
		return m.Sender.Same(n.Sender)
	case StateReceived, StateOwned, StateWaiting, StateQueued, StateEvaluating, StateDecided, StateRecalled:
	}
	return false
}

// renew makes a Trigger of the edit, which stands for the platform's message
// from now on.
func (w *work) renew(m, n *Message) {
	if m != nil {
		n.Earlier = m.ID
		n.Thread, n.Place, n.Scope, n.Sender = m.Thread, m.Place, m.Scope, m.Sender
	}
	n.Change, n.Edited, n.EditedAt = gate.Change{}, true, n.OccurredAt
	w.c.Names = append(w.c.Names, Name{Key: gate.MessageKey(n.Source, n.IDs.Message), Trigger: n.ID})
	w.arrive(n)
}

// rewrite gives the message its new text. Who was given the old one is told.
// One that nobody has judged yet also addresses the agent by the mention that
// was added.
func (w *work) rewrite(m, n *Message) {
	m.Edited, m.EditedAt = true, n.OccurredAt
	if m.State == StateNotAdmitted && !w.Settings.KeepRefused { // its text is not kept (PL-5)
		return
	}
	m.Text, m.Plain = n.Text, n.Plain
	if len(n.Attachments) > 0 {
		m.Attachments = n.Attachments
	}
	if n.Change.Adds && m.unheard() {
		w.hear(m)
		return
	}
	if m.told() {
		w.tell(m, NoteEdited)
	}
}

// unheard: the message did not address the agent, and the gate has not judged it
// yet: it is in the inbox, or waits with a candidate (SU-8).
func (m *Message) unheard() bool {
	waits := m.State == StateReceived || m.State == StateWaiting && m.With != ""
	return waits && m.Addressing == gate.NotAddressed && !m.Admission.Admitted()
}

// hear makes an unheard message address the agent. Such a one waits with nothing
// (SU-8).
func (w *work) hear(m *Message) {
	m.Addressing = gate.Mention
	if m.State == StateWaiting {
		th := w.thread(m)
		th.Companions = drop(th.Companions, m.ID)
		w.rejudge(m)
	}
}
