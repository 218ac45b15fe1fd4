package orchestrator

import "github.com/gatehouse-bot/gatehouse/gate"

// Changed carries out news of a message that was said before: an edit (TR-4) or
// a recall (TR-4a). News names the row that brought it, of the message, or ""
// where nothing is known of it. News that was dealt with changes nothing, so
// that carrying it out twice is harmless.
func Changed(s State, news, of gate.TriggerID, f Facts) Changes {
	w := begin(s, f)
	n := w.messages[news]
	if n == nil || n.State != StateReceived {
		return w.done()
	}
	switch n.Change.Kind {
	case gate.ChangeEdit:
		w.edit(w.messages[of], n)
	case gate.ChangeRecall:
		for m := w.messages[of]; m != nil; m = w.messages[m.Earlier] {
			w.recall(m)
		}
		n.spent()
	case gate.ChangeReach: // its places were dealt with before (EN-5)
		n.spent()
	case gate.NoChange, gate.ChangePassed:
	}
	return w.done()
}

// spent empties a row of news that was carried out.
func (m *Message) spent() {
	m.drop("news of another message")
	m.Sender = gate.Sender{}
}

// reads takes over what the platform says that an edited message reads now.
func (m *Message) reads(now *gate.Trigger) {
	id, workspace, received, ids := m.ID, m.Workspace, m.ReceivedAt, m.IDs
	m.Trigger = *now
	m.ID, m.Workspace, m.ReceivedAt, m.IDs, m.Raw = id, workspace, received, ids, ""
	m.Change.Adds, m.Change.Reread = now.Addressing == gate.Mention, false
}

// tell gives the active Tickets of the message's Thread, and those that own it,
// a context Input that says what became of it. A Ticket that will be given the
// message itself only now, or never, needs none.
func (w *work) tell(m *Message, what string, never ...gate.TicketID) {
	told := map[gate.TicketID]bool{}
	for _, id := range never {
		told[id] = true
	}
	say := func(id gate.TicketID) {
		t := w.tickets[id]
		if t == nil || !t.Active() || told[id] || t.awaits(m.ID) {
			return
		}
		told[id] = true
		w.input(t, Input{Kind: InputContext, Trigger: m.ID, Note: what})
	}
	if th := w.threads[m.Thread]; th != nil {
		for _, s := range th.Tickets {
			say(s.Ticket)
		}
	}
	for _, id := range m.Owners {
		say(id)
	}
}

// awaits: the Ticket owns the message and its Executor has not been given it.
func (t *Ticket) awaits(id gate.TriggerID) bool {
	for _, h := range t.Held {
		if h.Trigger == id && h.Seq > t.Delivered {
			return true
		}
	}
	return false
}

// told reports whether Executors were given the message: it is owned, was
// context or was decided; a bot's is context also while it is a candidate.
func (m *Message) told() bool {
	switch m.State {
	case StateOwned, StateDelivered, StateDecided:
		return true
	case StateQueued, StateEvaluating:
		return m.Sender.Kind != gate.Person
	case StateReceived, StateWaiting, StateNotAdmitted, StateRecalled, StateDropped:
	}
	return false
}
