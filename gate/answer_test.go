package gate_test

import (
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

var (
	alice = gate.Sender{Kind: gate.Person, ID: "alice", Aliases: []string{"al"}}
	bob   = gate.Sender{Kind: gate.Person, ID: "bob"}
	robot = gate.Sender{Kind: gate.Bot, ID: "alice"}

	approver = gate.Lists{Approver: gate.Yes}
	nobody   = gate.Sender{}
)

// as is somebody of the Source "main" with today's lists.
func as(who gate.Sender, l gate.Lists) gate.Answerer {
	return gate.Answerer{Source: "main", Who: who, Lists: l}
}

func operator(who gate.Sender) gate.Answerer { return gate.Answerer{Who: who, Operator: true} }

func linked(who gate.Sender, l gate.Lists, id string) gate.Answerer {
	return gate.Answerer{Source: "other", Who: who, Lists: l, Linked: []gate.Account{{Source: "main", ID: id}}}
}

// question asks for Alice's Ticket of the Source "main".
func question(change func(r *gate.AnswerRules)) gate.AnswerRules {
	r := gate.AnswerRules{RequesterSource: "main", Requester: alice}
	change(&r)
	return r
}

func free(*gate.AnswerRules)           {}
func grants(r *gate.AnswerRules)       { r.Approval, r.RequesterListed = true, gate.Yes }
func grantsOff(r *gate.AnswerRules)    { r.Approval = true }
func grantsUnsure(r *gate.AnswerRules) { r.Approval, r.RequesterListed = true, gate.Unknown }
func grantsOdd(r *gate.AnswerRules)    { r.Approval, r.RequesterListed = true, 9 }
func fourEyes(r *gate.AnswerRules)     { grants(r); r.FourEyes = true }
func byNobody(r *gate.AnswerRules)     { r.Requester, r.RequesterSource = nobody, "" }
func byBot(r *gate.AnswerRules)        { r.Requester = robot }

func narrowed(to ...string) func(*gate.AnswerRules) {
	return func(r *gate.AnswerRules) { grants(r); r.Answerers = to }
}

func TestMayAnswer(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		a    gate.Answerer
		r    func(*gate.AnswerRules)
		want string
		ok   bool
	}{
		{"CA-3 an approver answers", as(bob, approver), grants, gate.ReasonApprover, true},
		{"CA-3 an approver answers what is free", as(bob, approver), free, gate.ReasonApprover, true},
		{"CA-3 an approver answers where nobody requested", as(bob, approver), byNobody, gate.ReasonApprover, true},
		{"CA-3 the requester answers what is free, listed or not", as(alice, gate.Lists{}), free, gate.ReasonRequester, true},
		{"CA-3 the requester answers an approval while listed", as(alice, gate.Lists{}), grants, gate.ReasonRequester, true},
		{"CA-3 and not when unlisted", as(alice, gate.Lists{}), grantsOff, gate.ReasonRequesterUnlisted, false},
		{"CA-3 and not when nobody knows", as(alice, gate.Lists{}), grantsUnsure, gate.ReasonRequesterUnknown, false},
		{"CA-3 and not by a membership that is none of three", as(alice, gate.Lists{}), grantsOdd, gate.ReasonRequesterUnlisted, false},
		{"CA-3 an unlisted requester who approves answers", as(alice, approver), grantsOff, gate.ReasonApprover, true},
		{"CA-3 somebody else does not, even if listed", as(bob, gate.Lists{Allow: gate.Yes}), free, gate.ReasonNeither, false},
		{"AD-11 nor who is not known to approve", as(bob, gate.Lists{Approver: gate.Unknown}), grants, gate.ReasonApproverUnknown, false},
		{"CA-3 nor the same id of another source", gate.Answerer{Source: "other", Who: alice}, free, gate.ReasonNeither, false},
		{"CA-3 nobody is not the requester of nobody", gate.Answerer{Who: gate.Sender{Kind: gate.Person}}, byNobody, gate.ReasonNeither, false},

		{"CA-3 a bot never answers", as(robot, gate.Lists{Approver: gate.Yes, Allow: gate.Yes}), free, gate.ReasonNoPerson, false},
		{"CA-3 not even its own requester", as(robot, gate.Lists{}), byBot, gate.ReasonNoPerson, false},
		{"CA-3 not even with an operator's token", operator(robot), free, gate.ReasonNoPerson, false},
		{"CA-3 nobody never answers", as(nobody, approver), free, gate.ReasonNoPerson, false},
		{"CA-3 CI never answers", as(gate.Sender{Kind: gate.NoSender, ID: "alice"}, approver), free, gate.ReasonNoPerson, false},
		{"CA-3 an unknown kind never answers", as(gate.Sender{Kind: 9, ID: "alice"}, approver), free, gate.ReasonNoPerson, false},

		{"CA-3 an operator counts as an approver", operator(nobody), grants, gate.ReasonOperator, true},
		{"CA-3 an operator who is a person too", operator(bob), grants, gate.ReasonOperator, true},
		{"CA-3 four eyes: not the requester", as(alice, gate.Lists{Allow: gate.Yes}), fourEyes, gate.ReasonFourEyes, false},
		{"CA-3 four eyes: not as an approver either", as(alice, approver), fourEyes, gate.ReasonFourEyes, false},
		{"CA-3 four eyes: not through a link", linked(bob, approver, "alice"), fourEyes, gate.ReasonFourEyes, false},
		{"CA-3 four eyes: an approver", as(bob, approver), fourEyes, gate.ReasonApprover, true},
		{"CA-3 four eyes: an operator", operator(nobody), fourEyes, gate.ReasonOperator, true},
		{"PL-3 who is linked to the requester answers", linked(bob, gate.Lists{}, "alice"), grants, gate.ReasonRequester, true},
		{"PL-3 who is linked to somebody else does not", linked(bob, gate.Lists{}, "carol"), grants, gate.ReasonNeither, false},
		{"PL-3 a link to nobody links to nobody", linked(bob, gate.Lists{}, ""), byNobody, gate.ReasonNeither, false},

		{"DE-2 narrowed to the requester", as(alice, gate.Lists{}), narrowed("requester"), gate.ReasonRequester, true},
		{"DE-2 narrowed to the requester, an approver does not", as(bob, approver), narrowed("requester"), gate.ReasonNotAsked, false},
		{"DE-2 nor an operator", operator(nobody), narrowed("requester"), gate.ReasonNotAsked, false},
		{"DE-2 narrowed to approvers, the requester does not", as(alice, gate.Lists{}), narrowed("approvers"), gate.ReasonNotAsked, false},
		{"DE-2 narrowed to approvers, an approver does", as(bob, approver), narrowed("approvers"), gate.ReasonApprover, true},
		{"DE-2 narrowed to approvers, an operator does", operator(nobody), narrowed("approvers"), gate.ReasonOperator, true},
		{"DE-2 narrowed to both", as(alice, gate.Lists{}), narrowed("approvers", "requester"), gate.ReasonRequester, true},
		{"DE-2 narrowed to an id", as(bob, approver), narrowed("carol", "bob"), gate.ReasonApprover, true},
		{"DE-2 narrowed to an alias", as(alice, gate.Lists{}), narrowed("AL"), gate.ReasonRequester, true},
		{"DE-2 narrowed to a linked id", linked(bob, approver, "alice"), narrowed("alice"), gate.ReasonApprover, true},
		{"DE-2 narrowed to another id", as(bob, approver), narrowed("carol"), gate.ReasonNotAsked, false},
		{"DE-2 an id cannot widen", as(bob, gate.Lists{}), narrowed("bob"), gate.ReasonNeither, false},
		{"DE-2 a word that means nobody leaves nobody", as(bob, approver), narrowed("everybody"), gate.ReasonNotAsked, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			rules := question(r.r)
			if reason, ok := gate.MayAnswer(r.a, rules); reason != r.want || ok != r.ok {
				t.Errorf("MayAnswer(%+v, %+v) = %q, %t, want %q, %t", r.a, rules, reason, ok, r.want, r.ok)
			}
		})
	}
}

