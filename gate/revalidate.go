package gate

// RevalidationOutcome is whether a Mandate still carries a resume (page 05).
type RevalidationOutcome uint8

// The outcomes. The zero value gives nothing and destroys nothing: we do not
// know, and try again.
const (
	Waits RevalidationOutcome = iota
	Fails
	Stands
)

var outcomes = names{"waits", "fails", "stands"}

func (o RevalidationOutcome) String() string                { return outcomes.word(uint8(o)) }
func (o RevalidationOutcome) MarshalText() ([]byte, error)  { return outcomes.text(uint8(o)) }
func (o *RevalidationOutcome) UnmarshalText(b []byte) error { return outcomes.parse(b, (*uint8)(o)) }

// Revalidation is what became of a Mandate, by which rule and why.
type Revalidation struct {
	Outcome RevalidationOutcome
	Rule    string
	Reason  string
}

// Revalidate decides whether a Mandate still carries a resume, by today's
// configuration, Policy and lists (RV-1 to RV-8, RO-2b). l is what today's
// lists say of the Mandate's sender.
//
// A list that could not be read makes the resume wait only where it would
// change the outcome (RV-8): the Mandate is judged with the sender listed and
// not listed, and where both agree, that is it. A Source that is switched off
// makes it wait whatever the Policy says, since nothing can be resumed there
// now.
func Revalidate(m *Mandate, src *Source, p *Policy, l Lists) Revalidation {
	switch {
	case m == nil || !m.authorises():
		return fails("RE-4", ReasonMandateGone)
	case !src.ListensTo(m.Scope, m.Place):
		return fails("RV-1", ReasonNotListening)
	case !src.Enabled:
		return waits("RV-1", ReasonSourceOff)
	case p == nil:
		return waits("PV-1", ReasonPolicyUnknown)
	}
	ifListed, ifNot := m.judge(src, p, true), m.judge(src, p, false)
	switch m.list(l) {
	case Yes:
		return ifListed
	case No:
		return ifNot
	case Unknown:
	}
	if ifListed.Outcome == ifNot.Outcome {
		return ifListed
	}
	return waits("RV-8", ReasonListUnknown)
}

// authorises reports whether the Mandate is one that Accept could have made
// and nothing has changed since (RE-4).
func (m *Mandate) authorises() bool {
	return m.Stands() && (m.Strength == Explicit || m.Strength == Inferred) && m.Basis.Kind != NoBasis
}

// list is the one list that the Mandate's sender is looked up in.
func (m *Mandate) list(l Lists) Membership {
	if m.Basis.Kind == BotList {
		return l.Bots
	}
	return l.Allow
}

// judge is the revalidation when the sender is certainly listed, or certainly
// not: all three conditions must hold, and the first that does not is named.
func (m *Mandate) judge(src *Source, p *Policy, listed bool) Revalidation {
	r := m.basisHolds(src, p, listed)
	if r.Outcome == Stands && m.proactive() {
		r = m.proactiveHolds(p, r)
	}
	if r.Outcome == Stands && !m.executorHolds(p, listed) {
		r = fails("RO-2b", ReasonExecutorForbidden)
	}
	return r
}

// basisHolds asks whether the line of the Policy that admitted the Trigger
// still would.
func (m *Mandate) basisHolds(src *Source, p *Policy, listed bool) Revalidation {
	switch m.Basis.Kind {
	case AllowList:
		return holds(listed, "RV-7", ReasonSenderUnlisted)
	case FollowUp:
		return holds(true, "RV-2", "")
	case FollowUpUnlisted:
		return holds(true, "RV-3", "")
	case BotList:
		return holds(listed, "RV-5", ReasonBotUnlisted)
	case TableCell:
		return holds(m.cellHolds(src, p, listed), "RV-4", ReasonCellWeaker)
	case NoBasis:
	}
	return fails("RE-4", ReasonMandateGone)
}

// cellHolds asks whether the message would still get at least its original
// strength, by today's table and today's membership of its sender (RV-4). A
// cell that the configuration makes unavailable is none (PV-5a), so a scope
// that no longer receives all messages takes the cells for unaddressed ones
// with it.
func (m *Mandate) cellHolds(src *Source, p *Policy, listed bool) bool {
	says := func(at spot) Strength { return src.says(p.Sources[m.Source].Table, at) }
	return m.gets(says, listed) >= m.Strength
}

// gets is the strength of the Mandate's message by a table, if its sender is
// listed or not; the Thread's Tickets do not count.
func (m *Mandate) gets(says func(spot) Strength, listed bool) Strength {
	if listed && m.Sender.Kind == Person && m.Addressing.Addresses() {
		return Explicit
	}
	return says(m.spot(listed))
}

func (m *Mandate) spot(listed bool) spot {
	return spotOf(m.Sender.Kind, m.Scope, m.Addressing, listed)
}

// proactive reports whether nobody asked: inferred, or a basis that never
// gives more (AD-1, AD-3).
func (m *Mandate) proactive() bool {
	return m.Strength != Explicit || m.Basis.Kind == BotList || m.Basis.Kind == FollowUpUnlisted
}

// proactiveHolds asks what everything inferred needs beside its basis: mode
// auto, and all of the matched rules, of which there is at least one (RU-2),
// still enabled (RV-3, RV-6, RV-8).
func (m *Mandate) proactiveHolds(p *Policy, basis Revalidation) Revalidation {
	rule := "RV-6"
	if m.Basis.Kind == FollowUpUnlisted {
		rule = "RV-3"
	}
	switch {
	case p.Mode != Auto:
		return fails(rule, ReasonModeNotAuto)
	case !p.allEnabled(m.Rules):
		return fails(rule, ReasonRuleGone)
	}
	return basis
}

func (p *Policy) allEnabled(rules []string) bool {
	for _, id := range rules {
		if !p.RuleEnabled(id) {
			return false
		}
	}
	return len(rules) > 0
}

// executorHolds asks whether the request may still get its executor (RO-2b).
// The sender of a basis `follow_up` counts as listed, as when it was accepted:
// RV-2 asks nothing of today's lists.
func (m *Mandate) executorHolds(p *Policy, listed bool) bool {
	v := Verdict{Strength: m.Strength, Basis: m.Basis}
	return ExecutorAllowed(p, m.Source, v, listed || m.Basis.Kind == FollowUp, m.Rules, m.Executor)
}

// holds stands where a condition holds, and else fails.
func holds(ok bool, rule, whyNot string) Revalidation {
	if ok {
		return Revalidation{Stands, rule, ReasonMandateStands}
	}
	return fails(rule, whyNot)
}

func fails(rule, reason string) Revalidation { return Revalidation{Fails, rule, reason} }
func waits(rule, reason string) Revalidation { return Revalidation{Waits, rule, reason} }
