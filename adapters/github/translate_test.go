package github_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
	"github.com/gatehouse-bot/gatehouse/gate"
)

const mentioning = "@my-bot have a look"

// with is a change to the sample's event.
type with = map[string]any

func bot(login string) with {
	return with{"id": 49699333, "login": login, "type": "Bot"}
}

func person(id int, login string) with {
	return with{"id": id, "login": login, "type": "User"}
}

func TestSenders(t *testing.T) {
	t.Parallel()
	const created = "issue_comment.created.json"
	via := with{"comment.performed_via_github_app": with{"id": 7, "slug": "helper"}}
	for name, tt := range map[string]struct {
		change with
		kind   gate.SenderKind
		reason github.Reason
	}{
		"a person":     {nil, gate.Person, ""},
		"an App's bot": {both(bot("dependabot[bot]")), gate.Bot, ""},
		"a login that ends in [bot], whatever its type":      {both(person(5, "odd[bot]")), gate.Bot, ""},
		"C1 Copilot has no suffix":                           {both(with{"id": 198982749, "login": "Copilot", "type": "User"}), gate.Bot, ""},
		"C1 Copilot by its login":                            {both(with{"id": 6, "login": "copilot", "type": "User"}), gate.Bot, ""},
		"C1 a Mannequin is no person":                        {both(with{"id": 8, "login": "old", "type": "Mannequin"}), gate.Bot, ""},
		"C1 an Organization is no person":                    {both(with{"id": 9, "login": "acme", "type": "Organization"}), gate.Bot, ""},
		"C1 no type is no person":                            {both(with{"id": 9, "login": "acme"}), gate.Bot, ""},
		"C1 an App that acts with a person's token":          {via, gate.Bot, ""},
		"C2 a login that only looks like a bot's":            {both(person(10, "cilium-bot")), gate.Person, ""},
		"C1 a deleted author is null":                        {with{"comment.user": nil}, 0, github.ReasonNobody},
		"C1 the ghost":                                       {both(person(10137, "ghost")), 0, github.ReasonNobody},
		"C1 a sender that is missing":                        {with{"sender": gone{}}, 0, github.ReasonNotAuthor},
		"C1 nobody speaks for another":                       {with{"sender": person(77, "maintainer")}, 0, github.ReasonNotAuthor},
		"TR-3 own account, by its number":                    {both(person(ownID, "renamed-since")), 0, github.ReasonOwn},
		"TR-3 own App with somebody's token":                 {with{"comment.performed_via_github_app": with{"id": 4242}}, 0, github.ReasonOwn},
		"B3 own comment that somebody else sent an event of": {with{"comment.user": person(ownID, "my-bot")}, 0, github.ReasonOwn},
	} {
		t.Run("GH-6 "+name, func(t *testing.T) {
			t.Parallel()
			s := sampleSetting()
			s.Config.Auth.AppID = 4242
			got := translated(t, s, created, tt.change)
			if got.Reason != tt.reason || got.Arrival.Trigger.Sender.Kind != tt.kind {
				t.Errorf("Translate = %v %q by %v, want %q by %v", got.Outcome, got.Reason, got.Arrival.Trigger.Sender.Kind, tt.reason, tt.kind)
			}
		})
	}
}

// both makes the author and the sender of a comment one account.
func both(a with) with { return with{"comment.user": a, "sender": a} }

func TestOwnIsDroppedBeforeTheMentionIsLookedFor(t *testing.T) {
	t.Parallel()
	got := translated(t, sampleSetting(), "issue_comment.created.json", merge(both(person(ownID, "x")), with{"comment.body": mentioning}))
	if got.Reason != github.ReasonOwn {
		t.Errorf("GH-6: Translate = %v %q, want own_message", got.Outcome, got.Reason)
	}
}

