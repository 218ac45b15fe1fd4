package orchestrator

import (
	"slices"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// maxExpiries is the expiry in a row that gives a Trigger up (EV-4).
const maxExpiries = 3

// ExpireEval ends an Eval whose time is over (EV-4): each undecided Trigger
// goes back for another try, without a Decision; the third time in a row it
// is recorded as unavailable and stays out. Before the deadline, or when the
// Eval is over, nothing changes; an Eval of an old Policy version is
// discarded instead, which counts as no expiry (EV-6).
func ExpireEval(s State, id gate.EvalID, f Facts) Changes {
	w := begin(s, f)
	e := w.underWay(id)
	switch {
	case e == nil:
	case f.Now.Before(e.Deadline):
		w.c.Next = e.Deadline
	case e.PolicyVersion != f.Policy.Version:
		w.discard(e, "")
	default:
		w.putBack(e, func(m *Message) bool {
			m.Expiries++
			return m.Expiries < maxExpiries
		}, "it was not decided in time, three times in a row")
	}
	return w.done()
}

// FailEval ends an Eval whose evaluation failed: the model's answers stayed
// invalid (EV-5). What is undecided is recorded as unavailable.
func FailEval(s State, id gate.EvalID, reason string, f Facts) Changes {
	w := begin(s, f)
	if e := w.underWay(id); e != nil {
		w.putBack(e, func(*Message) bool { return false }, reason)
	}
	return w.done()
}

// ReturnEval takes an Eval back that did not reach the driver (EV-5): it was
// not delivered, so that nothing is decided and nothing expires.
func ReturnEval(s State, id gate.EvalID, f Facts) Changes {
	w := begin(s, f)
	if e := w.underWay(id); e != nil {
		w.putBack(e, func(*Message) bool { return true }, "")
	}
	return w.done()
}

// MarkEval notes whether an Eval is to be given to its session again (EV-5).
func MarkEval(s State, id gate.EvalID, again bool, f Facts) Changes {
	w := begin(s, f)
	if e := w.underWay(id); e != nil {
		e.Again = again
	}
	return w.done()
}

// underWay returns the Eval while it is under way.
func (w *work) underWay(id gate.EvalID) *Eval {
	e := w.evals[id]
	if e == nil || !e.Open() {
		return nil
	}
	if th := w.threads[e.Thread]; th == nil || th.Eval != id {
		return nil
	}
	return e
}

// discard ends an Eval that runs under an old Policy version (EV-6): each
// undecided Trigger gets an unavailable Decision and goes back, first in line.
// Its Threads are due again, except one.
func (w *work) discard(e *Eval, but gate.ThreadID) {
	var back []gate.TriggerID
	for _, id := range w.dissolve(e) {
		if m := w.messages[id]; m != nil {
			w.undecided(e, m, "the policy changed")
			back = append(back, id)
		}
	}
	w.putFirst(back)
	w.dueEvals(e, but)
}

// putBack ends an Eval: what may try again goes first in line, the rest is
// recorded as unavailable for the reason.
func (w *work) putBack(e *Eval, again func(*Message) bool, reason string) {
	var back []gate.TriggerID
	for _, id := range w.dissolve(e) {
		m := w.messages[id]
		switch {
		case m == nil:
		case again(m):
			back = append(back, id)
		default:
			e.Decided = append(e.Decided, id)
			w.unavailable(e, m, reason)
		}
	}
	w.putFirst(back)
	w.log("eval.put_back", "", map[string]any{"eval": e.ID, "thread": e.Thread, "triggers": back})
	w.dueEvals(e, "")
}

// unavailable records that nobody decided, and does not put the candidate
// back. An explicit request is told so (OUT-6); what waited with it goes to
// the gate (SU-8).
func (w *work) unavailable(e *Eval, m *Message, reason string) {
	d := w.undecided(e, m, reason)
	m.State, m.Expiries = StateDecided, 0
	m.Decided = append(m.Decided, Decided{Decision: d, At: w.Now})
	w.settleWith(m, nil)
	if m.Admission.Strength == gate.Explicit {
		w.say(m.reply(), "", w.text(sayUndecided), intent("undecided", string(m.ID), string(d)))
	}
}

// undecided appends the unavailable Decision of a Trigger.
func (w *work) undecided(e *Eval, m *Message, reason string) DecisionID {
	th := w.thread(m)
	d := Decision{
		ID: DecisionID(w.NewID("dec_")), Eval: e.ID, Thread: th.ID, Trigger: m.ID,
		Outcome: Unavailable, Strength: m.Admission.Strength, Basis: m.Admission.Basis,
		PolicyVersion: e.PolicyVersion, Reason: reason, By: ByGateway, At: w.Now,
	}
	w.c.Decisions = append(w.c.Decisions, d)
	th.Latest, th.LastActivity = &d, w.Now
	return d.ID
}

// evalLines are the lines of due Evals by the rank of a candidate (EV-1).
var evalLines = EvalLines() //nolint:gochecknoglobals // a read-only table

// dueEval makes a Thread's queue due in the line of its first candidate
// (EV-1).
func (w *work) dueEval(th *Thread) {
	if len(th.Queue) == 0 {
		return
	}
	line, at := evalLines[slices.Min(w.ranks(th.Queue))], ready(th.Queue, w.Now, w.until)
	w.c.Due = append(w.c.Due, approvals.Due{Kind: line, Key: string(th.ID), At: at})
}

func (w *work) ranks(ids []gate.TriggerID) []int {
	list := make([]int, len(ids))
	for i, id := range ids {
		list[i] = w.rank(id)
	}
	return list
}
