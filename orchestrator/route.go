package orchestrator

import (
	"slices"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Route decides one item (RO-1). A refused item changes nothing but two things:
// a candidate that is not admitted any more leaves its Eval (AD-14), and a
// Mandate whose revalidation failed is revoked (RE-2).
func Route(s State, it Item, r Ruling, f Facts) (Changes, Result) {
	w := begin(s, f)
	res := w.route(it, r)
	return w.done(), res
}

func (w *work) route(it Item, r Ruling) Result {
	if res := malformed(it); res != nil {
		return *res
	}
	if it.Action == ActNote {
		return w.note(it)
	}
	m := w.messages[it.Trigger]
	if m == nil {
		return refused(CodeUnknownTrigger, "no such trigger; use an id from the candidates of this Eval")
	}
	if m.State == StateRecalled {
		return refused(CodeRecalled, "its author took the message back; do nothing")
	}
	if res := repeated(m, it); res != nil {
		return *res
	}
	if m.Recalled {
		return refused(CodeRecalled, "its author took the message back; do nothing")
	}
	if res := w.stale(m, r); res != nil {
		return *res
	}
	if res := w.open(m, it); res != nil {
		return *res
	}
	if it.Action != ActRequeue {
		if res := w.admitted(m, it, r); res != nil {
			return *res
		}
	}
	if r.Evaluated {
		if res := w.judged(r); res != nil {
			return *res
		}
		if res := w.bounded(m, it, r); res != nil {
			return *res
		}
	}
	switch it.Action {
	case ActAccept:
		return w.accept(m, it, r)
	case ActAttach:
		return w.attach(m, it, r)
	case ActStop:
		return w.stop(m, it, r)
	case ActIgnore:
		return w.ignore(m, it, r)
	case ActRequeue, ActNote:
	}
	// What is left is requeue; malformed refused every other word.
	return w.requeue(m)
}

// malformed checks the fields that each action needs.
func malformed(it Item) *Result {
	need, known := map[Action][]string{
		ActAccept:  {"title"},
		ActAttach:  {"ticket"},
		ActStop:    {"ticket", "reason"},
		ActIgnore:  {"reason"},
		ActRequeue: {"reason"},
		ActNote:    {"ticket", "text"},
	}[it.Action]
	if it.Action != "" && !known {
		res := refused(CodeUnknownAction, "use accept, attach, stop, ignore, requeue or note")
		return &res
	}
	given := map[string]string{
		"trigger": string(it.Trigger), "action": string(it.Action),
		"title": it.Title, "ticket": string(it.Ticket), "reason": it.Reason, "text": it.Text,
	}
	always := []string{"trigger", "action"}
	if it.Action == ActNote {
		always = nil
	}
	for _, field := range append(always, need...) {
		if strings.TrimSpace(given[field]) == "" {
			res := refused(CodeMissingField, "give the item a "+field)
			return &res
		}
	}
	return nil
}

// repeated looks first at what was decided already (RO-8): the same again
// answers the same; a message by which a Ticket was stopped can still be
// accepted, attached, or stop another one; anything else was decided once.
func repeated(m *Message, it Item) *Result {
	onlyStops := true
	for _, d := range m.Decided {
		if d.Action == it.Action && (d.Ticket == it.Ticket || !it.Action.ofTicket()) {
			same := Result{OK: true, Deduped: true, Ticket: d.Ticket, Decision: d.Decision}
			if d.Observed {
				same.Ticket = ""
			}
			return &same
		}
		onlyStops = onlyStops && d.stop()
	}
	switch {
	case it.Action == ActRequeue && m.State == StateQueued && m.Requeues > 0:
		return &Result{OK: true, Deduped: true}
	case len(m.Decided) == 0 || onlyStops && !m.settled(it.Action):
		return nil
	}
	res := decidedOnce()
	return &res
}

func decidedOnce() Result {
	return refused(CodeAlreadyDecided, "this trigger was decided; leave it")
}

// ofTicket: the action names a Ticket.
func (a Action) ofTicket() bool { return a == ActAttach || a == ActStop }

// settled: the stop was all that was to be decided, unless it is accepted or
// attached (RO-8); it goes to no further Eval (EN-3).
func (m *Message) settled(a Action) bool {
	return m.State == StateDecided && (a == ActIgnore || a == ActRequeue)
}

// stale refuses what was decided under another Policy version (RO-9).
func (w *work) stale(m *Message, r Ruling) *Result {
	version := r.PolicyVersion
	if e := w.evals[r.Eval]; version == 0 && e != nil {
		version = e.PolicyVersion
	}
	switch {
	case version == 0:
		res := refused(CodeMissingField, "give the policy_version, or the id of the eval, that stands beside the candidates")
		return &res
	case version != w.Policy.Version:
		w.outdated(m)
		res := refused(CodeStalePolicy, "the policy changed; the candidates come again under the new version")
		return &res
	}
	return nil
}

// open checks that the message can be decided now: it is in an Eval, or was
// the word of a stop a moment ago (RO-8); while an Executor owns it, only stop
// (RO-7).
func (w *work) open(m *Message, it Item) *Result {
	var res Result
	switch {
	case it.Action == ActStop && (w.owned(m) || w.noticed(m)):
		return nil
	case w.owned(m):
		res = refused(CodeOwnedByExecutor, "an executor handles it; you can only stop its ticket by it")
	case m.State == StateEvaluating || w.freshStop(m):
		return nil
	case m.State == StateDecided:
		res = decidedOnce()
	case w.messages[m.With] != nil && m.rides(w.messages[m.With]):
		res = refused(CodeNotQueued, "it is one candidate with "+string(m.With)+"; the item on that one decides it too")
	default:
		res = refused(CodeNotQueued, "the trigger is not under evaluation; wait until it is given to you")
	}
	return &res
}

// noticed: the main Session was told that an Executor has it, and has not
// acknowledged that (RO-7). A stop must not miss its Ticket because the
// Executor was done a moment earlier: a Ticket that ended can be stopped too.
func (w *work) noticed(m *Message) bool {
	th := w.threads[m.Thread]
	return th != nil && slices.Contains(th.Notices, m.ID)
}

// freshStop: a Ticket was stopped by this message within the time of an Eval.
func (w *work) freshStop(m *Message) bool {
	if m.State != StateDecided || len(m.Decided) == 0 {
		return false
	}
	last := m.Decided[len(m.Decided)-1]
	return last.stop() && w.Now.Sub(last.At) <= w.Settings.EvalTimeout
}

// admitted computes the admission of this moment (AD-14). An inferred
// candidate can only be ignored without an evaluation (RO-2a).
func (w *work) admitted(m *Message, it Item, r Ruling) *Result {
	var res Result
	switch {
	case it.Action == ActStop && m.Sender.Kind != gate.Person:
		res = refused(CodeBotCannotStop, "only a person's message stops a ticket; attach it to the ticket, or ignore it")
	case !w.admit(m).Admitted():
		res = w.fell(m)
	case m.Admission.Strength == gate.Explicit || it.Action == ActIgnore || r.Evaluated:
		return nil
	default:
		res = refused(CodeNeedsEvaluation, "it is inferred: judge every enabled rule with orchestrator_evaluate")
	}
	return &res
}

// fell refuses what is admitted no more; a candidate leaves its Eval (AD-14).
func (w *work) fell(m *Message) Result {
	if m.State == StateEvaluating {
		w.decided(m, w.thread(m))
		w.fall(m)
	}
	return refused(CodeNotAdmitted, "the gate does not admit it, so leave it: "+m.Admission.Reason)
}

// decide records a Decision and takes the message out of its Eval.
func (w *work) decide(m *Message, action Action, out Outcome, ticket gate.TicketID, reason string, r Ruling) DecisionID {
	th := w.thread(m)
	eval := r.Eval
	if m.State == StateEvaluating {
		eval = th.Eval
	}
	d := Decision{
		ID: DecisionID(w.NewID("dec_")), Eval: eval, Thread: m.Thread, Trigger: m.ID,
		Outcome: out, Ticket: ticket, Strength: m.Admission.Strength, Basis: m.Admission.Basis,
		PolicyVersion: w.Policy.Version, Verdicts: r.Verdicts, Reason: reason, By: r.By, At: w.Now,
		IgnoredFromCard: out == Ignored && m.Admission.Strength == gate.Inferred && !r.Evaluated,
	}
	w.c.Decisions = append(w.c.Decisions, d)
	if out == Observed {
		d.Would = action
		w.c.Decisions[len(w.c.Decisions)-1] = d
	}
	m.Decided = append(m.Decided, Decided{Action: action, Ticket: ticket, Decision: d.ID, At: w.Now, Observed: out == Observed})
	w.verdict(th)
	th.Latest, th.LastActivity = &d, w.Now
	th.Notices = drop(th.Notices, m.ID)
	w.decided(m, th)
	w.log("eval.decided", "", map[string]any{"decision": d.ID, "trigger": m.ID, "outcome": out})
	return d.ID
}
