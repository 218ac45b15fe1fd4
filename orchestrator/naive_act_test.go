package orchestrator_test

import (
	"maps"
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// naiveAct is one action of an Executor. Inputs are counted from 1.
type naiveAct struct {
	verb   orchestrator.Verb
	key    string
	inputs []int
	thread string
	kind   orchestrator.ReportKind
	final  bool
	upto   int
}

// openTurn hands over what waits (EX-4): it is delivered, and the turn is open.
func (w *naive) openTurn(t *naiveTicket) {
	if t.ended || len(t.inputs) == t.delivered {
		return
	}
	if !t.turn {
		if !w.goesOn(t) {
			return
		}
		t.turn, t.upto = true, 0
		t.actedAt = w.now
	}
	t.delivered = len(t.inputs)
}

// goesOn: no pause holds the Ticket up, and after one its Mandate is looked
// at again before the work goes on (RE-3).
func (w *naive) goesOn(t *naiveTicket) bool {
	if w.hold(t.source) {
		return false
	}
	if !t.recheck {
		return true
	}
	switch w.revalidate(t) {
	case "stands":
		t.recheck = false
		return true
	case "fails":
		w.endTicket(t, orchestrator.EndFailed)
		w.revoke(t)
		w.result(t, "failed")
		w.answer(w.msg(t.root)) // it is said where the work was asked for
	}
	return false
}

// actFaults are all reasons to refuse an action (AC-1).
func (w *naive) actFaults(t *naiveTicket, a naiveAct) []string {
	var f []string
	if t.ended {
		f = append(f, orchestrator.ActTicketEnded)
	}
	for _, seq := range a.inputs {
		if seq > t.delivered {
			f = append(f, orchestrator.ActUnknownInput)
		}
	}
	switch a.verb {
	case orchestrator.VerbFollow:
		has := slices.Contains(t.own, a.thread) || slices.Contains(t.context, a.thread)
		if !has && (roomOf(a.thread) != roomOf(t.thread) || !w.known(a.thread)) { // SU-5a
			f = append(f, orchestrator.ActThreadNotAllowed)
		}
	case orchestrator.VerbUnfollow:
		if a.thread == t.thread || w.ownsOn(t, a.thread) {
			f = append(f, orchestrator.ActThreadNotAllowed)
		}
	case orchestrator.VerbAck, orchestrator.VerbHandBack: // HB-4: or it says that nothing was queued
		for _, seq := range a.inputs {
			if seq <= len(t.inputs) && !w.owns(t, t.inputs[seq-1].message) {
				f = append(f, orchestrator.ActNotOwned, "")
			}
		}
		// A reply to what it reads along goes to the Mandate's Thread (OUT-2), so
		// that a reply has no fault of its own.
	}
	return f
}

// ownsOn: it owns a message of an own Thread, and has to hand it back first.
func (w *naive) ownsOn(t *naiveTicket, thread string) bool {
	for _, in := range t.inputs {
		if in.owned && w.owns(t, in.message) && w.msg(in.message).thread == thread && slices.Contains(t.own, thread) {
			return true
		}
	}
	return false
}

// known: something was said there that was kept.
func (w *naive) known(thread string) bool {
	for _, m := range w.messages {
		if m.thread == thread && m.state != orchestrator.StateDropped {
			return true
		}
	}
	return false
}

func (w *naive) owns(t *naiveTicket, n int) bool {
	return n != 0 && !t.ended && slices.Contains(w.msg(n).owners, t.n)
}

// act carries an action out that has no fault.
func (w *naive) act(t *naiveTicket, a naiveAct) {
	if t.upto == 0 {
		t.upto = t.delivered
	}
	before, acted := t.activeAt, t.actedAt
	t.actedAt = w.now
	t.activeAt = w.now
	upto := a.upto
	if upto == 0 {
		upto = t.upto
	}
	upto = min(upto, t.delivered) // what was not given cannot be covered
	switch a.verb {
	case orchestrator.VerbAck, orchestrator.VerbReply:
		for _, seq := range a.inputs {
			t.done[t.inputs[seq-1].message] = true
		}
	case orchestrator.VerbHandBack:
		if !w.handBack(t, a) {
			t.activeAt, t.actedAt = before, acted // HB-4
		}
	case orchestrator.VerbReport:
		t.covered = max(t.covered, upto)
		t.report = a.kind
		if a.kind != orchestrator.ReportWaiting {
			t.reported = true
		}
		switch {
		case a.kind == orchestrator.ReportDone:
			w.endTicket(t, orchestrator.EndCompleted)
			w.result(t, "done")
		case a.kind == orchestrator.ReportFailed && a.final:
			w.endTicket(t, orchestrator.EndFailed)
			w.result(t, "failed")
		}
	case orchestrator.VerbTurnEnd:
		t.covered = max(t.covered, upto)
		turn := t.turn
		t.turn, t.upto = false, 0
		// With Inputs that wait there is another turn at once.
		if turn && t.former != "" && !t.reported && t.delivered == len(t.inputs) { // RE-1b
			w.endTicket(t, t.former)
		}
	case orchestrator.VerbFollow:
		if !slices.Contains(t.own, a.thread) && !slices.Contains(t.context, a.thread) {
			t.context = append(t.context, a.thread)
			break
		}
		t.activeAt, t.actedAt = before, acted
	case orchestrator.VerbUnfollow:
		if !slices.Contains(t.own, a.thread) && !slices.Contains(t.context, a.thread) {
			t.activeAt, t.actedAt = before, acted
		}
		t.context = slices.DeleteFunc(t.context, func(x string) bool { return x == a.thread })
		t.own = slices.DeleteFunc(t.own, func(x string) bool { return x == a.thread })
	}
}

// result is a reaction on GitHub (GH-7), on what started or resumed it last.
func (w *naive) result(t *naiveTicket, how string) {
	if sourceOf(w.msg(t.root).thread) == "gh" {
		w.say(saidOf("react "+how, w.msg(t.root)))
	}
}

// handBack is HB-1 to HB-4.
func (w *naive) handBack(t *naiveTicket, a naiveAct) (some bool) {
	var ns []int
	for _, seq := range a.inputs {
		ns = append(ns, t.inputs[seq-1].message)
	}
	if a.thread != "" {
		for _, in := range t.inputs {
			if in.owned && w.msg(in.message).thread == a.thread {
				ns = append(ns, in.message)
			}
		}
	}
	for _, n := range ns {
		if w.owns(t, n) {
			some = true
			t.done[n] = true
			delete(t.roots, n) // it is an ordinary message from now on (HB-3)
			w.msg(n).handedBack = true
			w.disown(w.msg(n), t)
		}
	}
	return some
}

// endTicket is EN-1: it releases what it owned and did not deal with.
func (w *naive) endTicket(t *naiveTicket, how orchestrator.EndReason) {
	t.ended, t.end, t.turn, t.upto, t.former = true, how, false, 0, ""
	t.activeAt = w.now
	var released []int
	for i, in := range t.inputs {
		seq, n := i+1, in.message
		if !in.owned || t.roots[n] || !slices.Contains(w.msg(n).owners, t.n) || slices.Contains(released, n) {
			continue
		}
		if seq > t.delivered || (seq > t.covered && !t.done[n]) {
			released = append(released, n)
		}
	}
	t.past = len(t.inputs)
	for _, n := range released {
		w.release(w.msg(n), t)
	}
}

// stage is page 04's list, first match wins.
func (w *naive) stage(t *naiveTicket, turnTimeout time.Duration) orchestrator.TicketStage {
	if t.ended {
		return orchestrator.StageEnded
	}
	unfetched := len(t.inputs) > t.delivered && !t.turn // in a turn they wait for its end (EX-2)
	since := t.resumedAt
	if unfetched && t.inputs[t.delivered].at.After(since) {
		since = t.inputs[t.delivered].at
	}
	switch {
	case unfetched && w.now.Sub(since) >= 2*time.Minute,
		t.turn && w.now.Sub(t.actedAt) >= turnTimeout:
		return orchestrator.StageDelivery
	case t.report == orchestrator.ReportReady:
		return orchestrator.StageReview
	case t.report == orchestrator.ReportBlocked:
		return orchestrator.StageBlocked
	case t.report == orchestrator.ReportFailed:
		return orchestrator.StageFailed
	case unfetched:
		return orchestrator.StageQueued
	case !t.turn, t.report == orchestrator.ReportWaiting && t.covered == t.delivered:
		return orchestrator.StageIdle
	}
	return orchestrator.StageWorking
}

// newPolicy is PV-1 to PV-5.
func (w *naive) newPolicy(p naivePolicy) {
	old := w.policies
	w.version++
	w.policy = p
	old[w.version] = p
	w.discard()
	for _, t := range w.tickets {
		if !t.ended {
			if w.affected(t, old[t.told]) {
				w.give(t, orchestrator.InputPolicyChanged, false, 0)
			}
			t.told = w.version
		}
	}
}

// affected is PV-4: does the step from the Policy that its Executor knows to
// the one in force mean anything for the Ticket?
func (w *naive) affected(t *naiveTicket, old naivePolicy) bool {
	bereaved := w.bereaved(t, old)
	for _, r := range t.rules {
		was, is := old.rules[r], w.policy.rules[r]
		if was.enabled && (was.text != is.text || was.silent != is.silent || was.codex != is.codex || !is.enabled) {
			return true
		}
		if is.enabled && !was.enabled {
			return true
		}
	}
	if t.verdict.strength == gate.Inferred && old.mode == gate.Auto && w.policy.mode != gate.Auto {
		return true
	}
	return bereaved
}

// bereaved: the list or the cells changed, and by now the requester may not
// start such work; that is told once.
func (w *naive) bereaved(t *naiveTicket, old naivePolicy) bool {
	root := w.msg(t.message)
	same := maps.Equal(old.allow[t.source], w.policy.allow[t.source]) && old.cells[t.source][root.scope] == w.policy.cells[t.source][root.scope]
	if t.verdict.basis == "bot_list" {
		same = old.bots[t.source]["good"] == w.policy.bots[t.source]["good"]
	}
	knew := t.bereft
	t.bereft = !w.mayStart(t) && (knew || !same)
	return t.bereft && !knew
}

// mayStart: the requester may still start such work.
func (w *naive) mayStart(t *naiveTicket) bool {
	root := w.msg(t.message)
	switch t.verdict.basis {
	case "bot_list":
		return w.policy.bots[t.source][root.from]
	case "follow_up_unlisted":
		return true
	case "follow_up":
		if w.listed(root) {
			return true
		}
	}
	if w.listed(root) && root.addressed {
		return true
	}
	return w.cell(root, w.listed(root)).strength >= t.verdict.strength
}
