package approvals

import (
	"fmt"
	"slices"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// reviewed reports whether a matched rule says who must approve (RU-4).
func (q *Question) reviewed() bool { return len(q.Review.Reviewers) > 0 || q.Review.Approvals > 0 }

// approve counts an approval where several people must give one (RU-4). last
// says that the answer settles the question: it is the last one needed, or no
// approval. One person counts once, under whatever account.
func approve(q Question, a Answer) (r Result, last bool) {
	if q.Kind != Approval || a.OptionID != OptionApprove {
		return Result{}, true
	}
	e := Event{Type: EventApproved, At: a.At, By: a.By, Via: a.Via}
	if slices.ContainsFunc(q.Approved, a.samePerson) {
		e.Type = EventDeduped
		return Result{Question: q.note(e), Deduped: true}, false
	}
	given, needed := len(q.Approved)+1, q.Review.Needed()
	if given >= needed {
		return Result{}, true
	}
	q.Approved = append(slices.Clip(q.Approved), a)
	e.Detail = fmt.Sprintf("%d of %d", given, needed)
	return Result{Question: q.note(e)}, false
}

// samePerson reports whether an earlier answer was given by the same account,
// or by one that is linked to it. Two answers without an id count as one
// person's.
func (a *Answer) samePerson(earlier Answer) bool {
	if earlier.Source == a.Source && earlier.By.ID == a.By.ID {
		return true
	}
	return slices.ContainsFunc(a.Linked, func(l gate.Account) bool { return l.Is(earlier.Source, earlier.By) })
}
