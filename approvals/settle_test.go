package approvals_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// The states that a choice (red, blue, free text) can be in before an answer.
func inState(t testing.TB, r approvals.Request, s approvals.Status) approvals.Question {
	t.Helper()
	q := openShown(t, r)
	switch s {
	case approvals.StatusAnswered:
		res, _, err := approvals.Settle(q, pick(q.Options[0].ID), at(2*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		return res.Question
	case approvals.StatusTimedOut:
		return approvals.AsOf(q, at(time.Hour))
	case approvals.StatusCancelled:
		q, _ = approvals.Cancel(q, "stopped", at(2*time.Second))
	}
	return q
}

func TestSettle(t *testing.T) {
	t.Parallel()
	const o, a, x, c = approvals.StatusOpen, approvals.StatusAnswered, approvals.StatusTimedOut, approvals.StatusCancelled
	both := pick("red")
	both.Text = "a dark one"
	long := say(strings.Repeat("x", approvals.MaxText+1))
	noText := with(choice(), func(r *approvals.Request) { r.AllowFreeText = false })
	for _, c := range []struct {
		name   string
		r      approvals.Request
		from   approvals.Status
		answer approvals.Answer
		err    error
		dedup  bool
		want   approvals.Status
		event  approvals.EventType
	}{
		{"DE-4 an option", choice(), o, pick("red"), nil, false, a, "answered"},
		{"DE-4 a text", choice(), o, say("green"), nil, false, a, "answered"},
		{"DE-4 both", choice(), o, both, nil, false, a, "answered"},
		{"DE-4 an unknown option", choice(), o, pick("green"), approvals.ErrInvalid, false, o, ""},
		{"DE-4 text where it is not allowed", noText, o, say("green"), approvals.ErrInvalid, false, o, ""},
		{"DE-4 unwanted text beside an option", noText, o, both, approvals.ErrInvalid, false, o, ""},
		{"DE-4 nothing", choice(), o, pick(""), approvals.ErrInvalid, false, o, ""},
		{"DE-4 blank text is nothing", choice(), o, say(" \n"), approvals.ErrInvalid, false, o, ""},
		{"DE-4 endless text", choice(), o, long, approvals.ErrInvalid, false, o, ""},
		{"AP-2a approve", approval(), o, pick("approve"), nil, false, a, "answered"},
		{"AP-2a text alone never grants", approval(), o, say("approve"), approvals.ErrInvalid, false, o, ""},
		{"AP-8 always is no option", approval(), o, pick("allow_always"), approvals.ErrInvalid, false, o, ""},

		{"DE-4 the same again is deduped", choice(), a, pick("red"), nil, true, a, "deduped"},
		{"DE-4 another option is a conflict", choice(), a, pick("blue"), approvals.ErrAnswered, false, a, "conflicted"},
		{"DE-4 the same option with text is another answer", choice(), a, both, approvals.ErrAnswered, false, a, "conflicted"},
		{"DE-4 state comes first: an unknown option is a conflict", choice(), a, pick("green"), approvals.ErrAnswered, false, a, "conflicted"},
		{"DE-4 state comes first: nothing is a conflict", choice(), a, pick(""), approvals.ErrAnswered, false, a, "conflicted"},

		{"DE-4 a timed out one is closed", choice(), x, pick("red"), approvals.ErrClosed, false, x, "late"},
		{"DE-4 state comes first: also for nothing", choice(), x, pick(""), approvals.ErrClosed, false, x, "late"},
		{"DE-4 a cancelled one is closed", choice(), c, pick("red"), approvals.ErrClosed, false, c, "late"},
		{"DE-4 also for nothing", choice(), c, pick(""), approvals.ErrClosed, false, c, "late"},
		{"AP-6 a late approve is dropped", approval(), c, pick("approve"), approvals.ErrClosed, false, c, "late"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			q := inState(t, c.r, c.from)
			before := mustJSON(q)
			res, eff, err := approvals.Settle(q, c.answer, at(3*time.Second))
			if !errors.Is(err, c.err) || res.Deduped != c.dedup || res.Question.Status != c.want {
				t.Fatalf("Settle(…) = %s, deduped %v, %v, want %s, %v, %v", res.Question.Status, res.Deduped, err, c.want, c.dedup, c.err)
			}
			if got := newest(q, res.Question); got != c.event {
				t.Errorf("event = %q, want %q", got, c.event)
			}
			if c.event != "answered" && (len(eff.Out)+len(eff.Log)+len(eff.Cancel) > 0) {
				t.Errorf("effects = %+v, want none of an end", eff)
			}
			if mustJSON(q) != before {
				t.Error("Settle(…) changed what it was given")
			}
			if wantReason := errors.Is(err, approvals.ErrAnswered) || errors.Is(err, approvals.ErrClosed); (res.Reason != "") != wantReason {
				t.Errorf("reason = %q beside %v", res.Reason, err)
			}
		})
	}
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// newest is the type of the event that b has and a has not, or "".
func newest(a, b approvals.Question) approvals.EventType {
	if len(b.Events) == len(a.Events) {
		return ""
	}
	return b.Events[len(b.Events)-1].Type
}

func TestSettleEffects(t *testing.T) {
	t.Parallel()
	q := openShown(t, approval())
	second := approvals.Message{Source: "feishu-ops", Chat: "oc_2", Message: "om_2"}
	q, _ = approvals.Presented(q, second, at(time.Second))
	now := at(2 * time.Second)
	res, eff, err := approvals.Settle(q, pick("approve"), now)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("DE-4 the answer is who, what, when and through what", func(t *testing.T) {
		t.Parallel()
		want := approvals.Answer{OptionID: "approve", By: li, Source: "feishu-main", Via: approvals.ViaCard, At: now}
		if got := res.Question; !reflect.DeepEqual(*got.Answer, want) || !got.ClosedAt.Equal(now) || got.Outcome != approvals.AllowedOnce {
			t.Errorf("Settle(…) = %+v, %s, %s", *got.Answer, got.ClosedAt, got.Outcome)
		}
	})
	t.Run("CA-4 every card is updated, after the callback was answered, and blocks no thread", func(t *testing.T) {
		t.Parallel()
		if len(eff.Out) != 2 {
			t.Fatalf("Out = %+v, want two", eff.Out)
		}
		threads := []gate.ThreadID{"th_1", ""} // elsewhere the session's thread does not count (EN-5)
		for i, m := range []approvals.Message{shown, second} {
			want := gate.Outgoing{
				ID: eff.Out[i].ID, Kind: gate.OutCardUpdate, Lane: "card:" + m.Message, Source: m.Source, Thread: threads[i],
				Place: gate.Place{Chat: m.Chat}, Message: m.Message, Question: string(q.ID), Ticket: "tkt_1",
				CreatedAt: now, NotBefore: now.Add(3500 * time.Millisecond),
			}
			if !reflect.DeepEqual(eff.Out[i], want) {
				t.Errorf("Out[%d] = %+v, want %+v", i, eff.Out[i], want)
			}
		}
		if eff.Out[0].ID == eff.Out[1].ID {
			t.Errorf("Out share the id %s", eff.Out[0].ID)
		}
	})
	t.Run("DE-10 the asker hears, and the deadline is off", func(t *testing.T) {
		t.Parallel()
		id := string(q.ID)
		if want := []approvals.Due{{Kind: approvals.DueSettled, Key: id, At: now}}; !slices.Equal(eff.Due, want) {
			t.Errorf("Due = %v, want %v", eff.Due, want)
		}
		if want := []approvals.Due{{Kind: approvals.DueDeadline, Key: id, At: q.Deadline}}; !slices.Equal(eff.Cancel, want) {
			t.Errorf("Cancel = %v, want %v", eff.Cancel, want)
		}
	})
	t.Run("AP-5 decided is in the audit, under the id of asked", func(t *testing.T) {
		t.Parallel()
		if got := types(eff.Log); !slices.Equal(got, []string{approvals.RecordAnswered, approvals.RecordDecided}) {
			t.Fatalf("Log = %v", got)
		}
		a := eff.Log[1].Data.(approvals.Audit)
		if a.ApprovalID != "apr-1" || a.Outcome != approvals.AllowedOnce || !a.By.Same(li) || a.Via != approvals.ViaCard || a.Source != "feishu-main" {
			t.Errorf("decided = %+v", a)
		}
	})
	t.Run("DE-4 the same again has no second effect", func(t *testing.T) {
		t.Parallel()
		_, eff, err := approvals.Settle(res.Question, pick("approve"), at(time.Hour))
		if err != nil || !reflect.DeepEqual(eff, approvals.Effects{}) {
			t.Errorf("Settle(again) = %+v, %v, want no effects", eff, err)
		}
	})
}

func TestSettleAtTheDeadline(t *testing.T) {
	t.Parallel()
	q := openShown(t, approval())
	t.Run("DE-5 a nanosecond before it counts", func(t *testing.T) {
		t.Parallel()
		res, _, err := approvals.Settle(q, pick("approve"), q.Deadline.Add(-1))
		if err != nil || !res.Question.Outcome.Allows() {
			t.Errorf("Settle(…) = %s, %v, want allowed", res.Question.Outcome, err)
		}
	})
	for name, now := range map[string]time.Time{
		"DE-5 at the deadline it does not count": q.Deadline,
		"DE-5 nor later, though nobody swept":    q.Deadline.Add(48 * time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, eff, err := approvals.Settle(q, pick("approve"), now)
			if !errors.Is(err, approvals.ErrClosed) || res.Reason != approvals.ReasonTimedOut {
				t.Fatalf("Settle(…) = %q, %v, want ErrClosed", res.Reason, err)
			}
			got := res.Question
			if got.Status != approvals.StatusTimedOut || got.Outcome != approvals.Unavailable || got.Answer != nil || !got.ClosedAt.Equal(q.Deadline) {
				t.Errorf("Settle(…) = %+v", got)
			}
			if history(got) != "opened presented timed_out late" || lines(eff.Log)[approvals.RecordDecided] != 1 || len(eff.Out) != 1 {
				t.Errorf("events = %s, effects %+v", history(got), eff)
			}
			if want := []approvals.DueKind{approvals.DueLate, approvals.DueSettled}; !slices.Equal(dues(eff.Due), want) {
				t.Errorf("Due = %v, want %v", dues(eff.Due), want)
			}
		})
	}
	t.Run("CA-9 the asker is told of the first late answer only", func(t *testing.T) {
		t.Parallel()
		res, eff, _ := approvals.Settle(approvals.AsOf(q, q.Deadline), pick("approve"), q.Deadline)
		_, more, _ := approvals.Settle(res.Question, pick("approve"), q.Deadline)
		if !slices.Equal(dues(eff.Due), []approvals.DueKind{approvals.DueLate}) || len(more.Due) != 0 {
			t.Errorf("Due = %v, then %v", eff.Due, more.Due)
		}
	})
	t.Run("CA-9 an answer to a cancelled question is told to nobody", func(t *testing.T) {
		t.Parallel()
		res, eff, err := approvals.Settle(inState(t, approval(), approvals.StatusCancelled), pick("approve"), at(time.Minute))
		if !errors.Is(err, approvals.ErrClosed) || res.Reason != approvals.ReasonCancelled || len(eff.Due) != 0 {
			t.Errorf("Settle(…) = %q, %v, %v", res.Reason, eff.Due, err)
		}
	})
	t.Run("AP-2a text grants nothing, even where a row wrongly allows it", func(t *testing.T) {
		t.Parallel()
		bad := q
		bad.AllowFreeText = true
		if _, _, err := approvals.Settle(bad, say("approve"), at(time.Second)); !errors.Is(err, approvals.ErrInvalid) {
			t.Errorf("Settle(text) = %v, want ErrInvalid", err)
		}
	})
	t.Run("DE-1 a status that is not known is terminal", func(t *testing.T) {
		t.Parallel()
		bad := q
		bad.Status = "pending"
		if _, _, err := approvals.Settle(bad, pick("approve"), at(time.Second)); !errors.Is(err, approvals.ErrClosed) {
			t.Errorf("Settle(pending) = %v, want ErrClosed", err)
		}
	})
}
