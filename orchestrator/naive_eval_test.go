package orchestrator_test

import (
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

const naiveEvalTimeout = 10 * time.Minute

// form is EV-1: the waiting candidates of a Thread become one Eval, as they
// are admitted now (AD-14). It says whether there is one.
func (w *naive) form(thread, session string) bool {
	th := w.thread(thread)
	if th.eval != nil {
		return false
	}
	e := &naiveEval{version: w.version, deadline: w.now.Add(naiveEvalTimeout), session: session}
	for len(th.queue) > 0 { // what waited with one that falls to none waits from now on, and is given too
		n := th.queue[0]
		th.queue = th.queue[1:]
		m := w.msg(n)
		if w.admit(m).strength == gate.None {
			w.notAdmitted(m)
			w.parted(n)
			continue
		}
		m.state = orchestrator.StateEvaluating
		e.undecided = append(e.undecided, n)
	}
	if len(e.undecided) == 0 {
		return false
	}
	w.evals++
	e.n = w.evals
	th.eval = e
	return true
}

// onlyInferred: nothing else waits on a Thread, so that it may be considered
// together with others of its chat (EV-1).
func (w *naive) onlyInferred(thread string) bool {
	th := w.thread(thread)
	for _, n := range th.queue {
		if w.msg(n).rank() != 2 {
			return false
		}
	}
	return len(th.queue) > 0 && th.eval == nil
}

// bundle puts the candidates of another Thread into a Thread's Eval.
func (w *naive) bundle(with, thread string) bool {
	e := w.thread(with).eval
	if !w.form(thread, e.session) {
		return false
	}
	w.thread(thread).eval.n = e.n
	return true
}

// leave takes a message out of queue and Eval.
func (w *naive) leave(m *naiveMessage) {
	th := w.thread(m.thread)
	th.queue = lacking(th.queue, m.n)
	if th.eval != nil {
		th.eval.undecided = lacking(th.eval.undecided, m.n)
		if len(th.eval.undecided) == 0 {
			th.eval = nil
		}
	}
}

// putBack: undecided candidates wait again, before what came since.
func (w *naive) putBack(th *naiveThread, ns []int) {
	for _, n := range ns {
		w.msg(n).state = orchestrator.StateQueued
		th.ahead = th.ahead || w.msg(n).rank() < 2
	}
	th.queue = append(slices.Clone(ns), th.queue...)
}

// unavailable records that a message could not be decided.
func (w *naive) unavailable(m *naiveMessage) {
	w.decide(naiveDecision{message: m.n, outcome: orchestrator.Unavailable})
}

func (w *naive) decide(d naiveDecision) {
	m := w.msg(d.message)
	d.verdict, d.version, d.thread, d.at = m.verdict, w.version, m.thread, w.now
	w.decisions = append(w.decisions, d)
}

// undecidable: it stays out, and an explicit request gets its end (OUT-6).
func (w *naive) undecidable(m *naiveMessage) {
	w.unavailable(m)
	m.state = orchestrator.StateDecided
	if m.verdict.strength == gate.Explicit {
		w.answer(m)
	}
	w.parted(m.n)
}

// expire is EV-4 for every Eval whose time is over.
func (w *naive) expire() {
	for _, th := range w.threads {
		e := th.eval
		if e == nil || w.now.Before(e.deadline) {
			continue
		}
		th.eval = nil
		var back []int
		for _, n := range e.undecided {
			m := w.msg(n)
			m.expiries++
			if m.expiries > 2 {
				m.expiries = 0
				w.undecidable(m)
				continue
			}
			back = append(back, n)
		}
		w.putBack(th, back)
	}
}

// fail is EV-5: the evaluation failed.
func (w *naive) fail(eval int) {
	for _, name := range naiveThreads {
		th := w.thread(name)
		e := th.eval
		if e == nil || e.n != eval {
			continue
		}
		th.eval = nil
		for _, n := range e.undecided {
			w.msg(n).expiries = 0
			w.undecidable(w.msg(n))
		}
	}
}

// discard is EV-6: the Policy changed under the Evals.
func (w *naive) discard() {
	for _, name := range naiveThreads {
		th := w.thread(name)
		e := th.eval
		if e == nil || e.version == w.version {
			continue
		}
		th.eval = nil
		for _, n := range e.undecided {
			w.unavailable(w.msg(n))
			w.decisions[len(w.decisions)-1].version = e.version // PV-2: it was made under the old one
		}
		w.putBack(th, e.undecided)
	}
}

// rank is EV-1's order of what a Thread offers: 0 stop words, 1 explicit
// candidates and notices, 2 inferred; 3: nothing.
func (w *naive) rank(thread string) int {
	th := w.thread(thread)
	best := 3
	if w.hold(sourceOf(thread)) {
		return best
	}
	offered := slices.Clone(th.notices)
	if th.eval == nil {
		offered = append(offered, th.queue...)
	}
	for _, n := range offered {
		r := w.msg(n).rank()
		if slices.Contains(th.notices, n) {
			r = min(r, 1)
		}
		best = min(best, r)
	}
	return best
}

// rank is the place of a candidate in the order of EV-1.
func (m *naiveMessage) rank() int {
	switch {
	case m.stopWord:
		return 0
	case m.verdict.strength == gate.Explicit:
		return 1
	}
	return 2
}

// attention is EV-9.
func (w *naive) attention(thread string) bool {
	th := w.thread(thread)
	for _, d := range slices.Backward(w.decisions) {
		if d.thread == thread {
			return d.outcome == orchestrator.Unavailable && w.now.Sub(d.at) < 24*time.Hour && !d.dismissed &&
				len(th.queue) == 0 && th.eval == nil
		}
	}
	return false
}

// nobodyDecided: no valid judgement covers the message (PA-2).
func (w *naive) nobodyDecided(m *naiveMessage) bool {
	if m.state != orchestrator.StateDecided {
		return false
	}
	for _, d := range slices.Backward(w.decisions) {
		if d.message == m.n {
			return d.outcome == orchestrator.Unavailable
		}
	}
	return false
}

// again is EV-9's evaluate again: what the gate admits goes back. It says
// whether there was anything, and whether the gate admitted some of it.
func (w *naive) again(thread string) (asked, some bool) {
	for _, m := range w.messages {
		if m.thread != thread || !w.nobodyDecided(m) || m.recalled {
			continue
		}
		asked = true
		some = some || w.judge(m).strength != gate.None
	}
	th := w.thread(thread)
	busy := len(th.queue) > 0 || th.eval != nil
	for _, m := range w.messages {
		if (!some && !busy) || m.thread != thread || !w.nobodyDecided(m) || m.recalled {
			continue
		}
		if w.admit(m).strength != gate.None {
			w.toGate(m)
		}
	}
	return asked, some
}

func (w *naive) dismiss(thread string) {
	for i, d := range w.decisions {
		if d.thread == thread && d.outcome == orchestrator.Unavailable && w.now.Sub(d.at) <= 24*time.Hour {
			w.decisions[i].dismissed = true
		}
	}
}

// toEval is PA-1: an owned follow-up goes to the gate.
func (w *naive) toEval(m *naiveMessage) bool {
	if len(w.ownedBy(m)) == 0 {
		return false
	}
	for _, n := range m.owners {
		// It started or resumed the work under way, so it is no follow-up. One by
		// which an earlier run of the work began is.
		if t := w.ticket(n); !t.ended && (t.message == m.n || t.root == m.n) {
			return false
		}
	}
	if w.judge(m).strength == gate.None {
		return false
	}
	for _, t := range w.tickets {
		t.waiting = lacking(t.waiting, m.n)
	}
	m.owners = nil
	w.unnotice(m)
	w.toGate(m)
	return true
}
