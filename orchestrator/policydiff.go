package orchestrator

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// PolicyEdit is one line of the difference between two Policies. Before is
// empty for what was added, After for what was removed.
type PolicyEdit struct {
	Path   string `json:"path"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// DiffPolicies lists what differs in effect, in the order of the paths; two
// Policies without a difference are the same (PV-1). The order of a list of
// people, a cell that says none and a limit that is the default are no
// difference.
func DiffPolicies(old, next *gate.Policy) []PolicyEdit {
	was, is := policyLines(old), policyLines(next)
	paths := map[string]bool{}
	for p := range was {
		paths[p] = true
	}
	for p := range is {
		paths[p] = true
	}
	var edits []PolicyEdit
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		if was[p] != is[p] {
			edits = append(edits, PolicyEdit{Path: p, Before: was[p], After: is[p]})
		}
	}
	return edits
}

// policyLines is a Policy as one line for each thing that it says.
func policyLines(p *gate.Policy) map[string]string {
	lines := policyText{}
	lines.say("mode", p.Mode.String())
	var order []string
	for i := range p.Rules {
		lines.rule(&p.Rules[i])
		order = append(order, p.Rules[i].ID)
	}
	lines.say("rules", strings.Join(order, ", "))
	for id, s := range p.Sources {
		lines.source("sources."+string(id)+".", s)
	}
	return lines
}

type policyText map[string]string

// say keeps what says something.
func (l policyText) say(path, text string) {
	if text != "" {
		l[path] = text
	}
}

func (l policyText) rule(r *gate.Rule) {
	at := "rules." + r.ID + "."
	l.say(at+"name", r.Name)
	l.say(at+"description", r.Description)
	l.say(at+"instructions", r.Instructions)
	l.say(at+"enabled", fmt.Sprint(r.Enabled))
	l.say(at+"match", r.Match)
	l.say(at+"acknowledge", fmt.Sprint(r.Acknowledge))
	l.say(at+"executors", words(r.Executors, gate.DefaultExecutor))
	l.say(at+"review.reviewers", words(set(r.Review.Reviewers), ""))
	if r.Review.Approvals != 0 {
		l.say(at+"review.approvals", fmt.Sprint(r.Review.Approvals))
	}
}

func (l policyText) source(at string, s gate.SourcePolicy) {
	l.say(at+"allow", words(set(s.Allow), ""))
	l.say(at+"bots", words(set(s.Bots), ""))
	l.differs(at+"executors.listed", words(s.Executors.Listed, "*"), "*")
	l.differs(at+"executors.unlisted", words(s.Executors.Unlisted, gate.DefaultExecutor), gate.DefaultExecutor)
	d := gate.DefaultLimits()
	l.limit(at+"limits.sender_per_hour", s.Limits.SenderPerHour, d.SenderPerHour)
	l.limit(at+"limits.scope_per_hour", s.Limits.ScopePerHour, d.ScopePerHour)
	l.limit(at+"limits.active_per_requester", s.Limits.ActivePerRequester, d.ActivePerRequester)
	l.limit(at+"limits.waiting_per_scope", s.Limits.WaitingPerScope, d.WaitingPerScope)
	for scope, row := range s.Table {
		for _, c := range [...]gate.Cell{gate.ListedUnaddressed, gate.UnlistedAddressed, gate.UnlistedUnaddressed} {
			l.differs(at+"admission."+string(scope)+"."+c.String(), row.Get(c).String(), gate.None.String())
		}
	}
}

// differs says what is not the default.
func (l policyText) differs(path, text, def string) {
	if text != def {
		l.say(path, text)
	}
}

func (l policyText) limit(path string, n, def int) {
	if n != 0 && n != def {
		l.say(path, fmt.Sprint(n))
	}
}

// words joins a list; an empty one is the default.
func words(list []string, def string) string {
	if len(list) == 0 {
		return def
	}
	return strings.Join(list, ", ")
}

// set is a list whose order and repetitions say nothing.
func set(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
