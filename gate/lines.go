package gate

// line is one line of page 02: it applies when all of `when` hold and none of
// `unless`. The zero line refuses.
type line struct {
	rule         string
	when, unless cond
	gives        Strength
	basis        BasisKind
	reason       string
	// unsure is the reason when the sender's list could not be read, where
	// that picked the line.
	unsure string
	// says is the line in words, for Explain.
	says string
}

// lines is page 02 in its order; the first line that applies decides. Admit
// and Explain both walk it, and there is no other copy of these rules. The
// last line applies to whatever is left, and refuses.
//
// AD-4 is the absence of a line: below those of AD-3 a Thread's Tickets do not
// count. AD-6 stands before each line that infers, so that a refusal can say
// that it was the mode.
var lines = [...]line{
	{
		rule: "TR-5", unless: received,
		reason: ReasonNotReceived,
		says:   "what the source does not receive is refused",
	},
	{
		rule: "AD-12", unless: fromPerson | fromBot | fromCI,
		reason: ReasonNobody,
		says:   "a message of nobody is refused",
	},

	{
		rule: "AD-1", when: fromBot, unless: listed,
		reason: ReasonBotNotListed, unsure: ReasonBotNotListed + MembershipUnknown,
		says: "a bot that is not on the bot list is refused",
	},
	{
		rule: "AD-1", when: fromBot, unless: addresses | receivesAll,
		reason: ReasonBotUnaddressed,
		says:   "a bot that does not address the agent is refused where not all messages are received",
	},
	{
		rule: "AD-6", when: fromBot | modeOff,
		reason: ReasonModeOff,
		says:   "a listed bot is refused in mode off",
	},
	{
		rule: "AD-1", when: fromBot, gives: Inferred, basis: BotList,
		reason: ReasonBotListed,
		says:   "a listed bot is inferred",
	},

	{
		rule: "AD-2", when: fromPerson | listed | addresses, gives: Explicit, basis: AllowList,
		reason: ReasonListedAddresses,
		says:   "a listed person who addresses the agent is explicit",
	},
	{
		rule: "AD-8", when: fromPerson | addresses | cellExplicit, gives: Explicit, basis: TableCell,
		reason: ReasonOpenToAll, unsure: ReasonOpenToAll + MembershipUnknown,
		says: "a person who addresses the agent is explicit where the table says so, whatever tickets stand on the thread",
	},

	{
		rule: "AD-3", when: fromPerson | ownThread | listed, gives: Explicit, basis: FollowUp,
		reason: ReasonFollowUp,
		says:   "a listed person's follow-up is explicit",
	},
	{
		rule: "AD-3", when: fromPerson | ownThread | cellExplicit, gives: Explicit, basis: TableCell,
		reason: ReasonFollowUpCell, unsure: ReasonFollowUpCell + MembershipUnknown,
		says: "another person's follow-up is explicit where the fitting cell says explicit",
	},
	{
		rule: "AD-6", when: fromPerson | ownThread | modeOff,
		reason: ReasonModeOff, unsure: ReasonModeOff + MembershipUnknown,
		says: "another person's follow-up is refused in mode off",
	},
	{
		rule: "AD-3", when: fromPerson | ownThread, gives: Inferred, basis: FollowUpUnlisted,
		reason: ReasonFollowUpOther, unsure: ReasonFollowUpOther + MembershipUnknown,
		says: "another person's follow-up is inferred",
	},

	{
		rule: "AD-9", unless: addresses | receivesAll,
		reason: ReasonMentionsOnly,
		says:   "what does not address the agent is refused where only mentions are received",
	},
	{
		rule: "AD-5", when: fromPerson | cellExplicit, gives: Explicit, basis: TableCell,
		reason: ReasonCellExplicit, unsure: ReasonCellExplicit + MembershipUnknown,
		says: "a person's message is explicit where the fitting cell says explicit",
	},
	{
		rule: "AD-6", when: cellInferred | modeOff,
		reason: ReasonModeOff, unsure: ReasonModeOff + MembershipUnknown,
		says: "what the fitting cell infers is refused in mode off",
	},
	{
		rule: "AD-5", when: cellInferred, gives: Inferred, basis: TableCell,
		reason: ReasonCellInferred, unsure: ReasonCellInferred + MembershipUnknown,
		says: "a message is inferred where the fitting cell says inferred",
	},
	{
		rule:   "AD-5",
		reason: ReasonCellNone, unsure: ReasonCellNone + MembershipUnknown,
		says: "everything else is refused",
	},
}

func (l *line) applies(is cond) bool {
	return is&l.when == l.when && is&l.unless == 0
}

func (l *line) verdict(f facts) Verdict {
	v := Verdict{Strength: l.gives, Basis: Basis{Kind: l.basis}, Rule: l.rule, Reason: l.reason}
	if l.basis == TableCell {
		v.Basis.Row, v.Basis.Cell = f.at.row, f.at.cell
	}
	if f.is&unsure != 0 && l.unsure != "" {
		v.Reason = l.unsure
	}
	return v
}

// line returns the index of the line that decides.
func (f facts) line() int {
	last := len(lines) - 1
	for i := range last {
		if lines[i].applies(f.is) {
			return i
		}
	}
	return last
}
