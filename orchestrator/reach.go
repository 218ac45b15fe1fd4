package orchestrator

import (
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Reach is what is known of a place: whether the gateway can speak there
// (EN-5). A place without one can be reached.
type Reach struct {
	Place gate.PlaceID `json:"place"`
	// Lost is why it cannot be reached; "": it can.
	Lost string `json:"lost,omitempty"`
	// At is when the latest news of it happened; older news counts no more.
	At   time.Time `json:"at"`
	Wide bool      `json:"wide,omitempty"`
	// Changes counts, on the record of a whole Source, what changed anywhere in
	// it: so that who brings Tickets up to date sees that there is more.
	Changes int `json:"changes,omitempty"`

	Version int64 `json:"-"`
}

// LostThread is an own Thread of a Ticket that cannot be reached, and why.
type LostThread struct {
	Thread gate.ThreadID `json:"thread"`
	Why    string        `json:"why"`
}

// Reached records news of places, as of when it happened (EN-5). News that is
// older than what is known changes nothing, and neither does what is known. The
// Tickets are told by LookAround.
func Reached(s State, news []gate.Reached, at time.Time, f Facts) Changes {
	w := begin(s, f)
	for _, n := range news {
		w.reached(n, at)
	}
	return w.done()
}

func (w *work) reached(n gate.Reached, at time.Time) {
	r := w.reach(n.Place)
	if at.Before(r.At) {
		return
	}
	r.At, r.Wide = at, n.Wide
	if r.Lost == n.Lost {
		return
	}
	r.Lost = n.Lost
	source := string(n.Place.Source())
	w.reach(gate.PlaceID(source)).Changes++
	w.due(DueReach, source)
	what := "place.restored"
	if n.Lost != "" {
		what = "place.lost"
	}
	w.log(what, "", map[string]any{"place": n.Place, "why": n.Lost})
}

// reach is the record of a place, a new one if there is none yet.
func (w *work) reach(p gate.PlaceID) *Reach {
	r := w.reaches[p]
	if r == nil {
		r = &Reach{Place: p}
		w.reaches[p] = r
	}
	return r
}

// lost returns why the gateway cannot speak on a Thread, or "". What it looked
// at must not have moved when the transition is committed.
func (w *work) lost(id gate.ThreadID) string {
	for _, p := range id.Places() {
		w.looked[p] = true
		if r := w.reaches[p]; r != nil && r.Lost != "" {
			return r.Lost
		}
	}
	return ""
}

// lost is the same of a State that was only read.
func (s *State) lost(id gate.ThreadID) string {
	for _, p := range id.Places() {
		if r := s.Reaches[p]; r.Lost != "" {
			return r.Lost
		}
	}
	return ""
}

// heard: a message proves that the gateway is where it was said, though news of
// that may be missing. It says nothing of the Thread itself: on a locked issue
// some may still write.
func (w *work) heard(m *Message) {
	places := m.Thread.Places()
	if m.ReplayedBy != "" || len(places) == 0 {
		return
	}
	for _, p := range places[:len(places)-1] {
		if r := w.reaches[p]; r != nil && r.Lost != "" && m.OccurredAt.After(r.At) {
			w.reached(gate.Reached{Place: p, Wide: r.Wide}, m.OccurredAt)
		}
	}
}

// LookAround tells an active Ticket which of its own Threads cannot be reached
// any more, and which can again (EN-5). It knows what it was told, so that
// looking twice tells once.
func LookAround(s State, id gate.TicketID, f Facts) Changes {
	w := begin(s, f)
	if t := w.tickets[id]; t != nil && t.Active() {
		w.lookAround(t)
	}
	return w.done()
}

func (w *work) lookAround(t *Ticket) {
	was := t.Lost
	t.Lost = nil
	for _, id := range t.ownThreads() {
		why := w.lost(id)
		told := slices.ContainsFunc(was, func(l LostThread) bool { return l.Thread == id })
		if why != "" {
			t.Lost = append(t.Lost, LostThread{id, why})
			w.askElsewhere(t, id, why)
		}
		switch {
		case why != "" && !told:
			w.input(t, Input{Kind: InputNote, Note: "nothing can be said on " + string(id) + " now, and what is said is dropped: " + why})
		case why == "" && told:
			w.input(t, Input{Kind: InputNote, Note: string(id) + " can be reached again; what was said there meanwhile was dropped"})
		}
	}
}

// askElsewhere moves the open questions that the Ticket asked on a lost Thread.
func (w *work) askElsewhere(t *Ticket, on gate.ThreadID, why string) {
	for _, id := range sortedKeys(w.questions) {
		q := w.questions[id]
		if q.Session.ID != approvals.SessionID(t.ID) || q.Session.Thread != on || q.Status.Terminal() {
			continue
		}
		rooms := w.Settings.rooms(w.lost(w.Settings.Rooms.Thread()))
		moved, effects := approvals.Unreached(*q, approvals.OwnCard(q.ID), why, rooms, w.Now)
		*q = moved
		w.c.Add(effects)
	}
}

// rooms are where questions can be asked elsewhere, if that chat is lost or not.
func (s *Settings) rooms(lost string) approvals.Rooms {
	r := s.Rooms
	if lost != "" {
		r.Chat = ""
	}
	return r
}

// settleReaches writes the places that changed, and guards those that were
// looked at.
func (w *work) settleReaches() {
	for _, p := range sortedKeys(w.reaches) {
		if was, existed := w.read.Reaches[p]; !existed || was != *w.reaches[p] {
			w.c.Reaches = append(w.c.Reaches, *w.reaches[p])
			delete(w.looked, p)
		}
	}
	for _, p := range sortedKeys(w.looked) {
		w.c.Read = append(w.c.Read, approvals.Guard{Kind: KindReach, ID: string(p), Version: w.read.Reaches[p].Version})
	}
}
