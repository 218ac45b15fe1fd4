package github_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
	"github.com/gatehouse-bot/gatehouse/gate"
)

const ciSHA = "3484a3fb816e0859fd6e1cea078d76385ff50625"

// TestRunsOfTheDefaultBranch goes through the traps of facts B2.
func TestRunsOfTheDefaultBranch(t *testing.T) {
	t.Parallel()
	const workflow, suite, status = "workflow_run.completed.json", "check_suite.completed.branch.json", "status.success.one-branch.json"
	red := func(changes ...with) with {
		all := with{"workflow_run.event": "push", "workflow_run.conclusion": "failure"}
		for _, c := range changes {
			for k, v := range c {
				all[k] = v
			}
		}
		return all
	}
	app := func(conclusion string) with {
		return with{"check_suite.conclusion": conclusion, "check_suite.head_branch": "master"}
	}
	stated := func(state string) with {
		return with{"state": state, "context": "ci/circle", "sha": ciSHA, "branches": []any{with{"name": "master", "commit": with{"sha": ciSHA}}}}
	}
	for _, c := range []struct {
		says   string
		file   string
		change with
		is     github.Outcome
		reason github.Reason
	}{
		{"a failed push run is a Trigger (GH-3)", workflow, red(), github.Triggered, ""},
		{"so is one that timed out (GH-3)", workflow, red(with{"workflow_run.conclusion": "timed_out"}), github.Triggered, ""},
		{"and one that could not start (GH-3)", workflow, red(with{"workflow_run.conclusion": "startup_failure"}), github.Triggered, ""},
		{"a cancelled one is context: a newer push did that (GH-3)", workflow, red(with{"workflow_run.conclusion": "cancelled"}), github.Context, github.ReasonCI},
		{"and so is one that waits for an approval (GH-3)", workflow, red(with{"workflow_run.conclusion": "action_required"}), github.Context, github.ReasonCI},
		{"a green one is news (GH-3)", workflow, red(with{"workflow_run.conclusion": "success"}), github.Changed, github.ReasonCI},
		{"one that a comment started is not CI (GH-3)", workflow, red(with{"workflow_run.event": "issue_comment"}), github.Context, github.ReasonCI},
		{"one of the list of events is (GH-3)", workflow, red(with{"workflow_run.event": "schedule"}), github.Triggered, ""},
		{"a fork's branch of the same name is not ours (GH-3)", workflow, red(with{"workflow_run.head_repository.id": 7}), github.Context, github.ReasonCI},
		{"another branch is context (GH-3)", workflow, red(with{"workflow_run.head_branch": "topic"}), github.Context, github.ReasonCI},
		{"the default branch is the payload's, whatever its name (GH-3)", workflow, red(with{"workflow_run.head_branch": "trunk", "repository.default_branch": "trunk"}), github.Triggered, ""},
		{"a merge queue's branch is not the default branch (GH-3)", workflow, red(with{"workflow_run.head_branch": "gh-readonly-queue/master/pr-1"}), github.Context, github.ReasonCI},
		{"a run without a commit is unsound (GH-3)", workflow, red(with{"workflow_run.head_sha": "x"}), github.Ignored, github.ReasonUnsound},
		{"another App's checks are read (GH-3)", suite, app("failure"), github.Triggered, ""},
		{"green ones too (GH-3)", suite, app("success"), github.Changed, github.ReasonCI},
		{"those of Actions are told by their workflow (GH-3)", suite, with{"check_suite.conclusion": "failure", "check_suite.head_branch": "master", "check_suite.app.slug": "github-actions"}, github.Ignored, github.ReasonCIDetail},
		{"a fork's checks have no branch (GH-3)", suite, with{"check_suite.conclusion": "failure", "check_suite.head_branch": nil, "check_suite.pull_requests": []any{}}, github.Context, github.ReasonCI},
		{"a status that is asked for is a Trigger (GH-3)", status, stated("failure"), github.Triggered, ""},
		{"an error is a failure (GH-3)", status, stated("error"), github.Triggered, ""},
		{"a good one is news (GH-3)", status, stated("success"), github.Changed, github.ReasonCI},
		{"another context is none of ours (GH-3)", status, with{"state": "failure"}, github.Context, github.ReasonCI},
		{"a commit that the branch only contains is not its head (GH-3)", status, with{"state": "failure", "context": "ci/circle"}, github.Context, github.ReasonCI},
		{"nor one of another branch (GH-3)", status, with{"state": "failure", "context": "ci/circle", "branches": []any{}}, github.Context, github.ReasonCI},
		{"a state that is unknown is context (GH-3)", status, stated("odd"), github.Context, github.ReasonCI},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			s := sampleSetting()
			s.Config.CI = github.CI{Events: []string{"push", "schedule"}, Contexts: []string{"ci/circle"}}
			got := translated(t, s, c.file, c.change)
			if got.Outcome != c.is || got.Reason != c.reason {
				t.Errorf("Translate = %v %q, want %v %q", got.Outcome, got.Reason, c.is, c.reason)
			}
			off := s
			off.Source = source(map[gate.Scope]gate.Receive{})
			if got := translated(t, off, c.file, c.change); got.Outcome == github.Triggered || got.Outcome == github.Changed {
				t.Errorf("with receive.ci: off Translate = %v, want no Arrival", got.Outcome)
			}
		})
	}
}

func TestWhatARunTells(t *testing.T) {
	t.Parallel()
	s := sampleSetting()
	failed := with{"workflow_run.event": "push", "workflow_run.conclusion": "failure", "workflow_run.name": "Build", "workflow_run.run_attempt": 2}
	a := translated(t, s, "workflow_run.completed.json", failed).Arrival
	want := gate.Run{
		Workflow: "workflow:2823525", Name: "Build", Branch: "master", Head: ciSHA, ID: 289782451, Failed: true,
		Began: time.Date(2020, 10, 5, 16, 33, 49, 0, time.UTC),
	}
	tr := a.Trigger
	if tr.Run == nil || *tr.Run != want {
		t.Errorf("GH-3: Run = %+v, want %+v", tr.Run, want)
	}
	if tr.Sender.Kind != gate.NoSender || tr.Kind != gate.KindCI || tr.Scope != gate.CI || tr.Bundle != "head:"+ciSHA || tr.Place.Root != ciSHA {
		t.Errorf("GH-3: the Trigger is %+v; want CI's, without a sender, reported to the commit", tr)
	}
	for _, part := range []string{"CI failed on master: Build, at commit " + ciSHA, "build(test): check workflow run event pa", "/actions/runs/289782451"} {
		if !strings.Contains(tr.Text, part) {
			t.Errorf("GH-3: the text is %q; want %q in it", tr.Text, part)
		}
	}
	if len(a.Keys) != 2 || !strings.HasSuffix(a.Keys[1], ":workflow_run:289782451:2") || string(tr.Thread) != a.Lane {
		t.Errorf("TR-1: keys %q in lane %q; want run and attempt, in the branch's lane", a.Keys, a.Lane)
	}
	s.Config.CI.ToIssue = true
	if p := translated(t, s, "workflow_run.completed.json", failed).Arrival.Trigger.Place; p.Root != "ci" || p.Topic != ciSHA {
		t.Errorf("GH-3: place = %+v, want the issue of the commit's report", p)
	}
}
