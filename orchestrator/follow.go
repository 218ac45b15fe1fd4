package orchestrator

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Follow names Threads outside the Mandate's chat or repository that an
// executor may read along (SU-5a).
type Follow struct {
	Source gate.SourceID
	// Pattern is a chat's id, or owner/repo; * stands for any part of a word.
	Pattern string
}

// maxSubs bounds the Threads that feed one Ticket.
const maxSubs = 50

// Opened is what the platform says of an issue or pull request that an
// Executor opened (SU-9).
type Opened struct {
	Thread gate.ThreadID
	Scope  gate.Scope
	Place  gate.Place
	Title  string
	// Ours: its author is the agent's own account, by its id.
	Ours bool
	At   time.Time
}

// readAlong adds a context Subscription (SU-5, SU-5a).
func (w *work) readAlong(t *Ticket, cmd Command) Performed {
	if cmd.Thread == "" {
		return refusedAct(ActMissingField, "say which thread is followed")
	}
	if slices.ContainsFunc(t.Subs, func(s Subscription) bool { return s.Thread == cmd.Thread }) {
		return Performed{OK: true, Note: "the ticket has the thread already"}
	}
	source, place, ok := w.locate(cmd.Thread)
	if !ok || !w.mayFollow(t, source, place) {
		return refusedAct(ActThreadNotAllowed, "follow threads of the ticket's own chat or repository, or what the configuration names for this executor")
	}
	if len(t.Subs) >= maxSubs {
		return refusedAct(ActThreadNotAllowed, "the ticket has too many threads; unfollow one first")
	}
	th := w.threads[cmd.Thread]
	if th == nil {
		th = &Thread{ID: cmd.Thread, Source: source, Place: place}
		w.threads[th.ID] = th
	}
	w.feed(t, th, SubContext)
	return Performed{OK: true}
}

// feed makes a Thread feed the Ticket.
func (w *work) feed(t *Ticket, th *Thread, kind SubscriptionKind) {
	w.starve(t, th.ID)
	t.Subs = append(t.Subs, Subscription{Thread: th.ID, Kind: kind})
	th.Tickets = append(th.Tickets, ThreadTicket{Ticket: t.ID, Kind: kind})
}

// starve undoes feed.
func (w *work) starve(t *Ticket, id gate.ThreadID) {
	t.Subs = slices.DeleteFunc(t.Subs, func(s Subscription) bool { return s.Thread == id })
	if th := w.threads[id]; th != nil {
		th.Tickets = slices.DeleteFunc(th.Tickets, func(s ThreadTicket) bool { return s.Ticket == t.ID })
	}
}

// locate tells the Source and the chat or repository of a Thread: by its
// record, or by its id where nothing was said on it yet.
func (w *work) locate(id gate.ThreadID) (gate.SourceID, gate.Place, bool) {
	if th := w.threads[id]; th != nil {
		return th.Source, th.Place, w.Sources[th.Source] != nil
	}
	part := strings.Split(string(id), "~")
	src := w.Sources[gate.SourceID(part[0])]
	switch {
	case src == nil || slices.Contains(part, ""):
	case src.Platform == gate.Feishu && len(part) == 3:
		return src.ID, gate.Place{Chat: part[1], Root: part[2]}, true
	case src.Platform == gate.GitHub && len(part) == 4:
		return src.ID, gate.Place{Chat: part[1] + "/" + part[2], Root: part[3]}, true
	}
	return "", gate.Place{}, false
}

// mayFollow: the Mandate's own chat or repository, or what the configuration
// names for the executor (SU-5a). A DM is followed by nobody else.
func (w *work) mayFollow(t *Ticket, source gate.SourceID, place gate.Place) bool {
	if source == t.Mandate.Source && strings.EqualFold(place.Chat, t.Mandate.Place.Chat) {
		return true
	}
	return slices.ContainsFunc(w.Settings.Follow[t.Executor], func(f Follow) bool {
		ok, err := path.Match(strings.ToLower(f.Pattern), strings.ToLower(place.Chat))
		return f.Source == source && ok && err == nil
	})
}

// leave ends a context Subscription, or an attached own Thread once its
// messages were handed back; never the Mandate's Thread (SU-5a).
func (w *work) leave(t *Ticket, cmd Command) Performed {
	if cmd.Thread == "" {
		return refusedAct(ActMissingField, "say which thread is left")
	}
	i := slices.IndexFunc(t.Subs, func(s Subscription) bool { return s.Thread == cmd.Thread })
	switch {
	case i < 0:
		return Performed{OK: true, Note: "the ticket does not have the thread"}
	case cmd.Thread == t.Mandate.Thread:
		return refusedAct(ActThreadNotAllowed, "the thread that started the work cannot be left")
	case t.Subs[i].Kind == SubOwn && w.ownsOn(t, cmd.Thread):
		return refusedAct(ActThreadNotAllowed, "hand back its messages first: hand_back with this thread")
	}
	w.starve(t, cmd.Thread)
	return Performed{OK: true}
}

// ownsOn reports whether the Ticket owns a message of the Thread.
func (w *work) ownsOn(t *Ticket, id gate.ThreadID) bool {
	for _, m := range w.messages {
		if m.Thread == id && slices.Contains(m.Owners, t.ID) {
			return true
		}
	}
	return false
}

// opened makes an issue or pull request that the agent's own account opened
// one of the Ticket's own Threads. The Mandate stays as it is (SU-9).
func (w *work) opened(t *Ticket, cmd Command) Performed {
	o := cmd.Opened
	switch {
	case cmd.URL == "":
		return refusedAct(ActMissingField, "give the url of what was opened")
	case o == nil:
		return refusedAct(ActThreadNotAllowed, "no source of this gateway can tell who opened it, so its thread stays apart")
	case !o.Ours:
		return refusedAct(ActThreadNotAllowed, "the agent's own account did not open it; follow it instead")
	case !o.At.After(t.CreatedAt):
		return refusedAct(ActThreadNotAllowed, "it is older than the ticket; follow it instead")
	case t.owns(o.Thread):
		return Performed{OK: true, Note: "the ticket has the thread already"}
	case len(t.Subs) >= maxSubs:
		return refusedAct(ActThreadNotAllowed, "the ticket has too many threads; unfollow one first")
	}
	th := w.threads[o.Thread]
	if th == nil {
		source, _, _ := w.locate(o.Thread)
		th = &Thread{ID: o.Thread, Source: source, Scope: o.Scope, Place: o.Place, Title: o.Title}
		w.threads[th.ID] = th
	}
	w.feed(t, th, SubOwn)
	w.lookAround(t)
	w.log("ticket.opened", approvals.SessionID(t.ID), map[string]any{"ticket": t.ID, "thread": th.ID})
	return Performed{OK: true}
}

// Unsubscribe ends any Subscription of a Ticket for an operator (SU-5a). What
// the Ticket owns it keeps (SU-4). ErrNotFound.
func Unsubscribe(s State, id gate.TicketID, thread gate.ThreadID, by string, f Facts) (Changes, error) {
	w := begin(s, f)
	t := w.tickets[id]
	if t == nil || !slices.ContainsFunc(t.Subs, func(s Subscription) bool { return s.Thread == thread }) {
		return Changes{}, ErrNotFound
	}
	w.starve(t, thread)
	w.log("ticket.unsubscribed", approvals.SessionID(t.ID), map[string]any{"ticket": t.ID, "thread": thread, "by": by})
	return w.done(), nil
}
