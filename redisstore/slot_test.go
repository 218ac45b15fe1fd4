package redisstore_test

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/gatehouse-bot/gatehouse/approvals"
)

// slot is DE-4 and DE-5 as the simplest machine that keeps them: one place that
// takes the first answer, until its deadline or its asker closes it.
type slot struct {
	status approvals.Status
	option string
	late   bool // the deadline has come
}

// call is what somebody does to a question, and said what came of it.
type call struct{ verb, option string }

type said struct {
	status approvals.Status
	option string
	how    string
}

func (s said) String() string { return fmt.Sprint(s.status, " ", s.option, " ", s.how) }

// after is the slot after a call, and the only thing that the call may say.
func (s slot) after(c call) (slot, said) {
	s.status = cmp.Or(s.status, approvals.StatusOpen)
	if s.late && s.status == approvals.StatusOpen {
		s.status = approvals.StatusTimedOut
	}
	switch c.verb {
	case "deadline":
		s.late = true
		return s, said{}
	case "answer":
		return s.answer(c.option)
	case "expire":
		return s, said{how: map[bool]string{true: "early"}[s.status == approvals.StatusOpen]}
	case "cancel":
		if s.status == approvals.StatusOpen {
			s.status = approvals.StatusCancelled
		}
	}
	return s, said{s.status, s.option, ""}
}

func (s slot) answer(option string) (slot, said) {
	how := "closed"
	switch {
	case s.status == approvals.StatusOpen:
		s.status, s.option, how = approvals.StatusAnswered, option, "won"
	case s.status == approvals.StatusAnswered && s.option == option:
		how = "deduped"
	case s.status == approvals.StatusAnswered:
		how = "conflict"
	}
	return s, said{s.status, s.option, how}
}

// slotModel is the machine for porcupine, which looks for one order of all
// calls that explains what each of them said.
var slotModel = porcupine.Model{
	Init: func() any { return slot{} },
	Step: func(state, in, out any) (bool, any) {
		next, want := state.(slot).after(in.(call))
		return out.(said) == want, next
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprint(in, " → ", out) },
}

// TestTheSlotRefusesWhatIsPlanted gives the search histories that break a
// promise: it must find each, or what it says of real ones is worth nothing.
func TestTheSlotRefusesWhatIsPlanted(t *testing.T) {
	t.Parallel()
	const open, answered, timedOut, cancelled = approvals.StatusOpen, approvals.StatusAnswered, approvals.StatusTimedOut, approvals.StatusCancelled
	yes, no, read := call{"answer", "approve"}, call{"answer", "reject"}, call{verb: "read"}
	deadline, cancel, expire := call{verb: "deadline"}, call{verb: "cancel"}, call{verb: "expire"}
	op := func(from, to int64, in call, out said) porcupine.Operation {
		return porcupine.Operation{Call: from, Return: to, Input: in, Output: out}
	}
	won, refused := said{answered, "approve", "won"}, said{answered, "approve", "conflict"}
	type history = []porcupine.Operation
	rows := []struct {
		name string
		ok   bool
		all  history
	}{
		{"one wins, the other is told (DE-4)", true, history{op(1, 4, yes, won), op(2, 3, no, refused)}},
		{"two win (DE-4)", false, history{op(1, 4, yes, won), op(2, 3, no, said{answered, "reject", "won"})}},
		{"nobody wins (DE-4)", false, history{op(1, 2, yes, said{answered, "approve", "deduped"})}},
		{"a read from before the answer, while it is given (DE-4)", true, history{op(1, 4, yes, won), op(2, 3, read, said{open, "", ""})}},
		{"a read from before the answer, after it (DE-4)", false, history{op(1, 2, yes, won), op(3, 4, read, said{open, "", ""})}},
		{"two reads that go back in time (DE-1)", false, history{op(1, 9, yes, won), op(2, 3, read, said{answered, "approve", ""}), op(4, 5, read, said{open, "", ""})}},
		{"an answer while the deadline comes (DE-5)", true, history{op(1, 4, yes, won), op(2, 3, deadline, said{})}},
		{"an answer after the deadline (DE-5)", false, history{op(1, 2, deadline, said{}), op(3, 4, yes, won)}},
		{"an answer after somebody read that it timed out (DE-5)", false, history{op(1, 9, yes, won), op(2, 3, deadline, said{}), op(4, 5, read, said{timedOut, "", ""})}},
		{"a time-out before the deadline (DE-6)", false, history{op(1, 2, read, said{timedOut, "", ""}), op(3, 4, deadline, said{})}},
		{"a sweeper that is late finds it timed out (DE-6)", true, history{op(1, 2, deadline, said{}), op(3, 4, expire, said{}), op(5, 6, read, said{timedOut, "", ""})}},
		{"a sweeper that ends it early (DE-6)", false, history{op(1, 2, expire, said{}), op(3, 4, deadline, said{})}},
		{"an answer after it was withdrawn (AP-6)", false, history{op(1, 2, cancel, said{cancelled, "", ""}), op(3, 4, yes, won)}},
		{"it is withdrawn after an answer (AP-6)", false, history{op(1, 2, yes, won), op(3, 4, cancel, said{cancelled, "", ""})}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if got := porcupine.CheckOperations(slotModel, r.all); got != r.ok {
				t.Errorf("linearizable = %v, want %v", got, r.ok)
			}
		})
	}
}
