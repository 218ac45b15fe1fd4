package gate

// DefaultLimits are the limits that hold where the Policy sets none (AD-13).
func DefaultLimits() Limits {
	return Limits{SenderPerHour: 5, ScopePerHour: 30, ActivePerRequester: 3, WaitingPerScope: 100}
}

// orDefaults fills in the limits that were left out.
func (l Limits) orDefaults() Limits {
	d := DefaultLimits()
	return Limits{
		SenderPerHour:      orDefault(l.SenderPerHour, d.SenderPerHour),
		ScopePerHour:       orDefault(l.ScopePerHour, d.ScopePerHour),
		ActivePerRequester: orDefault(l.ActivePerRequester, d.ActivePerRequester),
		WaitingPerScope:    orDefault(l.WaitingPerScope, d.WaitingPerScope),
	}
}

func orDefault(n, def int) int {
	if n == 0 {
		return def
	}
	return n
}

// Usage is what was already used when a message is judged, the message itself
// not counted: explicit candidates of the last hour of its sender and of its
// scope, active Tickets of its sender, inferred candidates that wait in its
// scope. All of them count only people who are not listed.
type Usage struct{ SenderHour, ScopeHour, ActiveOfRequester, WaitingInScope int }

// WithinLimits returns v, or a refusal when a person who is not listed (or not
// known to be) is above one of the limits (AD-13). Listed people, bots of the
// bot list and CI are not limited. It is for new candidates: a message that is
// judged only to stop a Ticket (RO-4, RO-7) starts nothing, and is not limited.
func WithinLimits(v Verdict, listed Membership, lim Limits, u Usage) Verdict {
	if listed == Yes || !v.ofPerson() {
		return v
	}
	if reason := lim.orDefaults().exceeded(v.Strength, u); reason != "" {
		return Verdict{Rule: "AD-13", Reason: reason}
	}
	return v
}

// TicketLeft returns v, or a refusal when a person who is not listed has as many
// active Tickets as they may: what was admitted while there were fewer is
// counted again where it would start one (AD-13, AD-14).
func TicketLeft(v Verdict, listed Membership, lim Limits, u Usage) Verdict {
	if listed == Yes || !v.ofPerson() || u.ActiveOfRequester < lim.MostActive() {
		return v
	}
	return Verdict{Rule: "AD-13", Reason: ReasonActiveTickets}
}

// MostActive is how many active Tickets a person who is not listed may have (AD-13).
func (l Limits) MostActive() int { return l.orDefaults().ActivePerRequester }

// ofPerson reports whether a person's message got the Verdict.
func (v Verdict) ofPerson() bool {
	return v.Basis.Kind != BotList && v.Basis.Row != CI
}

// exceeded names the first limit that one more candidate would break, or "".
func (l Limits) exceeded(s Strength, u Usage) string {
	switch {
	case s == None:
		return ""
	case u.ActiveOfRequester >= l.ActivePerRequester:
		return ReasonActiveTickets
	case s == Inferred && u.WaitingInScope >= l.WaitingPerScope:
		return ReasonScopeWaiting
	case s == Explicit && u.SenderHour >= l.SenderPerHour:
		return ReasonSenderRate
	case s == Explicit && u.ScopeHour >= l.ScopePerHour:
		return ReasonScopeRate
	}
	return ""
}
