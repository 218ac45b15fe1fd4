package github

import "github.com/gatehouse-bot/gatehouse/gate"

// ci reads the events of CI. Until GH-3 is built they are context; their sender
// is whoever pushed and means nothing (facts B2), so no sender is looked at.
func (c *call) ci() (ev Event, ok bool) {
	switch c.Event {
	case "workflow_run":
		return c.completed(c.WorkflowRun), true
	case "check_suite":
		if c.CheckSuite != nil && c.CheckSuite.App.Slug == "github-actions" {
			return ignored(ReasonCIDetail), true // workflow_run tells it
		}
		return c.completed(c.CheckSuite), true
	case "status":
		if c.State == "pending" || c.State == "" {
			return ignored(ReasonCIRunning), true
		}
		return about("", ReasonCI), true
	}
	return Event{}, false
}

// completed tests the conclusion, not the action alone: there are completed
// runs without one, and requested ones with one (facts B2).
func (c *call) completed(r *run) Event {
	switch {
	case r == nil:
		return ignored(ReasonUnsound)
	case c.Action != "completed" || r.Conclusion == "":
		return ignored(ReasonCIRunning)
	}
	return about(c.threadOf(r), ReasonCI)
}

// threadOf is the Thread of a run: its pull request, the default branch, or
// none. A fork's pull request is not named here and is found by its head later
// (GH-3).
func (c *call) threadOf(r *run) gate.ThreadID {
	switch {
	case len(r.PullRequests) > 0:
		return c.thread(r.PullRequests[0].Number)
	case r.HeadBranch != "" && r.HeadBranch == c.Repository.DefaultBranch:
		return branchThread(c.Config.ID, c.repo, r.HeadBranch)
	}
	return ""
}
