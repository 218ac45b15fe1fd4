package orchestrator

import "github.com/gatehouse-bot/gatehouse/gate"

// PolicyChanged tells an active Ticket what the step from the Policy that its
// Executor knows to the one in force means for it (PV-4): one Input, or none
// when it is not affected. It revokes nothing (PV-5). A Ticket whose Executor
// knows another version than told, or that has ended, is left alone; old is
// nil when that version is not kept any more.
func PolicyChanged(s State, id gate.TicketID, told int, old *gate.Policy, f Facts) Changes {
	w := begin(s, f)
	t := w.tickets[id]
	if t == nil || !t.Active() || t.told() != told || told >= f.Policy.Version {
		return w.done()
	}
	m := &t.Mandate
	change, affected := gate.Affected(m, old, f.Policy, w.lists(m.Source, m.Sender), t.Bereft)
	if affected {
		w.input(t, Input{Kind: InputPolicyChanged, Policy: &change})
	}
	switch {
	case change.Requester != "":
		t.Bereft = true
	case w.lostRequester(t) == gate.No:
		t.Bereft = false
	}
	t.Told = f.Policy.Version
	return w.done()
}

// lostRequester tells whether the Ticket's requester may no longer start work.
func (w *work) lostRequester(t *Ticket) gate.Membership {
	return gate.LostRequester(&t.Mandate, w.Policy, w.lists(t.Mandate.Source, t.Mandate.Sender))
}

// told is the Policy version that the Ticket's Executor knows of.
func (t *Ticket) told() int { return max(t.Told, t.Mandate.PolicyVersion) }

// DiscardStale ends the Eval of a Thread, and of those in it with it, that runs under an old Policy version
// and puts its undecided Triggers back (PV-3, EV-6).
func DiscardStale(s State, id gate.ThreadID, f Facts) Changes {
	w := begin(s, f)
	th := w.threads[id]
	if th == nil {
		return w.done()
	}
	if e := w.evals[th.Eval]; e != nil && e.PolicyVersion != f.Policy.Version {
		w.discard(e, "")
	}
	return w.done()
}
