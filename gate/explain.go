package gate

import "math/bits"

// Step is one line of the gate that was looked at: its rule, whether it
// applied, and in words what it says and why it did or did not.
type Step struct {
	Rule    string `json:"rule"`
	Applies bool   `json:"applies"`
	Text    string `json:"text"`
}

// Explain is Admit with its working: the same Verdict, and the lines in the
// order in which they were tried. Exactly one Step applies, the last; its Text
// is the Verdict's reason.
func Explain(t *Trigger, src *Source, p *Policy, st Standing, l Lists) (Verdict, []Step) {
	f := look(t, src, p, st, l)
	n := f.line()
	v := lines[n].verdict(f)
	steps := make([]Step, 0, n+1)
	for i := range n {
		steps = append(steps, lines[i].missed(f))
	}
	return v, append(steps, Step{Rule: v.Rule, Applies: true, Text: v.Reason})
}

// missed is the Step of a line that does not apply, with the first condition
// that keeps it from applying.
func (l *line) missed(f facts) Step {
	bit := bits.TrailingZeros16(uint16(l.when&^f.is | l.unless&f.is))
	why := condWords[bit].no
	switch one := cond(1) << bit; {
	case f.is&one != 0:
		why = condWords[bit].yes
	case one == listed && f.is&unsure != 0:
		why = unknownList
	}
	return Step{Rule: l.rule, Text: l.says + "; not here: " + why}
}

const unknownList = "the list could not be read, which counts as not listed"

// condWords are the conditions in words, in the order of their bits: when one
// holds, and when it does not.
var condWords = [...]struct{ yes, no string }{
	{"the source receives it", ReasonNotReceived},
	{"the scope receives all messages", "the scope does not receive all messages"},
	{"a person said it", "no person said it"},
	{"a bot said it", "no bot said it"},
	{"it is of CI", "it is not of CI"},
	{"the sender is listed", "the sender is not listed"},
	{unknownList, ""},
	{"it addresses the agent", "it does not address the agent"},
	{"a ticket has the thread as its own", "no ticket whose mandate stands has the thread as its own"},
	{"the fitting cell says explicit", "no available cell that fits says explicit"},
	{"the fitting cell says inferred", "no available cell that fits says inferred"},
	{"the mode is off", "the mode is not off"},
}
