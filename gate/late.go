package gate

// ReasonLate is why a late Trigger that nobody asked for explicitly is refused.
const ReasonLate = "late: it arrived long after it happened, and is not an explicit request"

// WhenLate returns what a Verdict is worth for a Trigger that arrived long
// after it happened: inferred ones and CI are not admitted, an explicit request
// stands (TR-6).
func WhenLate(v Verdict) Verdict {
	if v.Strength != Inferred {
		return v
	}
	return Verdict{Rule: "TR-6", Reason: ReasonLate}
}
