package github_test

import (
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
)

// TestTheTableOfEvents goes through facts B1: what class each event.action is.
func TestTheTableOfEvents(t *testing.T) {
	t.Parallel()
	const (
		issue, pull = "issues.opened.json", "pull_request.opened.json"
		rv, thread  = "pull_request_review.submitted.body-null.json", "pull_request_review_thread.resolved.json"
		repo, owner = "repository.renamed.json", "installation.created.json"
	)
	for _, c := range []struct {
		event, file, action string
		is                  github.Outcome
	}{
		{"issues", issue, "opened", github.Triggered},
		{"issues", issue, "reopened", github.Context}, {"issues", issue, "closed", github.Context},
		{"issues", issue, "transferred", github.Context}, {"issues", issue, "deleted", github.Changed},
		{"issues", issue, "assigned", github.Context}, {"issues", issue, "unassigned", github.Context},
		{"issues", issue, "labeled", github.Context}, {"issues", issue, "milestoned", github.Context},
		{"issues", issue, "typed", github.Context}, {"issues", issue, "locked", github.Context}, {"issues", issue, "pinned", github.Context},
		{"pull_request", pull, "opened", github.Triggered}, {"pull_request", pull, "ready_for_review", github.Triggered},
		{"pull_request", pull, "reopened", github.Context}, {"pull_request", pull, "synchronize", github.Context},
		{"pull_request", pull, "converted_to_draft", github.Context}, {"pull_request", pull, "closed", github.Context},
		{"pull_request", pull, "edited", github.Ignored}, {"pull_request", pull, "review_requested", github.Context},
		{"pull_request_review", rv, "dismissed", github.Context},
		{"pull_request_review_thread", thread, "resolved", github.Context}, {"pull_request_review_thread", thread, "unresolved", github.Context},
		{"repository", repo, "renamed", github.State}, {"repository", repo, "transferred", github.State},
		{"repository", repo, "privatized", github.State}, {"repository", repo, "publicized", github.State},
		{"repository", repo, "archived", github.State}, {"repository", repo, "deleted", github.State},
		{"installation", owner, "created", github.State}, {"installation", owner, "deleted", github.State},
		{"installation", owner, "suspend", github.State}, {"installation", owner, "unsuspend", github.State},
		{"installation", owner, "new_permissions_accepted", github.State},
		{"installation_repositories", owner, "added", github.State}, {"installation_repositories", owner, "removed", github.State},
		{"installation_target", owner, "renamed", github.State}, {"organization", owner, "renamed", github.State},
		{"github_app_authorization", owner, "revoked", github.State}, {"meta", owner, "deleted", github.State},
		{"sub_issues", issue, "sub_issue_added", github.Ignored}, {"check_run", issue, "completed", github.Ignored},
		{"workflow_job", issue, "completed", github.Ignored}, {"discussion", issue, "created", github.Ignored},
		{"discussion_comment", issue, "created", github.Ignored}, {"ping", issue, "", github.Ignored},
	} {
		t.Run(c.event+"."+c.action+" is "+c.is.String()+" (GH-2)", func(t *testing.T) {
			t.Parallel()
			body := edit(t, sample(t, c.file), with{"action": c.action, "pull_request.draft": false})
			got := github.Translate(sampleSetting(), github.Delivery{Event: c.event, GUID: "g", Body: body})
			if got.Outcome != c.is {
				t.Errorf("Translate = %v %q, want %v", got.Outcome, got.Reason, c.is)
			}
		})
	}
}
