package orchestrator

import (
	"slices"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// FormEval puts the waiting candidates of a Thread into one Eval and hands it
// to the driver's session: its time limit runs from now (EV-1, EV-3). Where only
// inferred ones wait, those of the Threads beside come with them, up to 20
// Threads. While the Thread has an Eval under way it changes nothing, unless the
// Policy changed: then the Eval is discarded, and its candidates go into new
// ones.
func FormEval(s State, id gate.ThreadID, beside []gate.ThreadID, session string, f Facts) Changes {
	w := begin(s, f)
	th := w.threads[id]
	if th == nil {
		return w.done()
	}
	if e := w.evals[th.Eval]; e != nil && e.PolicyVersion != f.Policy.Version {
		w.discard(e, id)
	}
	if th.Eval == "" && !w.Pauses.Hold(th.Source) {
		w.formEval(th, beside, session)
	}
	if th.Eval == "" { // the end of an Eval makes the rest due
		w.c.Next = ready(th.Queue, w.Now, w.until)
	}
	return w.done()
}

func (w *work) formEval(th *Thread, beside []gate.ThreadID, session string) {
	candidates := w.stillAdmitted(th)
	if len(candidates) == 0 {
		return
	}
	e := &Eval{
		ID: gate.EvalID(w.NewID("evl_")), Thread: th.ID, PolicyVersion: w.Policy.Version, Session: session,
		DeliveredAt: w.Now, Deadline: w.Now.Add(w.Settings.EvalTimeout),
	}
	w.enter(e, th, candidates)
	if w.onlyInferred(th, candidates) {
		w.bundle(e, th, beside)
	}
	w.evals[e.ID] = e
	w.c.Due = append(w.c.Due, approvals.Due{Kind: DueEvalDeadline, Key: string(e.ID), At: e.Deadline})
}

// enter puts candidates of a Thread into an Eval.
func (w *work) enter(e *Eval, th *Thread, candidates []gate.TriggerID) {
	for _, c := range candidates {
		w.messages[c].State = StateEvaluating
	}
	e.Undecided, th.Eval = append(e.Undecided, candidates...), e.ID
}

// stillAdmitted empties the queue and computes the admission of its candidates
// again (AD-14): one that fell to none meanwhile leaves with the reason. What
// waited with it may enter the queue by that, and is looked at too. What still
// gathers stays in the queue (EV-1).
func (w *work) stillAdmitted(th *Thread) []gate.TriggerID {
	var ids, gathering []gate.TriggerID
	for len(th.Queue) > 0 {
		waiting := th.Queue
		th.Queue = nil
		for _, id := range waiting {
			m := w.messages[id]
			switch {
			case m == nil || m.State != StateQueued:
			case w.Now.Before(m.Until):
				gathering = append(gathering, id)
			case w.admit(m).Admitted():
				ids = append(ids, id)
			default:
				w.fall(m)
			}
		}
	}
	th.Queue = gathering
	slices.SortStableFunc(ids, func(a, b gate.TriggerID) int { return w.rank(a) - w.rank(b) })
	return ids
}

// rank orders the candidates of an Eval: what is only a stop word, then
// explicit, then inferred ones (EV-1).
func (w *work) rank(id gate.TriggerID) int {
	switch m := w.messages[id]; {
	case m == nil:
		return rankInferred
	case w.Settings.stopWord(m.Plain):
		return 0
	case m.Admission.Strength == gate.Explicit:
		return 1
	}
	return rankInferred
}

// rankInferred is the last rank.
const rankInferred = 2

// fall makes a candidate that is admitted no more not_admitted.
func (w *work) fall(m *Message) {
	w.reject(m, m.Admission.Reason)
	w.settleWith(m, nil)
	w.refuse(m)
}

// decided takes a candidate out of its Eval. The last one ends the Eval, and
// the last one of a Thread that came with others takes that Thread out; what was
// queued meanwhile is due at once.
func (w *work) decided(m *Message, th *Thread) {
	e := w.evals[th.Eval]
	if e == nil || !slices.Contains(e.Undecided, m.ID) {
		return
	}
	e.Undecided, e.Decided = drop(e.Undecided, m.ID), append(e.Decided, m.ID)
	switch {
	case !e.Open():
		w.dissolve(e)
		w.dueEvals(e, "")
	case th.ID != e.Thread && len(w.inEval(th)) == 0:
		e.More, th.Eval = drop(e.More, th.ID), ""
		w.dueEval(th)
	}
}

// AckNotices forgets follow-up notices that the main Session has seen (RO-7).
func AckNotices(s State, id gate.ThreadID, seen []gate.TriggerID, f Facts) Changes {
	w := begin(s, f)
	if th := w.threads[id]; th != nil {
		th.Notices = slices.DeleteFunc(th.Notices, func(n gate.TriggerID) bool { return slices.Contains(seen, n) })
	}
	return w.done()
}

// AskBack says, where a message was said, what the driver without a model has to
// know before it can act on it (DR-1). It decides nothing.
func AskBack(s State, id gate.TriggerID, text string, f Facts) Changes {
	w := begin(s, f)
	if m := w.messages[id]; m != nil && !m.Recalled {
		w.say(m.reply(), "", text, intent("ask_back", string(m.ID)))
	}
	return w.done()
}
