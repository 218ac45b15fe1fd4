package approvals

import (
	"cmp"
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// updateDelay keeps a card's update behind the answer to whatever click was under
// way when the question ended: Feishu undoes an update that comes before it, and
// waits three seconds for it. A click that comes later sees the end.
const updateDelay = 3500 * time.Millisecond

// Presented records where a question is shown; a click from there counts from
// then on (CA-6). A question that came to its end meanwhile has that card
// updated. The same message again changes nothing.
func Presented(q Question, m Message, now time.Time) (Question, Effects) {
	if slices.Contains(q.Messages, m) {
		return q, Effects{}
	}
	q.Messages = append(slices.Clip(q.Messages), m)
	q = q.note(Event{Type: EventPresented, At: now, Detail: m.where()})
	if !q.Status.Terminal() {
		return q, Effects{}
	}
	return q, Effects{Out: []gate.Outgoing{update(q, m, now)}}
}

// fromCard reports whether a click came from a stored message of the question
// (CA-6), or why not. A click that names no message did not; other answers need
// none.
func fromCard(q Question, r AnswerRequest) (reason string, ok bool) {
	switch m := r.Message; {
	case m == nil:
		return ReasonWrongCard, r.Via != ViaCard
	case slices.Contains(q.Messages, *m):
		return "", true
	case slices.ContainsFunc(q.Messages, func(known Message) bool { return known.Source == m.Source && known.Message == m.Message }):
		return ReasonWrongChat, false
	}
	return ReasonWrongCard, false
}

// Updated records that a card shows the question's end (DE-9).
func Updated(q Question, m Message, now time.Time) Question {
	return q.note(Event{Type: EventUpdated, At: now, Detail: m.where()})
}

func (m Message) where() string { return string(m.Source) + " " + m.Chat + " " + m.Message }

// ask is what makes an open question reach people, and end.
func ask(q Question, now time.Time) Effects {
	eff := Effects{Due: []Due{deadline(q)}}
	if q.Session.Source != "" {
		eff.Out = []gate.Outgoing{card(q, now)}
	}
	return eff
}

// card asks in the session's thread (CA-1).
func card(q Question, now time.Time) gate.Outgoing {
	o := outgoing(q, now)
	o.ID, o.Kind = derive("card", string(q.ID)), gate.OutCard
	o.Lane = cmp.Or(string(q.Session.Thread), "question:"+string(q.ID))
	o.Source, o.Place, o.Direct = q.Session.Source, q.Session.Place, q.Session.Direct
	o.Message = q.Session.Anchor
	if q.Session.Requester.Kind == gate.Person {
		o.Mention = q.Session.Requester
	}
	return o
}

// update brings one card to the question's end, in a lane of its own so that
// it blocks no thread (CA-4).
func update(q Question, m Message, now time.Time) gate.Outgoing {
	o := outgoing(q, now)
	o.ID, o.Kind = derive("update", string(q.ID), m.where()), gate.OutCardUpdate
	o.Lane = "card:" + m.Message
	o.Source, o.Place, o.Message = m.Source, gate.Place{Chat: m.Chat}, m.Message
	o.NotBefore = now.Add(updateDelay)
	return o
}

func outgoing(q Question, now time.Time) gate.Outgoing {
	o := gate.Outgoing{Question: string(q.ID), Thread: q.Session.Thread, CreatedAt: now}
	if q.Session.ID != MainSession {
		o.Ticket = gate.TicketID(q.Session.ID)
	}
	return o
}

// AskIn asks an open question in another chat than its session's, once
// however often: where that one cannot be reached (EN-5).
func AskIn(q Question, source gate.SourceID, thread gate.ThreadID, place gate.Place, now time.Time) Effects {
	o := outgoing(q, now)
	o.ID, o.Kind = derive("card", string(q.ID), string(thread)), gate.OutCard
	o.Lane, o.Thread = "question:"+string(q.ID), thread
	o.Source, o.Place = source, place
	return Effects{Out: []gate.Outgoing{o}}
}
