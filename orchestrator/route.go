package orchestrator

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gatehouse-bot/gatehouse/approvals"
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
	res := refused(CodeAlreadyDecided, "this trigger was decided; leave it")
	return &res
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
		res := refused(CodeMissingField, "give eval or policy_version")
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
		res = refused(CodeBotCannotStop, "only a person's message stops a ticket")
	case !w.admit(m).Admitted():
		res = refused(CodeNotAdmitted, "the gate does not admit it: "+m.Admission.Reason)
		if m.State == StateEvaluating {
			w.decided(m, w.thread(m))
			w.fall(m)
		}
	case m.Admission.Strength == gate.Explicit || it.Action == ActIgnore || r.Evaluated:
		return nil
	default:
		res = refused(CodeNeedsEvaluation, "it is inferred: judge every enabled rule with orchestrator_evaluate")
	}
	return &res
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

// accept starts a Ticket with a Mandate (RO-2).
func (w *work) accept(m *Message, it Item, r Ruling) Result {
	executor, res := w.executor(m, it, r)
	if res != nil {
		return *res
	}
	listed := w.lists(m.Source, m.Sender).Allow == gate.Yes
	t := w.newTicket(m, it, executor, listed, matched(r.Verdicts))
	d := w.decide(m, ActAccept, Accepted, t.ID, it.Reason, r)
	w.own(t, m, true)
	w.settleWith(m, t)
	if w.acknowledges(t.Mandate.Rules) {
		w.say(t.home(), t.ID, w.text(sayAccepted, t.Short(), t.Title), intent("accepted", string(t.ID)))
	}
	w.log("ticket.accepted", approvals.SessionID(t.ID), map[string]any{"ticket": t.ID, "trigger": m.ID})
	return Result{OK: true, Ticket: t.ID, Decision: d}
}

// executor is the one that the request asks for, if the Policy gives it that
// one (RO-2b).
func (w *work) executor(m *Message, it Item, r Ruling) (string, *Result) {
	executor := it.Executor
	if executor == "" {
		executor = gate.DefaultExecutor
	}
	listed := w.lists(m.Source, m.Sender).Allow == gate.Yes
	if !gate.ExecutorAllowed(w.Policy, m.Source, m.Admission.Verdict, listed, matched(r.Verdicts), executor) {
		res := refused(CodeExecutorNotAllowed, "the policy does not give this request that executor; leave executor out")
		return "", &res
	}
	return executor, nil
}

// acknowledges: no matched rule says that its work starts in silence (OUT-4,
// RU-4).
func (w *work) acknowledges(rules []string) bool {
	return !slices.ContainsFunc(rules, func(id string) bool {
		r, ok := w.Policy.Rule(id)
		return ok && !r.Acknowledge
	})
}

func matched(verdicts []RuleVerdict) []string {
	var ids []string
	for _, v := range verdicts {
		if v.Match {
			ids = append(ids, v.Rule)
		}
	}
	return ids
}

func (w *work) newTicket(m *Message, it Item, executor string, listed bool, rules []string) *Ticket {
	t := &Ticket{
		ID: gate.TicketID(w.NewID("tkt_")), Title: oneLine(it.Title, 80), Brief: it.Brief,
		Executor: executor, State: TicketActive, CreatedAt: w.Now, ActiveAt: w.Now,
		Checked: w.Pauses.ended(m.Source),
		Anchor:  m.IDs.Message, Direct: m.Addressing == gate.Direct,
		Subs: []Subscription{{Thread: m.Thread, Kind: SubOwn}},
		Mandate: gate.Mandate{
			State: gate.MandateActive, Source: m.Source, Scope: m.Scope, Thread: m.Thread, Place: m.Place,
			Trigger: m.ID, Sender: m.Sender, Addressing: m.Addressing, Listed: listed,
			Strength: m.Admission.Strength, Basis: m.Admission.Basis, PolicyVersion: w.Policy.Version,
			Rules: rules, Executor: executor,
		},
	}
	w.tickets[t.ID] = t
	th := w.thread(m)
	th.Tickets = append(th.Tickets, ThreadTicket{Ticket: t.ID, Kind: SubOwn})
	return t
}

// attach gives the message to an existing Ticket: its Thread becomes one of
// the Ticket's own, and an ended Ticket is resumed by it after revalidation
// (RO-3).
func (w *work) attach(m *Message, it Item, r Ruling) Result {
	t := w.tickets[it.Ticket]
	if res := w.attachable(m, t); res != nil {
		return *res
	}
	root := false
	if !t.Active() {
		switch v := w.revalidate(t); v.Outcome {
		case gate.Stands:
			w.reopen(t)
			root = true
		case gate.Fails:
			w.revoke(t, v.Reason)
			return refused(CodeNeedsNewAccept, "its mandate was revoked ("+v.Reason+"); accept the message as new work")
		case gate.Waits:
			return w.attachWaiting(m, t, it, r)
		}
	}
	w.subscribe(t, m)
	d := w.decide(m, ActAttach, Attached, t.ID, it.Reason, r)
	w.own(t, m, root)
	w.settleWith(m, t)
	return Result{OK: true, Ticket: t.ID, Decision: d}
}

