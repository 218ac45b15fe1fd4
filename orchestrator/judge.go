package orchestrator

import (
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// judge asks the gate about a new message. What it admits within the limits
// waits on the Thread as a candidate; the rest reached the Tickets as context,
// or nobody. Reached says whether a Ticket got the message.
func (w *work) judge(m *Message, th *Thread, reached bool) {
	v := w.admitNew(m)
	if v.Admitted() {
		w.queue(m, th)
		return
	}
	w.reject(m, v.Reason)
	if reached {
		m.reached()
	}
	w.refuse(m)
}

// admitNew is admit, within the limits where the message is new (AD-13).
func (w *work) admitNew(m *Message) gate.Verdict {
	v := w.admit(m)
	if m.State == StateReceived {
		v = w.limited(m, v)
		m.Admission.Verdict = v
	}
	return v
}

// reject makes the message not_admitted. Its raw payload goes with the verdict
// (RS-6), and its text too, unless a Ticket has it or it is to be kept (PL-5).
func (w *work) reject(m *Message, why string) {
	m.State, m.Why, m.Raw = StateNotAdmitted, why, ""
	if !m.Given && !w.Settings.KeepRefused {
		m.Text, m.Plain, m.Attachments = "", "", nil
	}
}

// admit computes the admission of this moment and records it (AD-14), with
// the standing that the Thread had when the message was said (EN-2).
func (w *work) admit(m *Message) gate.Verdict {
	v := gate.Admit(&m.Trigger, w.Sources[m.Source], w.Policy, m.Standing, w.lists(m.Source, m.Sender))
	if m.Late {
		v = gate.WhenLate(v)
	}
	if m.ReplayedBy != "" {
		v = gate.WhenReplayed(v, w.Policy.Mode)
	}
	m.Admission = Admission{Verdict: v, PolicyVersion: w.Policy.Version}
	return v
}

func (w *work) queue(m *Message, th *Thread) {
	m.State, m.Why, m.Until = StateQueued, "", time.Time{}
	if m.gathers() {
		m.Until = m.ReceivedAt.Add(gatherFor)
	}
	th.Queue = append(th.Queue, m.ID)
	at := ready([]gate.TriggerID{m.ID}, w.Now, w.until)
	w.c.Due = append(w.c.Due, approvals.Due{Kind: evalLines[w.rank(m.ID)], Key: string(th.ID), At: at})
	if m.Admission.Strength == gate.Explicit {
		w.receipt(m)
	}
}

// receipt tells at once that an explicit request was taken in (OUT-4).
func (w *work) receipt(m *Message) {
	w.react(m, gate.ReactReceived, intent("receipt", string(m.ID)))
}

// owned reports whether a Ticket owns the message now: an active one, or an
// ended one that it waits to resume (SU-2, SU-4).
func (w *work) owned(m *Message) bool {
	return slices.ContainsFunc(m.Owners, func(id gate.TicketID) bool {
		t := w.tickets[id]
		return t != nil && (t.Active() || slices.Contains(t.Waiting, m.ID))
	})
}

// release takes messages from a Ticket and sends those that nobody owns any
// more to the gate (EN-1, EN-2, HB-3), except one. What stopped a Ticket is not
// sent there again (EN-3).
func (w *work) release(t *Ticket, ids []gate.TriggerID, except gate.TriggerID) {
	for _, id := range ids {
		m := w.messages[id]
		if m == nil {
			continue
		}
		m.Owners = drop(m.Owners, t.ID)
		switch {
		case id == except || w.owned(m):
		case m.stopped():
			m.State, m.Owners = StateDecided, nil
		default:
			w.rejudge(m)
		}
	}
}

// stopped reports whether a Ticket was stopped by this message.
func (m *Message) stopped() bool {
	return slices.ContainsFunc(m.Decided, func(d Decided) bool { return d.stop() })
}

// stop reports whether a Ticket was stopped, not only in an observation.
func (d *Decided) stop() bool { return d.Action == ActStop && !d.Observed }

// rejudge sends a message that was owned, or waited, to the gate as an
// ordinary message of its Thread (HB-3). Earlier decisions but a stop no
// longer cover it, nor do those own it who dealt with it and ended, should they
// be resumed.
func (w *work) rejudge(m *Message) {
	m.With, m.Owners, m.Rode = "", nil, nil
	if m.Recalled { // its text is gone (TR-4a)
		m.State = StateRecalled
		return
	}
	m.Decided = slices.DeleteFunc(m.Decided, func(d Decided) bool { return !d.stop() })
	th := w.thread(m)
	th.Notices = drop(th.Notices, m.ID)
	if !w.joins(m, th) {
		w.judge(m, th, false)
	}
}

// settleWith ends the waiting of the messages that waited with a candidate
// (SU-8): the Ticket that the candidate went to gets them, or they go to the
// gate. Those that are one candidate with it share its end (EV-1).
func (w *work) settleWith(candidate *Message, t *Ticket) {
	th := w.thread(candidate)
	waiting := w.companions(th, candidate)
	if t == nil {
		strongestFirst(waiting)
	}
	for _, m := range waiting {
		th.Companions = drop(th.Companions, m.ID)
		switch {
		case m.rides(candidate):
			w.settleRider(m, candidate, t)
		case t == nil:
			w.rejudge(m)
		default:
			w.follow(m, th, t)
		}
	}
}

// companions are the messages that wait with a candidate, as they came.
func (w *work) companions(th *Thread, candidate *Message) []*Message {
	var list []*Message
	for _, id := range th.Companions {
		if m := w.messages[id]; m != nil && m.With == candidate.ID {
			list = append(list, m)
		}
	}
	return list
}

// strongestFirst puts the first of the strongest messages before the others: it
// leads, where they form a candidate of their own (EV-1).
func strongestFirst(list []*Message) {
	lead := 0
	for i, m := range list {
		if m.Admission.Strength > list[lead].Admission.Strength {
			lead = i
		}
	}
	for ; lead > 0; lead-- {
		list[lead], list[lead-1] = list[lead-1], list[lead]
	}
}

// follow gives a message that waited with a candidate to the candidate's
// Ticket: owned, and the main Session hears of it (SU-3); or as context, where
// follow-ups of its sender are no more than that (SU-2).
func (w *work) follow(m *Message, th *Thread, t *Ticket) {
	switch {
	case w.ownable(m) && t.Active():
		w.own(t, m, false)
		w.notice(m, th)
	case w.ownable(m):
		w.waitFor(t, m)
		w.notice(m, th)
	default:
		w.rejudge(m)
		if t.Active() {
			w.input(t, Input{Kind: InputContext, Trigger: m.ID})
			m.reached()
		}
	}
}

// reached: a Ticket got it as context, and it is no candidate.
func (m *Message) reached() {
	if m.State == StateNotAdmitted {
		m.State = StateDelivered
	}
}

// refuse answers an addressed message of a person that was not admitted
// (OUT-6), unless nobody said it now (TR-7): as the Source says, at most once a sender and hour. The hour is
// part of the row's id, and the outbox takes an id once.
func (w *work) refuse(m *Message) {
	src := w.Sources[m.Source]
	if src == nil || m.ReplayedBy != "" || m.Sender.Kind != gate.Person || m.Addressing == gate.NotAddressed || len(m.HandBacks) > 0 {
		return
	}
	id := intent("refusal", string(m.Source), m.Sender.ID, w.Now.UTC().Format("2006-01-02T15"))
	switch src.Refusal {
	case gate.RefuseByReaction:
		w.react(m, gate.ReactRefused, id)
	case gate.RefuseByReply:
		w.say(m.reply(), "", w.text(sayRefused), id)
	case gate.RefuseSilently:
	}
}

// notResumed tells a listed person whose message could not resume a Ticket,
// and is no candidate either, to mention the agent (OUT-6).
func (w *work) notResumed(m *Message) {
	nobody := m.State == StateNotAdmitted || m.State == StateDelivered
	if nobody && m.Sender.Kind == gate.Person && w.lists(m.Source, m.Sender).Allow == gate.Yes {
		w.say(m.reply(), "", w.text(sayNotResumed), intent("not_resumed", string(m.ID)))
	}
}

func (w *work) react(m *Message, r gate.Reaction, id string) {
	o := m.reply().outgoing(gate.OutReact, id, w.Now)
	o.Reaction = r
	w.c.Out = append(w.c.Out, o)
}

// say puts a reply into the outbox.
func (w *work) say(to destination, ticket gate.TicketID, text, id string) {
	o := to.outgoing(gate.OutReply, id, w.Now)
	o.Text, o.Ticket = text, ticket
	w.c.Out = append(w.c.Out, o)
}

// cancelQuestions cancels the Ticket's open questions in the same commit
// (DE-7); only filters which.
func (w *work) cancelQuestions(t *Ticket, reason string, only func(*approvals.Question) bool) {
	for _, id := range sortedKeys(w.questions) {
		q := w.questions[id]
		if q.Session.ID != approvals.SessionID(t.ID) || q.Status.Terminal() || !only(q) {
			continue
		}
		closed, effects := approvals.Cancel(*q, reason, w.Now)
		*q = closed
		w.c.Add(effects)
	}
}
