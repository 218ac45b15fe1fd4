package github_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
	"github.com/gatehouse-bot/gatehouse/gate"
)

const toHello = "github-main~Codertocat~Hello-World~"

// golden is every recorded payload and what it is, each row reviewed against
// GH-2, GH-6 and facts/github.md B1. A Trigger's row names its sender kind,
// addressing, Thread, object and last dedupe key; the others their Thread.
var golden = []struct {
	file   string
	is     github.Outcome
	reason github.Reason
	thread string
	says   string
}{
	{"check_run.completed.failure-actions.json", github.Ignored, github.ReasonCIDetail, "", ""},
	{"check_run.created.json", github.Ignored, github.ReasonCIDetail, "", ""},
	{"check_run.requested_action.json", github.Ignored, github.ReasonCIDetail, "", ""},
	{"check_suite.completed.branch.json", github.Context, github.ReasonCI, toHello + "2", ""},
	{"check_suite.completed.default-branch-actions.json", github.Ignored, github.ReasonCIDetail, "", ""},
	{"check_suite.requested.json", github.Ignored, github.ReasonCIRunning, "", ""},
	{"check_suite.rerequested.bot-sender.json", github.Ignored, github.ReasonCIRunning, "", ""},
	{"commit_comment.created.on-line.json", github.Triggered, "", toHello + "6113728f27ae82c7b1a177c8d03f9e96e0adf246", "comment person none commit_comment:33548674 186853002:commit_comment:33548674:created"},
	{"discussion_comment.created.json", github.Ignored, github.ReasonDiscussion, "", ""},
	{"discussion_comment.deleted.json", github.Ignored, github.ReasonDiscussion, "", ""},
	{"discussion_comment.edited.json", github.Ignored, github.ReasonDiscussion, "", ""},
	{"installation.created.json", github.State, github.ReasonInstallation, "", ""},
	{"installation.deleted.json", github.State, github.ReasonInstallation, "", ""},
	{"installation_repositories.added.json", github.State, github.ReasonInstallation, "", ""},
	{"installation_repositories.removed.json", github.State, github.ReasonInstallation, "", ""},
	{"issue_comment.created.app-org.json", github.Triggered, "", toHello + "1", "comment person none issue_comment:492700400 186853002:issue_comment:492700400:created"},
	{"issue_comment.created.json", github.Triggered, "", toHello + "1", "comment person none issue_comment:492700400 186853002:issue_comment:492700400:created"},
	{"issue_comment.deleted.json", github.Changed, github.ReasonRecalled, "github-main~Codertocat~Hello-World~1", ""},
	{"issue_comment.edited.json", github.Changed, github.ReasonEdited, "github-main~Codertocat~Hello-World~1", ""},
	{"issues.assigned.json", github.Context, github.ReasonIssueChanged, toHello + "1", ""},
	{"issues.deleted.json", github.Changed, github.ReasonRecalled, "github-main~Codertocat~Hello-World~1", ""},
	{"issues.edited.empty-changes-old.json", github.Ignored, github.ReasonNoTextChange, "", ""},
	{"issues.edited.empty-changes.json", github.Ignored, github.ReasonNoTextChange, "", ""},
	{"issues.opened.body-null.json", github.Triggered, "", toHello + "1", "issue person none issue:444500041 186853002:issue:444500041:opened"},
	{"issues.opened.by-transfer.json", github.Context, github.ReasonTransferredIn, toHello + "1", ""},
	{"issues.opened.json", github.Triggered, "", toHello + "1", "issue person none issue:444500041 186853002:issue:444500041:opened"},
	{"issues.opened.org.json", github.Triggered, "", toHello + "1", "issue person none issue:444500041 186853002:issue:444500041:opened"},
	{"issues.reopened.json", github.Context, github.ReasonIssueChanged, toHello + "1", ""},
	{"issues.transferred.json", github.Context, github.ReasonIssueChanged, "github-main~octo-org~octo-repo~1", ""},
	{"ping.organization-hook.json", github.Ignored, github.ReasonPing, "", ""},
	{"ping.repository-hook.json", github.Ignored, github.ReasonPing, "", ""},
	{"pull_request.assigned.json", github.Context, github.ReasonPullChanged, toHello + "2", ""},
	{"pull_request.closed.unmerged.json", github.Context, github.ReasonPullChanged, toHello + "2", ""},
	{"pull_request.converted_to_draft.json", github.Context, github.ReasonPullChanged, toHello + "2", ""},
	{"pull_request.opened.json", github.Triggered, "", toHello + "2", "pull_request person none pull_request:279147437 186853002:pull_request:279147437:opened"},
	{"pull_request.ready_for_review.json", github.Triggered, "", toHello + "2", "pull_request person none pull_request:279147437 186853002:pull_request:279147437:opened"},
	{"pull_request.reopened.json", github.Context, github.ReasonPullChanged, toHello + "2", ""},
	{"pull_request.review_requested.json", github.Context, github.ReasonPullChanged, toHello + "2", ""},
	{"pull_request.synchronize.json", github.Context, github.ReasonPullChanged, toHello + "2", ""},
	{"pull_request_review.dismissed.json", github.Context, github.ReasonReviewChanged, toHello + "2", ""},
	{"pull_request_review.submitted.body-null.json", github.Ignored, github.ReasonEmptyReview, "", ""},
	{"pull_request_review_comment.created.json", github.Triggered, "", toHello + "2", "review_comment person none review_comment:284312630 186853002:review_comment:284312630:created"},
	{"pull_request_review_comment.deleted.json", github.Changed, github.ReasonRecalled, "github-main~Codertocat~Hello-World~2", ""},
	{"pull_request_review_comment.edited.json", github.Changed, github.ReasonEdited, "github-main~Codertocat~Hello-World~2", ""},
	{"pull_request_review_thread.resolved.json", github.Context, github.ReasonReviewChanged, toHello + "2", ""},
	{"push.default-branch.json", github.Context, github.ReasonPushed, toHello + "ci~master", ""},
	{"push.tag-deleted.json", github.Context, github.ReasonPushed, "", ""},
	{"push.tag.json", github.Context, github.ReasonPushed, "", ""},
	{"repository.edited.default-branch.json", github.State, github.ReasonRepository, "", ""},
	{"repository.renamed.json", github.State, github.ReasonRepository, "", ""},
	{"repository.transferred.json", github.State, github.ReasonRepository, "", ""},
	{"status.success.not-head-of-default.json", github.Context, github.ReasonCI, "", ""},
	{"status.success.one-branch.json", github.Context, github.ReasonCI, "", ""},
	{"workflow_job.in_progress.bot-sender.json", github.Ignored, github.ReasonCIDetail, "", ""},
	{"workflow_job.queued.via-app.json", github.Ignored, github.ReasonCIDetail, "", ""},
	{"workflow_run.completed.inconsistent.json", github.Ignored, github.ReasonCIRunning, "", ""},
	{"workflow_run.completed.json", github.Context, github.ReasonCI, "github-main~octo-org~octo-repo~ci~master", ""},
	{"workflow_run.requested.action_required.json", github.Ignored, github.ReasonCIRunning, "", ""},
}

