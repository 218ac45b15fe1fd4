package orchestrator_test

import (
	"slices"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// naiveItem is one route item or evaluation.
type naiveItem struct {
	message, ticket int
	action          orchestrator.Action
	executor        string
	version         int
	evaluated       bool
	matched         []string // of the enabled rules
	badVerdicts     bool
}

// faults are all reasons to refuse an item. Page 03 gives no order for them,
// so that any of them may be the answer.
func (w *naive) faults(it naiveItem) []orchestrator.Code {
	var f []orchestrator.Code
	no := func(c orchestrator.Code, holds bool) {
		if holds {
			f = append(f, c)
		}
	}
	m := w.msg(it.message)
	owned := w.held(m)
	again := w.mayDecideAgain(m, it)
	no(orchestrator.CodeStalePolicy, it.version != w.version)
	no(orchestrator.CodeMissingField, it.version == 0)
	no(orchestrator.CodeRecalled, m.recalled)
	no(orchestrator.CodeOwnedByExecutor, owned && it.action != orchestrator.ActStop)
	no(orchestrator.CodeAlreadyDecided, !again && !m.undecided() && (len(m.decided) > 0 || m.state == orchestrator.StateDecided))
	stopsOwned := it.action == orchestrator.ActStop && (m.state == orchestrator.StateOwned || owned) // RO-7
	no(orchestrator.CodeNotQueued, m.state != orchestrator.StateEvaluating && !again && !stopsOwned) // EV-3a
	v := w.judge(m)
	no(orchestrator.CodeNotAdmitted, v.strength == gate.None && it.action != orchestrator.ActRequeue) // it decides nothing
	inferred := v.strength == gate.Inferred
	shortcut := it.action == orchestrator.ActIgnore || it.action == orchestrator.ActRequeue
	no(orchestrator.CodeNeedsEvaluation, inferred && !it.evaluated && !shortcut) // RO-2, RO-2a
	no(orchestrator.CodeVerdictsIncomplete, it.evaluated && it.badVerdicts)      // RU-1
	no(orchestrator.CodeModeForbids, inferred && w.policy.mode == gate.Off)
	no(orchestrator.CodeModeForbids, inferred && w.policy.mode != gate.Auto && stopsOwned) // RU-2, and it gets no Decision else (SU-3)
	acts := !inferred || w.policy.mode == gate.Auto
	switch it.action {
	case orchestrator.ActAccept:
		no(orchestrator.CodeNoMatchingRule, inferred && len(it.matched) == 0) // RU-2
		no(orchestrator.CodeExecutorNotAllowed, !w.mayHave(m, v, false, it.matched, it.executor))
		no(orchestrator.CodeNotAdmitted, acts && w.tooManyTickets(m)) // AD-13
	case orchestrator.ActRequeue:
		no(orchestrator.CodeRequeueLimit, m.requeues >= 2)
	case orchestrator.ActAttach:
		if it.ticket > len(w.tickets) {
			no(orchestrator.CodeUnknownTicket, true)
			break
		}
		t := w.ticket(it.ticket)
		no(orchestrator.CodeNeedsNewAccept, !t.stands() || (acts && t.ended && w.revalidate(t) == "fails"))
		no(orchestrator.CodeSenderNotListed, roomOf(t.thread) != roomOf(m.thread) && !w.listed(m))
	case orchestrator.ActStop:
		no(orchestrator.CodeBotCannotStop, m.kind != gate.Person)
		if it.ticket > len(w.tickets) {
			no(orchestrator.CodeUnknownTicket, true)
			break
		}
		no(orchestrator.CodeNotOnTicketThread, !slices.Contains(w.ticket(it.ticket).own, m.thread))
	}
	return f
}

// mayDecideAgain is RO-8: what stopped a Ticket may do more for a while.
func (w *naive) mayDecideAgain(m *naiveMessage, it naiveItem) bool {
	if m.undecided() || len(m.decided) == 0 {
		return false
	}
	last := m.decided[len(m.decided)-1]
	if last.action != orchestrator.ActStop || last.observed {
		return false
	}
	switch it.action {
	case orchestrator.ActStop: // RO-4: it may stop several
		return !w.now.After(last.at.Add(naiveEvalTimeout))
	case orchestrator.ActAccept, orchestrator.ActAttach:
		return !w.held(m) && !w.now.After(last.at.Add(naiveEvalTimeout))
	}
	return false
}

// repeat is RO-8: the same item once more.
func (w *naive) repeat(it naiveItem) bool {
	m := w.msg(it.message)
	if it.action == orchestrator.ActRequeue {
		return m.requeues > 0 && m.state == orchestrator.StateQueued
	}
	if m.undecided() {
		return false
	}
	for _, d := range m.decided {
		if d.action == it.action && (d.ticket == it.ticket || it.action == orchestrator.ActAccept) {
			return true
		}
	}
	return false
}

// route carries an item out that has no fault.
func (w *naive) route(it naiveItem) {
	m := w.msg(it.message)
	if it.action != orchestrator.ActRequeue {
		m.verdict = w.judge(m)
	}
	inferred := m.verdict.strength == gate.Inferred
	d := naiveDecision{message: m.n, ticket: it.ticket, matched: it.matched}
	if it.action == orchestrator.ActRequeue { // RO-6
		m.requeues++
		w.leave(m)
		m.state = orchestrator.StateQueued
		th := w.thread(m.thread)
		th.queue = append(th.queue, m.n)
		return
	}
	if inferred && w.policy.mode != gate.Auto && it.action != orchestrator.ActIgnore { // RU-2
		d.outcome, d.would = orchestrator.Observed, it.action
		w.finish(m, d, it, true)
		w.parted(m.n)
		return
	}
	switch it.action {
	case orchestrator.ActAccept:
		w.accept(m, d, it)
	case orchestrator.ActAttach:
		w.attach(m, d, it)
	case orchestrator.ActStop:
		w.stopByMessage(m, d, it)
	case orchestrator.ActIgnore:
		d.outcome = orchestrator.Ignored
		d.fromCard = inferred && !it.evaluated // RO-5
		w.finish(m, d, it, false)
		if !inferred {
			w.answer(m) // OUT-6
		}
		w.parted(m.n)
	}
}

// finish records a Decision, and takes the message out of its Eval.
func (w *naive) finish(m *naiveMessage, d naiveDecision, it naiveItem, observed bool) {
	w.decide(d)
	w.verdictIn(m)
	w.leave(m)
	m.state = orchestrator.StateDecided
	m.decided = append(m.decided, naiveDecided{it.action, d.ticket, w.now, observed})
}

// verdictIn starts the count of expiries anew (EV-4): for all of the Eval, and for
// what waits on the Thread. The session judges, so nothing there was given up on.
func (w *naive) verdictIn(m *naiveMessage) {
	m.expiries = 0
	for _, n := range w.thread(m.thread).queue {
		w.msg(n).expiries = 0
	}
	e := w.thread(m.thread).eval
	for _, th := range w.threads {
		if e == nil || th.eval == nil || th.eval.n != e.n {
			continue
		}
		for _, n := range th.eval.undecided {
			w.msg(n).expiries = 0
		}
	}
}

func (w *naive) accept(m *naiveMessage, d naiveDecision, it naiveItem) {
	t := &naiveTicket{
		n: len(w.tickets) + 1, executor: it.executor, mandate: gate.MandateActive, source: sourceOf(m.thread),
		thread: m.thread, message: m.n, verdict: m.verdict, listed: w.listed(m), version: w.version, told: w.version,
		rules: it.matched, own: []string{m.thread}, done: map[int]bool{}, roots: map[int]bool{m.n: true}, root: m.n,
		keys: map[string]bool{}, activeAt: w.now,
	}
	w.tickets = append(w.tickets, t)
	d.outcome, d.ticket = orchestrator.Accepted, t.n
	w.finish(m, d, it, false)
	w.own(t, m)
	if w.acknowledges(t) {
		w.answer(m) // OUT-4, OUT-6
	}
	w.joined(m.n, t)
}

// acknowledges: no matched rule is silent (RU-4).
func (w *naive) acknowledges(t *naiveTicket) bool {
	for _, r := range t.rules {
		if w.policy.rules[r].silent {
			return false
		}
	}
	return true
}

func (w *naive) own(t *naiveTicket, m *naiveMessage) {
	m.state = orchestrator.StateOwned
	m.owners = append(lacking(m.owners, t.n), t.n)
	w.give(t, orchestrator.InputMessage, true, m.n)
}

func (w *naive) attach(m *naiveMessage, d naiveDecision, it naiveItem) {
	t := w.ticket(it.ticket)
	d.outcome = orchestrator.Attached
	w.finish(m, d, it, false)
	t.context = slices.DeleteFunc(t.context, func(x string) bool { return x == m.thread })
	if !slices.Contains(t.own, m.thread) {
		t.own = append(t.own, m.thread)
	}
	switch {
	case !t.ended:
		w.own(t, m)
		w.releaseStage(t)
	case w.revalidate(t) == "waits":
		m.state = orchestrator.StateWaiting
		m.owners = append(lacking(m.owners, t.n), t.n)
		t.waiting = append(t.waiting, m.n)
	default:
		w.wake(t, m)
		w.unnotice(m)
	}
	w.joined(m.n, t)
}

func (w *naive) stopByMessage(m *naiveMessage, d naiveDecision, it naiveItem) {
	t := w.ticket(it.ticket)
	owners := w.ownedBy(m)
	d.outcome = orchestrator.Stopped
	undecided := m.undecided()
	w.decide(d)
	w.verdictIn(m)
	w.leave(m)
	m.decided = append(m.decided, naiveDecided{it.action, t.n, w.now, false})
	m.owners = lacking(m.owners, t.n)
	t.done[m.n] = true // EN-3: not sent to Eval again
	if undecided || len(lacking(owners, t.n)) == 0 {
		m.state = orchestrator.StateDecided
	}
	w.unnotice(m) // RO-7: it was routed on, also where another Ticket owns it still
	w.stop(t, orchestrator.EndStopped)
	w.say(saidOf("reply", m)) // OUT-6: a stop is confirmed
	if undecided {
		w.parted(m.n)
	}
}

// stop ends a Ticket for a person, or withdraws an ended one's Mandate (RO-4).
func (w *naive) stop(t *naiveTicket, how orchestrator.EndReason) {
	if t.mandate == gate.MandateActive {
		t.mandate = gate.MandateWithdrawn
	}
	if t.ended {
		t.end = how
		w.unwait(t)
		return
	}
	w.endTicket(t, how)
}
