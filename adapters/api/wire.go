package api

import (
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// The shapes of spec page 07. Fields may be added, never renamed; all of them
// are always there, and a list is never null.

type list[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next"`
}

// listOf shows nouns as one page of a list.
func listOf[N, W any](nouns []N, next string, show func(*N) W) list[W] {
	l := list[W]{Items: make([]W, len(nouns)), Next: orNull(next)}
	for i := range nouns {
		l.Items[i] = show(&nouns[i])
	}
	return l
}

// orNull is null on the wire for what is empty.
func orNull[T ~string](v T) *string {
	if v == "" {
		return nil
	}
	s := string(v)
	return &s
}

// orEmpty is [] on the wire for nil.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

type sender struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

func senderOf(s gate.Sender) sender { return sender{s.Kind.String(), s.ID, s.Name} }

type admission struct {
	Strength      string `json:"strength"`
	Basis         string `json:"basis"`
	Reason        string `json:"reason"`
	PolicyVersion int    `json:"policy_version"`
}

type trigger struct {
	ID         gate.TriggerID            `json:"id"`
	Workspace  string                    `json:"workspace"`
	Source     gate.SourceID             `json:"source"`
	Scope      gate.Scope                `json:"scope"`
	Thread     gate.ThreadID             `json:"thread"`
	Kind       gate.Kind                 `json:"kind"`
	Sender     sender                    `json:"sender"`
	Addressing string                    `json:"addressing"`
	Text       string                    `json:"text"`
	URL        string                    `json:"url"`
	OccurredAt time.Time                 `json:"occurred_at"`
	ReceivedAt time.Time                 `json:"received_at"`
	Title      string                    `json:"title"`
	State      orchestrator.MessageState `json:"state"`
	Admission  admission                 `json:"admission"`
	Owners     []gate.TicketID           `json:"owners"`
	Edited     bool                      `json:"edited"`
	Recalled   bool                      `json:"recalled"`
	ReplayedBy *string                   `json:"replayed_by"` // TR-7
}

func triggerOf(m *orchestrator.Message) trigger {
	return trigger{
		ID: m.ID, Workspace: m.Workspace, Source: m.Source, Scope: m.Scope, Thread: m.Thread, Kind: m.Kind,
		Sender: senderOf(m.Sender), Addressing: m.Addressing.String(), Text: m.Text, URL: m.URL,
		OccurredAt: m.OccurredAt.UTC(), ReceivedAt: m.ReceivedAt.UTC(), Title: m.Title, State: outward(m.State),
		Admission: admission{
			Strength: m.Admission.Strength.String(), Basis: m.Admission.Basis.String(),
			Reason: m.Admission.Reason, PolicyVersion: m.Admission.PolicyVersion,
		},
		Owners: orEmpty(m.Owners), Edited: m.Edited, Recalled: m.Recalled, ReplayedBy: orNull(m.ReplayedBy),
	}
}

// outward is a state as outsiders see it: the inbox is a place to wait.
func outward(s orchestrator.MessageState) orchestrator.MessageState {
	if s == orchestrator.StateReceived {
		return orchestrator.StateWaiting
	}
	return s
}

type decision struct {
	ID              orchestrator.DecisionID    `json:"id"`
	Eval            gate.EvalID                `json:"eval"`
	Thread          gate.ThreadID              `json:"thread"`
	Trigger         gate.TriggerID             `json:"trigger"`
	Outcome         orchestrator.Outcome       `json:"outcome"`
	Would           *string                    `json:"would"`
	Ticket          *string                    `json:"ticket"`
	Strength        string                     `json:"strength"`
	Basis           string                     `json:"basis"`
	PolicyVersion   int                        `json:"policy_version"`
	Verdicts        []orchestrator.RuleVerdict `json:"verdicts"`
	IgnoredFromCard bool                       `json:"ignored_from_card"`
	Reason          string                     `json:"reason"`
	By              string                     `json:"by"`
	At              time.Time                  `json:"at"`
	Dismissed       bool                       `json:"dismissed"`
}

func decisionOf(d *orchestrator.Decision) decision {
	return decision{
		ID: d.ID, Eval: d.Eval, Thread: d.Thread, Trigger: d.Trigger, Outcome: d.Outcome,
		Would: orNull(d.Would), Ticket: orNull(d.Ticket), Strength: d.Strength.String(), Basis: d.Basis.String(),
		PolicyVersion: d.PolicyVersion, Verdicts: orEmpty(d.Verdicts), IgnoredFromCard: d.IgnoredFromCard,
		Reason: d.Reason, By: d.By, At: d.At.UTC(), Dismissed: d.Dismissed,
	}
}

type thread struct {
	ID           gate.ThreadID  `json:"id"`
	Source       gate.SourceID  `json:"source"`
	Title        string         `json:"title"`
	Attention    bool           `json:"attention"`
	Queued       bool           `json:"queued"`
	Evaluating   bool           `json:"evaluating"`
	Latest       *decision      `json:"latest_decision"`
	Tickets      []threadTicket `json:"tickets"`
	LastActivity time.Time      `json:"last_activity"`
}

type threadTicket struct {
	ID    gate.TicketID                 `json:"id"`
	Kind  orchestrator.SubscriptionKind `json:"kind"`
	State orchestrator.TicketState      `json:"state"`
}

// threadOf shows a Thread at now. A Ticket that is not among those given is
// forgotten (RS-6), and the Thread does not have it any more.
func threadOf(t *orchestrator.Thread, tickets map[gate.TicketID]orchestrator.Ticket, now time.Time) thread {
	w := thread{
		ID: t.ID, Source: t.Source, Title: t.Title, Attention: t.Attention(now), Queued: len(t.Queue) > 0,
		Evaluating: t.Eval != "", Tickets: []threadTicket{}, LastActivity: t.LastActivity.UTC(),
	}
	if t.Latest != nil {
		d := decisionOf(t.Latest)
		w.Latest = &d
	}
	for _, k := range t.Tickets {
		if tk, ok := tickets[k.Ticket]; ok {
			w.Tickets = append(w.Tickets, threadTicket{k.Ticket, k.Kind, tk.State})
		}
	}
	return w
}
