package orchestrator

import (
	"cmp"
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// NoteRecalled is what the context Input of a recalled message says.
const NoteRecalled = "this message was taken back after you were given it; do not act on it any more"

// recallMark is how long a recall that overtook its message waits for it
// (TR-4a).
const recallMark = 8 * time.Hour

// recall takes a message back (TR-4a): an undecided one leaves queue and Eval,
// one that an Executor was not given yet is withdrawn, and who was given it is
// told. Text and raw payload go in any case.
func (w *work) recall(m *Message) {
	if m.Recalled || m.State == StateRecalled {
		return
	}
	told, never := m.told(), []gate.TicketID(nil)
	m.Recalled = true
	if th := w.threads[m.Thread]; th != nil {
		th.Notices = drop(th.Notices, m.ID)
	}
	switch m.State {
	case StateReceived:
		m.State = StateRecalled
	case StateQueued, StateEvaluating:
		w.unqueue(m)
	case StateWaiting, StateOwned:
		told, never = w.withdraw(m)
	case StateDelivered, StateDecided, StateNotAdmitted, StateRecalled, StateDropped:
	}
	if told {
		w.tell(m, NoteRecalled, never...)
	}
	m.Title, m.Text, m.Plain, m.Attachments, m.Raw = "", "", "", nil, ""
	w.log("trigger.recalled", "", map[string]any{"trigger": m.ID, "state": m.State})
}

// unqueue takes an undecided candidate out of queue and Eval; what waited with
// it goes to the gate (SU-8).
func (w *work) unqueue(m *Message) {
	th := w.thread(m)
	th.Queue = drop(th.Queue, m.ID)
	w.decided(m, th)
	m.State = StateRecalled
	w.settleWith(m, nil)
}

// withdraw takes a message from those who wait for it, and from the Tickets
// whose Executor was not given it yet: those never see it. It reports whether somebody was.
func (w *work) withdraw(m *Message) (told bool, never []gate.TicketID) {
	th := w.thread(m)
	th.Companions = drop(th.Companions, m.ID)
	for _, id := range slices.Clone(m.Owners) {
		t := w.tickets[id]
		switch {
		case t == nil:
		case slices.Contains(t.Waiting, m.ID):
			t.Waiting = drop(t.Waiting, m.ID)
			m.Owners = drop(m.Owners, id)
		case t.Active() && t.awaits(m.ID):
			m.Owners, never = drop(m.Owners, id), append(never, id)
			w.withdrawFrom(t, m)
		default:
			told = true
		}
	}
	m.With = ""
	if !told {
		m.State, m.Owners = StateRecalled, nil
	}
	return told, never
}

// withdrawFrom takes a message from a Ticket that has not been given it. The
// Ticket that it started, and whose Executor has got nothing yet, ends as
// stopped; one that it resumed goes back to its former end (RE-1b).
func (w *work) withdrawFrom(t *Ticket, m *Message) {
	if t.Mandate.Trigger == m.ID && t.Delivered == 0 {
		w.endByPerson(t, EndStopped, cmp.Or(m.Sender.Name, m.Sender.ID), m.ID) // Feishu names nobody
		w.say(t.home(), t.ID, w.text(sayStopped, t.Short(), t.Title), intent("stopped", string(t.ID), string(m.ID)))
		return
	}
	t.forget(m.ID)
	if t.Former != nil && !t.Turn && len(t.Held) == 0 {
		former := *t.Former
		w.end(t, former.Reason, former.By, "")
		t.End = &former
	}
}

// Withdrawn reports whether an Input is not given to its Executor any more: its
// message, m, was taken back before the Executor was given it, or was context.
// What says so is given.
func (in *Input) Withdrawn(m *Message) bool {
	return m != nil && m.Recalled && in.Note == "" && (!in.Owned || !slices.Contains(m.Owners, in.Ticket))
}

// overtaken marks the key of a message that was taken back before it came.
func overtaken(source gate.SourceID, message string) Name {
	return Name{Key: gate.MessageKey(source, message), For: recallMark}
}
