package orchestrator

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Builtin is the driver without a model (DR-1): explicit candidates become a
// Ticket, or are attached where the Thread has an active one; a message that
// is nothing but a stop word stops; inferred candidates are evaluated by the
// rules' match expressions.
type Builtin struct {
	Settings Settings
	// Matcher is needed where rules have expressions.
	Matcher Matcher
}

// Matcher evaluates the match expressions of rules.
type Matcher interface {
	// Match reports whether an expression holds for a message; listed says
	// whether its sender is on today's allow list. An expression is of a Policy
	// version, for which it need be compiled only once. One that cannot be
	// evaluated is an error, and holds for nothing.
	Match(version int, expression string, m *Message, listed bool) (bool, error)
}

// Consider decides every candidate of the hand-out, up to one that becomes a
// Ticket: those behind it can be attached to that.
func (b Builtin) Consider(_ context.Context, h Handout) ([]Routed, error) {
	var items []Routed
	for _, m := range h.Notices {
		items = append(items, b.notice(h, m)...)
	}
	for _, m := range h.Candidates {
		items = append(items, b.candidate(h, m)...)
		if n := len(items); n > 0 && items[n-1].Action == ActAccept {
			break
		}
	}
	return items, nil
}

// notice deals with a message that Executors own: it may only stop them (RO-7).
func (b Builtin) notice(h Handout, m Message) []Routed {
	active := h.active(m.Thread)
	if !b.stops(m) || len(active) == 0 {
		return nil
	}
	if items := b.stop(h, m, !h.Listed[m.ID]); len(items) > 0 {
		return items
	}
	return []Routed{{Item: Item{Trigger: m.ID}, Ask: b.whichOne(active)}}
}

func (b Builtin) candidate(h Handout, m Message) []Routed {
	active := h.active(m.Thread)
	inferred := m.Admission.Strength != gate.Explicit
	switch {
	case b.stops(m):
		if items := b.stop(h, m, inferred); len(items) > 0 {
			return items
		}
		return []Routed{b.ignore(h, m, inferred, b.whichOne(active))}
	case inferred:
		return []Routed{b.evaluate(h, m)}
	case len(active) > 0:
		return []Routed{{Item: Item{Trigger: m.ID, Action: ActAttach, Ticket: active[0].ID, Reason: "the thread has an active ticket"}}}
	}
	return []Routed{{Item: b.work(m, h.executor(m), "explicit request")}}
}

// work is the item that makes a Ticket of a message.
func (b Builtin) work(m Message, executor, reason string) Item {
	title := cmp.Or(oneLine(m.Plain, 80), oneLine(m.Text, 80), string(m.Kind))
	return Item{Trigger: m.ID, Action: ActAccept, Title: title, Brief: m.Text, Executor: executor, Reason: reason}
}

// executor is the first that the Policy gives the request (RO-2b): "default"
// where it may have that, else the first of its list.
func (h *Handout) executor(m Message) string {
	listed := h.Listed[m.ID]
	allowed := func(name string) bool {
		return gate.ExecutorAllowed(h.Policy, m.Source, m.Admission.Verdict, listed, nil, name)
	}
	choice := h.Policy.Sources[m.Source].Executors.Unlisted
	if listed {
		choice = h.Policy.Sources[m.Source].Executors.Listed
	}
	for _, name := range choice {
		if !allowed(gate.DefaultExecutor) && allowed(name) {
			return name
		}
	}
	return gate.DefaultExecutor
}

// TicketsOf are the Tickets that have a Thread of the hand-out as their own.
func (h *Handout) TicketsOf(id gate.ThreadID) []Ticket {
	return slices.DeleteFunc(slices.Clone(h.Tickets), func(t Ticket) bool { return !t.owns(id) })
}

// active are a Thread's active own Tickets, the newest activity first.
func (h *Handout) active(id gate.ThreadID) []Ticket {
	var list []Ticket
	for _, t := range h.TicketsOf(id) {
		if t.Active() {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b Ticket) int { return b.ActiveAt.Compare(a.ActiveAt) })
	return list
}

// stops: a person said nothing but a stop word. A bot's stops nothing (RO-4).
func (b Builtin) stops(m Message) bool {
	return m.Sender.Kind == gate.Person && b.Settings.stopWord(m.Plain)
}

// stop stops the active Tickets whose requester speaks, else the only one. What
// may be no more than inferred comes out of an evaluation (RO-2a).
func (b Builtin) stop(h Handout, m Message, inferred bool) []Routed {
	active := h.active(m.Thread)
	own := slices.DeleteFunc(slices.Clone(active), func(t Ticket) bool {
		return t.Mandate.Source != m.Source || !t.Mandate.Sender.Same(m.Sender)
	})
	if len(own) == 0 && len(active) == 1 {
		own = active
	}
	var items []Routed
	for _, t := range own {
		items = append(items, b.ruled(h, m, inferred, Item{Trigger: m.ID, Action: ActStop, Ticket: t.ID, Reason: "stop word"}))
	}
	return items
}

func (b Builtin) whichOne(active []Ticket) string {
	w := work{Facts: Facts{Settings: b.Settings}}
	if len(active) == 0 {
		return w.text(sayNothingToStop)
	}
	var names []string
	for _, t := range active {
		names = append(names, "`"+t.Short()+"` "+t.Title)
	}
	return w.text(sayStopWhich, strings.Join(names, ", "))
}

func (b Builtin) ignore(h Handout, m Message, inferred bool, public string) Routed {
	return b.ruled(h, m, inferred, Item{Trigger: m.ID, Action: ActIgnore, Reason: "nothing to stop", PublicReason: public})
}
