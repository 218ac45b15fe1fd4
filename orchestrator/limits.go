package orchestrator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// hour is what the limits of AD-13 count by.
const hour = time.Hour

// The sets that limits count. Only people who are not listed are in them.
func askedBySender(source gate.SourceID, id string) string { return tallySet("asked-by", source, id) }

func askedInScope(source gate.SourceID, s gate.Scope) string {
	return tallySet("asked-in", source, string(s))
}

func activeOf(source gate.SourceID, id string) string { return tallySet("active-of", source, id) }

func inferredIn(source gate.SourceID, s gate.Scope) string {
	return tallySet("inferred-in", source, string(s))
}

func tallySet(kind string, source gate.SourceID, of string) string {
	return strings.Join([]string{kind, string(source), of}, "/")
}

// usageOf reads what the sender of a message that is new, or could start a Ticket
// now, has used of the limits. Only people who are not listed have any (AD-13).
func (s *Service) usageOf(ctx context.Context, m *Message, l gate.Lists, now time.Time) (gate.Usage, error) {
	if m.State != StateReceived && m.State != StateEvaluating && !m.stopped() || m.Sender.Kind != gate.Person || l.Allow == gate.Yes {
		return gate.Usage{}, nil
	}
	lastHour := now.Add(-hour)
	n, err := s.Store.Tallied(ctx,
		Counts{Set: askedBySender(m.Source, m.Sender.ID), After: lastHour},
		Counts{Set: askedInScope(m.Source, m.Scope), After: lastHour},
		Counts{Set: activeOf(m.Source, m.Sender.ID)},
		Counts{Set: inferredIn(m.Source, m.Scope)},
	)
	if err != nil {
		return gate.Usage{}, fmt.Errorf("count what was asked: %w", err)
	}
	return gate.Usage{SenderHour: n[0], ScopeHour: n[1], ActiveOfRequester: n[2], WaitingInScope: n[3]}, nil
}

// limited applies the limits to a new message of a person who is not listed
// (AD-13). A stop word starts nothing and is not limited. What is admitted
// counts from now on.
func (w *work) limited(m *Message, v gate.Verdict) gate.Verdict {
	listed := w.lists(m.Source, m.Sender).Allow
	if m.Sender.Kind != gate.Person || listed == gate.Yes || w.Settings.stopWord(m.Plain) {
		return v
	}
	v = gate.WithinLimits(v, listed, w.Policy.Sources[m.Source].Limits, w.Usage[m.ID])
	if v.Strength == gate.Explicit {
		for _, set := range []string{askedBySender(m.Source, m.Sender.ID), askedInScope(m.Source, m.Scope)} {
			w.c.Tallies = append(w.c.Tallies, Tally{Set: set, Member: string(m.ID), At: w.Now, Keep: hour})
		}
	}
	return v
}

// mayStart computes the limit on active Tickets again, since the Eval may have
// become several Tickets meanwhile (AD-13).
func (w *work) mayStart(m *Message) gate.Verdict {
	return gate.TicketLeft(m.Admission.Verdict, w.lists(m.Source, m.Sender).Allow, w.Policy.Sources[m.Source].Limits, w.Usage[m.ID])
}

// tally records which active Tickets and waiting inferred candidates the
// transition added or ended, by comparing with what was read.
func (w *work) tally() {
	for _, id := range sortedKeys(w.tickets) {
		t, was := w.tickets[id], w.read.Tickets[id]
		m := &t.Mandate
		w.move(activeOf(m.Source, m.Sender.ID), string(id), !m.Listed && was.Active(), !m.Listed && t.Active(), w.mostActive(t))
	}
	for _, id := range sortedKeys(w.messages) {
		m, was := w.messages[id], w.read.Messages[id]
		w.move(inferredIn(m.Source, m.Scope), string(id), was.waitsInferred(), m.waitsInferred(), 0)
	}
}

// mostActive bounds a Ticket that starts, so that of two that are accepted at one
// instant the second is counted again (AD-13). A resume is not bounded (RE-1).
func (w *work) mostActive(t *Ticket) int {
	_, resumed := w.read.Tickets[t.ID]
	if resumed || t.Mandate.Sender.Kind != gate.Person {
		return 0
	}
	return w.Policy.Sources[t.Mandate.Source].Limits.MostActive()
}

func (w *work) move(set, member string, was, is bool, most int) {
	if was == is {
		return
	}
	c := Tally{Set: set, Member: member, At: w.Now, Out: was}
	if !c.Out {
		c.Most = most
	}
	w.c.Tallies = append(w.c.Tallies, c)
}

// waitsInferred: an inferred candidate that waits for an Eval or is in one, of a
// person who was not listed when it was admitted: bots, CI and listed people use
// up nobody's limit (AD-13).
func (m *Message) waitsInferred() bool {
	b := m.Admission.Basis
	listed := b.Kind == gate.TableCell && b.Cell == gate.ListedUnaddressed
	return (m.State == StateQueued || m.State == StateEvaluating) && m.Admission.Strength == gate.Inferred &&
		m.Sender.Kind == gate.Person && !listed
}
