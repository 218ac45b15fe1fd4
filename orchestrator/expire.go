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
	e, th := w.underWay(id)
	switch {
	case e == nil:
	case f.Now.Before(e.Deadline):
		w.c.Next = e.Deadline
	case e.PolicyVersion != f.Policy.Version:
		w.discard(e, th)
		w.dueEval(th)
	default:
		w.putBack(e, th, func(m *Message) bool {
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
	if e, th := w.underWay(id); e != nil {
		w.putBack(e, th, func(*Message) bool { return false }, reason)
	}
	return w.done()
}

// ReturnEval takes an Eval back that did not reach the driver (EV-5): it was
// not delivered, so that nothing is decided and nothing expires.
func ReturnEval(s State, id gate.EvalID, f Facts) Changes {
	w := begin(s, f)
	if e, th := w.underWay(id); e != nil {
		w.putBack(e, th, func(*Message) bool { return true }, "")
	}
	return w.done()
}

// MarkEval notes whether an Eval is to be given to its session again (EV-5).
func MarkEval(s State, id gate.EvalID, again bool, f Facts) Changes {
	w := begin(s, f)
	if e, _ := w.underWay(id); e != nil {
		e.Again = again
	}
	return w.done()
}

// underWay returns the Eval and its Thread while it is under way.
func (w *work) underWay(id gate.EvalID) (*Eval, *Thread) {
	e := w.evals[id]
	if e == nil || !e.Open() {
		return nil, nil
	}
	th := w.threads[e.Thread]
	if th == nil || th.Eval != id {
		return nil, nil
	}
	return e, th
}

// putBack ends an Eval: what may try again goes first in line, the rest is
// recorded as unavailable for the reason.
func (w *work) putBack(e *Eval, th *Thread, again func(*Message) bool, reason string) {
	undecided := e.Undecided
	e.Undecided, th.Eval = nil, ""
	w.undeadline(e)
	var back []gate.TriggerID
	for _, id := range undecided {
		m := w.messages[id]
		switch {
		case m == nil:
		case again(m):
			m.State = StateQueued
			back = append(back, id)
		default:
			e.Decided = append(e.Decided, id)
			w.unavailable(e, th, m, reason)
		}
	}
	th.Queue = append(back, th.Queue...)
	w.log("eval.put_back", "", map[string]any{"eval": e.ID, "thread": th.ID, "triggers": back})
	w.dueEval(th)
}

// unavailable records that nobody decided, and does not put the candidate
// back. An explicit request is told so (OUT-6); what waited with it goes to
// the gate (SU-8).
func (w *work) unavailable(e *Eval, th *Thread, m *Message, reason string) {
	d := w.undecided(e, th, m, e.PolicyVersion, reason)
	m.State, m.Expiries = StateDecided, 0
	m.Decided = append(m.Decided, Decided{Decision: d, At: w.Now})
	w.settleWith(m, nil)
	if m.Admission.Strength == gate.Explicit {
		w.say(m.reply(), "", w.text(sayUndecided), intent("undecided", string(m.ID), string(d)))
	}
}

// undecided appends the unavailable Decision of a Trigger.
func (w *work) undecided(e *Eval, th *Thread, m *Message, version int, reason string) DecisionID {
	d := Decision{
		ID: DecisionID(w.NewID("dec_")), Eval: e.ID, Thread: th.ID, Trigger: m.ID,
		Outcome: Unavailable, Strength: m.Admission.Strength, Basis: m.Admission.Basis,
		PolicyVersion: version, Reason: reason, By: ByGateway, At: w.Now,
	}
	w.c.Decisions = append(w.c.Decisions, d)
	th.Latest, th.LastActivity = &d, w.Now
	return d.ID
}

// evalLines are the lines of due Evals by the rank of a candidate (EV-1).
var evalLines = EvalLines() //nolint:gochecknoglobals // a read-only table

// undeadline cancels the deadline of an Eval that is over.
func (w *work) undeadline(e *Eval) {
	w.c.Cancel = append(w.c.Cancel, approvals.Due{Kind: DueEvalDeadline, Key: string(e.ID)})
}

// dueEval makes a Thread's queue due in the line of its first candidate
// (EV-1).
func (w *work) dueEval(th *Thread) {
	if len(th.Queue) == 0 {
		return
	}
	w.due(evalLines[slices.Min(w.ranks(th.Queue))], string(th.ID))
}

func (w *work) ranks(ids []gate.TriggerID) []int {
	list := make([]int, len(ids))
	for i, id := range ids {
		list[i] = w.rank(id)
	}
	return list
}
