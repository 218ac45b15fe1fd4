package approvals

import "time"

// Expire times an open question out once its deadline has come; before that,
// and on a question that came to its end, it changes nothing (DE-1, DE-5). The
// question ended at its deadline, whenever that is noticed.
func Expire(q Question, now time.Time) (Question, Effects) {
	if q.Status.Terminal() || now.Before(q.Deadline) {
		return q, Effects{}
	}
	return end(q, StatusTimedOut, Event{Type: EventTimedOut, At: q.Deadline}, now)
}

// AsOf is the question as a list shows it at now: timed out once the deadline
// has come, also where no sweeper has run yet (DE-5). Who acts on what is read
// asks Broker.Question, which stores the time-out first.
func AsOf(q Question, now time.Time) Question {
	q, _ = Expire(q, now)
	return q
}

// Cancel withdraws an open question (DE-7, AP-6). One that came to its end,
// or whose deadline has come, is not cancelled any more.
func Cancel(q Question, reason string, now time.Time) (Question, Effects) {
	if q, eff := Expire(q, now); q.Status.Terminal() {
		return q, eff
	}
	return end(q, StatusCancelled, Event{Type: EventCancelled, At: now, Detail: reason}, now)
}

// Unreachable ends an open question that could be shown to nobody: it counts
// as timed out at once, so that an approval is unavailable (CA-7).
func Unreachable(q Question, reason string, now time.Time) (Question, Effects) {
	if q, eff := Expire(q, now); q.Status.Terminal() {
		return q, eff
	}
	return end(q, StatusTimedOut, Event{Type: EventTimedOut, At: now, Detail: reason}, now)
}

// end moves an open question to a terminal state. The event says when. What
// follows is done once, since no question ends twice: its asker hears
// (DE-10), its cards change (CA-4), and the logs have a line (DE-11, AP-5).
func end(q Question, to Status, e Event, now time.Time) (Question, Effects) {
	q.Status, q.ClosedAt = to, e.At
	q.Outcome = OutcomeOf(q)
	q = q.note(e)
	eff := Effects{
		Due:    []Due{{Kind: DueSettled, Key: string(q.ID), At: now}},
		Cancel: []Due{deadline(q)},
		Log:    ended(q, now),
	}
	for _, m := range q.Messages {
		eff.Out = append(eff.Out, update(q, m, now))
	}
	return q, eff
}

func deadline(q Question) Due { return Due{Kind: DueDeadline, Key: string(q.ID), At: q.Deadline} }

// CancelAll cancels the open ones of some questions: one Change, so that no
// reader sees some of them cancelled and some not (DE-7).
func CancelAll(questions []Question, reason string, now time.Time) Change {
	var c Change
	for _, q := range questions {
		if q.Status.Terminal() {
			continue
		}
		q, eff := Cancel(q, reason, now)
		c.Questions = append(c.Questions, q)
		c.Add(eff)
	}
	return c
}
