package github

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// ci reads the events of CI (GH-3): a workflow's own for Actions, a suite's for
// other Apps, and the statuses that are asked for. Their sender is whoever
// pushed and means nothing (facts B2), so no sender is looked at. What is not of
// the default branch, or not received, is context.
func (c *call) ci() (ev Event, ok bool) {
	switch c.Event {
	case "workflow_run":
		return c.completed(c.WorkflowRun, c.workflow), true
	case "check_suite":
		if c.CheckSuite != nil && c.CheckSuite.App.Slug == actionsSlug {
			return ignored(ReasonCIDetail), true // workflow_run tells it
		}
		return c.completed(c.CheckSuite, c.suite), true
	case "status":
		return c.readStatus(), true
	}
	return Event{}, false
}

// actionsSlug is the App whose suites are told by workflow runs.
const actionsSlug = "github-actions"

// told is a run that counts, and how it is told.
type told struct {
	gate.Run
	// key is the part of the dedupe key that names this attempt.
	key string
	at  timestamp
	url string
	// commit is the message of the commit, why what the integration says itself.
	commit, why string
}

// completed tests the conclusion, not the action alone: there are completed
// runs without one, and requested ones with one (facts B2).
func (c *call) completed(r *run, counts func(*run) (told, bool)) Event {
	switch {
	case r == nil:
		return ignored(ReasonUnsound)
	case c.Action != "completed" || r.Conclusion == "":
		return ignored(ReasonCIRunning)
	}
	failed, over := concluded(r.Conclusion)
	t, ok := counts(r)
	if !ok || !over || r.HeadBranch == "" || r.HeadBranch != c.Repository.DefaultBranch {
		return about(c.threadOf(r), ReasonCI)
	}
	t.ID, t.Branch, t.Head, t.Failed = r.ID, r.HeadBranch, r.HeadSHA, failed
	t.at, t.url, t.commit = r.UpdatedAt, r.URL, r.HeadCommit.Message
	return c.tell(t)
}

// concluded reads a conclusion: red, green, or neither, like a run that a newer
// push cancelled (facts B2).
func concluded(conclusion string) (failed, over bool) {
	switch conclusion {
	case "failure", "timed_out", "startup_failure":
		return true, true
	case "success":
		return false, true
	}
	return false, false
}

// workflow takes runs of our own repository that an event of the list started: a
// fork can have a branch of the same name, and what an issue or a comment starts
// is not CI (facts B2).
func (c *call) workflow(r *run) (told, bool) {
	if r.WorkflowID <= 0 || r.HeadRepository.ID != c.Repository.ID || !slices.Contains(c.Config.ciEvents(), r.Event) {
		return told{}, false
	}
	return told{
		Run: gate.Run{Workflow: workflowKey(r.WorkflowID), Name: cmp.Or(r.Name, "workflow"), Began: cmp.Or(r.StartedAt.Time, r.CreatedAt.Time)},
		key: fmt.Sprintf("workflow_run:%d:%d", r.ID, r.Attempt),
	}, true
}

// suite takes the checks of an App that is not Actions. A suite is completed
// again and again under one id, and tells no attempt: its time does.
func (c *call) suite(r *run) (told, bool) {
	return told{
		Run: gate.Run{Workflow: appKey(r.App.ID), Name: cmp.Or(r.App.Name, r.App.Slug), Began: r.UpdatedAt.Time},
		key: fmt.Sprintf("check_suite:%d:%s", r.ID, r.UpdatedAt.version()),
	}, r.App.ID > 0
}

// readStatus takes a context that is asked for, of the commit that is the
// default branch's: a branch is listed also where it only contains the commit.
func (c *call) readStatus() Event {
	failed := c.State == "failure" || c.State == "error"
	switch {
	case c.State == "pending" || c.State == "":
		return ignored(ReasonCIRunning)
	case !failed && c.State != "success", !slices.Contains(c.Config.CI.Contexts, c.Context), !c.atHead():
		return about("", ReasonCI)
	}
	return c.tell(told{
		Run: gate.Run{
			Workflow: statusKey(c.Context), Name: c.Context, Branch: c.Repository.DefaultBranch, Head: c.SHA,
			Began: c.UpdatedAt.Time, Failed: failed,
		},
		key: "status:" + strconv.FormatInt(c.StatusID, 10), at: c.UpdatedAt,
		url: c.TargetURL, commit: c.Commit.Commit.Message, why: c.Description,
	})
}

