package approvals_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// reviewedTicket is a Ticket whose matched rules ask for a review.
func reviewedTicket(needed int, reviewers ...string) approvals.Session {
	s := ticket()
	s.Review = gate.Review{Reviewers: reviewers, Approvals: needed}
	return s
}

// by is somebody's answer.
func by(who gate.Sender, option string) approvals.Answer {
	a := pick(option)
	a.By = who
	return a
}

func TestReviewsAreCounted(t *testing.T) {
	t.Parallel()
	linked := by(gate.Sender{Kind: gate.Person, ID: "583231"}, "approve")
	linked.Source, linked.Linked = "github-main", []gate.Account{{Source: "feishu-main", ID: "ou_li"}}
	other := linked
	other.Linked = nil
	rows := []struct {
		rule    string
		needed  int
		answers []approvals.Answer
		want    string
	}{
		{"one approval settles where one is needed (RU-4)", 1, []approvals.Answer{by(li, "approve")}, "answered allowed_once 0: opened answered"},
		{"and where a rule names nobody (RU-4)", 0, []approvals.Answer{by(li, "approve")}, "answered allowed_once 0: opened answered"},
		{"the first of two leaves it open (RU-4)", 2, []approvals.Answer{by(li, "approve")}, "open  1: opened approved"},
		{"the second person settles it (RU-4)", 2, []approvals.Answer{by(li, "approve"), by(boss, "approve")}, "answered allowed_once 1: opened approved answered"},
		{"one person counts once (RU-4)", 2, []approvals.Answer{by(li, "approve"), by(li, "approve")}, "open  1: opened approved deduped"},
		{"also under a linked account (RU-4, PL-3)", 2, []approvals.Answer{by(li, "approve"), linked}, "open  1: opened approved deduped"},
		{"another account is another person (RU-4)", 2, []approvals.Answer{by(li, "approve"), other}, "answered allowed_once 1: opened approved answered"},
		{"two that nobody can tell apart are one (RU-4)", 2, []approvals.Answer{by(gate.Sender{}, "approve"), by(gate.Sender{}, "approve")}, "open  1: opened approved deduped"},
		{"a rejection settles it at once (RU-4)", 3, []approvals.Answer{by(li, "approve"), by(boss, "reject")}, "answered rejected 1: opened approved answered"},
		{"also by who approved before (RU-4)", 2, []approvals.Answer{by(li, "approve"), by(li, "reject")}, "answered rejected 1: opened approved answered"},
		{"three are three (RU-4)", 3, []approvals.Answer{by(li, "approve"), by(boss, "approve"), by(eve, "approve")}, "answered allowed_once 2: opened approved approved answered"},
	}
	for _, r := range rows {
		t.Run(r.rule, func(t *testing.T) {
			t.Parallel()
			q, _, err := approvals.Open(approval(), reviewedTicket(r.needed, "ou_li", "ou_boss", "ou_eve"), approvals.Settings{}, ids, t0)
			if err != nil {
				t.Fatal(err)
			}
			for i, a := range r.answers {
				before := fmt.Sprintf("%+v", q)
				res, eff, err := approvals.Settle(q, a, at(1))
				if err != nil || fmt.Sprintf("%+v", q) != before {
					t.Fatalf("Settle %d = %v, want no error and the old question untouched", i, err)
				}
				if !res.Question.Status.Terminal() && len(eff.Log)+len(eff.Due)+len(eff.Out) > 0 {
					t.Errorf("an approval that does not settle has effects: %+v", eff)
				}
				q = res.Question
			}
			if got := fmt.Sprintf("%s %s %d: %s", q.Status, q.Outcome, len(q.Approved), history(q)); got != r.want {
				t.Errorf("the question is %q, want %q", got, r.want)
			}
		})
	}
	t.Run("the row tells how many of how many (RU-4, DE-9)", func(t *testing.T) {
		t.Parallel()
		q, _, _ := approvals.Open(approval(), reviewedTicket(2, "ou_li"), approvals.Settings{}, ids, t0)
		res, _, _ := approvals.Settle(q, by(li, "approve"), at(1))
		e := res.Question.Events[1]
		if e.Type != approvals.EventApproved || e.Detail != "1 of 2" || e.By.ID != li.ID {
			t.Errorf("the event is %+v, want who approved, and 1 of 2", e)
		}
	})
	t.Run("another kind of question needs one answer (RU-4)", func(t *testing.T) {
		t.Parallel()
		q, _, err := approvals.Open(choice(), reviewedTicket(2, "ou_boss"), approvals.Settings{}, ids, t0)
		if err != nil || q.Review.Approvals != 0 {
			t.Fatalf("Open = %+v, %v, want no review on a choice", q.Review, err)
		}
		if res, _, err := approvals.Settle(q, pick("red"), at(1)); err != nil || res.Question.Status != approvals.StatusAnswered {
			t.Errorf("Settle = %s, %v, want answered", res.Question.Status, err)
		}
	})
}