func TestMayStop(t *testing.T) {
	t.Parallel()
	mandate := func(s gate.Sender) *gate.Mandate { return &gate.Mandate{Source: "main", Sender: s} }
	rows := []struct {
		name string
		a    gate.Answerer
		m    *gate.Mandate
		want string
		ok   bool
	}{
		{"ST-2 the requester stops, listed or not", as(alice, gate.Lists{}), mandate(alice), gate.ReasonRequester, true},
		{"PL-3 so does who is linked to the requester", linked(bob, gate.Lists{}, "alice"), mandate(alice), gate.ReasonRequester, true},
		{"ST-2 an approver stops", as(bob, approver), mandate(alice), gate.ReasonApprover, true},
		{"ST-2 an operator stops", operator(nobody), mandate(alice), gate.ReasonOperator, true},
		{"ST-2 an approver stops a bot's ticket", as(bob, approver), mandate(robot), gate.ReasonApprover, true},
		{"ST-2 somebody else does not", as(bob, gate.Lists{Allow: gate.Yes}), mandate(alice), gate.ReasonNeither, false},
		{"AD-11 nor who is not known to approve", as(bob, gate.Lists{Approver: gate.Unknown}), mandate(alice), gate.ReasonApproverUnknown, false},
		{"ST-2 nor the same id of another source", gate.Answerer{Source: "other", Who: alice}, mandate(alice), gate.ReasonNeither, false},
		{"AD-1 a bot never stops", as(robot, approver), mandate(robot), gate.ReasonNoPerson, false},
		{"ST-2 nobody is the requester of CI's ticket", as(gate.Sender{Kind: gate.Person}, gate.Lists{}), mandate(gate.Sender{Kind: gate.NoSender}), gate.ReasonNeither, false},
		{"ST-2 without a mandate there is no requester", as(alice, gate.Lists{}), nil, gate.ReasonNeither, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if reason, ok := gate.MayStop(r.a, r.m); reason != r.want || ok != r.ok {
				t.Errorf("MayStop(%+v, %+v) = %q, %t, want %q, %t", r.a, r.m, reason, ok, r.want, r.ok)
			}
		})
	}
}

// Narrowing only narrows: whoever may answer a narrowed question may answer
// the open one.
func TestNarrowingNeverWidens(t *testing.T) {
	t.Parallel()
	people := []gate.Answerer{
		as(alice, gate.Lists{}), as(alice, approver), as(bob, gate.Lists{}), as(bob, approver), as(robot, approver),
		operator(nobody), operator(bob), linked(bob, gate.Lists{}, "alice"), linked(bob, approver, "alice"),
	}
	for _, base := range []func(*gate.AnswerRules){free, grants, grantsOff, grantsUnsure, fourEyes, byNobody} {
		for _, to := range [][]string{{"requester"}, {"approvers"}, {"alice"}, {"bob"}, {"requester", "bob"}, {"group:x"}} {
			for _, a := range people {
				open := question(base)
				narrow := open
				narrow.Answerers = to
				_, wide := gate.MayAnswer(a, open)
				if reason, ok := gate.MayAnswer(a, narrow); ok && !wide {
					t.Errorf("DE-2 MayAnswer(%+v, %+v) = %q, true, want no, as without %v", a, narrow, reason, to)
				}
			}
		}
	}
}
