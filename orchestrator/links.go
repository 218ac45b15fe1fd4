package orchestrator

import (
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Links are the people whom the configuration binds on several Sources, each
// by the entries that name them there, which are in the form of a list's
// (PL-3). Nothing that is said in a message adds one.
type Links struct {
	People []map[gate.SourceID]string
	// Logins are what logins among the entries name (GH-6). It may be nil.
	Logins *Logins
}

// Of returns the other accounts of a person, each by its id, and again by the
// entry that names it where that is another word.
func (l *Links) Of(source gate.SourceID, who gate.Sender) []gate.Account {
	others, _ := l.of(source, who)
	return others
}

// of tells also whether there may be more: a login is not bound to an account
// yet, so that it names nobody for certain.
func (l *Links) of(source gate.SourceID, who gate.Sender) (others []gate.Account, open bool) {
	if l == nil || who.Kind != gate.Person {
		return nil, false
	}
	for _, person := range l.People {
		same, unsure := l.names(source, person[source], who)
		open = open || unsure
		if !same {
			continue
		}
		for _, there := range slices.Sorted(maps.Keys(person)) {
			if there != source {
				more, unsure := l.accounts(there, person[there])
				others, open = append(others, more...), open || unsure
			}
		}
	}
	return others, open
}

// names reports whether an entry names the sender there.
func (l *Links) names(source gate.SourceID, entry string, who gate.Sender) (same, open bool) {
	if entry == "" {
		return false, false
	}
	if l.Logins != nil {
		who, open = l.Logins.Named(source, who, []string{entry})
	}
	m, _ := gate.OnList([]string{entry}, who)
	return m == gate.Yes, open
}

// accounts is who an entry names there.
func (l *Links) accounts(source gate.SourceID, entry string) (named []gate.Account, open bool) {
	id := strings.TrimPrefix(entry, "id:")
	if l.Logins != nil {
		id, open = l.Logins.account(source, id)
	}
	if id == "" {
		return nil, open
	}
	named = []gate.Account{{Source: source, ID: id}}
	if id != entry {
		named = append(named, gate.Account{Source: source, ID: entry})
	}
	return named, open
}

// Beside returns the entries of the people whom one of the lists names: who
// may be meant by them (DE-2).
func (l *Links) Beside(lists map[gate.SourceID][]string) []string {
	more := []string{}
	for _, person := range l.People {
		for _, source := range slices.Sorted(maps.Keys(person)) {
			if slices.Contains(lists[source], person[source]) {
				more = slices.AppendSeq(more, maps.Values(person))
				break
			}
		}
	}
	slices.Sort(more)
	return slices.Compact(more)
}
