package orchestrator

import (
	"slices"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// FormEval puts the waiting candidates of a Thread into one Eval and hands it
// to the driver's session: its time limit runs from now (EV-1, EV-3). While
// the Thread has an Eval under way it changes nothing, unless the Policy
// changed: then the Eval is discarded, and its candidates go into the new one.
func FormEval(s State, id gate.ThreadID, session string, f Facts) Changes {
	w := begin(s, f)
	th := w.threads[id]
	if th == nil {
		return w.done()
	}
	if e := w.evals[th.Eval]; e != nil && e.PolicyVersion != f.Policy.Version {
		w.discard(e, th)
	}
	if th.Eval == "" && !w.Pauses.Hold(th.Source) {
		w.formEval(th, session)
	}
	return w.done()
}

// discard ends an Eval that runs under an old Policy version (EV-6): each
// undecided Trigger gets an unavailable Decision and goes back, first in line.
func (w *work) discard(e *Eval, th *Thread) {
	for _, id := range e.Undecided {
		m := w.messages[id]
		if m == nil {
			continue
		}
		w.undecided(e, th, m, e.PolicyVersion, "the policy changed")
		m.State = StateQueued
	}
	th.Queue = append(e.Undecided, th.Queue...)
	e.Undecided, th.Eval = nil, ""
	w.undeadline(e)
}

func (w *work) formEval(th *Thread, session string) {
	candidates := w.stillAdmitted(th)
	if len(candidates) == 0 {
		return
	}
	e := &Eval{
		ID: gate.EvalID(w.NewID("evl_")), Thread: th.ID, Undecided: candidates,
		PolicyVersion: w.Policy.Version, Session: session,
		DeliveredAt: w.Now, Deadline: w.Now.Add(w.Settings.EvalTimeout),
	}
	for _, c := range candidates {
		w.messages[c].State = StateEvaluating
	}
	w.evals[e.ID], th.Eval = e, e.ID
	w.c.Due = append(w.c.Due, approvals.Due{Kind: DueEvalDeadline, Key: string(e.ID), At: e.Deadline})
}

// stillAdmitted empties the queue and computes the admission of its candidates
// again (AD-14): one that fell to none meanwhile leaves with the reason. What
// waited with it may enter the queue by that, and is looked at too.
func (w *work) stillAdmitted(th *Thread) []gate.TriggerID {
	var ids []gate.TriggerID
	for len(th.Queue) > 0 {
		waiting := th.Queue
		th.Queue = nil
		for _, id := range waiting {
			m := w.messages[id]
			switch {
			case m == nil || m.State != StateQueued:
			case w.admit(m).Admitted():
				ids = append(ids, id)
			default:
				w.fall(m)
			}
		}
	}
	slices.SortStableFunc(ids, func(a, b gate.TriggerID) int { return w.rank(a) - w.rank(b) })
	return ids
}

// rank orders the candidates of an Eval: what is only a stop word, then
// explicit, then inferred ones (EV-1).
func (w *work) rank(id gate.TriggerID) int {
	switch m := w.messages[id]; {
	case m == nil:
		return 2
	case w.Settings.stopWord(m.Plain):
		return 0
	case m.Admission.Strength == gate.Explicit:
		return 1
	}
	return 2
}

// fall makes a candidate that is admitted no more not_admitted.
func (w *work) fall(m *Message) {
	w.reject(m, m.Admission.Reason)
	w.settleWith(m, nil)
	w.refuse(m)
}

// decided takes a candidate out of its Eval. The last one ends the Eval; what
// was queued meanwhile is due at once.
func (w *work) decided(m *Message, th *Thread) {
	e := w.evals[th.Eval]
	if e == nil || !slices.Contains(e.Undecided, m.ID) {
		return
	}
	e.Undecided, e.Decided = drop(e.Undecided, m.ID), append(e.Decided, m.ID)
	if e.Open() {
		return
	}
	th.Eval = ""
	w.undeadline(e)
	w.dueEval(th)
}

// AckNotices forgets follow-up notices that the main Session has seen (RO-7).
func AckNotices(s State, id gate.ThreadID, seen []gate.TriggerID, f Facts) Changes {
	w := begin(s, f)
	if th := w.threads[id]; th != nil {
		th.Notices = slices.DeleteFunc(th.Notices, func(n gate.TriggerID) bool { return slices.Contains(seen, n) })
	}
	return w.done()
}