func TestSamples(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, want := range golden {
		known[want.file] = true
		t.Run("GH-2 "+want.file, func(t *testing.T) {
			t.Parallel()
			got := translated(t, sampleSetting(), want.file, nil)
			if got.Outcome != want.is || got.Reason != want.reason || string(got.Thread) != want.thread {
				t.Errorf("Translate = %v %q %q, want %v %q %q", got.Outcome, got.Reason, got.Thread, want.is, want.reason, want.thread)
			}
			if got.Outcome == github.Triggered && row(got.Arrival) != want.says {
				t.Errorf("trigger = %s, want %s", row(got.Arrival), want.says)
			}
		})
	}
	files, err := filepath.Glob("testdata/samples/*.json")
	if err != nil || len(files) != len(golden) {
		t.Fatalf("%d samples (%v), want %d rows", len(files), err, len(golden))
	}
	for _, f := range files {
		if !known[filepath.Base(f)] {
			t.Errorf("%s has no row", f)
		}
	}
}

func row(a gate.Arrival) string {
	tr := a.Trigger
	return fmt.Sprintf("%s %s %s %s %s", tr.Kind, tr.Sender.Kind, tr.Addressing, tr.IDs.Message, strings.TrimPrefix(a.Keys[1], "github-main:"))
}

func TestSampleTriggerInFull(t *testing.T) {
	t.Parallel()
	body := sample(t, "issues.opened.json")
	got := translated(t, sampleSetting(), "issues.opened.json", nil)
	tr := got.Arrival.Trigger
	for name, pair := range map[string][2]any{
		"GH-6 the sender's id is the number":                    {tr.Sender.ID, codertocat},
		"GH-6 the login is a name, and no alias":                {fmt.Sprint(tr.Sender.Name, tr.Sender.Aliases), "Codertocat[]"},
		"the name is as GitHub shows it":                        {tr.Sender.Name, "Codertocat"},
		"the title stands beside the text":                      {tr.Title, "Spelling error in the README file"},
		"the text is the body":                                  {tr.Text, "It looks like you accidently spelled 'commit' with two 't's."}, //nolint:misspell // the sample
		"the place leads back":                                  {tr.Place, gate.Place{Chat: "Codertocat/Hello-World", Root: "1"}},
		"the URL is the issue's":                                {tr.URL, "https://github.com/Codertocat/Hello-World/issues/1"},
		"TR-6 it happened when it was made":                     {tr.OccurredAt.Format("2006-01-02T15:04:05Z"), "2019-05-15T15:20:18Z"},
		"it was received now":                                   {tr.ReceivedAt, now},
		"the scope is issues":                                   {tr.Scope, gate.Issues},
		"TR-1 the GUID is a key":                                {got.Arrival.Keys[0], "github-main:delivery:guid-1"},
		"TR-3 the message is a key, as of ours":                 {got.Arrival.Keys[2], gate.MessageKey("github-main", "issue:444500041")},
		"TH-1 the lane is the thread":                           {got.Arrival.Lane, string(tr.Thread)},
		"AD-9 unaddressed counts if it is live":                 {got.Arrival.OnlyIfLive, true},
		"the raw body is kept":                                  {string(got.Arrival.Raw), string(body)},
		"workspace and source are ours":                         {tr.Workspace + " " + string(tr.Source), "default github-main"},
		"the delivery's GUID is on the trigger":                 {tr.IDs.Delivery, "guid-1"},
		"AD-11 GH-6 id: finds the sender, and a login does not": {names(tr.Sender, "id:21031067", "21031067", "CODERTOCAT"), "yes yes no"},
		"AD-11 author_association is not listed":                {names(tr.Sender, "OWNER", "NONE"), "no no"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got %v, want %v", name, pair[0], pair[1])
		}
	}
}

func names(s gate.Sender, entries ...string) string {
	var out []string
	for _, e := range entries {
		m, _ := gate.OnList([]string{e}, s)
		out = append(out, m.String())
	}
	return strings.Join(out, " ")
}

func TestSamplesAreCopiedWhole(t *testing.T) {
	t.Parallel()
	if b, err := os.ReadFile("testdata/samples/README.md"); err != nil || !strings.Contains(string(b), "MIT") {
		t.Errorf("the samples' licence is missing: %v", err)
	}
}
