package approvals_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

func TestEnds(t *testing.T) {
	t.Parallel()
	cancel := func(q approvals.Question, now time.Time) (approvals.Question, approvals.Effects) {
		return approvals.Cancel(q, "stopped", now)
	}
	unreachable := func(q approvals.Question, now time.Time) (approvals.Question, approvals.Effects) {
		return approvals.Unreachable(q, "no card, no text", now)
	}
	const timedOut, cancelled = approvals.StatusTimedOut, approvals.StatusCancelled
	deadline := at(5 * time.Minute)
	for _, c := range []struct {
		name    string
		end     func(approvals.Question, time.Time) (approvals.Question, approvals.Effects)
		now     time.Time
		status  approvals.Status
		outcome approvals.Outcome
		closed  time.Time
		record  string
	}{
		{"DE-1 nothing before the deadline", approvals.Expire, deadline.Add(-1), "open", "", time.Time{}, ""},
		{"DE-1 timed out at the deadline", approvals.Expire, deadline, timedOut, "unavailable", deadline, approvals.RecordTimedOut},
		{"DE-5 it timed out then, whenever that is noticed", approvals.Expire, at(time.Hour), timedOut, "unavailable", deadline, approvals.RecordTimedOut},
		{"DE-7 cancelled", cancel, at(time.Minute), cancelled, "cancelled", at(time.Minute), approvals.RecordCancelled},
		{"DE-5 too late to be cancelled", cancel, deadline, timedOut, "unavailable", deadline, approvals.RecordTimedOut},
		{"CA-7 nothing reaches anybody", unreachable, at(time.Minute), timedOut, "unavailable", at(time.Minute), approvals.RecordTimedOut},
		{"DE-5 unreachable after the deadline", unreachable, at(time.Hour), timedOut, "unavailable", deadline, approvals.RecordTimedOut},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			q := openShown(t, approval())
			got, eff := c.end(q, c.now)
			if got.Status != c.status || got.Outcome != c.outcome || !got.ClosedAt.Equal(c.closed) {
				t.Errorf("end(…) = %s, %q, closed %s, want %s, %q, %s", got.Status, got.Outcome, got.ClosedAt, c.status, c.outcome, c.closed)
			}
			if c.record == "" {
				if !reflect.DeepEqual(got, q) || !reflect.DeepEqual(eff, approvals.Effects{}) {
					t.Errorf("end(…) = %+v, %+v, want nothing changed", got, eff)
				}
				return
			}
			if want := []string{c.record, approvals.RecordDecided}; !slices.Equal(types(eff.Log), want) {
				t.Errorf("Log = %v, want %v", types(eff.Log), want)
			}
			if eff.Due[0].Kind != approvals.DueSettled || eff.Cancel[0].Kind != approvals.DueDeadline || eff.Out[0].Kind != gate.OutCardUpdate {
				t.Errorf("effects = %+v", eff)
			}
		})
	}
	for _, s := range []approvals.Status{approvals.StatusAnswered, timedOut, cancelled} {
		t.Run("DE-1 no way leads out of "+string(s), func(t *testing.T) {
			t.Parallel()
			q := inState(t, approval(), s)
			for i, end := range []func(approvals.Question, time.Time) (approvals.Question, approvals.Effects){approvals.Expire, cancel, unreachable} {
				got, eff := end(q, at(2*time.Hour))
				if !reflect.DeepEqual(got, q) || !reflect.DeepEqual(eff, approvals.Effects{}) {
					t.Errorf("end %d of %s = %+v, %+v, want nothing changed", i, s, got, eff)
				}
			}
		})
	}
	t.Run("AP-5 other kinds have no decided line", func(t *testing.T) {
		t.Parallel()
		_, eff := approvals.Cancel(open(t, choice()), "stopped", t0)
		if want := []string{approvals.RecordCancelled}; !slices.Equal(types(eff.Log), want) {
			t.Errorf("Log = %v, want %v", types(eff.Log), want)
		}
	})
}

func TestCancelAll(t *testing.T) {
	t.Parallel()
	t.Run("DE-7 all open ones, in one Change", func(t *testing.T) {
		t.Parallel()
		done := inState(t, approval(), approvals.StatusAnswered)
		c := approvals.CancelAll([]approvals.Question{open(t, choice()), done, open(t, approval())}, "stopped", at(time.Second))
		if len(c.Questions) != 2 || c.Questions[0].Status != approvals.StatusCancelled || len(c.Due) != 2 || len(c.Log) != 3 {
			t.Errorf("CancelAll(…) = %+v", c)
		}
	})
}

