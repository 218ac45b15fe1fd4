package approvals_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// world is a question, the clock, and everything that ever came out of it.
type world struct {
	q    approvals.Question
	now  time.Time
	eff  approvals.Effects
	wins int
	// atOnce: it was decided before anybody was asked.
	atOnce bool
	path   []string
}

// step is one thing that can happen to a question.
type step struct {
	name string
	do   func(w *world)
}

func (w *world) take(q approvals.Question, eff approvals.Effects) {
	w.q = q
	w.eff.Add(eff)
}

func (w *world) answer(a approvals.Answer) {
	r, eff, err := approvals.Settle(w.q, a, w.now)
	w.take(r.Question, eff)
	if err == nil && !r.Deduped && r.Question.Status.Terminal() {
		w.wins++
	}
}

// steps are what can happen to a question that Li and the boss may answer.
func steps(one, other string) []step {
	present := func(m string) func(*world) {
		return func(w *world) {
			w.take(approvals.Presented(w.q, approvals.Message{Source: "feishu-main", Chat: "oc_1", Message: m}, w.now))
		}
	}
	return []step{
		{"answer", func(w *world) { w.answer(pick(one)) }},
		{"the boss answers", func(w *world) { w.answer(by(boss, one)) }},
		{"answer other", func(w *world) { w.answer(pick(other)) }},
		{"answer nonsense", func(w *world) { w.answer(pick("nonsense")) }},
		{"a stranger answers", func(w *world) { w.take(approvals.Refused(w.q, eve, approvals.ViaCard, "neither", w.now)) }},
		{"deadline comes", func(w *world) { w.now = w.q.Deadline }},
		{"expire", func(w *world) { w.take(approvals.Expire(w.q, w.now)) }},
		{"cancel", func(w *world) { w.take(approvals.Cancel(w.q, "stopped", w.now)) }},
		{"nobody can be reached", func(w *world) { w.take(approvals.Unreachable(w.q, "no card", w.now)) }},
		{"present", present("om_1")},
		{"present elsewhere", present("om_2")},
		{"reopen", func(w *world) {
			q, eff, _ := approvals.Reopen(w.q, approvals.Request{}, ticket(), approvals.Settings{}, w.now)
			w.take(q, eff)
		}},
	}
}

// TestEveryOrder lets everything happen to a question in every order, some
// steps deep, and looks at it after each.
func TestEveryOrder(t *testing.T) {
	t.Parallel()
	withdrawn := with(approval(), func(r *approvals.Request) { r.Withdrawn = true })
	two := reviewedTicket(2, "ou_li", "ou_boss")
	never, machine := approvals.Settings{Policy: approvals.PolicyNever}, approvals.Settings{Machine: map[string]string{"tkt_*": "allow_once"}}
	for _, c := range []struct {
		name       string
		r          approvals.Request
		s          approvals.Session
		cfg        approvals.Settings
		one, other string
		depth      int
	}{
		{"AP-5 DE-1 an approval", approval(), ticket(), approvals.Settings{}, "approve", "reject", 5},
		{"DE-1 DE-4 a choice", choice(), ticket(), approvals.Settings{}, "red", "blue", 4},
		{"RU-4 DE-4 an approval by two people", approval(), two, approvals.Settings{}, "approve", "reject", 4},
		{"RU-4 AP-3 such a one under never", approval(), two, never, "approve", "reject", 3},
		{"RU-4 AP-4 such a one before a machine", approval(), two, machine, "approve", "reject", 4},
		{"AP-3 AP-5 an approval under never", approval(), ticket(), never, "approve", "reject", 3},
		{"AP-3 a choice under never", choice(), ticket(), never, "red", "blue", 3},
		{"AP-4 AP-5 an approval that a machine gives", approval(), ticket(), machine, "approve", "reject", 3},
		{"AP-5 AP-6 one that was withdrawn before it was asked", withdrawn, ticket(), approvals.Settings{}, "approve", "reject", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			q, eff, err := approvals.Open(c.r, c.s, c.cfg, ids, t0)
			if err != nil {
				t.Fatal(err)
			}
			w := world{q: q, now: at(time.Second), eff: eff, atOnce: q.Status.Terminal(), wins: b2i(q.Status == approvals.StatusAnswered)}
			explore(t, w, steps(c.one, c.other), c.depth)
		})
	}
}

func explore(t *testing.T, w world, all []step, depth int) {
	if depth == 0 {
		return
	}
	for _, s := range all {
		next := w
		next.path = append(slices.Clip(w.path), s.name)
		next.eff = clip(w.eff)
		s.do(&next)
		if why := wrong(w, next); why != "" {
			t.Fatalf("after %s: %s\n%+v", strings.Join(next.path, ", "), why, next.q)
		}
		explore(t, next, all, depth-1)
	}
}

// clip makes sibling branches append to memory of their own.
func clip(e approvals.Effects) approvals.Effects {
	return approvals.Effects{Out: slices.Clip(e.Out), Due: slices.Clip(e.Due), Cancel: slices.Clip(e.Cancel), Log: slices.Clip(e.Log)}
}

