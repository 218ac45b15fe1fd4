package approvals

import (
	"reflect"
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// maxLines is how many events of one type a row keeps; further ones are
// counted on the last of them.
const maxLines = 8

// note appends an event to a copy of the row's history (DE-9). A row cannot be
// made to grow without bound, by whoever clicks.
func (q Question) note(e Event) Question {
	lines, last := 0, 0
	for i := range q.Events {
		if q.Events[i].Type == e.Type {
			lines, last = lines+1, i
		}
	}
	if lines < maxLines {
		q.Events = append(slices.Clip(q.Events), e)
		return q
	}
	q.Events = slices.Clone(q.Events)
	q.Events[last].More++
	return q
}

func (q Question) has(t EventType) bool {
	return slices.ContainsFunc(q.Events, func(e Event) bool { return e.Type == t })
}

// onlyNoted reports whether a step from q to next added nothing but to the
// history.
func onlyNoted(q, next Question, eff Effects) bool {
	next.Events = q.Events
	return reflect.DeepEqual(q, next) && reflect.DeepEqual(eff, Effects{})
}

// Refused records that somebody who may not answer tried to. Nothing else
// changes but a time-out that was due (CA-3, DE-5).
func Refused(q Question, who gate.Sender, via Via, reason string, now time.Time) (Question, Effects) {
	q, eff := Expire(q, now)
	return q.note(Event{Type: EventRefused, At: now, By: who, Via: via, Detail: reason}), eff
}

// Reopen is a request under a key that is in use: the first question stands,
// and if the request is another one, the row's events say so (DE-3). What is
// compared is what is asked, not for how long, nor the host's words. A request
// that is no question at all (DE-2) is another one.
func Reopen(q Question, r Request, s Session, cfg Settings, now time.Time) (_ Question, eff Effects, other bool) {
	if check(r, s, cfg) == nil && sameContent(q, draft(r, s, cfg)) {
		return q, Effects{}, false
	}
	q, eff = Expire(q, now)
	return q.note(Event{Type: EventReopened, At: now, Detail: "another question under the same key"}), eff, true
}

func sameContent(a, b Question) bool {
	if a.Kind == Approval {
		a.Options = b.Options
	}
	return a.Kind == b.Kind && a.Prompt == b.Prompt && a.Recommendation == b.Recommendation &&
		a.AllowFreeText == b.AllowFreeText && slices.Equal(a.Options, b.Options) &&
		slices.Equal(a.Answerers, b.Answerers) && reflect.DeepEqual(a.Operation, b.Operation)
}