func merge(all ...with) with {
	out := with{}
	for _, m := range all {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

func TestWhatIsNew(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file   string
		change with
		is     github.Outcome
		reason github.Reason
	}{
		"an issue that was transferred in is not new":            {"issues.opened.by-transfer.json", with{"issue.body": mentioning}, github.Context, github.ReasonTransferredIn},
		"a draft is not new":                                     {"pull_request.opened.json", with{"pull_request.draft": true}, github.Ignored, github.ReasonDraft},
		"a draft's edit neither":                                 {"pull_request.opened.json", with{"action": "edited", "pull_request.draft": true}, github.Ignored, github.ReasonDraft},
		"ready_for_review is, whoever pressed it":                {"pull_request.ready_for_review.json", with{"sender": person(5, "maintainer")}, github.Triggered, ""},
		"a pull request that we mark ready is not":               {"pull_request.ready_for_review.json", with{"sender": person(ownID, "x")}, github.Ignored, github.ReasonOwn},
		"a merge is closed and merged":                           {"pull_request.closed.unmerged.json", with{"pull_request.merged": true}, github.Context, github.ReasonPullChanged},
		"an empty review is nothing":                             {"pull_request_review.submitted.body-null.json", with{"review.body": " \n"}, github.Ignored, github.ReasonEmptyReview},
		"a review with a text is":                                {"pull_request_review.submitted.body-null.json", with{"review.body": "no"}, github.Triggered, ""},
		"an issue is not by its label":                           {"issues.assigned.json", with{"action": "labeled"}, github.Context, github.ReasonIssueChanged},
		"B1 an unknown event is ignored":                         {"issues.opened.json", with{"event": "sub_issues"}, github.Ignored, github.ReasonUnknownEvent},
		"an unknown action of a known event is context":          {"issues.opened.json", with{"action": "typed"}, github.Context, github.ReasonIssueChanged},
		"B1 a removed hook is state":                             {"ping.repository-hook.json", with{"event": "meta"}, github.State, github.ReasonHookRemoved},
		"a repository's topics are nothing":                      {"repository.renamed.json", with{"action": "edited", "changes": with{"topics": with{}}}, github.Ignored, github.ReasonRepositoryIdle},
		"the default branch is state though we did it":           {"repository.edited.default-branch.json", with{"sender": person(ownID, "x")}, github.State, github.ReasonRepository},
		"B2 CI is read though we pushed":                         {"workflow_run.completed.json", with{"sender": person(ownID, "x")}, github.Context, github.ReasonCI},
		"B2 a run without a conclusion":                          {"workflow_run.completed.json", with{"workflow_run.conclusion": nil}, github.Ignored, github.ReasonCIRunning},
		"B2 a pending status":                                    {"status.success.one-branch.json", with{"state": "pending"}, github.Ignored, github.ReasonCIRunning},
		"PL-5 an issue without a number is unsound":              {"issues.opened.json", with{"issue.number": gone{}}, github.Ignored, github.ReasonUnsound},
		"PL-5 an issue that is a string is unsound":              {"issues.opened.json", with{"issue": "x"}, github.Ignored, github.ReasonUnsound},
		"PL-5 no repository is unsound":                          {"issues.opened.json", with{"repository": nil}, github.Ignored, github.ReasonUnsound},
		"E4 a repository's name that leaves its path is unsound": {"issues.opened.json", with{"repository.full_name": "acme/../user"}, github.Ignored, github.ReasonUnsound},
		"E4 dots are no name":                                    {"issues.opened.json", with{"repository.full_name": "../.."}, github.Ignored, github.ReasonUnsound},
		"PL-5 a commit comment without a commit is unsound":      {"commit_comment.created.on-line.json", with{"comment.commit_id": "../x"}, github.Ignored, github.ReasonUnsound},
		"F one field of an odd type loses nothing":               {"issues.opened.json", with{"issue.created_at": with{}, "issue.title": 7, "repository.default_branch": []int{1}}, github.Triggered, ""},
		"F an event that is another's body is unsound":           {"issues.opened.json", with{"event": "pull_request_review_comment"}, github.Ignored, github.ReasonUnsound},
		"F a missing review is unsound":                          {"pull_request_review.dismissed.json", with{"review": nil}, github.Ignored, github.ReasonUnsound},
		"F a thread without a pull request is unsound":           {"pull_request_review_thread.resolved.json", with{"pull_request": nil}, github.Ignored, github.ReasonUnsound},
		"F a run that is missing is unsound":                     {"workflow_run.completed.json", with{"workflow_run": nil}, github.Ignored, github.ReasonUnsound},
		"a push by ourselves is our own":                         {"push.default-branch.json", with{"sender": person(ownID, "x")}, github.Ignored, github.ReasonOwn},
		"a push without a sender is told":                        {"push.default-branch.json", with{"sender": nil}, github.Context, github.ReasonPushed},
		"a run of a branch has no thread":                        {"workflow_run.completed.json", with{"workflow_run.head_branch": "topic"}, github.Context, github.ReasonCI},
		"C1 an installation needs no sender":                     {"installation.created.json", with{"sender": gone{}}, github.State, github.ReasonInstallation},
		"B1 a renamed organization is state":                     {"installation.created.json", with{"event": "organization"}, github.State, github.ReasonOrganization},
		"B1 a renamed account is state":                          {"installation.created.json", with{"event": "installation_target"}, github.State, github.ReasonInstallation},
		"B1 a revoked authorization is state":                    {"installation.created.json", with{"event": "github_app_authorization"}, github.State, github.ReasonRevoked},
		"B1 a repository made public is state":                   {"repository.renamed.json", with{"event": "public"}, github.State, github.ReasonRepository},
		"a review's edit that adds the mention":                  {"pull_request_review.submitted.body-null.json", with{"action": "edited", "review.body": mentioning, "changes.body.from": ""}, github.Triggered, ""},
		"an issue's edit that adds the mention":                  {"issues.edited.empty-changes.json", with{"issue.body": mentioning, "changes.body.from": "x"}, github.Triggered, ""},
		"a pull request's edit that adds it":                     {"pull_request.opened.json", with{"action": "edited", "pull_request.body": mentioning, "changes.body.from": "x"}, github.Triggered, ""},
		"B1 a new base branch is no text":                        {"pull_request.opened.json", with{"action": "edited", "changes.base.ref.from": "x"}, github.Ignored, github.ReasonNoTextChange},
		"an unknown action of a comment is context":              {"issue_comment.created.json", with{"action": "pinned"}, github.Context, github.ReasonIssueChanged},
		"F a pull request without a number is none":              {"pull_request.opened.json", with{"pull_request.number": nil}, github.Ignored, github.ReasonUnsound},
		"F a comment that is missing is unsound":                 {"issue_comment.created.json", with{"comment": nil}, github.Ignored, github.ReasonUnsound},
	} {
		t.Run("GH-2 "+name, func(t *testing.T) {
			t.Parallel()
			event, _, _ := strings.Cut(tt.file, ".")
			if e, ok := tt.change["event"].(string); ok {
				event = e
			}
			got := github.Translate(sampleSetting(), github.Delivery{Event: event, GUID: "g", Body: edit(t, sample(t, tt.file), tt.change)})
			if got.Outcome != tt.is || got.Reason != tt.reason {
				t.Errorf("Translate = %v %q, want %v %q", got.Outcome, got.Reason, tt.is, tt.reason)
			}
		})
	}
}

func TestBodiesThatAreNoObject(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"issues", "ping", "check_run", "sub_issues"} {
		for _, body := range []string{"", "null", "[]", `"x"`, "{", "{} {}", "7", strings.Repeat(`{"a":`, 20000)} {
			if got := github.Translate(sampleSetting(), github.Delivery{Event: event, Body: []byte(body)}); got.Outcome != github.Refused {
				t.Errorf("F: Translate(%s %.20q) = %v %q, want refused", event, body, got.Outcome, got.Reason)
			}
		}
	}
}

