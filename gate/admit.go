package gate

// Admit decides whether a Trigger is a Candidate, how strongly it asks, and by
// which line of the Policy (AD-1 to AD-9). It never fails: what it does not
// know, it refuses, with None, a rule and a reason.
//
// t is the message, src the configuration of its Source and p the Policy of
// the moment; without any of them nothing is admitted. st is what Tickets
// stand on the Thread, as recorded when the message was said (AD-14); l is
// what today's lists say of its sender, where Unknown counts as No (AD-11).
//
// Whether the Source is switched on is not asked: that stops intake (TR-5) and
// makes a resume wait (RV-1), but a Candidate that waits keeps its place.
//
// Admit does not allocate.
func Admit(t *Trigger, src *Source, p *Policy, st Standing, l Lists) Verdict {
	f := look(t, src, p, st, l)
	return lines[f.line()].verdict(f)
}
