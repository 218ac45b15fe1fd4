package orchestrator

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// accept starts a Ticket with a Mandate (RO-2).
func (w *work) accept(m *Message, it Item, r Ruling) Result {
	executor, res := w.executor(m, it, r)
	if res != nil {
		return *res
	}
	if v := w.mayStart(m); !v.Admitted() {
		m.Admission.Verdict = v
		return w.fell(m)
	}
	listed := w.lists(m.Source, m.Sender).Allow == gate.Yes
	t := w.newTicket(m, it, executor, listed, matched(r.Verdicts))
	d := w.decide(m, ActAccept, Accepted, t.ID, it.Reason, r)
	w.own(t, m, true)
	w.lookAround(t)
	w.settleWith(m, t)
	if w.acknowledges(t.Mandate.Rules) {
		w.announce(t)
	}
	w.log("ticket.accepted", approvals.SessionID(t.ID), map[string]any{"ticket": t.ID, "trigger": m.ID})
	return Result{OK: true, Ticket: t.ID, Decision: d}
}

// executor is the one that the request asks for, if there is such a one and the
// Policy gives it that one (RO-2b).
func (w *work) executor(m *Message, it Item, r Ruling) (string, *Result) {
	executor := cmp.Or(it.Executor, gate.DefaultExecutor)
	listed := w.lists(m.Source, m.Sender).Allow == gate.Yes
	allowed := gate.ExecutorsFor(w.Policy, m.Source, m.Admission.Verdict, listed, matched(r.Verdicts))
	anyOf := slices.Contains(allowed, gate.AnyExecutor)
	if (anyOf || slices.Contains(allowed, executor)) && w.Settings.runs(executor) {
		return executor, nil
	}
	if anyOf {
		allowed = sortedKeys(w.Settings.Executors)
	}
	res := refused(CodeExecutorNotAllowed, "this request cannot have the executor "+executor+"; name one of these as executor: "+strings.Join(allowed, ", "))
	return "", &res
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
	case w.foreign(m, t) && (m.Sender.Kind != gate.Person || w.lists(m.Source, m.Sender).Allow != gate.Yes):
		res = refused(CodeSenderNotListed, "from outside the ticket's chat or repository only a listed person's message can be attached; accept it as new work, or ignore it")
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
	for _, id := range append(w.inEval(th), th.Queue...) {
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
		w.discard(e, "")
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
