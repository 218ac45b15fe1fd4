package gate

// Reasons of WhenReplayed.
const (
	ReasonReplayed    = "an operator replayed it, so it is at most inferred: "
	ReasonReplayedOff = "an operator replayed it, and the mode is off, so nothing is inferred"
)

// WhenReplayed returns what a Verdict is worth for a Trigger that an operator
// forced to be taken in again: at most inferred, and nothing in mode off
// (TR-7). Nobody said it now, so nobody asks explicitly.
func WhenReplayed(v Verdict, m Mode) Verdict {
	switch {
	case v.Strength == None:
		return v
	case m != Observe && m != Auto:
		return Verdict{Rule: "TR-7", Reason: ReasonReplayedOff}
	}
	v.Strength, v.Rule, v.Reason = Inferred, "TR-7", ReasonReplayed+v.Reason
	return v
}
