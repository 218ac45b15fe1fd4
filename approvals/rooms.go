package approvals

import (
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Rooms are where questions are asked that have no chat of their own: one chat,
// or without it each of some people in a DM (CA-1). The zero value is nowhere.
type Rooms struct {
	Source gate.SourceID
	Chat   string
	// People are the approvers who can be written to. Those of Source are called
	// in the chat.
	People []gate.Account
}

// Thread is the chat as a conversation, or "" where there is none.
func (r Rooms) Thread() gate.ThreadID {
	if r.Chat == "" {
		return ""
	}
	return gate.ThreadID(string(r.Source) + "~" + r.Chat)
}

// Asking is one card by which a question was sent to people: the id of its
// Outgoing.
type Asking struct {
	ID string `json:"id"`
	// Lost: it did not reach anybody, or reaches nobody any more.
	Lost bool `json:"lost,omitempty"`
}

// OwnCard is the id of the Outgoing that asks in the session's own thread.
func OwnCard(q ID) string { return derive("card", string(q)) }

// Unreached is news that a card of an open question reaches nobody: it could not
// be sent, or what it is in is lost (EN-5, CA-7). The question is asked in the
// rooms too, once; where it reached nobody and there is nowhere else to ask, it
// is unavailable. The same news again changes nothing.
func Unreached(q Question, card, why string, rooms Rooms, now time.Time) (Question, Effects) {
	if q, eff := Expire(q, now); q.Status.Terminal() {
		return q, eff
	}
	if q.lost(card) {
		return q, Effects{}
	}
	q.Asked = slices.DeleteFunc(slices.Clone(q.Asked), func(a Asking) bool { return a.ID == card })
	q.Asked = append(q.Asked, Asking{ID: card, Lost: true})
	q = q.note(Event{Type: EventUnreached, At: now, Detail: why})
	q, out := q.askIn(rooms, now)
	if slices.ContainsFunc(q.Asked, func(a Asking) bool { return !a.Lost }) {
		return q, Effects{Out: out}
	}
	return Unreachable(q, why, now)
}

func (q *Question) lost(card string) bool {
	return slices.Contains(q.Asked, Asking{ID: card, Lost: true})
}

// askIn asks in the rooms, where it was not asked there before: by DM where the
// chat is none, or lost.
func (q Question) askIn(r Rooms, now time.Time) (Question, []gate.Outgoing) {
	rows := []gate.Outgoing{q.inChat(r, now)}
	if r.Chat == "" || q.lost(rows[0].ID) {
		rows = q.byDM(r, now)
	}
	var out []gate.Outgoing
	for _, o := range rows {
		if !slices.ContainsFunc(q.Asked, func(a Asking) bool { return a.ID == o.ID }) {
			q.Asked = append(slices.Clip(q.Asked), Asking{ID: o.ID})
			out = append(out, o)
		}
	}
	return q, out
}

func (q *Question) inChat(r Rooms, now time.Time) gate.Outgoing {
	o := outgoing(*q, now)
	o.ID, o.Kind = derive("card", string(q.ID), string(r.Thread())), gate.OutCard
	o.Lane, o.Thread = "question:"+string(q.ID), r.Thread()
	o.Source, o.Place = r.Source, gate.Place{Chat: r.Chat}
	for _, p := range r.People {
		if p.Source == r.Source {
			o.Others = append(o.Others, gate.Sender{Kind: gate.Person, ID: p.ID})
		}
	}
	return o
}

// byDM asks each of the people in a lane of their own: one who cannot be
// written to does not keep the question from the others.
func (q *Question) byDM(r Rooms, now time.Time) []gate.Outgoing {
	var rows []gate.Outgoing
	for _, p := range r.People {
		o := outgoing(*q, now)
		o.ID, o.Kind = derive("card", string(q.ID), string(p.Source), p.ID), gate.OutCard
		o.Lane, o.Thread = "question:"+string(q.ID)+":"+p.ID, ""
		o.Source, o.Place, o.Direct = p.Source, gate.Place{Chat: p.ID}, true
		rows = append(rows, o)
	}
	return rows
}