func TestOnePullRequestIsNewOnce(t *testing.T) {
	t.Parallel()
	opened := translated(t, sampleSetting(), "pull_request.opened.json", nil).Arrival.Keys
	ready := translated(t, sampleSetting(), "pull_request.ready_for_review.json", nil).Arrival.Keys
	if opened[1] != ready[1] {
		t.Errorf("GH-2: keys = %v and %v, want the object's key equal", opened, ready)
	}
}

func TestWhatIsOfOneReview(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file   string
		change with
		want   string
	}{
		"the review (EV-1)":                    {"pull_request_review.submitted.body-null.json", with{"review.body": "no", "review.id": 7}, "review:7"},
		"each of its comments (EV-1)":          {"pull_request_review_comment.created.json", with{"comment.pull_request_review_id": 7}, "review:7"},
		"a comment of none is alone (EV-1)":    {"pull_request_review_comment.created.json", with{"comment.pull_request_review_id": nil}, ""},
		"a comment in the conversation (EV-1)": {"issue_comment.created.json", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := translated(t, sampleSetting(), tt.file, tt.change).Arrival.Trigger.Bundle; got != tt.want {
				t.Errorf("Bundle = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestThreads(t *testing.T) {
	t.Parallel()
	const pr = toHello + "2"
	reply := with{"comment.in_reply_to_id": 284312000}
	for name, tt := range map[string]struct {
		file    string
		change  with
		thread  string
		place   gate.Place
		replyTo string
	}{
		"a comment of a pull request is on its thread": {"issue_comment.created.json", with{"issue.number": 2, "issue.pull_request": with{}}, pr,
			gate.Place{Chat: "Codertocat/Hello-World", Root: "2"}, ""},
		"a review too": {"pull_request_review.submitted.body-null.json", with{"review.body": "no"}, pr,
			gate.Place{Chat: "Codertocat/Hello-World", Root: "2"}, ""},
		"a review comment too, and is answered below itself": {"pull_request_review_comment.created.json", nil, pr,
			gate.Place{Chat: "Codertocat/Hello-World", Root: "2", Topic: "284312630"}, ""},
		"B1 a reply is answered below the top comment": {"pull_request_review_comment.created.json", reply, pr,
			gate.Place{Chat: "Codertocat/Hello-World", Root: "2", Topic: "284312000"}, "review_comment:284312000"},
		"a commit's comment is on the commit": {"commit_comment.created.on-line.json", nil, toHello + "6113728f27ae82c7b1a177c8d03f9e96e0adf246",
			gate.Place{Chat: "Codertocat/Hello-World", Root: "6113728f27ae82c7b1a177c8d03f9e96e0adf246"}, ""},
	} {
		t.Run("TH-3 "+name, func(t *testing.T) {
			t.Parallel()
			tr := translated(t, sampleSetting(), tt.file, tt.change).Arrival.Trigger
			if string(tr.Thread) != tt.thread || tr.Place != tt.place || tr.ReplyTo != tt.replyTo {
				t.Errorf("thread %s place %+v reply to %q, want %s %+v %q", tr.Thread, tr.Place, tr.ReplyTo, tt.thread, tt.place, tt.replyTo)
			}
		})
	}
	t.Run("TH-3 a branch's name becomes URL-safe", func(t *testing.T) {
		t.Parallel()
		got := translated(t, sampleSetting(), "push.default-branch.json", with{"ref": "refs/heads/a/b~c 界", "repository.default_branch": "a/b~c 界"})
		if want := toHello + "ci~a=2Fb=7Ec=20=E7=95=8C"; string(got.Thread) != want {
			t.Errorf("thread = %s, want %s", got.Thread, want)
		}
	})
	t.Run("TH-3 a thread is named from outside", func(t *testing.T) {
		t.Parallel()
		if got := github.ThreadOf("github-main", "Codertocat/Hello-World", 2); string(got) != pr {
			t.Errorf("ThreadOf = %s, want %s", got, pr)
		}
		if got := github.ThreadOf("github-main", "a/b/c", 2) + github.ThreadOf("g", "a/b", 0); got != "" {
			t.Errorf("ThreadOf = %q, want none", got)
		}
	})
}

func TestScopes(t *testing.T) {
	t.Parallel()
	files := map[gate.Scope]string{gate.Issues: "issues.opened.json", gate.Pulls: "pull_request.opened.json", gate.Comments: "issue_comment.created.json"}
	bodies := map[gate.Scope]string{gate.Issues: "issue.body", gate.Pulls: "pull_request.body", gate.Comments: "comment.body"}
	for scope, file := range files {
		t.Run("AD-9 "+string(scope), func(t *testing.T) {
			t.Parallel()
			s := sampleSetting()
			for _, tt := range []struct {
				receive  gate.Receive
				body     string
				is       github.Outcome
				onlyLive bool
			}{
				{gate.ReceiveOff, mentioning, github.Ignored, false},
				{gate.ReceiveMentions, "hello", github.Triggered, true},
				{gate.ReceiveMentions, mentioning, github.Triggered, false},
				{gate.ReceiveAll, "hello", github.Triggered, false},
			} {
				s.Source.Scopes = map[gate.Scope]gate.Receive{scope: tt.receive}
				got := translated(t, s, file, with{bodies[scope]: tt.body})
				if got.Outcome != tt.is || got.Arrival.OnlyIfLive != tt.onlyLive {
					t.Errorf("%v %q: %v %q only if live %v, want %v %v", tt.receive, tt.body, got.Outcome, got.Reason, got.Arrival.OnlyIfLive, tt.is, tt.onlyLive)
				}
				if got.Outcome == github.Triggered && got.Arrival.Trigger.Scope != scope {
					t.Errorf("scope = %s, want %s", got.Arrival.Trigger.Scope, scope)
				}
			}
		})
	}
	t.Run("TR-5 a repository that no pattern takes", func(t *testing.T) {
		t.Parallel()
		s := sampleSetting()
		for patterns, want := range map[string]github.Outcome{"acme/*": github.Ignored, "codertocat/hello-*": github.Triggered, "acme/*,*/Hello-World": github.Triggered} {
			s.Config.Repos = strings.Split(patterns, ",")
			if got := translated(t, s, "issues.opened.json", nil); got.Outcome != want {
				t.Errorf("repos %s: %v %q, want %v", patterns, got.Outcome, got.Reason, want)
			}
		}
	})
	t.Run("TR-5 a source that is off", func(t *testing.T) {
		t.Parallel()
		s := sampleSetting()
		s.Source.Enabled = false
		if got := translated(t, s, "issues.opened.json", nil); got.Reason != github.ReasonSourceOff {
			t.Errorf("Translate = %v %q, want source_off", got.Outcome, got.Reason)
		}
	})
}

func TestEdits(t *testing.T) {
	t.Parallel()
	adds := with{"comment.body": mentioning, "changes.body.from": "have a look"}
	for name, tt := range map[string]struct {
		change with
		reason github.Reason
	}{
		"an edit that adds the mention":           {adds, ""},
		"one that changes something else":         {with{"comment.body": mentioning, "changes": with{"title": with{"from": "x"}}}, github.ReasonNoTextChange},
		"B3 one without changes":                  {with{"comment.body": mentioning, "changes": with{}}, github.ReasonNoTextChange},
		"one whose mention was there before":      {merge(adds, with{"changes.body.from": "@My-Bot look"}), github.ReasonEdited},
		"one that mentions in a quote only":       {merge(adds, with{"comment.body": "> " + mentioning}), github.ReasonEdited},
		"B3 a maintainer edits another's":         {merge(adds, with{"sender": person(5, "maintainer")}), github.ReasonNotAuthor},
		"B3 somebody edits ours":                  {merge(adds, with{"comment.user": person(ownID, "x")}), github.ReasonOwn},
		"our own edit":                            {merge(adds, both(person(ownID, "x"))), github.ReasonOwn},
		"B1 a deleted text is never run":          {merge(adds, with{"action": "deleted"}), github.ReasonRecalled},
		"an edit whose old text had it in a code": {merge(adds, with{"changes.body.from": "`@my-bot`"}), ""},
	} {
		t.Run("GH-5 "+name, func(t *testing.T) {
			t.Parallel()
			got := translated(t, sampleSetting(), "issue_comment.edited.json", tt.change)
			if got.Reason != tt.reason || (got.Outcome == github.Triggered) != (tt.reason == "") {
				t.Fatalf("Translate = %v %q, want %q", got.Outcome, got.Reason, tt.reason)
			}
			if got.Outcome != github.Triggered {
				return
			}
			keys := strings.Join(got.Arrival.Keys, " ")
			if want := "github-main:delivery:guid-1 github-main:186853002:issue_comment:492700400:edited:2019-05-15T15:20:22Z"; keys != want {
				t.Errorf("keys = %s, want %s (TR-1)", keys, want)
			}
			if tr := got.Arrival.Trigger; tr.Addressing != gate.Mention || got.Arrival.OnlyIfLive {
				t.Errorf("addressing = %v, want a mention that counts", tr.Addressing)
			}
		})
	}
}

// TestEditsOfReviews: a review carries no updated_at, so that its edits are told
// apart by their texts (TR-1, TR-4).
func TestEditsOfReviews(t *testing.T) {
	t.Parallel()
	edit := func(from, to string) gate.Arrival {
		got := translated(t, sampleSetting(), "pull_request_review.submitted.body-null.json",
			with{"action": "edited", "review.body": to, "changes": with{"body": with{"from": from}}})
		if len(got.Arrival.Keys) != 2 || got.Arrival.Change.Kind != gate.ChangeEdit {
			t.Fatalf("Translate = %v %q with keys %v, want an edit", got.Outcome, got.Reason, got.Arrival.Keys)
		}
		return got.Arrival
	}
	first, again, next := edit("one", "two"), edit("one", "two"), edit("two", "three")
	if first.Keys[1] != again.Keys[1] {
		t.Errorf("TR-1: one edit by two hooks has the keys %q and %q, want one", first.Keys[1], again.Keys[1])
	}
	if first.Keys[1] == next.Keys[1] {
		t.Errorf("TR-1: two edits have the key %q, so that the second counts as a duplicate", next.Keys[1])
	}
}

// What an edit or a deletion is to the orchestrator: news of the message, which
// it knows by its key (TR-4, TR-4a).
func TestNewsOfMessages(t *testing.T) {
	t.Parallel()
	adds := with{"comment.body": mentioning, "changes.body.from": "have a look"}
	for name, tt := range map[string]struct {
		file    string
		changes with
		want    gate.Change
		text    string
	}{
		"an edit":                   {"issue_comment.edited.json", with{"comment.body": "again", "changes.body.from": "x"}, gate.Change{Kind: gate.ChangeEdit}, "again"},
		"one that adds the mention": {"issue_comment.edited.json", adds, gate.Change{Kind: gate.ChangeEdit, Adds: true}, "please look"},
		"one that had it before":    {"issue_comment.edited.json", merge(adds, with{"changes.body.from": "@my-bot look"}), gate.Change{Kind: gate.ChangeEdit}, "please look"},
		"a deleted comment":         {"issue_comment.deleted.json", nil, gate.Change{Kind: gate.ChangeRecall}, ""},
		"deleted by somebody else":  {"issue_comment.deleted.json", with{"sender": person(5, "maintainer")}, gate.Change{Kind: gate.ChangeRecall}, ""},
		"EN-5 a deleted issue, which is lost": {"issues.deleted.json", nil, gate.Change{
			Kind: gate.ChangeRecall, Reach: []gate.Reached{{Place: "github-main~Codertocat~Hello-World~1", Lost: "the issue was deleted"}},
		}, ""},
		"a deleted comment on a review":      {"pull_request_review_comment.deleted.json", nil, gate.Change{Kind: gate.ChangeRecall}, ""},
		"an edited comment on a review":      {"pull_request_review_comment.edited.json", with{"comment.body": "again", "changes.body.from": "x"}, gate.Change{Kind: gate.ChangeEdit}, "again"},
		"TR-4a the mention is not looked at": {"issue_comment.deleted.json", with{"comment.body": mentioning}, gate.Change{Kind: gate.ChangeRecall}, ""},
	} {
		t.Run("TR-4, TR-4a "+name, func(t *testing.T) {
			t.Parallel()
			a := translated(t, sampleSetting(), tt.file, tt.changes).Arrival
			if !reflect.DeepEqual(a.Change, tt.want) || a.Trigger.Text != tt.text && tt.text != "please look" || tt.text == "please look" && !strings.Contains(a.Trigger.Text, "look") {
				t.Errorf("Translate = %+v saying %q, want %+v, %q", a.Change, a.Trigger.Text, tt.want, tt.text)
			}
			if a.Trigger.IDs.Message == "" || a.Lane != string(a.Trigger.Thread) || a.OnlyIfLive {
				t.Errorf("Translate = message %q lane %q live %v, want the message's", a.Trigger.IDs.Message, a.Lane, a.OnlyIfLive)
			}
		})
	}
}

func TestTextIsAsOfTheTrigger(t *testing.T) {
	t.Parallel()
	body := "@my-bot: please look\r\n\r\n```go\nfmt.Println(\"panic\")\n```\r\n> quoted\r\n\r\n<!-- hidden --> `span` end"
	tr := translated(t, sampleSetting(), "issue_comment.created.json", with{"comment.body": body}).Arrival.Trigger
	if want := "please look\n\n```go\nfmt.Println(\"panic\")\n```\n> quoted\n\n<!-- hidden --> `span` end"; tr.Text != want {
		t.Errorf("GH-5 text = %q, want %q", tr.Text, want)
	}
	if strings.Join(strings.Fields(tr.Plain), " ") != "please look end" {
		t.Errorf("plain = %q, want it without code, quotes and comments", tr.Plain)
	}
}

func TestABodyThatIsTooBigIsNotKept(t *testing.T) {
	t.Parallel()
	got := translated(t, sampleSetting(), "issues.opened.json", with{"filler": strings.Repeat("x", 1<<20)})
	if got.Outcome != github.Triggered || got.Arrival.Raw != nil {
		t.Errorf("raw has %d bytes, want none kept", len(got.Arrival.Raw))
	}
}

func TestOutcomeWords(t *testing.T) {
	t.Parallel()
	for o, want := range map[github.Outcome]string{
		github.Refused: "refused", github.Ignored: "ignored", github.Context: "context", github.State: "state", github.Triggered: "trigger", github.Changed: "change", 99: "refused",
	} {
		if b, err := o.MarshalText(); string(b) != want || err != nil {
			t.Errorf("Outcome(%d) = %s, want %s", o, b, want)
		}
	}
}

func FuzzTranslate(f *testing.F) {
	for _, g := range golden {
		event, _, _ := strings.Cut(g.file, ".")
		f.Add(event, sample(f, g.file))
	}
	f.Add("issues", []byte(`{"action":"opened","issue":{"id":1,"number":1,"user":{"id":5,"type":"User"}},"repository":{"id":1,"full_name":"a/b"},"sender":{"id":5}}`))
	f.Fuzz(func(t *testing.T, event string, body []byte) {
		got := github.Translate(sampleSetting(), github.Delivery{Event: event, GUID: "g", Body: body})
		if got.Outcome == github.Triggered {
			checkArrival(t, got.Arrival)
		} else if got.Reason == "" {
			t.Fatalf("Translate = %v without a reason", got.Outcome)
		}
	})
}

// checkArrival holds for whatever comes in: the ids are ours, and nothing of the
// text reaches them.
func checkArrival(t *testing.T, a gate.Arrival) {
	t.Helper()
	tr := a.Trigger
	if tr.Thread == "" || a.Lane != string(tr.Thread) || strings.ContainsAny(string(tr.Thread), "/ ?#%&") || len(a.Keys) < 2 {
		t.Fatalf("thread %q lane %q keys %v", tr.Thread, a.Lane, a.Keys)
	}
	if tr.Sender.Kind != gate.Person && tr.Sender.Kind != gate.Bot || tr.Sender.ID == "31415926" {
		t.Fatalf("sender = %+v", tr.Sender)
	}
}
