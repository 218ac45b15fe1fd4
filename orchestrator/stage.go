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
// Executor. A turnTimeout that is not positive means the default, 30 min. A
// turn that waits for an answer is not silent: it is parked (DE-10).
func Stage(t Ticket, openQuestion bool, now time.Time, turnTimeout time.Duration) TicketStage {
	if turnTimeout <= 0 {
		turnTimeout = defaultTurnTimeout
	}
	waits, silent := now.Sub(since(t.WaitsSince, t.ActiveAt)), now.Sub(since(t.ActedAt, t.ActiveAt))
	switch {
	case !t.Active():
		return StageEnded
	case t.unfetched() && waits >= fetchWithin, t.Turn && !openQuestion && silent >= turnTimeout:
		return StageDelivery
	case openQuestion:
		return StageAnswer
	case t.Report != nil && t.Report.wantsPerson():
		return t.Report.stage()
	case t.unfetched():
		return StageQueued
	case !t.Turn || t.rests():
		return StageIdle
	}
	return StageWorking
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
	return t.Report != nil && t.Report.Kind == ReportWaiting && t.Covered == t.Delivered
}

// stage is what a Report that wants a person shows.
func (r *Report) stage() TicketStage {
	switch r.Kind {
	case ReportReady:
		return StageReview
	case ReportBlocked:
		return StageBlocked
	case ReportFailed, ReportProgress, ReportWaiting, ReportDone:
	}
	return StageFailed
}

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
