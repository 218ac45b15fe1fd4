package orchestrator

import (
	"context"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Lookup asks a platform about entries of a list that name nobody by id:
// groups, departments, teams, permissions (AD-11). It fails closed with
// gate.Unknown.
type Lookup interface {
	Member(ctx context.Context, source gate.SourceID, who gate.Sender, entries []string) gate.Membership
}

// Lists is the Directory over the Policy in force and the configured
// approvers.
type Lists struct {
	States    States
	Approvers map[gate.SourceID][]string
	// Lookup may be nil: then entries that need one are Unknown.
	Lookup Lookup
	// Logins are what logins of the lists name (GH-6). It may be nil: then no
	// Source's lists have any.
	Logins *Logins
	// Links are the people who are bound on several Sources (PL-3). It may be
	// nil: then nobody is.
	Links *Links
}

var _ approvals.Directory = (*Lists)(nil)

// Lists tells who is on today's lists (AD-11): those of the Source, and with
// another account of the same person those of that one's Source (PL-3). When
// the Policy cannot be read everything is Unknown.
func (l *Lists) Lists(ctx context.Context, source gate.SourceID, who gate.Sender) gate.Lists {
	p, err := l.States.PolicyInForce(ctx)
	if err != nil {
		return gate.Lists{Allow: gate.Unknown, Bots: gate.Unknown, Approver: gate.Unknown}
	}
	lists := l.own(ctx, &p.Policy, source, who)
	others, open := l.Links.of(source, who)
	if open {
		lists.Allow, lists.Approver = either(lists.Allow, gate.Unknown), either(lists.Approver, gate.Unknown)
	}
	for _, a := range others {
		other := l.own(ctx, &p.Policy, a.Source, gate.Sender{Kind: gate.Person, ID: a.ID})
		lists.Allow, lists.Approver = either(lists.Allow, other.Allow), either(lists.Approver, other.Approver)
	}
	return lists
}

func (l *Lists) own(ctx context.Context, p *gate.Policy, source gate.SourceID, who gate.Sender) gate.Lists {
	sp := p.Sources[source]
	return gate.Lists{
		Allow:    l.on(ctx, source, who, sp.Allow),
		Bots:     l.on(ctx, source, who, sp.Bots),
		Approver: l.on(ctx, source, who, l.Approvers[source]),
	}
}

// either is the membership of a person with two accounts.
func either(a, b gate.Membership) gate.Membership {
	switch {
	case a == gate.Yes || b == gate.Yes:
		return gate.Yes
	case a == gate.Unknown || b == gate.Unknown:
		return gate.Unknown
	}
	return gate.No
}

// ListsOf is the same without a platform to ask: entries that need a look-up
// are Unknown, and links do not count.
func ListsOf(p *gate.Policy, approvers map[gate.SourceID][]string, source gate.SourceID, who gate.Sender) gate.Lists {
	sp := p.Sources[source]
	return gate.Lists{
		Allow: byID(sp.Allow, who), Bots: byID(sp.Bots, who), Approver: byID(approvers[source], who),
	}
}

func byID(list []string, who gate.Sender) gate.Membership {
	m, lookups := gate.OnList(list, who)
	if m != gate.Yes && len(lookups) > 0 {
		return gate.Unknown
	}
	return m
}

func (l *Lists) on(ctx context.Context, source gate.SourceID, who gate.Sender, list []string) gate.Membership {
	open := false
	if l.Logins != nil {
		who, open = l.Logins.Named(source, who, list)
	}
	m := byID(list, who)
	if m == gate.Unknown && l.Lookup != nil {
		_, lookups := gate.OnList(list, who)
		m = l.Lookup.Member(ctx, source, who, lookups)
	}
	if m == gate.No && open {
		return gate.Unknown
	}
	return m
}
