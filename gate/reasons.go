package gate

// The reasons of Admit: fixed sentences that tests, logs and cards can name.
// They never carry a name, an id or a text of a message.
const (
	ReasonNotReceived     = "the source receives nothing of this scope"
	ReasonNobody          = "the platform's event names no sender"
	ReasonBotNotListed    = "the bot is not on the source's bot list"
	ReasonBotUnaddressed  = "the bot does not address the agent, and the scope does not receive all messages"
	ReasonBotListed       = "a bot on the source's bot list"
	ReasonListedAddresses = "a listed person addresses the agent"
	ReasonOpenToAll       = "the table lets people who are not listed ask here by addressing the agent"
	ReasonFollowUp        = "a listed person's follow-up on the thread of a ticket"
	ReasonFollowUpCell    = "a follow-up of a person who is not listed, and the table says explicit"
	ReasonFollowUpOther   = "a follow-up of a person who is not listed"
	ReasonMentionsOnly    = "the scope receives only messages that address the agent"
	ReasonCellExplicit    = "the table says explicit"
	ReasonCellInferred    = "the table says inferred"
	ReasonCellNone        = "the table says none, or the cell is not available"
	ReasonModeOff         = "the mode is off, so nothing is inferred"
)

// MembershipUnknown ends a reason of Admit when a list could not be read and
// the sender therefore counted as not listed (AD-11).
const MembershipUnknown = " (the list could not be read, which counts as not listed)"

// The reasons of WithinLimits begin with the word that is counted (AD-13).
const (
	ReasonSenderRate    = "rate_limited: the sender asked too often within the hour"
	ReasonScopeRate     = "rate_limited: the scope was asked too often within the hour"
	ReasonActiveTickets = "rate_limited: the requester has too many active tickets"
	ReasonScopeWaiting  = "rate_limited: too many inferred candidates wait in the scope"
)

// The reasons of Revalidate. The first is that of every Mandate that stands.
const (
	ReasonMandateStands     = "the mandate stands"
	ReasonMandateGone       = "the mandate authorises nothing, or was withdrawn or revoked"
	ReasonNotListening      = "the source no longer listens to the scope"
	ReasonSourceOff         = "the source is switched off"
	ReasonPolicyUnknown     = "the policy is not known"
	ReasonListUnknown       = "a list could not be read"
	ReasonSenderUnlisted    = "the sender is no longer on the source's allow list"
	ReasonBotUnlisted       = "the bot is no longer on the source's bot list"
	ReasonCellWeaker        = "today's table gives the message less than it got"
	ReasonModeNotAuto       = "the mode is no longer auto"
	ReasonRuleGone          = "a matched rule is gone or not enabled, or there is none"
	ReasonExecutorForbidden = "the policy no longer allows the executor"
)

// The sentences of Affected (PV-4).
const (
	ReasonRequesterLost = "the requester may no longer start work"
	ReasonNowObserving  = "proactive work is no longer accepted: the mode went from auto to observe"
	ReasonNowOff        = "proactive work is no longer accepted: the mode went from auto to off"
)

// The reasons of MayAnswer and MayStop. The first three allow.
const (
	ReasonOperator          = "an operator"
	ReasonApprover          = "an approver"
	ReasonRequester         = "the requester"
	ReasonNoPerson          = "only a person may, never a bot"
	ReasonFourEyes          = "the requester may not answer: four eyes"
	ReasonNeither           = "neither an approver nor the requester"
	ReasonApproverUnknown   = "neither the requester nor known to be an approver: the list could not be read"
	ReasonRequesterUnlisted = "the requester is not listed today, and this is an approval"
	ReasonRequesterUnknown  = "it is not known whether the requester is listed today, and this is an approval"
	ReasonNotAsked          = "the question asks others"
)
