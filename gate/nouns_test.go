package gate_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

func TestOnList(t *testing.T) {
	t.Parallel()
	octocat := gate.Sender{Kind: gate.Person, ID: "583231", Aliases: []string{"octocat"}}
	squatter := gate.Sender{Kind: gate.Person, ID: "7", Aliases: []string{"583231"}}
	feishu := gate.Sender{Kind: gate.Person, ID: "ou_1", Aliases: []string{"union:on_1", "user:7"}}
	rows := []struct {
		name    string
		list    []string
		s       gate.Sender
		want    gate.Membership
		lookups []string
	}{
		{"AD-11 an empty list lists nobody", nil, octocat, gate.No, nil},
		{"AD-11 a login, whatever its case", []string{"OctoCat"}, octocat, gate.Yes, nil},
		{"AD-11 a numeric id", []string{"id:583231"}, octocat, gate.Yes, nil},
		{"AD-11 a bare numeric id", []string{"583231"}, octocat, gate.Yes, nil},
		{"AD-11 a login that is somebody's number is not that somebody", []string{"583231"}, squatter, gate.No, nil},
		{"AD-11 an open id", []string{"ou_2", "ou_1"}, feishu, gate.Yes, nil},
		{"AD-11 a union id", []string{"union:on_1"}, feishu, gate.Yes, nil},
		{"AD-11 a user id", []string{"user:7"}, feishu, gate.Yes, nil},
		{"AD-11 somebody else", []string{"ou_2", ""}, feishu, gate.No, nil},
		{"AD-11 nobody is on no list", []string{"", "octocat"}, gate.Sender{Aliases: []string{"octocat", ""}}, gate.No, nil},
		{"AD-11 groups need a look-up", []string{"group:g", "department:d", "team:t", "permission:write"}, octocat, gate.No,
			[]string{"group:g", "department:d", "team:t", "permission:write"}},
		{"AD-11 an id beside a group needs none", []string{"team:t", "octocat"}, octocat, gate.Yes, []string{"team:t"}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if got, lookups := gate.OnList(r.list, r.s); got != r.want || !slices.Equal(lookups, r.lookups) {
				t.Errorf("OnList(%q, %+v) = %s, %q, want %s, %q", r.list, r.s, got, lookups, r.want, r.lookups)
			}
		})
	}
}

func TestReceiveTakes(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		r    gate.Receive
		a    gate.Addressing
		want bool
	}{
		{"AD-9 all takes remarks", all, silent, true},
		{"AD-9 mentions takes mentions", mentions, mention, true},
		{"AD-9 mentions takes DMs", mentions, direct, true},
		{"AD-9 mentions takes no remarks", mentions, silent, false},
		{"AD-9 mentions takes nothing of an unknown addressing", mentions, 9, false},
		{"AD-9 off takes nothing", gate.ReceiveOff, direct, false},
		{"AD-9 an unknown setting takes nothing", 9, direct, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if got := r.r.Takes(r.a); got != r.want {
				t.Errorf("Takes(%s, %s) = %t, want %t", r.r, r.a, got, r.want)
			}
		})
	}
}

func TestSourceListens(t *testing.T) {
	t.Parallel()
	src := &gate.Source{Scopes: map[gate.Scope]gate.Receive{"issues": mentions, "pulls": gate.ReceiveOff}}
	if !src.Listens("issues") || src.Listens("pulls") || src.Listens("ci") || (*gate.Source)(nil).Listens("issues") {
		t.Error("RV-1 Listens = …, want true for issues only")
	}
}

func TestARuleIsFoundByItsID(t *testing.T) {
	t.Parallel()
	p := policyOf()
	for id, want := range map[string]struct{ ok, enabled bool }{"r1": {true, true}, "r3": {true, false}, "gone": {}} {
		r, ok := p.Rule(id)
		if ok != want.ok || ok && r.ID != id || p.RuleEnabled(id) != want.enabled {
			t.Errorf("RV-8 Rule(%s) = %+v, %t and enabled %t, want %+v", id, r, ok, p.RuleEnabled(id), want)
		}
	}
}

func TestARowSaysNothingOfOtherCells(t *testing.T) {
	t.Parallel()
	r := row("ieX")
	for c, want := range map[gate.Cell]gate.Strength{
		gate.NoCell: gate.None, gate.ListedUnaddressed: gate.Inferred, gate.UnlistedAddressed: gate.Explicit,
		gate.UnlistedUnaddressed: gate.None, 9: gate.None,
	} {
		if got := r.Get(c); got != want {
			t.Errorf("AD-7 Get(%s) = %s, want %s", c, got, want)
		}
	}
}

func TestAChatIsItsScope(t *testing.T) {
	t.Parallel()
	if s := gate.ChatScope("oc_1"); s != "chat:oc_1" || s.Chat() != "oc_1" || gate.Issues.Chat() != "" {
		t.Errorf("ChatScope(oc_1) = %s of %q", s, s.Chat())
	}
}

func TestSendersAreTheSameByKindAndID(t *testing.T) {
	t.Parallel()
	if !alice.Same(gate.Sender{Kind: gate.Person, ID: "alice", Name: "A"}) || alice.Same(robot) || nobody.Same(nobody) {
		t.Error("AD-12 Same = …, want one kind and one id that is not empty")
	}
}

func TestTheZeroValuesRefuse(t *testing.T) {
	t.Parallel()
	var v gate.Verdict
	var m gate.Mandate
	var r gate.Revalidation
	if v.Admitted() || m.Stands() || r.Outcome == gate.Stands {
		t.Errorf("zero values = %v, %v, %v, want them to refuse", v, m, r)
	}
}

func TestMessageKeyIsThatOfTheSource(t *testing.T) {
	t.Parallel()
	if got := gate.MessageKey("main", "om_1"); got != "main:message:om_1" {
		t.Errorf("TR-1 MessageKey(main, om_1) = %q", got)
	}
}

func TestSendErrorSaysItsReasonAndCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("429")
	e := &gate.SendError{Reason: "slow down", After: time.Second, Err: cause}
	if e.Error() != "slow down: 429" || !errors.Is(e, cause) {
		t.Errorf("OUT-2 SendError = %q", e)
	}
	if e := (&gate.SendError{Class: gate.SendDropped, Reason: "gone"}); e.Error() != "gone" {
		t.Errorf("OUT-2 SendError = %q", e)
	}
}
