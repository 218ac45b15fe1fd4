package orchestrator

import "time"

// TicketStage is where a Ticket's work stands, as people see it (spec page
// 04). The first five want a person.
type TicketStage string

// The stages, in the order in which Stage looks for them.
const (
	StageDelivery TicketStage = "delivery"
	StageAnswer   TicketStage = "answer"
	StageReview   TicketStage = "review"
	StageBlocked  TicketStage = "blocked"
	StageFailed   TicketStage = "failed"
	StageQueued   TicketStage = "queued"
	StageIdle     TicketStage = "idle"
	StageWorking  TicketStage = "working"
	StageEnded    TicketStage = "ended"
)

const (
	// fetchWithin is how long an Input may wait to be fetched.
	fetchWithin = 2 * time.Minute
	// defaultTurnTimeout is how long a turn may go without a sign of life.
	defaultTurnTimeout = 30 * time.Minute
)

// Stage returns the stage of a Ticket at now, the first that matches. How long
// an Input waits is told by the oldest one, so that a busy Thread hides no dead
// Executor; what waits for a place at the executor, or for a budget, is not
// late (EX-5). A turn that waits for an answer is not silent: it is parked
// (DE-10). place is that of Places; openQuestion leaves out what is asked about
// a budget. A turnTimeout that is not positive means the default, 30 min.
func Stage(t Ticket, openQuestion bool, place int, now time.Time, turnTimeout time.Duration) TicketStage {
	blocked := t.blocked(now)
	switch {
	case !t.Active():
		return StageEnded
	case place == 0 && !blocked && t.stuck(openQuestion, now, turnTimeout):
		return StageDelivery
	case openQuestion:
		return StageAnswer
	case t.reports(ReportReady):
		return StageReview
	case blocked || len(t.Lost) > 0 || t.reports(ReportBlocked):
		return StageBlocked
	case t.reports(ReportFailed):
		return StageFailed
	case place > 0 || t.unfetched():
		return StageQueued
	case !t.Turn || t.rests():
		return StageIdle
	}
	return StageWorking
}

// stuck: nobody fetches what waits for the Ticket's Executor, or its turn gives
// no sign of life.
func (t *Ticket) stuck(openQuestion bool, now time.Time, turnTimeout time.Duration) bool {
	if turnTimeout <= 0 {
		turnTimeout = defaultTurnTimeout
	}
	waits, silent := now.Sub(since(t.WaitsSince, t.ActiveAt)), now.Sub(since(t.ActedAt, t.ActiveAt))
	return t.unfetched() && waits >= fetchWithin || t.Turn && !openQuestion && silent >= turnTimeout
}

// since is a time, or for a Ticket of an older gateway its newest activity.
func since(at, newest time.Time) time.Time {
	if at.IsZero() {
		return newest
	}
	return at
}

// unfetched: an Input waits for the Executor to begin a turn. In an open turn
// Inputs wait for its end (EX-2), and the turn's own limit counts.
func (t *Ticket) unfetched() bool { return t.Seq > t.Delivered && !t.Turn }

// rests: the Executor said that it waits, and has got nothing since.
func (t *Ticket) rests() bool {
	return t.reports(ReportWaiting) && t.Covered == t.Delivered
}

func (t *Ticket) reports(kind ReportKind) bool { return t.Report != nil && t.Report.Kind == kind }

// attentionFor is how long an unavailable Decision asks for a person.
const attentionFor = 24 * time.Hour

// Attention reports whether the Thread asks for a person at now: its latest
// Decision is unavailable, under 24 hours old and not dismissed, and nothing
// of it is queued or under evaluation (EV-9).
func (t *Thread) Attention(now time.Time) bool {
	d := t.Latest
	return d != nil && d.Outcome == Unavailable && !d.Dismissed && now.Sub(d.At) < attentionFor &&
		len(t.Queue) == 0 && t.Eval == ""
}