// wrong says which promise a step broke, or "".
func wrong(before, after world) string {
	b, q := before.q, after.q
	ended := b2i(q.Status.Terminal())
	n, due := lines(after.eff.Log), dues(after.eff.Due)
	asked, shown := b2i(q.Kind == approvals.Approval), 1-b2i(after.atOnce)
	switch {
	case b.Status.Terminal() && (b.Status != q.Status || b.Outcome != q.Outcome || b.Answer != q.Answer || !b.ClosedAt.Equal(q.ClosedAt)):
		return "DE-1 a terminal state is not final"
	case after.wins > 1 || (after.wins == 1) != (q.Status == approvals.StatusAnswered):
		return "DE-4 not exactly one answer"
	case q.Status == approvals.StatusAnswered && !q.Answer.At.Before(q.Deadline):
		return "DE-5 a late answer counted"
	case b.Status.Terminal() && len(b.Approved) != len(q.Approved):
		return "DE-1 an approval was counted after the end"
	case q.Outcome.Allows() && people(q) < q.Review.Approvals:
		return "RU-4 too few people allowed it"
	case n[approvals.RecordAsked] != asked || n[approvals.RecordDecided] != asked*ended:
		return "AP-5 not one asked and one decided"
	case n[approvals.RecordOpened] != 1 || n[approvals.RecordAnswered]+n[approvals.RecordTimedOut]+n[approvals.RecordCancelled] != ended:
		return "DE-11 not one opened and one end"
	case count(due, approvals.DueDeadline) != shown || count(due, approvals.DueSettled) != ended || len(after.eff.Cancel) != ended:
		return "DE-10 the end is not due once"
	case count(due, approvals.DueLate) > 1:
		return "CA-9 more than one note of a late answer"
	case cards(after.eff, gate.OutCard) != shown || cards(after.eff, gate.OutCardUpdate) != ended*len(q.Messages):
		return "CA-4 not one update a card"
	case q.Outcome.Allows() && (q.Kind != approvals.Approval || q.Answer == nil || q.Answer.OptionID != approvals.OptionApprove):
		return "AP-2 something other than approve allows"
	case q.Outcome != approvals.OutcomeOf(q):
		return "AP-2 the outcome is not that of the state"
	}
	return ""
}

// people is how many gave an approval.
func people(q approvals.Question) int {
	seen := map[string]bool{q.Answer.By.ID: true}
	for _, a := range q.Approved {
		seen[a.By.ID] = true
	}
	return len(seen)
}

func count(list []approvals.DueKind, k approvals.DueKind) (n int) {
	for _, d := range list {
		n += b2i(d == k)
	}
	return n
}

func cards(e approvals.Effects, k gate.OutgoingKind) (n int) {
	seen := map[string]bool{}
	for _, o := range e.Out {
		if o.Kind == k && !seen[o.ID] {
			n++
			seen[o.ID] = true
		}
	}
	return n
}

// TestSettleProperties checks Settle against DE-4 said again, more simply.
func TestSettleProperties(t *testing.T) {
	t.Parallel()
	t.Run("DE-4 any answers at any times: the first valid one in time stands", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			q := mustOpen(t, rapid.SampledFrom([]approvals.Request{approval(), choice()}).Draw(t, "request"))
			now, first := t0, (*approvals.Answer)(nil)
			for range rapid.IntRange(1, 8).Draw(t, "answers") {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(2*time.Minute)).Draw(t, "pause")))
				a := anyAnswer(t)
				before := mustJSON(q)
				r, _, err := approvals.Settle(q, a, now)
				if mustJSON(q) != before {
					t.Fatal("Settle changed what it was given")
				}
				want := expect(q, first, a, now)
				if !errors.Is(err, want) || (want == nil) != (err == nil) {
					t.Fatalf("Settle(%+v) at %s = %v, want %v", a, now.Sub(t0), err, want)
				}
				if err == nil && first == nil {
					first = r.Question.Answer
				}
				if !reflect.DeepEqual(r.Question.Answer, first) {
					t.Fatalf("answer = %+v, want %+v", r.Question.Answer, first)
				}
				q = r.Question
			}
			if q.Outcome.Allows() && first.OptionID != approvals.OptionApprove {
				t.Fatalf("%+v allows", first)
			}
		})
	})
}

func anyAnswer(t *rapid.T) approvals.Answer {
	return approvals.Answer{
		OptionID: rapid.SampledFrom([]string{"", "approve", "reject", "red", "blue", "APPROVE", "approve "}).Draw(t, "option"),
		Text:     rapid.SampledFrom([]string{"", " ", "approve", "yes"}).Draw(t, "text"),
		By:       li, Via: approvals.ViaAPI,
	}
}

// expect is DE-4 as a list.
func expect(q approvals.Question, first *approvals.Answer, a approvals.Answer, now time.Time) error {
	text := strings.TrimSpace(a.Text)
	known := slices.ContainsFunc(q.Options, func(o approvals.Option) bool { return o.ID == a.OptionID })
	switch {
	case first != nil && first.OptionID == a.OptionID && first.Text == text:
		return nil
	case first != nil:
		return approvals.ErrAnswered
	case !now.Before(q.Deadline):
		return approvals.ErrClosed
	case a.OptionID == "" && text == "", a.OptionID != "" && !known, text != "" && q.Kind == approvals.Approval:
		return approvals.ErrInvalid
	}
	return nil
}

func mustOpen(t *rapid.T, r approvals.Request) approvals.Question {
	q, _, err := approvals.Open(r, ticket(), approvals.Settings{}, ids, t0)
	if err != nil {
		t.Fatal(err)
	}
	return q
}
