package orchestrator

import (
	"slices"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// maxBundle is how many Threads come as one Eval (EV-1).
const maxBundle = 20

// besides reports whether two Threads are of one Feishu chat, so that their
// inferred candidates can come as one Eval (EV-1). A repository is no chat: its
// issues have nothing to do with each other.
func besides(src *gate.Source, th, o *Thread) bool {
	return src != nil && src.Platform == gate.Feishu && o.ID != th.ID && o.Source == th.Source && o.Place.Chat == th.Place.Chat
}

// bundle puts the inferred candidates of the Threads beside into the Eval. They
// are due no more: the Eval's end makes them due again.
func (w *work) bundle(e *Eval, th *Thread, beside []gate.ThreadID) {
	for _, id := range beside {
		o := w.threads[id]
		if o == nil || len(e.More)+1 >= maxBundle || o.Eval != "" || !besides(w.Sources[th.Source], th, o) {
			continue
		}
		candidates := w.stillAdmitted(o)
		if !w.onlyInferred(o, candidates) {
			o.Queue = append(candidates, o.Queue...)
			w.dueEval(o)
			continue
		}
		e.More = append(e.More, id)
		w.enter(e, o, candidates)
		w.c.Cancel = append(w.c.Cancel, approvals.Due{Kind: DueEvalLater, Key: string(id)})
	}
}

// onlyInferred: nothing else of the Thread waits for the main Session.
func (w *work) onlyInferred(th *Thread, candidates []gate.TriggerID) bool {
	ordinary := func(id gate.TriggerID) bool { return w.rank(id) == rankInferred }
	return len(candidates) > 0 && len(th.Notices) == 0 && !slices.ContainsFunc(candidates, func(id gate.TriggerID) bool { return !ordinary(id) })
}

// inEval are the undecided candidates that the Thread has in its Eval.
func (w *work) inEval(th *Thread) []gate.TriggerID {
	e := w.evals[th.Eval]
	if e == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.Undecided), func(id gate.TriggerID) bool {
		m := w.messages[id]
		return m == nil || m.Thread != th.ID
	})
}

// dissolve ends an Eval: its Threads are free. It returns what was undecided.
func (w *work) dissolve(e *Eval) (undecided []gate.TriggerID) {
	for _, id := range e.Threads() {
		if th := w.threads[id]; th != nil && th.Eval == e.ID {
			th.Eval = ""
		}
	}
	w.c.Cancel = append(w.c.Cancel, approvals.Due{Kind: DueEvalDeadline, Key: string(e.ID)})
	undecided, e.Undecided = e.Undecided, nil
	return undecided
}

// putFirst queues candidates again, each first in the line of its Thread.
func (w *work) putFirst(ids []gate.TriggerID) {
	for _, id := range slices.Backward(ids) {
		m := w.messages[id]
		m.State = StateQueued
		th := w.thread(m)
		th.Queue = append([]gate.TriggerID{id}, th.Queue...)
	}
}

// dueEvals makes the Threads of an Eval due again, except one.
func (w *work) dueEvals(e *Eval, but gate.ThreadID) {
	for _, id := range e.Threads() {
		if th := w.threads[id]; th != nil && id != but {
			w.dueEval(th)
		}
	}
}
