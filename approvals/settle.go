package approvals

import (
	"errors"
	"strings"
	"time"
)

// The fixed sentences of a refused answer.
const (
	ReasonAnswered  = "this question was answered otherwise"
	ReasonTimedOut  = "this question timed out"
	ReasonCancelled = "this question was cancelled"
	ReasonWrongCard = "this is no card of the question"
	ReasonWrongChat = "the question's card is in another chat"
)

// Settle gives a question an answer by somebody who may answer (DE-4). State
// comes first:
//
//   - open: the first valid answer wins and is final; ErrInvalid for an
//     unknown option, unwanted text or nothing at all, and nothing changes.
//     Where several people must approve it stays open until the last of them
//     does; a rejection ends it at once (RU-4).
//   - answered: the same answer again is Deduped, another one ErrAnswered.
//   - timed out, also where no sweeper has run yet (DE-5), or cancelled:
//     ErrClosed.
//
// The Result's question and the Effects are to be committed beside ErrAnswered
// and ErrClosed too: they hold what was noted (DE-9) and a time-out that was
// due.
func Settle(q Question, a Answer, now time.Time) (Result, Effects, error) {
	a.Text, a.At = strings.TrimSpace(a.Text), now
	q, eff := Expire(q, now)
	if q.Status.Terminal() {
		r, more, err := again(q, a, now)
		eff.Add(more)
		return r, eff, err
	}
	if err := checkAnswer(q, a); err != nil {
		return Result{Question: q}, Effects{}, err
	}
	if r, last := approve(q, a); !last {
		return r, eff, nil
	}
	q, eff = answer(q, a, now)
	return Result{Question: q}, eff, nil
}

// checkAnswer holds an answer to what was asked. An approval takes no text, so
// that text alone never grants (AP-2a).
func checkAnswer(q Question, a Answer) error {
	switch {
	case a.OptionID == "" && a.Text == "":
		return invalid("answer: is empty")
	case a.OptionID != "" && !offers(q.Options, a.OptionID):
		return invalid("optionId: %q is no option", a.OptionID)
	case a.Text != "" && (!q.AllowFreeText || q.Kind == Approval):
		return invalid("text: is not wanted")
	case len(a.Text) > MaxText:
		return invalid("text: %d bytes, at most %d", len(a.Text), MaxText)
	}
	return nil
}

// answer makes an open question answered.
func answer(q Question, a Answer, now time.Time) (Question, Effects) {
	a.At = now
	q.Answer = &a
	e := Event{Type: EventAnswered, At: now, By: a.By, Via: a.Via, Detail: a.OptionID}
	return end(q, StatusAnswered, e, now)
}

// again is an answer to a question that came to its end.
func again(q Question, a Answer, now time.Time) (Result, Effects, error) {
	e := Event{Type: EventLate, At: now, By: a.By, Via: a.Via, Detail: a.OptionID}
	switch {
	case q.Status != StatusAnswered || q.Answer == nil:
		q, eff := late(q, e)
		return Result{Question: q, Reason: closedReason(q)}, eff, ErrClosed
	case q.Answer.Same(a):
		e.Type = EventDeduped
		return Result{Question: q.note(e), Deduped: true}, Effects{}, nil
	}
	e.Type = EventConflicted
	return Result{Question: q.note(e), Reason: ReasonAnswered}, Effects{}, ErrAnswered
}

// late drops an answer that came after the end (AP-6). The first one after a
// time-out is told to the asker, who can ask again (CA-9).
func late(q Question, e Event) (Question, Effects) {
	var eff Effects
	if q.Status == StatusTimedOut && !q.has(EventLate) {
		eff.Due = []Due{{Kind: DueLate, Key: string(q.ID), At: e.At}}
	}
	return q.note(e), eff
}

func closedReason(q Question) string {
	if q.Status == StatusTimedOut {
		return ReasonTimedOut
	}
	return ReasonCancelled
}

// noted reports whether a Settle that ended so left something to commit.
func noted(err error) bool { return !errors.Is(err, ErrInvalid) }
