package orchestrator

import (
	"slices"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// FormEval puts the waiting candidates of a Thread into one Eval and hands it
// to the driver's session: its time limit runs from now (EV-1, EV-3). It
// changes nothing while the Thread has an Eval under way.
func FormEval(s State, id gate.ThreadID, session string, f Facts) Changes {
	w := begin(s, f)
	if th := w.threads[id]; th != nil && th.Eval == "" {
		w.formEval(th, session)
	}
	return w.done()
}

func (w *work) formEval(th *Thread, session string) {
	candidates := w.stillAdmitted(th)
	th.Queue = nil
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
}

// stillAdmitted computes the admission of the waiting candidates again
// (AD-14): one that fell to none meanwhile leaves with the reason. Explicit
// ones come first (EV-1).
func (w *work) stillAdmitted(th *Thread) []gate.TriggerID {
	var explicit, inferred []gate.TriggerID
	for _, id := range th.Queue {
		m := w.messages[id]
		if m == nil || m.State != StateQueued {
			continue
		}
		switch w.admit(m).Strength {
		case gate.Explicit:
			explicit = append(explicit, id)
		case gate.Inferred:
			inferred = append(inferred, id)
		case gate.None:
			w.fall(m)
		}
	}
	return append(explicit, inferred...)
}

// fall makes a candidate that is admitted no more not_admitted.
func (w *work) fall(m *Message) {
	m.State, m.Why = StateNotAdmitted, m.Admission.Reason
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
	if len(th.Queue) > 0 {
		w.due(DueEval, string(th.ID))
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
