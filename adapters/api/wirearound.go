package api

import (
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// around is what was said near a message, as of its time (EV-2a). Opening,
// replied to and earlier messages are null or short where they could not be
// read; unread then names them, and unread_why says why.
type around struct {
	Opening   *quote               `json:"opening"`
	RepliedTo *quote               `json:"replied_to"`
	Earlier   []quote              `json:"earlier"`
	Unread    []gate.Part          `json:"unread"`
	UnreadWhy map[gate.Part]string `json:"unread_why"`
}

type quote struct {
	Sender      sender    `json:"sender"`
	Own         bool      `json:"own"`
	Title       string    `json:"title"`
	Text        string    `json:"text"`
	URL         string    `json:"url"`
	At          time.Time `json:"at"`
	EditedLater bool      `json:"edited_later"`
	Cut         bool      `json:"cut"`
}

// aroundOf shows what was said; nil is what has no surroundings of its own.
func aroundOf(s *gate.Surroundings) around {
	if s == nil {
		s = &gate.Surroundings{}
	}
	w := around{
		Opening: quoteOf(s.Opening), RepliedTo: quoteOf(s.RepliedTo), Earlier: []quote{},
		Unread: []gate.Part{}, UnreadWhy: map[gate.Part]string{},
	}
	for i := range s.Earlier {
		w.Earlier = append(w.Earlier, *quoteOf(&s.Earlier[i]))
	}
	for _, u := range s.Unread {
		w.Unread = append(w.Unread, u.Part)
		w.UnreadWhy[u.Part] = u.Why
	}
	return w
}

func quoteOf(q *gate.Quote) *quote {
	if q == nil {
		return nil
	}
	return &quote{senderOf(q.Sender), q.Own, q.Title, q.Text, q.URL, q.At.UTC(), q.Edited, q.Cut}
}