func TestOutcomeOf(t *testing.T) {
	t.Parallel()
	answered := func(o string) *approvals.Answer { return &approvals.Answer{OptionID: o} }
	for _, c := range []struct {
		name   string
		kind   approvals.Kind
		status approvals.Status
		answer *approvals.Answer
		want   approvals.Outcome
	}{
		{"AP-2 open has none", approvals.Approval, "open", nil, approvals.NoOutcome},
		{"AP-2 approve allows once", approvals.Approval, "answered", answered("approve"), approvals.AllowedOnce},
		{"AP-2 reject rejects", approvals.Approval, "answered", answered("reject"), approvals.Rejected},
		{"AP-8 an unknown answer is never a pass", approvals.Approval, "answered", answered("allow_always"), approvals.Unavailable},
		{"AP-2a text alone never grants", approvals.Approval, "answered", &approvals.Answer{Text: "approve"}, approvals.Unavailable},
		{"AP-2 a malformed row is never a pass", approvals.Approval, "answered", nil, approvals.Unavailable},
		{"AP-2 approve on a timed out row is no pass", approvals.Approval, "timed_out", answered("approve"), approvals.Unavailable},
		{"AP-2 nor on a cancelled one", approvals.Approval, "cancelled", answered("approve"), approvals.Cancelled},
		{"AP-2 nor on an open one", approvals.Approval, "open", answered("approve"), approvals.NoOutcome},
		{"AP-8 nor in a state that is not known", approvals.Approval, "pending", answered("approve"), approvals.Unavailable},
		{"AP-2a a choice called approve allows nothing", approvals.Choice, "answered", answered("approve"), approvals.NoOutcome},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			q := approvals.Question{Kind: c.kind, Status: c.status, Answer: c.answer}
			if got := approvals.OutcomeOf(q); got != c.want {
				t.Errorf("OutcomeOf(…) = %q, want %q", got, c.want)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	via := func(v approvals.Via) *approvals.Answer { return &approvals.Answer{Via: v} }
	said := map[string]bool{}
	for _, c := range []struct {
		outcome approvals.Outcome
		answer  *approvals.Answer
		says    string
	}{
		{approvals.AllowedOnce, nil, "Allowed, once"},
		{approvals.Rejected, via(approvals.ViaCard), "A person rejected"},
		{approvals.Rejected, via(approvals.ViaPolicy), "may not ask"},
		{approvals.Rejected, via(approvals.ViaMachine), "the configuration"},
		{approvals.Cancelled, nil, "withdrawn"},
		{approvals.Unavailable, nil, "Nobody answered"},
		{approvals.NoOutcome, nil, "yet"},
		{"allow_always", nil, "not known"},
	} {
		got := approvals.Explain(approvals.Question{Outcome: c.outcome, Answer: c.answer})
		contains(t, "AP-5 Explain("+string(c.outcome)+")", got, c.says)
		if said[got] {
			t.Errorf("AP-5 Explain(%s) = %q, like another", c.outcome, got)
		}
		said[got] = true
	}
}

func TestPresented(t *testing.T) {
	t.Parallel()
	q := open(t, approval())
	t.Run("DE-9 the row says where it is shown", func(t *testing.T) {
		t.Parallel()
		got, eff := approvals.Presented(q, shown, at(time.Second))
		if !slices.Equal(got.Messages, []approvals.Message{shown}) || history(got) != "opened presented" || len(eff.Out) != 0 {
			t.Errorf("Presented(…) = %v, %s, %+v", got.Messages, history(got), eff)
		}
		if e := got.Events[1]; e.Detail != "feishu-main oc_1 om_card" || !e.At.Equal(at(time.Second)) {
			t.Errorf("event = %+v", e)
		}
	})
	t.Run("OUT-1 the same message again changes nothing", func(t *testing.T) {
		t.Parallel()
		first, _ := approvals.Presented(q, shown, at(time.Second))
		got, eff := approvals.Presented(first, shown, at(time.Minute))
		if !reflect.DeepEqual(got, first) || !reflect.DeepEqual(eff, approvals.Effects{}) {
			t.Errorf("Presented(again) = %+v, %+v", got, eff)
		}
	})
	t.Run("CA-4 a card that comes after the end is updated", func(t *testing.T) {
		t.Parallel()
		ended, _ := approvals.Cancel(q, "stopped", at(time.Second))
		got, eff := approvals.Presented(ended, shown, at(2*time.Second))
		if len(eff.Out) != 1 || eff.Out[0].Kind != gate.OutCardUpdate || got.Status != approvals.StatusCancelled {
			t.Errorf("Presented(ended) = %s, %+v", got.Status, eff)
		}
		if again, eff := approvals.Presented(got, shown, at(3*time.Second)); len(eff.Out) != 0 || len(again.Messages) != 1 {
			t.Errorf("Presented(again) = %+v, %+v", again, eff)
		}
	})
	t.Run("CA-8 a chat that shows the question is told from others", func(t *testing.T) {
		t.Parallel()
		got, _ := approvals.Presented(q, shown, at(time.Second))
		for _, c := range []struct {
			source gate.SourceID
			chat   string
			want   bool
		}{{"feishu-main", "oc_1", true}, {"feishu-main", "oc_2", false}, {"github-main", "oc_1", false}} {
			if in := got.ShownIn(c.source, c.chat); in != c.want {
				t.Errorf("ShownIn(%s, %s) = %t, want %t", c.source, c.chat, in, c.want)
			}
		}
	})
	t.Run("DE-9 an updated card is in the row", func(t *testing.T) {
		t.Parallel()
		if got := approvals.Updated(q, shown, at(time.Second)); history(got) != "opened presentation_updated" {
			t.Errorf("events = %s", history(got))
		}
	})
}

func TestHistory(t *testing.T) {
	t.Parallel()
	t.Run("CA-3 a refused click is recorded and changes nothing", func(t *testing.T) {
		t.Parallel()
		q := open(t, approval())
		got, eff := approvals.Refused(q, eve, approvals.ViaCard, "neither", at(time.Second))
		e := got.Events[1]
		if e.Type != approvals.EventRefused || !e.By.Same(eve) || e.Via != approvals.ViaCard || e.Detail != "neither" {
			t.Errorf("event = %+v", e)
		}
		if got.Events = q.Events; !reflect.DeepEqual(got, q) || !reflect.DeepEqual(eff, approvals.Effects{}) {
			t.Errorf("Refused(…) = %+v, %+v", got, eff)
		}
	})
	t.Run("DE-5 a refused click after the deadline finds it timed out", func(t *testing.T) {
		t.Parallel()
		got, eff := approvals.Refused(open(t, approval()), eve, approvals.ViaCard, "neither", at(time.Hour))
		if history(got) != "opened timed_out refused" || len(eff.Due) != 1 {
			t.Errorf("Refused(…) = %s, %+v", history(got), eff)
		}
	})
	t.Run("DE-9 a hostile clicker does not make the row grow, but is counted", func(t *testing.T) {
		t.Parallel()
		q := inState(t, choice(), approvals.StatusAnswered)
		for i := range 200 {
			now := at(time.Duration(i) * time.Minute)
			before := mustJSON(q)
			next, _ := approvals.Refused(q, eve, approvals.ViaCard, "neither", now)
			if mustJSON(q) != before {
				t.Fatal("Refused(…) changed what it was given")
			}
			res, _, _ := approvals.Settle(next, pick("red"), now)
			res, _, _ = approvals.Settle(res.Question, pick("blue"), now)
			q = res.Question
		}
		counts := map[approvals.EventType]int{}
		for _, e := range q.Events {
			counts[e.Type] += 1 + e.More
		}
		want := map[approvals.EventType]int{"opened": 1, "presented": 1, "answered": 1, "refused": 200, "deduped": 200, "conflicted": 200}
		if len(q.Events) > 30 || !reflect.DeepEqual(counts, want) {
			t.Errorf("%d events, counts %v, want %v", len(q.Events), counts, want)
		}
	})
	t.Run("DE-9 two transitions of one state share no memory", func(t *testing.T) {
		t.Parallel()
		q := openShown(t, choice())
		q.Events, q.Messages = slices.Grow(q.Events, 9), slices.Grow(q.Messages, 9)
		one, _ := approvals.Presented(q, approvals.Message{Message: "om_1"}, t0)
		two, _ := approvals.Presented(q, approvals.Message{Message: "om_2"}, t0)
		three, _ := approvals.Cancel(q, "stopped", t0)
		if one.Messages[1].Message != "om_1" || two.Messages[1].Message != "om_2" || newest(q, one) != "presented" || newest(q, three) != "cancelled" {
			t.Errorf("messages %v, %v; events %s, %s", one.Messages, two.Messages, history(one), history(three))
		}
	})
	t.Run("DE-9 when asked and when answered can be told from the row", func(t *testing.T) {
		t.Parallel()
		q := inState(t, choice(), approvals.StatusAnswered)
		q = approvals.Updated(q, shown, at(4*time.Second))
		if want := "opened presented answered presentation_updated"; history(q) != want {
			t.Errorf("events = %s, want %s", history(q), want)
		}
		for i, want := range []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second} {
			if e := q.Events[i]; !e.At.Equal(at(want)) {
				t.Errorf("%s at %s, want %s", e.Type, e.At, at(want))
			}
		}
	})
	t.Run("AP-5 a malformed row still gets its line", func(t *testing.T) {
		t.Parallel()
		q := approvals.Question{ID: "x", Kind: approvals.Approval, Status: approvals.StatusOpen, Deadline: t0}
		_, eff := approvals.Expire(q, t0)
		if lines(eff.Log)[approvals.RecordDecided] != 1 {
			t.Errorf("Log = %v", types(eff.Log))
		}
	})
}

func TestNouns(t *testing.T) {
	t.Parallel()
	if id := approvals.ID("abc"); id.Short() != "abc" {
		t.Errorf("Short(%s) = %s", id, id.Short())
	}
	if id := approvals.IDFor("a", "b", "c"); len(id.Short()) != 8 {
		t.Errorf("CA-8 Short(%s) = %s, want 8 digits", id, id.Short())
	}
	for _, o := range []approvals.Outcome{approvals.NoOutcome, approvals.Rejected, approvals.Cancelled, approvals.Unavailable, "allow_always"} {
		if o.Allows() {
			t.Errorf("AP-2 %q.Allows() = true", o)
		}
	}
}
