package gate

import (
	"slices"
	"strings"
)

// PolicyChange is what a new Policy version means for one Ticket, as its
// Executor is told (PV-4). Each part that is empty does not hold.
type PolicyChange struct {
	// Rules are the matched rules that changed, in the order of the Mandate.
	Rules []RuleChange `json:"rules,omitempty"`
	// Requester says that the requester may no longer start work.
	Requester string `json:"requester,omitempty"`
	// Mode says that proactive work is no longer accepted.
	Mode string `json:"mode,omitempty"`
}

// RuleChange is a matched rule that changed, or no longer applies.
type RuleChange struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// Gone: the rule was deleted or disabled. There is no new text then.
	Gone bool `json:"gone"`
	// Text is the rule's new description and instructions.
	Text string `json:"text"`
	// Review is who must approve before what (RU-4).
	Review Review `json:"review,omitzero"`
}

// Affected tells what the step from one Policy to the next means for an active
// Ticket with that Mandate, and false when it means nothing (PV-4). l is what
// today's lists, under the next Policy, say of the Mandate's sender; knows, that
// the Ticket knows already that the requester may no longer start work, so that
// a change of the list about others is no news to it. It revokes nothing (PV-5).
func Affected(m *Mandate, old, next *Policy, l Lists, knows bool) (PolicyChange, bool) {
	if m == nil || old == nil || next == nil || !m.authorises() {
		return PolicyChange{}, false
	}
	c := PolicyChange{
		Rules: ruleChanges(m.Rules, old, next),
		Mode:  m.modeChange(old.Mode, next.Mode),
	}
	if !knows {
		c.Requester = m.requesterChange(old, next, l)
	}
	return c, len(c.Rules) > 0 || c.Requester != "" || c.Mode != ""
}

func ruleChanges(ids []string, old, next *Policy) []RuleChange {
	var changes []RuleChange
	for _, id := range ids {
		was, _ := old.Rule(id)
		is, _ := next.Rule(id)
		switch {
		case !is.Enabled && was.Enabled:
			changes = append(changes, RuleChange{ID: id, Name: was.Name, Gone: true})
		case is.Enabled && (!was.Enabled || !sameWork(was, is)):
			changes = append(changes, RuleChange{ID: id, Name: is.Name, Text: is.text(), Review: is.Review})
		}
	}
	return changes
}

// sameWork reports whether two versions of a rule mean the same for work that
// has started. Match does not count: it only picks what may start.
func sameWork(a, b Rule) bool {
	return a.Name == b.Name && a.Description == b.Description && a.Instructions == b.Instructions &&
		a.Acknowledge == b.Acknowledge && a.Review.Approvals == b.Review.Approvals &&
		slices.Equal(a.Review.Reviewers, b.Review.Reviewers) && slices.Equal(a.Executors, b.Executors)
}

// text is what an Executor is told of the rule.
func (r Rule) text() string {
	return strings.Trim(r.Description+"\n\n"+r.Instructions, "\n")
}

// requesterChange says that the requester may no longer start work: the lists
// or the table changed, and the message would now definitely get less than it
// got. A list that cannot be read says nothing.
func (m *Mandate) requesterChange(old, next *Policy, l Lists) string {
	if !m.samePeople(old.Sources[m.Source], next.Sources[m.Source]) && LostRequester(m, next, l) == Yes {
		return ReasonRequesterLost
	}
	return ""
}

// LostRequester tells whether the requester may no longer start work, by a
// Policy and what today's lists under it say of the Mandate's sender; Unknown
// where a list cannot be read and would make the difference (PV-4). The Source's
// configuration is not asked, since it is not Policy (PV-7).
func LostRequester(m *Mandate, p *Policy, l Lists) Membership {
	switch m.Basis.Kind {
	case AllowList, FollowUp, TableCell:
		return m.getsLess(p.Sources[m.Source].Table, l.Allow)
	case BotList:
		return not(l.Bots)
	case NoBasis, FollowUpUnlisted:
		// Only the Thread gave the strength: no list can take it away.
	}
	return No
}

func not(m Membership) Membership {
	switch m {
	case Yes:
		return No
	case No:
		return Yes
	case Unknown:
	}
	return Unknown
}

// samePeople reports whether two versions treat the message's people alike.
func (m *Mandate) samePeople(was, is SourcePolicy) bool {
	if m.Basis.Kind == BotList {
		return slices.Equal(was.Bots, is.Bots)
	}
	row := m.spot(false).row
	return slices.Equal(was.Allow, is.Allow) && was.Table[row] == is.Table[row]
}

// getsLess tells whether the message would get less. A listed person's request
// or follow-up keeps its strength while the person is listed; by a cell it can
// get less either way.
func (m *Mandate) getsLess(t Table, listed Membership) Membership {
	ifListed := isTrue(m.Basis.Kind == TableCell && m.gets(t.says, true) < m.Strength)
	ifNot := isTrue(m.gets(t.says, false) < m.Strength)
	switch {
	case listed == Yes || ifListed == ifNot:
		return ifListed
	case listed == No:
		return ifNot
	}
	return Unknown
}

func isTrue(b bool) Membership {
	if b {
		return Yes
	}
	return No
}

// modeChange says that proactive work is no longer accepted.
func (m *Mandate) modeChange(old, next Mode) string {
	if old != Auto || !m.proactive() {
		return ""
	}
	switch next {
	case Auto:
		return ""
	case Observe:
		return ReasonNowObserving
	case Off:
		return ReasonNowOff
	}
	return ReasonNowOff
}