func (w *work) attachable(m *Message, t *Ticket) *Result {
	var res Result
	switch {
	case t == nil:
		res = refused(CodeUnknownTicket, "no such ticket; use one of the candidate's tickets, or accept")
	case !t.Mandate.Stands():
		res = refused(CodeNeedsNewAccept, "its mandate was withdrawn or revoked; accept the message as new work")
	case w.foreign(m, t) && w.lists(m.Source, m.Sender).Allow != gate.Yes:
		res = refused(CodeSenderNotListed, "from outside the ticket's chat or repository only a listed person's message can be attached")
	default:
		return nil
	}
	return &res
}

// foreign: the message comes from another Source, chat or repository than the
// Mandate's.
func (w *work) foreign(m *Message, t *Ticket) bool {
	return m.Source != t.Mandate.Source || m.Place.Chat != t.Mandate.Place.Chat
}

func (w *work) attachWaiting(m *Message, t *Ticket, it Item, r Ruling) Result {
	w.subscribe(t, m)
	d := w.decide(m, ActAttach, Attached, t.ID, it.Reason, r)
	w.waitFor(t, m)
	w.settleWith(m, t)
	return Result{OK: true, Ticket: t.ID, Decision: d}
}

// subscribe makes the message's Thread one of the Ticket's own.
func (w *work) subscribe(t *Ticket, m *Message) {
	th := w.thread(m)
	if t.owns(th.ID) {
		return
	}
	t.Subs = slices.DeleteFunc(t.Subs, func(s Subscription) bool { return s.Thread == th.ID })
	t.Subs = append(t.Subs, Subscription{Thread: th.ID, Kind: SubOwn})
	th.Tickets = slices.DeleteFunc(th.Tickets, func(s ThreadTicket) bool { return s.Ticket == t.ID })
	th.Tickets = append(th.Tickets, ThreadTicket{Ticket: t.ID, Kind: SubOwn})
}

// stop ends a Ticket at a person's request and withdraws its Mandate (RO-4).
// Stopping an ended Ticket withdraws its Mandate, so that nothing wakes it.
func (w *work) stop(m *Message, it Item, r Ruling) Result {
	t := w.tickets[it.Ticket]
	if res := w.stoppable(m, t); res != nil {
		return *res
	}
	d := w.decide(m, ActStop, Stopped, t.ID, it.Reason, r)
	w.endByPerson(t, EndStopped, cmp.Or(m.Sender.Name, m.Sender.ID), m.ID) // Feishu names nobody
	if !w.owned(m) {
		m.State, m.Owners = StateDecided, nil
	}
	w.settleWith(m, nil)
	w.say(m.reply(), t.ID, w.text(sayStopped, t.Short(), t.Title), intent("stopped", string(t.ID), string(m.ID)))
	return Result{OK: true, Ticket: t.ID, Decision: d}
}

func (w *work) stoppable(m *Message, t *Ticket) *Result {
	var res Result
	switch {
	case t == nil:
		res = refused(CodeUnknownTicket, "no such ticket; use one of the candidate's tickets")
	case !t.owns(m.Thread):
		res = refused(CodeNotOnTicketThread, "the message is not on one of that ticket's own threads; only a message there stops it")
	default:
		return nil
	}
	return &res
}

// note gives a Ticket a context Input; it makes no Decision (RO-9a).
func (w *work) note(it Item) Result {
	t := w.tickets[it.Ticket]
	switch {
	case t == nil:
		return refused(CodeUnknownTicket, "no such ticket; use one of the candidate's tickets")
	case !t.Active():
		return refused(CodeNeedsNewAccept, "the ticket has ended and reads nothing; attach a message to resume it, or accept one as new work")
	}
	w.input(t, Input{Kind: InputNote, Note: it.Text})
	return Result{OK: true, Ticket: t.ID}
}

// verdict: the main Session decided something on the Thread, so that the count
// of expiries in a row starts anew (EV-4).
func (w *work) verdict(th *Thread) {
	undecided := slices.Clone(th.Queue)
	if e := w.evals[th.Eval]; e != nil {
		undecided = append(undecided, e.Undecided...)
	}
	for _, id := range undecided {
		if m := w.messages[id]; m != nil {
			m.Expiries = 0
		}
	}
}

// outdated discards the message's Eval when that runs under an old Policy
// version, so that the candidates come again at once (EV-6).
func (w *work) outdated(m *Message) {
	th := w.threads[m.Thread]
	if th == nil {
		return
	}
	if e := w.evals[th.Eval]; e != nil && e.PolicyVersion != w.Policy.Version {
		w.discard(e, th)
		w.dueEval(th)
	}
}

// ignore decides that nothing is to be done (RO-5). An explicit request is
// told so (OUT-6).
func (w *work) ignore(m *Message, it Item, r Ruling) Result {
	d := w.decide(m, ActIgnore, Ignored, "", it.Reason, r)
	m.State = StateDecided
	w.settleWith(m, nil)
	if m.Admission.Strength == gate.Explicit {
		text := it.PublicReason
		if text == "" {
			text = w.text(sayDeclined)
		}
		w.say(m.reply(), "", text, intent("declined", string(m.ID), string(d)))
	}
	return Result{OK: true, Decision: d}
}

// requeue puts the candidate back, undecided, for a later Eval (RO-6).
func (w *work) requeue(m *Message) Result {
	if m.Requeues >= w.Settings.MaxRequeues {
		return refused(CodeRequeueLimit, "it was put back often enough; decide it now")
	}
	th := w.thread(m)
	m.Requeues++
	m.State = StateQueued
	w.decided(m, th)
	th.Queue = append(th.Queue, m.ID)
	w.dueEval(th)
	return Result{OK: true}
}
