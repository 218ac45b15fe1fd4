package orchestrator_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// policyVerbs are how the Policy is changed beside the clauses themselves, and
// tried. The file says the whole Policy: with the clause, beside what is in
// force.
var policyVerbs = []verb{
	{"an operator writes from version {n} that {words}", func(p *play, a []string) error {
		next, err := p.proposed(a[1])
		if err != nil {
			return err
		}
		started, err := strconv.Atoi(a[0])
		if err != nil {
			return err
		}
		_, err = p.svc().SetPolicy(p.ctx(), next, started, "api:ops")
		if errors.Is(err, orchestrator.ErrOutdated) {
			return refusal{"outdated", err.Error()}
		}
		return err
	}},
	{"the file says that {words}", func(p *play, a []string) error {
		next, err := p.proposed(a[0])
		if err != nil {
			return err
		}
		e, err := p.svc().EditFile(p.ctx(), nil, next)
		if err == nil && e.Elsewhere {
			return refusal{"changed_elsewhere", "the policy in force was changed elsewhere"}
		}
		return err
	}},
	{"if {words}, then {words} would be admitted otherwise", func(p *play, a []string) error {
		next, err := p.proposed(a[0])
		if err != nil {
			return err
		}
		b, err := p.svc().Backtest(p.ctx(), next, time.Now().Add(-7*24*time.Hour))
		if err != nil {
			return err
		}
		list := []string{}
		for _, d := range b.Changed {
			list = append(list, p.messageName(d.Trigger))
		}
		if len(list) == 0 {
			list = append(list, "nothing")
		}
		slices.Sort(list)
		return same("otherwise admitted are", strings.Join(list, ", "), a[1])
	}},
}

// proposed is the Policy that a clause makes of the one that the scenario has.
func (p *play) proposed(clause string) (gate.Policy, error) {
	house, now := p.house, p.set.policy
	defer func() { p.house, p.set.policy = house, now }()
	p.house = nil
	err := p.sentence(clause)
	return p.set.policy, err
}

// edit brings a changed Policy into force.
func (p *play) edit(change func(*gate.Policy) error) error {
	next := p.set.policy
	next.Rules = slices.Clone(next.Rules)
	next.Sources = maps.Clone(next.Sources)
	if err := change(&next); err != nil {
		return err
	}
	p.set.policy = next
	if p.house == nil {
		return nil
	}
	rec, err := p.store.PolicyInForce(p.ctx())
	if err != nil {
		return err
	}
	_, err = p.svc().SetPolicy(p.ctx(), next, rec.Policy.Version, "api:ops")
	return err
}

// sources changes every Source's part of the Policy.
func (p *play) sources(change func(*gate.SourcePolicy)) error {
	return p.edit(func(policy *gate.Policy) error {
		for id, sp := range policy.Sources {
			sp.Table = maps.Clone(sp.Table)
			change(&sp)
			policy.Sources[id] = sp
		}
		return nil
	})
}

func (p *play) allow(change func([]string) []string) error {
	return p.sources(func(sp *gate.SourcePolicy) { sp.Allow = change(slices.Clone(sp.Allow)) })
}

func (p *play) botList(change func([]string) []string) error {
	return p.sources(func(sp *gate.SourcePolicy) { sp.Bots = change(slices.Clone(sp.Bots)) })
}

func without(list []string, who string) []string {
	return slices.DeleteFunc(list, func(x string) bool { return x == who })
}

// rule changes a rule: enabled, disabled, removed, silent, or told anew.
func (p *play) rule(id, what string) error {
	return p.edit(func(policy *gate.Policy) error {
		i := slices.IndexFunc(policy.Rules, func(r gate.Rule) bool { return r.ID == id })
		if i < 0 {
			return fmt.Errorf("there is no rule %s", id)
		}
		switch what {
		case "enabled", "disabled":
			policy.Rules[i].Enabled = what == "enabled"
		case "removed":
			policy.Rules = slices.Delete(policy.Rules, i, i+1)
		case "silent":
			policy.Rules[i].Acknowledge = false
		case "reworded":
			policy.Rules[i].Instructions += ", and well"
		default:
			return fmt.Errorf("a rule is enabled, disabled, removed, silent or reworded, not %s", what)
		}
		return nil
	})
}

// scopeOf is the scope that a scenario calls by a word.
func scopeOf(word string) (gate.SourceID, gate.Scope) {
	switch scope := gate.Scope(word); scope {
	case gate.Issues, gate.Pulls, gate.Comments, gate.CI:
		return "github", scope
	case gate.OtherChats, gate.DirectChat:
		return "feishu", scope
	}
	return "feishu", gate.ChatScope(strings.TrimPrefix(word, "chat:"))
}

func (p *play) cell(word, cell, strength string) error {
	id, scope := scopeOf(word)
	var s gate.Strength
	if err := s.UnmarshalText([]byte(strength)); err != nil {
		return err
	}
	return p.edit(func(policy *gate.Policy) error {
		sp := policy.Sources[id]
		sp.Table = maps.Clone(sp.Table)
		if sp.Table == nil {
			sp.Table = gate.Table{}
		}
		row := sp.Table[scope]
		switch cell {
		case "listed_unaddressed":
			row.ListedUnaddressed = s
		case "unlisted_addressed":
			row.UnlistedAddressed = s
		case "unlisted_unaddressed":
			row.UnlistedUnaddressed = s
		default:
			return fmt.Errorf("there is no cell %s", cell)
		}
		sp.Table[scope], policy.Sources[id] = row, sp
		return nil
	})
}

func (p *play) limit(name, n string) error {
	count, err := strconv.Atoi(n)
	if err != nil {
		return err
	}
	return p.sources(func(sp *gate.SourcePolicy) {
		switch name {
		case "sender_per_hour":
			sp.Limits.SenderPerHour = count
		case "scope_per_hour":
			sp.Limits.ScopePerHour = count
		case "active_per_requester":
			sp.Limits.ActivePerRequester = count
		default:
			sp.Limits.WaitingPerScope = count
		}
	})
}
