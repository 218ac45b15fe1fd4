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
// today's lists, under the next Policy, say of the Mandate's sender. It revokes
// nothing (PV-5).
func Affected(m *Mandate, old, next *Policy, l Lists) (PolicyChange, bool) {
	if m == nil || old == nil || next == nil || !m.authorises() {
		return PolicyChange{}, false
	}
	c := PolicyChange{
		Rules:     ruleChanges(m.Rules, old, next),
		Requester: m.requesterChange(old, next, l),
		Mode:      m.modeChange(old.Mode, next.Mode),
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
// got. A list that cannot be read says nothing. The Source's configuration is
// not asked, since it is not Policy (PV-7).
func (m *Mandate) requesterChange(old, next *Policy, l Lists) string {
	was, is := old.Sources[m.Source], next.Sources[m.Source]
	lost := false
	switch m.Basis.Kind {
	case AllowList, FollowUp, TableCell:
		lost = !m.samePeople(was, is) && m.getsLess(is.Table, l.Allow)
	case BotList:
		lost = !slices.Equal(was.Bots, is.Bots) && l.Bots == No
	case NoBasis, FollowUpUnlisted:
		// Only the Thread gave the strength: no list can take it away.
	}
	if lost {
		return ReasonRequesterLost
	}
	return ""
}

// samePeople reports whether two versions treat the message's people alike.
func (m *Mandate) samePeople(was, is SourcePolicy) bool {
	row := m.spot(false).row
	return slices.Equal(was.Allow, is.Allow) && was.Table[row] == is.Table[row]
}

// getsLess reports whether the message would definitely get less. A listed
// person's request or follow-up keeps its strength while the person is listed;
// by a cell it can get less either way.
func (m *Mandate) getsLess(t Table, listed Membership) bool {
	ifListed := m.Basis.Kind == TableCell && m.gets(t.says, true) < m.Strength
	ifNot := m.gets(t.says, false) < m.Strength
	switch listed {
	case Yes:
		return ifListed
	case No:
		return ifNot
	case Unknown:
	}
	return ifListed && ifNot
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
