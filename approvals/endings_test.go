package approvals_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
)

// TestEveryEndingIsTold asks, shows, ends and updates a question in every way
// there is, and reads the row.
func TestEveryEndingIsTold(t *testing.T) {
	t.Parallel()
	settle := func(a approvals.Answer, after time.Duration) func(approvals.Question) approvals.Question {
		return func(q approvals.Question) approvals.Question {
			r, _, _ := approvals.Settle(q, a, at(after))
			return r.Question
		}
	}
	one := func(q approvals.Question, _ approvals.Effects) approvals.Question { return q }
	via := func(v approvals.Via) approvals.Answer { a := pick("reject"); a.Via = v; return a }
	for _, r := range []struct {
		name string
		s    approvals.Session
		end  func(approvals.Question) approvals.Question
		want string
		by   string // who is on record, and through what
	}{
		{"on a card", ticket(), settle(pick("approve"), time.Minute), "opened presented answered presentation_updated", "ou_li card"},
		{"through the API", ticket(), settle(via(approvals.ViaAPI), time.Minute), "opened presented answered presentation_updated", "ou_li api"},
		{"on GitHub", ticket(), settle(via(approvals.ViaGitHub), time.Minute), "opened presented answered presentation_updated", "ou_li github"},
		{"by two people", reviewedTicket(2), func(q approvals.Question) approvals.Question {
			return settle(by(boss, "approve"), time.Minute)(settle(pick("approve"), 30*time.Second)(q))
		}, "opened presented approved answered presentation_updated", "ou_boss card"},
		{"after refused clicks", ticket(), func(q approvals.Question) approvals.Question {
			return settle(pick("approve"), time.Minute)(one(approvals.Refused(q, eve, approvals.ViaCard, "neither", at(30*time.Second))))
		}, "opened presented refused answered presentation_updated", "ou_li card"},
		{"by time", ticket(), func(q approvals.Question) approvals.Question { return one(approvals.Expire(q, at(time.Hour))) }, "opened presented timed_out presentation_updated", " "},
		{"by time, found by a late answer", ticket(), settle(pick("approve"), time.Hour), "opened presented timed_out late presentation_updated", " "},
		{"since nobody could be reached", ticket(), func(q approvals.Question) approvals.Question {
			return one(approvals.Unreachable(q, "no card", at(time.Minute)))
		}, "opened presented timed_out presentation_updated", " "},
		{"withdrawn", ticket(), func(q approvals.Question) approvals.Question {
			return one(approvals.Cancel(q, "stopped", at(time.Minute)))
		}, "opened presented cancelled presentation_updated", " "},
		{"withdrawn, and then answered", ticket(), func(q approvals.Question) approvals.Question {
			return settle(pick("approve"), 2*time.Minute)(one(approvals.Cancel(q, "stopped", at(time.Minute))))
		}, "opened presented cancelled late presentation_updated", " "},
	} {
		t.Run("the row tells how it ended, in order: "+r.name+" (DE-9)", func(t *testing.T) {
			t.Parallel()
			q, _, err := approvals.Open(approval(), r.s, approvals.Settings{}, ids, t0)
			if err != nil {
				t.Fatal(err)
			}
			q = r.end(one(approvals.Presented(q, shown, at(time.Second))))
			q = approvals.Updated(q, shown, at(2*time.Hour))
			if got := history(q); got != r.want || !slices.IsSortedFunc(q.Events, func(a, b approvals.Event) int { return a.At.Compare(b.At) }) {
				t.Errorf("events = %s, want %s: %+v", got, r.want, q.Events)
			}
			end := q.Events[slices.IndexFunc(q.Events, func(e approvals.Event) bool { return e.At.Equal(q.ClosedAt) })]
			if got := end.By.ID + " " + string(end.Via); got != r.by || approvals.OutcomeOf(q) != q.Outcome {
				t.Errorf("it was ended by %q, want %q", got, r.by)
			}
		})
	}
	for name, c := range map[string]struct {
		edit edit
		cfg  approvals.Settings
		want string
	}{
		"by the policy":             {func(*approvals.Request) {}, approvals.Settings{Policy: approvals.PolicyNever}, "opened answered"},
		"by a machine":              {func(*approvals.Request) {}, approvals.Settings{Machine: map[string]string{"*": "reject"}}, "opened answered"},
		"withdrawn before it began": {func(r *approvals.Request) { r.Withdrawn = true }, approvals.Settings{}, "opened cancelled"},
	} {
		t.Run("the row tells how it ended at once: "+name+" (DE-9)", func(t *testing.T) {
			t.Parallel()
			q, _, err := approvals.Open(with(approval(), c.edit), ticket(), c.cfg, ids, t0)
			if err != nil || history(q) != c.want {
				t.Errorf("events = %s, %v, want %s", history(q), err, c.want)
			}
		})
	}
}
