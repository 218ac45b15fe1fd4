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
	path []string
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
	if err == nil && !r.Deduped {
		w.wins++
	}
}

func steps(one, other string) []step {
	present := func(m string) func(*world) {
		return func(w *world) {
			w.take(approvals.Presented(w.q, approvals.Message{Source: "feishu-main", Chat: "oc_1", Message: m}, w.now))
		}
	}
	return []step{
		{"answer", func(w *world) { w.answer(pick(one)) }},
		{"answer other", func(w *world) { w.answer(pick(other)) }},
		{"answer nonsense", func(w *world) { w.answer(pick("nonsense")) }},
		{"deadline comes", func(w *world) { w.now = w.q.Deadline }},
		{"expire", func(w *world) { w.take(approvals.Expire(w.q, w.now)) }},
		{"cancel", func(w *world) { w.take(approvals.Cancel(w.q, "stopped", w.now)) }},
		{"present", present("om_1")},
		{"present elsewhere", present("om_2")},
		{"reopen", func(w *world) {
			q, eff, _ := approvals.Reopen(w.q, approvals.Request{}, ticket(), approvals.Settings{}, w.now)
			w.take(q, eff)
		}},
	}
}

// TestEveryOrder lets everything happen to a question in every order, five
// steps deep, and looks at it after each.
func TestEveryOrder(t *testing.T) {
	t.Parallel()
	const depth = 5
	for name, c := range map[string]struct {
		r          approvals.Request
		one, other string
	}{
		"AP-5 DE-1 an approval": {approval(), "approve", "reject"},
		"DE-1 DE-4 a choice":    {choice(), "red", "blue"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q, eff, err := approvals.Open(c.r, ticket(), approvals.Settings{}, ids, t0)
			if err != nil {
				t.Fatal(err)
			}
			explore(t, world{q: q, now: at(time.Second), eff: eff}, steps(c.one, c.other), depth)
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
	asked := b2i(q.Kind == approvals.Approval)
	switch {
	case b.Status.Terminal() && (b.Status != q.Status || b.Outcome != q.Outcome || b.Answer != q.Answer || !b.ClosedAt.Equal(q.ClosedAt)):
		return "DE-1 a terminal state is not final"
	case after.wins > 1 || (after.wins == 1) != (q.Status == approvals.StatusAnswered):
		return "DE-4 not exactly one answer"
	case q.Status == approvals.StatusAnswered && !q.Answer.At.Before(q.Deadline):
		return "DE-5 a late answer counted"
	case n[approvals.RecordAsked] != asked || n[approvals.RecordDecided] != asked*ended:
		return "AP-5 not one asked and one decided"
	case n[approvals.RecordOpened] != 1 || n[approvals.RecordAnswered]+n[approvals.RecordTimedOut]+n[approvals.RecordCancelled] != ended:
		return "DE-11 not one opened and one end"
	case count(due, approvals.DueDeadline) != 1 || count(due, approvals.DueSettled) != ended || len(after.eff.Cancel) != ended:
		return "DE-10 the end is not due once"
	case count(due, approvals.DueLate) > 1:
		return "CA-9 more than one note of a late answer"
	case cards(after.eff, gate.OutCard) != 1 || cards(after.eff, gate.OutCardUpdate) != ended*len(q.Messages):
		return "CA-4 not one update a card"
	case q.Outcome.Allows() && (q.Kind != approvals.Approval || q.Answer == nil || q.Answer.OptionID != approvals.OptionApprove):
		return "AP-2 something other than approve allows"
	case q.Outcome != approvals.OutcomeOf(q):
		return "AP-2 the outcome is not that of the state"
	}
	return ""
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
