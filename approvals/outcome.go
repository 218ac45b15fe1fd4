package approvals

// OutcomeOf is what an approval's state means to its caller (AP-2). Only the
// host's option approve, as an answer, allows; an answer that is anything
// else, and a state that is not known, is Unavailable. An open question, and
// one that is no approval, has NoOutcome.
func OutcomeOf(q Question) Outcome {
	if q.Kind != Approval {
		return NoOutcome
	}
	switch q.Status {
	case StatusOpen:
		return NoOutcome
	case StatusCancelled:
		return Cancelled
	case StatusAnswered:
		return answerOutcome(q.Answer)
	case StatusTimedOut:
		return Unavailable
	}
	return Unavailable
}

func answerOutcome(a *Answer) Outcome {
	switch {
	case a == nil:
		return Unavailable
	case a.OptionID == OptionApprove:
		return AllowedOnce
	case a.OptionID == OptionReject:
		return Rejected
	}
	return Unavailable
}

// Explain is what an approval's outcome says to the agent that asked. The
// refusals read differently, so that a person's no can be told from a missing
// channel (AP-5).
func Explain(q Question) string {
	switch q.Outcome {
	case AllowedOnce:
		return "Allowed, once, for this operation."
	case Rejected:
		return rejection(q.Answer)
	case Cancelled:
		return "The request was withdrawn before anybody answered. The operation may not go on."
	case Unavailable:
		return "Nobody answered in time, or nobody could be asked. This is no person's refusal, but the operation may not go on."
	case NoOutcome:
		return "Nobody has answered yet. The operation may not go on."
	}
	return "The outcome is not known. The operation may not go on."
}

func rejection(a *Answer) string {
	switch {
	case a != nil && a.Via == ViaPolicy:
		return "Rejected without asking anybody: this session may not ask for approvals. The operation may not go on."
	case a != nil && a.Via == ViaMachine:
		return "Rejected by the configuration of this session. The operation may not go on."
	}
	return "A person rejected this operation. It may not go on."
}
