package orchestrator_test

import (
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// judge is page 02, line by line.
func (w *naive) judge(m *naiveMessage) naiveVerdict {
	v := w.line(m)
	if w.policy.mode == gate.Off && v.strength == gate.Inferred {
		return naiveVerdict{} // AD-6
	}
	if m.late && (v.strength == gate.Inferred || m.kind == gate.NoSender) {
		return naiveVerdict{} // TR-6
	}
	return v
}

func (w *naive) line(m *naiveMessage) naiveVerdict {
	source := sourceOf(m.thread)
	receive := w.sources[source].receive[m.scope]
	if receive == gate.ReceiveOff {
		return naiveVerdict{}
	}
	listed := w.listed(m)
	if m.kind == gate.Bot { // AD-1
		if w.policy.bots[source][m.from] && (m.addressed || receive == gate.ReceiveAll) {
			return naiveVerdict{gate.Inferred, "bot_list"}
		}
		return naiveVerdict{}
	}
	if listed && m.addressed { // AD-2
		return naiveVerdict{gate.Explicit, "allow_list"}
	}
	cell := w.cell(m, listed)
	if m.kind == gate.Person && m.standing == "own" { // AD-3
		switch {
		case listed:
			return naiveVerdict{gate.Explicit, "follow_up"}
		case cell.strength == gate.Explicit:
			return cell
		}
		return naiveVerdict{gate.Inferred, "follow_up_unlisted"}
	}
	return cell // AD-5
}

// cell is the cell of the table that fits the message; one that the
// configuration makes unavailable is none (AD-7).
func (w *naive) cell(m *naiveMessage, listed bool) naiveVerdict {
	source := sourceOf(m.thread)
	row := w.policy.cells[source][m.scope]
	var v naiveVerdict
	switch {
	case m.addressed:
		v = naiveVerdict{row.UnlistedAddressed, "cell:" + string(m.scope) + "/unlisted_addressed"}
	case listed:
		v = naiveVerdict{row.ListedUnaddressed, "cell:" + string(m.scope) + "/listed_unaddressed"}
	default:
		v = naiveVerdict{row.UnlistedUnaddressed, "cell:" + string(m.scope) + "/unlisted_unaddressed"}
	}
	if v.strength == gate.None || (!m.addressed && w.sources[source].receive[m.scope] != gate.ReceiveAll) {
		return naiveVerdict{}
	}
	return v
}

func (w *naive) listed(m *naiveMessage) bool {
	return m.kind == gate.Person && w.policy.allow[sourceOf(m.thread)][m.from]
}

// standingOf is what Tickets stand on a Thread now (AD-3, AD-4).
func (w *naive) standingOf(thread string) string {
	for _, t := range w.tickets {
		if slices.Contains(t.own, thread) && t.stands() {
			return "own"
		}
	}
	return ""
}

// limited is AD-13, for a message that would be a candidate now.
func (w *naive) limited(m *naiveMessage, v naiveVerdict) bool {
	if m.kind != gate.Person || w.listed(m) || v.strength == gate.None || m.stopWord { // a stop starts nothing
		return false
	}
	lim := w.limits()
	bySender, byScope := 0, 0
	for _, a := range w.asked {
		o := w.msg(a.message)
		if a.message == m.n || w.now.Sub(a.at) >= time.Hour || sourceOf(o.thread) != sourceOf(m.thread) {
			continue
		}
		if o.from == m.from {
			bySender++
		}
		if o.scope == m.scope {
			byScope++
		}
	}
	waiting := 0
	for _, o := range w.messages {
		if o.n != m.n && o.undecided() && o.verdict.strength == gate.Inferred && o.scope == m.scope &&
			o.kind == gate.Person && sourceOf(o.thread) == sourceOf(m.thread) && !strings.HasSuffix(o.verdict.basis, "/listed_unaddressed") {
			waiting++
		}
	}
	if v.strength == gate.Explicit {
		return bySender >= lim.SenderPerHour || byScope >= lim.ScopePerHour || w.tooManyTickets(m)
	}
	return waiting >= lim.WaitingPerScope || w.tooManyTickets(m)
}

func (w *naive) limits() gate.Limits {
	if w.policy.limits == (gate.Limits{}) {
		return gate.Limits{SenderPerHour: 5, ScopePerHour: 30, ActivePerRequester: 3, WaitingPerScope: 100}
	}
	return w.policy.limits
}

// tooManyTickets is AD-13 for one more Ticket of the person who said it.
func (w *naive) tooManyTickets(m *naiveMessage) bool {
	if m.kind != gate.Person || w.listed(m) {
		return false
	}
	active := 0
	for _, t := range w.tickets {
		r := w.msg(t.message)
		if !t.ended && r.kind == gate.Person && r.from == m.from && t.source == sourceOf(m.thread) && !t.listed {
			active++
		}
	}
	return active >= w.limits().ActivePerRequester
}

// revalidate is page 05's second half: "stands", "fails" or "waits".
func (w *naive) revalidate(t *naiveTicket) string {
	root := w.msg(t.message)
	src := w.sources[t.source]
	switch {
	case w.hold(t.source):
		return "waits" // RE-3
	case src.receive[root.scope] == gate.ReceiveOff:
		return "fails" // RV-1
	case !src.on:
		return "waits" // RV-1
	case !w.mayHave(root, t.verdict, t.listed, t.rules, t.executor):
		return "fails" // RO-2b
	}
	ok := false
	switch {
	case t.verdict.basis == "follow_up": // RV-2
		return "stands"
	case t.verdict.basis == "follow_up_unlisted": // RV-3
		ok = true
	case t.verdict.basis == "allow_list": // RV-7
		ok = w.listed(root)
	case t.verdict.basis == "bot_list": // RV-5
		ok = w.policy.bots[t.source][root.from]
	case strings.HasPrefix(t.verdict.basis, "cell:"): // RV-4
		fresh := *root
		if w.listed(root) && root.addressed {
			ok = true // AD-2 gives explicit
		} else {
			ok = w.cell(&fresh, w.listed(root)).strength >= t.verdict.strength
		}
	}
	if ok && t.verdict.strength == gate.Inferred { // RV-3, RV-6, RV-8
		ok = w.policy.mode == gate.Auto && len(t.rules) > 0
		for _, r := range t.rules {
			ok = ok && w.policy.rules[r].enabled
		}
	}
	if !ok {
		return "fails"
	}
	return "stands"
}

// mayHave is RO-2b: which executor a request may get.
func (w *naive) mayHave(m *naiveMessage, v naiveVerdict, _ bool, rules []string, executor string) bool {
	if executor == gate.DefaultExecutor && v.strength == gate.Explicit {
		return true
	}
	if v.strength == gate.Explicit {
		return w.listed(m) || w.policy.unlistedAny[sourceOf(m.thread)]
	}
	for _, r := range rules {
		rule := w.policy.rules[r]
		if rule.enabled && (rule.codex == (executor == "codex")) {
			return true
		}
	}
	return false
}

// admit is the gate's verdict, noted on the message (AD-14).
func (w *naive) admit(m *naiveMessage) naiveVerdict {
	v := w.judge(m)
	if m.state == orchestrator.StateReceived && w.limited(m, v) {
		v = naiveVerdict{}
	}
	m.verdict = v
	return v
}

// toGate sends a message to the gate: into the queue, or to its end.
func (w *naive) toGate(m *naiveMessage) {
	isNew := m.state == orchestrator.StateReceived
	v := w.admit(m)
	m.with, m.decided = 0, nil // a fresh Eval decides it (HB-3)
	if v.strength == gate.None {
		w.notAdmitted(m)
		if isNew && m.given {
			m.state = orchestrator.StateDelivered
		}
		return
	}
	m.state = orchestrator.StateQueued
	th := w.thread(m.thread)
	th.queue = append(th.queue, m.n)
	th.ahead = th.ahead || m.rank() < 2
	w.countAsked(m)
	if v.strength == gate.Explicit && !m.receipt { // OUT-4
		m.receipt = true
		w.say(saidOf("react received", m))
	}
}

func (w *naive) countAsked(m *naiveMessage) {
	if m.verdict.strength != gate.Explicit || m.kind != gate.Person || w.listed(m) {
		return
	}
	for _, a := range w.asked {
		if a.message == m.n {
			return
		}
	}
	w.asked = append(w.asked, naiveAsk{m.n, w.now})
}

// notAdmitted: nothing becomes of it.
func (w *naive) notAdmitted(m *naiveMessage) {
	m.state = orchestrator.StateNotAdmitted
	w.refuse(m)
}

// refuse is OUT-6: an addressed message that was not admitted.
func (w *naive) refuse(m *naiveMessage) {
	src := w.sources[sourceOf(m.thread)]
	who := string(sourceOf(m.thread)) + m.from + w.now.Format(" 2006-01-02 15h")
	if !m.addressed || m.kind != gate.Person || src.refusal == gate.RefuseSilently || m.handedBack {
		return
	}
	if w.refused[who] {
		return
	}
	w.refused[who] = true
	w.say("react refused " + m.from) // on the first, whichever that is
}
