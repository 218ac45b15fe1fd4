package gate_test

import (
	"slices"
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

func TestReviewOf(t *testing.T) {
	t.Parallel()
	p := gate.Policy{Rules: []gate.Rule{
		{ID: "one", Review: gate.Review{Reviewers: []string{"a", "b"}, Approvals: 1}},
		{ID: "two", Review: gate.Review{Reviewers: []string{"b", "c"}, Approvals: 2}},
		{ID: "far", Review: gate.Review{Reviewers: []string{"z"}}},
		{ID: "free"},
	}}
	rows := []struct {
		name  string
		rules []string
		want  []string
		n     int
	}{
		{"RU-4 no rule asks nothing", nil, nil, 1},
		{"RU-4 nor does one without a review", []string{"free"}, nil, 1},
		{"RU-4 nor one that is gone", []string{"gone"}, nil, 1},
		{"RU-4 one asks what it says", []string{"free", "one"}, []string{"a", "b"}, 1},
		{"RU-4 of two, who is on both lists, and the larger number", []string{"one", "two"}, []string{"b"}, 2},
		{"RU-4 where nobody is on all lists, nobody may", []string{"one", "two", "far"}, []string{gate.NoReviewer}, 2},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			got := p.ReviewOf(r.rules)
			if !slices.Equal(got.Reviewers, r.want) || got.Needed() != r.n {
				t.Errorf("ReviewOf(%v) = %v by %d, want %v by %d", r.rules, got.Reviewers, got.Needed(), r.want, r.n)
			}
		})
	}
	if got := p.Rules[0].Review.Reviewers; !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("ReviewOf changed the Policy: %v", got)
	}
}

func TestReviewersNarrow(t *testing.T) {
	t.Parallel()
	review := func(answerers, reviewers []string) func(*gate.AnswerRules) {
		return func(r *gate.AnswerRules) { grants(r); r.Answerers, r.Reviewers = answerers, reviewers }
	}
	rows := []struct {
		name string
		a    gate.Answerer
		r    func(*gate.AnswerRules)
		ok   bool
	}{
		{"RU-4 a reviewer who approves answers", as(bob, approver), review(nil, []string{"bob"}), true},
		{"RU-4 another approver does not", as(alice, approver), review(nil, []string{"bob"}), false},
		{"RU-4 a reviewer who does not approve does not", as(bob, gate.Lists{}), review(nil, []string{"bob"}), false},
		{"RU-4 the asker can narrow further", as(bob, approver), review([]string{"requester"}, []string{"bob"}), false},
		{"RU-4 and not widen", as(alice, approver), review([]string{"approvers"}, []string{"bob"}), false},
		{"RU-4 nobody is nobody", as(bob, approver), review(nil, []string{gate.NoReviewer}), false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if reason, ok := gate.MayAnswer(r.a, question(r.r)); ok != r.ok {
				t.Errorf("MayAnswer = %v (%s), want %v", ok, reason, r.ok)
			}
		})
	}
}
