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
}

var _ approvals.Directory = (*Lists)(nil)

// Lists tells who is on today's lists (AD-11). When the Policy cannot be read
// everything is Unknown.
func (l *Lists) Lists(ctx context.Context, source gate.SourceID, who gate.Sender) gate.Lists {
	p, err := l.States.PolicyInForce(ctx)
	if err != nil {
		return gate.Lists{Allow: gate.Unknown, Bots: gate.Unknown, Approver: gate.Unknown}
	}
	sp := p.Policy.Sources[source]
	return gate.Lists{
		Allow:    l.on(ctx, source, who, sp.Allow),
		Bots:     l.on(ctx, source, who, sp.Bots),
		Approver: l.on(ctx, source, who, l.Approvers[source]),
	}
}

func (l *Lists) on(ctx context.Context, source gate.SourceID, who gate.Sender, list []string) gate.Membership {
	m, lookups := gate.OnList(list, who)
	switch {
	case m == gate.Yes || len(lookups) == 0:
		return m
	case l.Lookup == nil:
		return gate.Unknown
	}
	return l.Lookup.Member(ctx, source, who, lookups)
}
