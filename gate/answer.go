package gate

import "slices"

// Account is one account of one Source; ID may be its id, or another entry of a
// list that names it.
type Account struct {
	Source SourceID
	ID     string
}

// Is reports whether a sender of a Source is that account, a person's.
func (a Account) Is(source SourceID, who Sender) bool {
	return a.Source == source && who.Kind == Person && entryNames(a.ID, who)
}

// Answerer is who answers a question or stops a Ticket, as the platform's
// authenticated event or an operator's token names them (AD-12).
type Answerer struct {
	// Source is where they are; Who is who they are there.
	Source SourceID
	Who    Sender
	// Linked are the accounts that the configuration or an operator bound to
	// this one (PL-3).
	Linked []Account
	// Lists is what today's lists of that Source say of them, links counted.
	Lists Lists
	// Operator: they came with an operator's token.
	Operator bool
}

// AnswerRules is who may answer one question (CA-3, DE-2). The zero value lets
// the approvers.
type AnswerRules struct {
	// Approval: the question approves an operation.
	Approval bool
	// RequesterSource and Requester name the requester of the Ticket. A
	// question of the main Session has none.
	RequesterSource SourceID
	Requester       Sender
	// RequesterListed is whether the requester is listed today.
	RequesterListed Membership
	// Answerers narrows: "requester", "approvers", or ids in the form of a
	// list's entries. Empty does not narrow; a word that means nobody leaves
	// nobody.
	Answerers []string
	// Reviewers narrow in the same way; a matched rule names them (RU-4).
	Reviewers []string
	// FourEyes: not the requester, also where the requester is an approver.
	FourEyes bool
}

// The words of AnswerRules.Answerers that are no ids.
const (
	AnswererRequester = "requester"
	AnswererApprovers = "approvers"
)

// MayAnswer decides whether somebody may answer a question: the approvers, an
// operator as one of them, and the requester, for an approval only while
// listed today; never a bot (CA-3). Answerers can only narrow that. The reason
// says as whom they may, or why not.
func MayAnswer(a Answerer, r AnswerRules) (reason string, ok bool) {
	requester := a.is(r.RequesterSource, r.Requester)
	switch {
	case !a.human():
		return ReasonNoPerson, false
	case requester && r.FourEyes:
		return ReasonFourEyes, false
	}
	asked := a.asked(requester, r.Answerers) && a.asked(requester, r.Reviewers)
	if reason, ok = a.inSet(requester, r); ok && !asked {
		return ReasonNotAsked, false
	}
	return reason, ok
}

// inSet is CA-3 without what narrows it.
func (a Answerer) inSet(requester bool, r AnswerRules) (reason string, ok bool) {
	if reason, ok = a.approves(); ok || !requester {
		return reason, ok
	}
	if !r.Approval {
		return ReasonRequester, true
	}
	switch r.RequesterListed {
	case Yes:
		return ReasonRequester, true
	case Unknown:
		return ReasonRequesterUnknown, false
	case No:
		return ReasonRequesterUnlisted, false
	}
	return ReasonRequesterUnlisted, false
}

// MayStop decides whether somebody may stop a Ticket by a command: its
// requester, listed or not, the approvers and operators (ST-2); never a bot
// (AD-1).
func MayStop(a Answerer, m *Mandate) (reason string, ok bool) {
	if !a.human() {
		return ReasonNoPerson, false
	}
	if m != nil && a.is(m.Source, m.Sender) {
		return ReasonRequester, true
	}
	return a.approves()
}

// human reports whether a person acts. An operator's token need not name one,
// but a bot is a bot with any token.
func (a Answerer) human() bool {
	switch a.Who.Kind {
	case Person:
		return true
	case Nobody, NoSender:
		return a.Operator
	case Bot:
		return false
	}
	return false
}

// approves reports whether they are an approver. An unknown membership is none
// (AD-11).
func (a Answerer) approves() (reason string, ok bool) {
	switch {
	case a.Operator:
		return ReasonOperator, true
	case a.Lists.Approver == Yes:
		return ReasonApprover, true
	case a.Lists.Approver == Unknown:
		return ReasonApproverUnknown, false
	}
	return ReasonNeither, false
}

// is reports whether they are that person: the same account, or one that is
// linked to it (PL-3).
func (a Answerer) is(source SourceID, who Sender) bool {
	if a.Source == source && a.Who.Same(who) {
		return true
	}
	return slices.ContainsFunc(a.Linked, func(l Account) bool { return l.Is(source, who) })
}

// asked reports whether the question's own narrowing leaves them in (DE-2).
func (a Answerer) asked(requester bool, answerers []string) bool {
	_, approver := a.approves()
	return len(answerers) == 0 || slices.ContainsFunc(answerers, func(e string) bool {
		switch e {
		case AnswererRequester:
			return requester
		case AnswererApprovers:
			return approver
		}
		return a.named(e)
	})
}

func (a Answerer) named(entry string) bool {
	return entryNames(entry, a.Who) || slices.ContainsFunc(a.Linked, func(l Account) bool {
		return entryNames(entry, Sender{ID: l.ID})
	})
}