func TestReviewsAreOpened(t *testing.T) {
	t.Parallel()
	known := approvals.Settings{Approvers: []string{"ou_boss"}}
	automatic := approvals.Settings{Machine: map[string]string{"tkt_*": "allow_once"}}
	strict := approvals.Settings{Machine: map[string]string{"tkt_*": "reject"}}
	rows := []struct {
		rule    string
		session approvals.Session
		cfg     approvals.Settings
		want    string
	}{
		{"a reviewer who approves can answer (RU-4)", reviewedTicket(1, "ou_boss"), known, "open"},
		{"the requester can be one (RU-4)", reviewedTicket(1, "ou_li"), known, "open"},
		{"where no reviewer may answer nothing is opened (RU-4)", reviewedTicket(1, "ou_eve"), known, "invalid: review: nobody on the list may answer"},
		{"nor where two rules have nobody in common (RU-4)", reviewedTicket(1, gate.NoReviewer), approvals.Settings{}, "invalid: review: nobody on the list may answer"},
		{"automation gives no approval that people are to review (RU-4, AP-4)", reviewedTicket(1, "ou_boss"), automatic, "open"},
		{"also where the rule names only a number (RU-4, AP-4)", reviewedTicket(1), automatic, "open"},
		{"it may reject (RU-4, AP-4)", reviewedTicket(1, "ou_boss"), strict, "answered"},
		{"and gives the others (AP-4)", ticket(), automatic, "answered"},
	}
	for _, r := range rows {
		t.Run(r.rule, func(t *testing.T) {
			t.Parallel()
			q, _, err := approvals.Open(approval(), r.session, r.cfg, ids, t0)
			got := string(q.Status)
			if err != nil {
				got = err.Error()
			}
			if got != r.want {
				t.Errorf("Open = %q, want %q", got, r.want)
			}
		})
	}
}

func TestReviewersAnswer(t *testing.T) {
	t.Parallel()
	click := func(q approvals.Question, who gate.Sender) approvals.AnswerRequest {
		return approvals.AnswerRequest{ID: q.ID, OptionID: "approve", Via: approvals.ViaAPI, Source: "feishu-main", Who: who}
	}
	t.Run("only those whom the rule names (RU-4, CA-3)", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q, _, err := d.Open(t.Context(), reviewedTicket(1, "ou_boss"), approval())
		if err != nil {
			t.Fatal(err)
		}
		res, err := d.Answer(t.Context(), click(q, li))
		if !errors.Is(err, approvals.ErrNotAllowed) || res.Reason != gate.ReasonNotAsked {
			t.Errorf("Answer by the requester = %q, %v, want refused: not asked", res.Reason, err)
		}
		if res, err = d.Answer(t.Context(), click(q, boss)); err != nil || !res.Question.Outcome.Allows() {
			t.Errorf("Answer by the reviewer = %s, %v, want allowed", res.Question.Outcome, err)
		}
	})
	t.Run("two of them, each durable by itself (RU-4)", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q, _, err := d.Open(t.Context(), reviewedTicket(2, "requester", "approvers"), approval())
		if err != nil {
			t.Fatal(err)
		}
		if res, err := d.Answer(t.Context(), click(q, li)); err != nil || res.Question.Status != approvals.StatusOpen {
			t.Fatalf("the first = %s, %v, want open", res.Question.Status, err)
		}
		if res, err := d.Answer(t.Context(), click(q, li)); err != nil || !res.Deduped {
			t.Errorf("the same again = %+v, %v, want deduped", res, err)
		}
		if res, err := d.Answer(t.Context(), click(q, boss)); err != nil || !res.Question.Outcome.Allows() {
			t.Errorf("the second = %s, %v, want allowed", res.Question.Outcome, err)
		}
	})
	t.Run("a reviewer is known by a login too (RU-4, GH-6)", func(t *testing.T) {
		t.Parallel()
		d := newDesk(func(c *approvals.BrokerConfig) {
			c.Named = func(_ gate.SourceID, who gate.Sender, list []string) gate.Sender {
				who.Aliases = list // all of the list names them
				return who
			}
		})
		q, _, err := d.Open(t.Context(), reviewedTicket(1, "bigboss"), approval())
		if err != nil {
			t.Fatal(err)
		}
		if res, err := d.Answer(t.Context(), click(q, boss)); err != nil || !res.Question.Outcome.Allows() {
			t.Errorf("Answer = %s, %v, want allowed", res.Question.Outcome, err)
		}
	})
}
