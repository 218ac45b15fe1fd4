package github

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Setting is all that Translate knows beside the delivery.
type Setting struct {
	Config Config
	Source gate.Source
	// OwnID is the numeric id of the agent's own account (GH-6). The Handler
	// serves nothing before it is known.
	OwnID int64
	Now   time.Time
}

// Delivery is one webhook delivery whose signature was right.
type Delivery struct {
	// Event is X-GitHub-Event, GUID X-GitHub-Delivery: neither is signed.
	Event, GUID string
	// Body is the JSON.
	Body []byte
}

// Translate makes of a delivery one of a closed set of Events (GH-2). It does
// no I/O, never fails and never panics on purpose. What it looks at is the
// payload alone: text is as of the Trigger, and nothing is fetched newer (GH-5).
func Translate(s Setting, d Delivery) Event {
	ev := s.translate(d)
	ev.Name, ev.Delivery = d.Event, d.GUID
	return ev
}

func (s Setting) translate(d Delivery) Event {
	if r, ok := unread(d.Event); ok {
		if !isObject(d.Body) || !json.Valid(d.Body) {
			return refused(ReasonBody)
		}
		return ignored(r)
	}
	p, err := decode(d.Body)
	if err != nil {
		return refused(ReasonBody)
	}
	c := call{Setting: s, Delivery: d, payload: p}
	ev := c.classify()
	ev.Action, ev.Installation, ev.Repo = p.Action, p.Installation.ID, c.repo.String()
	if ev.Repo == "/" {
		ev.Repo = ""
	}
	return ev
}

// unread are the events whose body is not even decoded: nothing of them
// concerns us, and some are sent by the hundred (facts B2: a check run and a
// workflow job per job).
func unread(event string) (r Reason, ok bool) {
	switch event {
	case "ping":
		return ReasonPing, true
	case "check_run", "workflow_job":
		return ReasonCIDetail, true
	case "discussion", "discussion_comment":
		return ReasonDiscussion, true
	case "issues", "issue_comment", "pull_request", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread",
		"commit_comment", "workflow_run", "check_suite", "status", "push", "create", "delete", "repository", "public",
		"installation", "installation_repositories", "installation_target", "organization", "meta", "github_app_authorization":
		return "", false
	}
	return ReasonUnknownEvent, true
}

// call is one delivery on its way through Translate.
type call struct {
	Setting
	Delivery
	payload
	repo repo
}

// classify reads state first, since it is state whoever caused it, then CI,
// which has no sender, then what somebody did.
func (c *call) classify() Event {
	if ev, ok := c.state(); ok {
		return ev
	}
	var ok bool
	if c.Repository != nil {
		c.repo, ok = splitRepo(c.Repository.FullName)
	}
	switch {
	case !ok || c.Repository.ID <= 0:
		return ignored(ReasonUnsound)
	case !c.Source.Enabled:
		return ignored(ReasonSourceOff)
	case !c.repo.matchesAny(c.Config.Repos):
		return ignored(ReasonRepo)
	}
	if ev, ok := c.ci(); ok {
		return ev
	}
	if c.isOwn(c.Sender, nil) {
		return ignored(ReasonOwn)
	}
	return c.activity()
}

// activity gives an event to its reader (GH-2).
func (c *call) activity() Event {
	switch c.Event {
	case "issues":
		return c.readIssue()
	case "issue_comment":
		return c.readIssueComment()
	case "pull_request":
		return c.readPull()
	case "pull_request_review":
		return c.readReview()
	case "pull_request_review_comment":
		return c.readReviewComment()
	case "commit_comment":
		return c.readCommitComment()
	case "pull_request_review_thread":
		return c.onPull(ReasonReviewChanged)
	case "push", "create", "delete":
		return c.pushed()
	}
	return ignored(ReasonUnknownEvent)
}

// state reads what is about the Source itself: who is installed where, and
// which names changed (EN-5, facts B1).
func (c *call) state() (ev Event, ok bool) {
	switch c.Event {
	case "installation", "installation_repositories":
		return c.withReach(state(ReasonInstallation), c.installed()), true
	case "installation_target":
		return state(ReasonInstallation), true
	case "organization":
		return state(ReasonOrganization), true
	case "github_app_authorization":
		return state(ReasonRevoked), true
	case "meta":
		return state(ReasonHookRemoved), true
	case "public":
		return state(ReasonRepository), true
	case "repository":
		return c.repositoryState(), true
	}
	return Event{}, false
}

func (c *call) repositoryState() Event {
	switch c.Action {
	case "renamed", "privatized", "publicized":
		return state(ReasonRepository)
	case "transferred", "archived", "unarchived", "deleted":
		return c.withReach(state(ReasonRepository), c.repositoryReach())
	case "edited":
		if present(c.Changes.DefaultBranch) {
			return state(ReasonRepository)
		}
	}
	return ignored(ReasonRepositoryIdle)
}

// isOwn recognises ourselves by numeric id, whatever the login is by now (GH-6,
// TR-3), and what our own App wrote with somebody's token.
func (c *call) isOwn(a *account, via *app) bool {
	return a.is(c.OwnID) || via != nil && via.ID != 0 && via.ID == c.Config.Auth.AppID
}

func (c *call) thread(number int64) gate.ThreadID {
	return ThreadOf(c.Config.ID, c.repo.String(), number)
}

// onPull is context on the Thread of the payload's pull request.
func (c *call) onPull(r Reason) Event {
	if c.PullRequest == nil || c.PullRequest.Number <= 0 {
		return ignored(ReasonUnsound)
	}
	return about(c.thread(c.PullRequest.Number), r)
}

// pushed is context: of the default branch's Thread, or of none (a pull request
// is told by its own synchronize).
func (c *call) pushed() Event {
	branch, ok := strings.CutPrefix(c.Ref, "refs/heads/")
	if !ok || branch != c.Repository.DefaultBranch {
		return about("", ReasonPushed)
	}
	return about(branchThread(c.Config.ID, c.repo, branch), ReasonPushed)
}
