package orchestrator

import (
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Triggers with one Bundle are one candidate (EV-1): one of them leads, the
// others ride. A rider waits with its lead as a companion does (SU-8), but goes
// where the lead goes: to its Ticket, into its Decision, back into the queue.
// Only where the lead is taken back, falls to none or stops a Ticket do the
// riders go to the gate, and form a candidate of their own.

// gatherFor is how long after its latest part came a review waits for the next.
// What counts is when a part was received, and it is longer than a replica's
// lease, so that a crash after the first parts came splits no review.
const gatherFor = 10 * time.Second

// gathers: the message is part of a review, whose parts come within seconds.
// Failures of one head commit come as long as its CI runs, and join while the
// candidate is undecided.
func (m *Message) gathers() bool {
	return m.Bundle != "" && (m.Kind == gate.KindReview || m.Kind == gate.KindReviewComment)
}

// rides reports whether the message waits as one candidate with c.
func (m *Message) rides(c *Message) bool {
	return m.With == c.ID && m.Bundle != "" && m.Bundle == c.Bundle
}

// lead is the undecided candidate of the Thread that the message is one with,
// or nil.
func (w *work) lead(m *Message, th *Thread) *Message {
	if m.Bundle == "" {
		return nil
	}
	for _, id := range append(w.inEval(th), th.Queue...) {
		c := w.messages[id]
		if c != nil && id != m.ID && c.Bundle == m.Bundle && (!c.gathers() || !m.ReceivedAt.After(c.Until)) {
			return c
		}
	}
	return nil
}

// joins makes the message ride with the candidate of its Bundle, whatever the
// gate says of it alone: it grants nothing. An explicit one takes the lead of an
// inferred one. It reports false where there is no such candidate.
func (w *work) joins(m *Message, th *Thread) bool {
	c := w.lead(m, th)
	if c == nil {
		return false
	}
	if until := m.ReceivedAt.Add(gatherFor); c.gathers() && until.After(c.Until) {
		c.Until = until
	}
	if c.Admission.Strength != gate.Explicit && w.admitNew(m).Strength == gate.Explicit {
		w.takeLead(m, c, th)
		return true
	}
	if c.Admission.Strength == gate.Explicit && w.admit(m).Strength == gate.Explicit {
		w.receipt(m)
	}
	m.State, m.Why, m.With = StateWaiting, "", c.ID
	th.Companions = append(th.Companions, m.ID)
	return true
}

// takeLead makes an explicit message the candidate, and the inferred one that
// led, with all that rode with it, its riders. If that one was handed out
// already, it comes again with the new lead.
func (w *work) takeLead(m, was *Message, th *Thread) {
	th.Queue = drop(th.Queue, was.ID)
	w.decided(was, th)
	for _, id := range th.Companions {
		if r := w.messages[id]; r != nil && r.With == was.ID {
			r.With = m.ID
		}
	}
	was.State, was.With = StateWaiting, m.ID
	th.Companions = append([]gate.TriggerID{was.ID}, th.Companions...)
	w.queue(m, th)
}

// settleRider ends the waiting of a rider as its lead ended.
func (w *work) settleRider(r, c *Message, t *Ticket) {
	end := c.last()
	switch {
	case t != nil:
		w.giveRider(r, t)
	case c.State == StateDecided && !end.stop():
		r.State = StateDecided
	default:
		w.rejudge(r)
		return
	}
	r.With = ""
	r.Decided, c.Rode = append(r.Decided, end), append(c.Rode, r.ID)
}

// giveRider gives a rider to the Ticket of its lead: owned, or as context where
// messages of its sender are no more than that (SU-2). The main Session had it
// on the card, and needs no notice.
func (w *work) giveRider(r *Message, t *Ticket) {
	switch {
	case !t.Active():
		w.waitFor(t, r)
	case w.ownable(r):
		w.own(t, r, false)
	default:
		w.input(t, Input{Kind: InputContext, Trigger: r.ID})
		r.State = StateDecided
	}
}

// last is the latest Decision on the message.
func (m *Message) last() Decided {
	if len(m.Decided) == 0 {
		return Decided{}
	}
	return m.Decided[len(m.Decided)-1]
}

// ready is when the first of the candidates can be handed out: at once, unless
// each still gathers (EV-1).
func ready(queue []gate.TriggerID, now time.Time, until func(gate.TriggerID) time.Time) time.Time {
	var first time.Time
	for i, id := range queue {
		at := until(id)
		if at.Before(now) {
			at = now
		}
		if i == 0 || at.Before(first) {
			first = at
		}
	}
	return first
}

func (w *work) until(id gate.TriggerID) time.Time {
	if m := w.messages[id]; m != nil {
		return m.Until
	}
	return time.Time{}
}

// riders are the messages that ride with a candidate, as they came.
func riders(all map[gate.TriggerID]Message, th *Thread, c *Message) []Message {
	return slices.DeleteFunc(pick(all, th.Companions), func(m Message) bool { return !m.rides(c) })
}
