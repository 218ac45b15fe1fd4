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

// ShownIn reports whether a message in that chat shows the question.
func (q *Question) ShownIn(source gate.SourceID, chat string) bool {
	return slices.ContainsFunc(q.Messages, func(m Message) bool { return m.Source == source && m.Chat == chat })
}

func (m Message) where() string { return string(m.Source) + " " + m.Chat + " " + m.Message }

// ask is what makes an open question reach people, and end: a card in its own
// thread, and where that has no cards or only the requester reads it, one in the
// rooms (CA-1).
func ask(q Question, cfg Settings, now time.Time) (Question, Effects) {
	eff := Effects{Due: []Due{deadline(q)}}
	if q.Session.Source != "" {
		o := card(q, cfg, now)
		q.Asked = append(slices.Clip(q.Asked), Asking{ID: o.ID})
		eff.Out = []gate.Outgoing{o}
	}
	if q.wantsRoom(cfg) {
		var more []gate.Outgoing
		q, more = q.askIn(cfg.Rooms, now)
		eff.Out = append(eff.Out, more...)
	}
	return q, eff
}

// wantsRoom: who may answer does not see a card in the session's own thread. A
// question to the requester alone stays where that is.
func (q *Question) wantsRoom(cfg Settings) bool {
	s := q.Session
	own := s.Source == cfg.Rooms.Source && s.Place.Chat == cfg.Rooms.Chat && s.Source != ""
	switch {
	case own:
		return false
	case s.Source == "", cfg.Cardless[s.Source]:
		return true
	case slices.Equal(q.Answerers, []string{gate.AnswererRequester}):
		return false
	}
	return s.Direct || s.Alone
}

// card asks in the session's thread (CA-1).
func card(q Question, cfg Settings, now time.Time) gate.Outgoing {
	o := outgoing(q, now)
	o.ID, o.Kind = OwnCard(q.ID), gate.OutCard
	o.Lane = cmp.Or(string(q.Session.Thread), "question:"+string(q.ID))
	o.Source, o.Place, o.Direct = q.Session.Source, q.Session.Place, q.Session.Direct
	o.Message = q.Session.Anchor
	if q.asksRequester(cfg) {
		o.Mention = q.Session.Requester
	}
	return o
}

// asksRequester: the requester is one of those whom the question asks.
func (q *Question) asksRequester(cfg Settings) bool {
	who := q.Session.Requester
	if who.Kind != gate.Person || cfg.FourEyes {
		return false
	}
	named, _ := gate.OnList(q.Answerers, who)
	return len(q.Answerers) == 0 || named == gate.Yes || slices.Contains(q.Answerers, gate.AnswererRequester)
}

// update brings one card to the question's end, in a lane of its own so that
// it blocks no thread (CA-4).
func update(q Question, m Message, now time.Time) gate.Outgoing {
	o := outgoing(q, now)
	o.ID, o.Kind = derive("update", string(q.ID), m.where()), gate.OutCardUpdate
	o.Lane = "card:" + m.Message
	o.Source, o.Place, o.Message = m.Source, gate.Place{Chat: m.Chat}, m.Message
	if m.Source != q.Session.Source || m.Chat != q.Session.Place.Chat {
		o.Thread = "" // a room: whether the session's own thread can be reached says nothing of it
	}
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