func (c *call) atHead() bool {
	for _, b := range c.Branches {
		if b.Name != "" && b.Name == c.Repository.DefaultBranch {
			return b.Commit.SHA == c.SHA
		}
	}
	return false
}

// What an incident is of, as it stands in gate.Run.Workflow.
func workflowKey(id int64) string       { return "workflow:" + strconv.FormatInt(id, 10) }
func appKey(id int64) string            { return "app:" + strconv.FormatInt(id, 10) }
func statusKey(context string) string   { return "status:" + context }
func runKey(w string) (kind, id string) { kind, id, _ = strings.Cut(w, ":"); return kind, id }

// tell makes the Trigger of a red run, or the news of a green one. What is of
// one commit is one candidate (EV-1).
func (c *call) tell(t told) Event {
	thread := branchThread(c.Config.ID, c.repo, t.Branch)
	switch {
	case !c.Source.Listens(gate.CI):
		return about(thread, ReasonCI)
	case !validSHA(t.Head):
		return ignored(ReasonUnsound)
	}
	at := cmp.Or(t.at.Time, c.Now).UTC()
	t.Began = cmp.Or(t.Began, at).UTC()
	ev := Event{Outcome: Triggered, Thread: thread, Arrival: gate.Arrival{
		Trigger: gate.Trigger{
			Workspace: c.Config.Workspace, Source: c.Config.ID, Scope: gate.CI, Thread: thread, Kind: gate.KindCI,
			Place: c.reportPlace(t.Head), Title: "CI of " + t.Branch, Sender: gate.Sender{Kind: gate.NoSender},
			URL: t.url, Bundle: "head:" + t.Head, Run: &t.Run, OccurredAt: at, ReceivedAt: c.Now,
			IDs: gate.PlatformIDs{Delivery: c.GUID},
		},
		Keys: []string{
			gate.DeliveryKey(c.Config.ID, c.GUID),
			string(c.Config.ID) + ":" + strconv.FormatInt(c.Repository.ID, 10) + ":" + t.key,
		},
		Lane: string(thread),
	}}
	if !t.Failed {
		ev.Outcome, ev.Reason, ev.Arrival.Change.Kind = Changed, ReasonCI, gate.ChangePassed
		return ev
	}
	ev.Arrival.Trigger.Text, ev.Arrival.Raw = t.text(), c.raw()
	ev.Arrival.Trigger.Plain = ev.Arrival.Trigger.Text
	return ev
}

// reportPlace is where replies about a commit go: to the commit, or to an issue
// that is opened for it (ci_report_to).
func (c *call) reportPlace(sha string) gate.Place {
	if c.Config.CI.ToIssue {
		return gate.Place{Chat: c.repo.String(), Root: reportRoot, Topic: sha}
	}
	return gate.Place{Chat: c.repo.String(), Root: sha}
}

// text is what is known without asking: workflow, commit and address.
func (t *told) text() string {
	subject, _, _ := strings.Cut(t.commit, "\n")
	text := fmt.Sprintf("CI failed on %s: %s, at commit %s", t.Branch, t.Name, t.Head)
	for _, part := range []string{subject, t.why, t.url} {
		if part = strings.TrimSpace(part); part != "" {
			text += "\n\n" + part
		}
	}
	return text
}

// threadOf is the Thread of a run: its pull request, the default branch, or
// none. A fork's pull request is not named here.
func (c *call) threadOf(r *run) gate.ThreadID {
	switch {
	case len(r.PullRequests) > 0:
		return c.thread(r.PullRequests[0].Number)
	case r.HeadBranch != "" && r.HeadBranch == c.Repository.DefaultBranch:
		return branchThread(c.Config.ID, c.repo, r.HeadBranch)
	}
	return ""
}
