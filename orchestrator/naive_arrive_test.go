package orchestrator_test

import (
	"fmt"
	"slices"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// sourceOf: Threads A, B and C are in Feishu chats, G and H in repositories.
func sourceOf(thread string) gate.SourceID {
	if thread == "G" || thread == "H" {
		return "gh"
	}
	return "feishu"
}

// roomOf is the chat or repository of a Thread: A and B share one.
func roomOf(thread string) string {
	return map[string]string{"A": "oc_ops", "B": "oc_ops", "C": "oc_all", "G": "o/r", "H": "o/q"}[thread]
}

func saidOf(what string, m *naiveMessage) string { return fmt.Sprintf("%s m%d", what, m.n) }

// takes is intake (TR-5, AD-9): is the message received at all?
func (w *naive) takes(m *naiveMessage) bool {
	src := w.sources[sourceOf(m.thread)]
	if !src.on || src.receive[m.scope] == gate.ReceiveOff {
		return false
	}
	if m.addressed || src.receive[m.scope] == gate.ReceiveAll {
		return true
	}
	for _, t := range w.tickets {
		if t.stands() && (slices.Contains(t.own, m.thread) || slices.Contains(t.context, m.thread)) {
			return true
		}
	}
	for _, o := range w.messages {
		if o.thread == m.thread && (o.undecided() || o.state == orchestrator.StateWaiting) {
			return true
		}
	}
	return false
}

// arrive is what becomes of a message that was just said (page 04). It says
// whether the message is kept.
func (w *naive) arrive(m *naiveMessage) {
	m.standing = w.standingOf(m.thread)
	for _, t := range w.tickets {
		own := slices.Contains(t.own, m.thread)
		if t.ended || (!own && !slices.Contains(t.context, m.thread)) {
			continue
		}
		if own && w.ownable(m) { // SU-2
			m.owners = append(m.owners, t.n)
			w.give(t, orchestrator.InputMessage, true, m.n)
			w.releaseStage(t)
		} else { // SU-1
			w.give(t, orchestrator.InputContext, false, m.n)
			m.given = true
		}
	}
	switch {
	case len(m.owners) > 0:
		m.state = orchestrator.StateOwned
		w.notice(m)
	case w.ownable(m) && !m.stopWord && w.wakes(m): // RE-1, RE-1a
	case w.accompanies(m): // SU-8
	default:
		w.toGate(m) // SU-6
	}
	if m.turnedAway && !w.held(m) {
		w.notResumed(m)
	}
}

// ownable: an Executor may own it (SU-2).
func (w *naive) ownable(m *naiveMessage) bool {
	return m.kind == gate.Person && (!w.sources[sourceOf(m.thread)].listed || w.listed(m))
}

// accompanies: it waits with an undecided explicit candidate (SU-8).
func (w *naive) accompanies(m *naiveMessage) bool {
	if m.kind != gate.Person || m.addressed {
		return false
	}
	for _, o := range w.messages {
		if o.thread == m.thread && o.undecided() && o.verdict.strength == gate.Explicit {
			m.state, m.with = orchestrator.StateWaiting, o.n // the latest, if there are several
		}
	}
	return m.with != 0
}

// wakes resumes one ended Ticket of the Thread, or waits for it (RE-1a, RE-2).
func (w *naive) wakes(m *naiveMessage) bool {
	for {
		t := w.newest(m.thread)
		if t == nil {
			return false
		}
		switch w.revalidate(t) {
		case "stands":
			w.wake(t, m)
			w.notice(m)
			return true
		case "waits":
			m.state = orchestrator.StateWaiting
			m.owners = append(m.owners, t.n)
			t.waiting = append(t.waiting, m.n)
			w.notice(m)
			return true
		}
		w.revoke(t)
		m.turnedAway = true
	}
}

// notResumed tells a listed person whose message could not resume a Ticket, and
// became no candidate either, to mention the agent (OUT-6).
func (w *naive) notResumed(m *naiveMessage) {
	if !m.undecided() && m.state != orchestrator.StateWaiting && w.listed(m) {
		w.say(saidOf("reply", m))
	}
}

// newest is the ended Ticket of a Thread that a message may resume.
func (w *naive) newest(thread string) *naiveTicket {
	var best *naiveTicket
	for _, t := range w.tickets {
		if !slices.Contains(t.own, thread) {
			continue
		}
		if !t.ended {
			return nil
		}
		if t.stands() && (best == nil || t.activeAt.After(best.activeAt)) {
			best = t
		}
	}
	return best
}

// wake resumes a Ticket with a message that it owns from then on.
func (w *naive) wake(t *naiveTicket, m *naiveMessage) {
	t.resumedAt = w.now
	t.ended, t.former, t.reported, t.report = false, t.end, false, ""
	t.end = ""
	t.recheck, t.told, t.bereft = false, w.version, !w.mayStart(t)
	t.roots[m.n], t.root = true, m.n
	if !slices.Contains(m.owners, t.n) {
		m.owners = append(m.owners, t.n)
	}
	m.state = orchestrator.StateOwned
	w.give(t, orchestrator.InputMessage, true, m.n)
}

// revoke is RE-2: the Mandate is gone, and what waited reached no Ticket.
func (w *naive) revoke(t *naiveTicket) {
	t.mandate = gate.MandateRevoked
	waited := t.waiting
	w.unwait(t)
	for _, n := range waited {
		w.notResumed(w.msg(n))
	}
}

// unwait sends what waits to resume a Ticket to the gate.
func (w *naive) unwait(t *naiveTicket) {
	waiting := t.waiting
	t.waiting = nil
	for _, n := range waiting {
		w.release(w.msg(n), t)
	}
}

// release: nobody handed the message back. If it stopped a Ticket meanwhile, it
// is not sent to Eval again (EN-3); any other goes to the gate (EN-2).
func (w *naive) release(m *naiveMessage, t *naiveTicket) {
	stopped := slices.ContainsFunc(m.decided, func(d naiveDecided) bool {
		return d.action == orchestrator.ActStop && !d.observed
	})
	if !stopped {
		w.disown(m, t)
		return
	}
	m.owners = lacking(m.owners, t.n)
	if !w.held(m) {
		m.state = orchestrator.StateDecided
		w.unnotice(m)
	}
}

// disown: the Ticket owns the message no more; if nobody does, it goes to the
// gate (HB-3, EN-2).
func (w *naive) disown(m *naiveMessage, t *naiveTicket) {
	m.owners = lacking(m.owners, t.n)
	if !w.held(m) && (m.state == orchestrator.StateOwned || m.state == orchestrator.StateWaiting) {
		w.unnotice(m)
		w.toGate(m)
	}
}

// lookAgain resumes a Ticket whose messages waited for a Source (RV-1, RE-3).
func (w *naive) lookAgain(t *naiveTicket) {
	if len(t.waiting) == 0 || !t.ended {
		return
	}
	switch w.revalidate(t) {
	case "fails":
		w.revoke(t)
	case "stands":
		waiting := t.waiting
		t.waiting = nil
		w.wake(t, w.msg(waiting[0]))
		for _, n := range waiting[1:] { // EN-4
			m := w.msg(n)
			m.state = orchestrator.StateOwned
			w.give(t, orchestrator.InputMessage, true, n)
		}
	}
}

func (w *naive) give(t *naiveTicket, kind orchestrator.InputKind, owned bool, message int) {
	t.inputs = append(t.inputs, naiveInput{kind, owned, message, w.now})
	t.activeAt = w.now
}

// releaseStage: a new message from a person releases review, blocked, failed.
func (w *naive) releaseStage(t *naiveTicket) {
	switch t.report {
	case orchestrator.ReportReady, orchestrator.ReportBlocked, orchestrator.ReportFailed:
		t.report = ""
	}
}

// notice is SU-3: the main Session hears of an owned message.
func (w *naive) notice(m *naiveMessage) {
	th := w.thread(m.thread)
	th.ahead = true
	if !slices.Contains(th.notices, m.n) {
		th.notices = append(th.notices, m.n)
	}
}

func (w *naive) unnotice(m *naiveMessage) {
	th := w.thread(m.thread)
	th.notices = lacking(th.notices, m.n)
}

// parted: a candidate was not accepted; what waited with it goes to the gate
// (SU-8).
func (w *naive) parted(candidate int) {
	for _, m := range w.messages {
		if m.with == candidate && m.state == orchestrator.StateWaiting {
			w.toGate(m)
		}
	}
}

// joined: it was accepted, and the Ticket owns what waited with it.
func (w *naive) joined(candidate int, t *naiveTicket) {
	for _, m := range w.messages {
		if m.with == candidate && m.state == orchestrator.StateWaiting && !w.ownable(m) { // SU-2
			w.toGate(m)
			if !t.ended {
				w.give(t, orchestrator.InputContext, false, m.n)
				m.given = true
			}
			if !t.ended && m.state == orchestrator.StateNotAdmitted {
				m.state = orchestrator.StateDelivered
			}
		}
		if m.with == candidate && m.state == orchestrator.StateWaiting {
			m.state, m.with = orchestrator.StateOwned, 0
			m.owners = append(m.owners, t.n)
			w.give(t, orchestrator.InputMessage, true, m.n)
			w.notice(m)
		}
	}
}
