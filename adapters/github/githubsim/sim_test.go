package githubsim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v66/github"

	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
)

type world struct {
	sim    *githubsim.Sim
	url    string
	client *gh.Client
	repo   githubsim.Repo
	ann    githubsim.Account
}

func newWorld(t *testing.T) *world {
	t.Helper()
	sim := githubsim.New(githubsim.App{})
	api := httptest.NewServer(sim)
	t.Cleanup(api.Close)
	return &world{
		sim: sim, url: api.URL, client: connect(t, api.URL, &http.Client{Transport: asToken{sim.App().Token}}),
		repo: sim.Repo("acme/app"), ann: sim.Person("ann"),
	}
}

type asToken struct{ token string }

func (a asToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+a.token)
	return http.DefaultTransport.RoundTrip(r)
}

func connect(t *testing.T, base string, c *http.Client) *gh.Client {
	t.Helper()
	client, err := gh.NewClient(c).WithEnterpriseURLs(base, base)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestEventsAreReadByGoGitHub posts each kind of delivery to a receiver that is
// built of go-github alone.
func TestEventsAreReadByGoGitHub(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull, opened := w.sim.OpenPull(w.repo, w.ann, "t", "b", true)
	issue, newIssue := w.sim.OpenIssue(w.repo, w.ann, "t", "b é 👀")
	said, comment := w.sim.Comment(issue, w.ann, "hello")
	top, reviewComment := w.sim.ReviewComment(pull, w.ann, "why?", 0)
	_, reply := w.sim.ReviewComment(pull, w.ann, "so", top.ID)
	_, review := w.sim.Review(pull, w.ann, "commented", "fine")
	_, onCommit := w.sim.CommitComment(w.repo, strings.Repeat("a", 40), w.ann, "x")
	for _, d := range []githubsim.Delivery{
		opened, newIssue, comment, reviewComment, reply, review, onCommit, w.sim.EditComment(said, w.ann, "hello!"),
		w.sim.Ready(pull, w.ann), w.sim.Close(issue, w.ann), w.sim.Delete(said, w.ann), w.sim.Echo(said),
	} {
		got := received(t, w, d)
		if got == nil {
			t.Errorf("%s.%s is no event for go-github", d.Event, d.Action)
		}
	}
	e, ok := received(t, w, reply).(*gh.PullRequestReviewCommentEvent)
	if !ok || e.GetComment().GetInReplyTo() != top.ID || e.GetPullRequest().GetNumber() != pull.Number || e.GetSender().GetLogin() != "ann" {
		t.Errorf("the reply reads as %+v", e)
	}
	edited := w.sim.Edit(newIssue, map[string]any{"issue.user": nil, "sender.type": "Bot"})
	if i, ok := received(t, w, edited).(*gh.IssuesEvent); !ok || i.Issue.User != nil || i.Sender.GetType() != "Bot" || edited.GUID == newIssue.GUID {
		t.Errorf("Edit gave %+v", i)
	}
}

func received(t *testing.T, w *world, d githubsim.Delivery) (event any) {
	t.Helper()
	hook := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := gh.ValidatePayload(r, []byte(w.sim.App().Secret))
		if err != nil || gh.DeliveryID(r) != d.GUID || !bytes.Equal(body, d.Body) {
			t.Errorf("%s: ValidatePayload = %v", d.Event, err)
		}
		if event, err = gh.ParseWebHook(gh.WebHookType(r), body); err != nil {
			t.Errorf("%s: ParseWebHook = %v", d.Event, err)
		}
		rw.WriteHeader(http.StatusAccepted)
	}))
	defer hook.Close()
	for _, post := range []func(context.Context, string, githubsim.Delivery) (githubsim.Answer, error){w.sim.Deliver, w.sim.DeliverForm} {
		if a, err := post(t.Context(), hook.URL, d); err != nil || a.Status != http.StatusAccepted {
			t.Errorf("%s: answer = %+v, %v", d.Event, a, err)
		}
	}
	return event
}

func TestWritingByGoGitHub(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	issue, _ := w.sim.OpenIssue(w.repo, w.ann, "t", "b")
	pull, _ := w.sim.OpenPull(w.repo, w.ann, "t", "b", false)
	top, _ := w.sim.ReviewComment(pull, w.ann, "why?", 0)
	reply, _ := w.sim.ReviewComment(pull, w.ann, "so", top.ID)
	ctx := t.Context()
	write := func(number int, body string) error {
		_, _, err := w.client.Issues.CreateComment(ctx, "acme", "app", number, &gh.IssueComment{Body: &body})
		return err
	}
	answer := func(to int64) error {
		_, _, err := w.client.PullRequests.CreateCommentInReplyTo(ctx, "acme", "app", pull.Number, "x", to)
		return err
	}
	for name, tt := range map[string]struct {
		err  error
		want int
	}{
		"a comment":                         {write(issue.Number, "x"), 0},
		"E3 a blank one":                    {write(issue.Number, " \n"), 422},
		"E3 one of 65,536 characters":       {write(issue.Number, strings.Repeat("字", 65536)), 0},
		"E3 one more":                       {write(issue.Number, strings.Repeat("字", 65537)), 422},
		"one on an issue that is not":       {write(99, "x"), 404},
		"an answer below a top comment":     {answer(top.ID), 0},
		"E3 an answer below an answer":      {answer(reply.ID), 422},
		"an answer below what is not there": {answer(5), 422},
	} {
		if got := status(tt.err); got != tt.want {
			t.Errorf("%s: answer = %d (%v), want %d", name, got, tt.err, tt.want)
		}
	}
	if n := len(w.sim.Snapshot().Sent()); n != 3 {
		t.Errorf("%d comments, want 3", n)
	}
}

func status(err error) int {
	var e *gh.ErrorResponse
	if errors.As(err, &e) {
		return e.Response.StatusCode
	}
	if err != nil {
		return -1
	}
	return 0
}

func TestAppSignsIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	issue, _ := w.sim.OpenIssue(w.repo, w.ann, "t", "b")
	apps, err := ghinstallation.NewAppsTransport(http.DefaultTransport, w.sim.App().ID, []byte(w.sim.PrivateKey()))
	if err != nil {
		t.Fatal(err)
	}
	asApp := connect(t, w.url, &http.Client{Transport: apps})
	found, _, err := asApp.Apps.FindRepositoryInstallation(t.Context(), "acme", "app")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := ghinstallation.New(http.DefaultTransport, w.sim.App().ID, found.GetID(), []byte(w.sim.PrivateKey()))
	if err != nil {
		t.Fatal(err)
	}
	tr.BaseURL = w.url + "/api/v3"
	client := connect(t, w.url, &http.Client{Transport: tr})
	body := "x"
	c, _, err := client.Issues.CreateComment(t.Context(), "acme", "app", issue.Number, &gh.IssueComment{Body: &body})
	if err != nil || c.GetUser().GetID() != w.sim.SelfBot().ID {
		t.Fatalf("CreateComment = %v, %v, want it by the App's bot", c, err)
	}
	if _, _, err := client.Users.Get(t.Context(), ""); status(err) != 403 {
		t.Errorf("C3: GET /user by an installation = %v, want 403", err)
	}
	if _, _, err := asApp.Users.Get(t.Context(), "ann"); status(err) != 401 {
		t.Errorf("E1: GET /users by the App's key = %v, want 401", err)
	}
	w.sim.ForgetTokens()
	if _, _, err := client.Issues.CreateComment(t.Context(), "acme", "app", issue.Number, &gh.IssueComment{Body: &body}); status(err) != 401 {
		t.Errorf("CreateComment with a token that is gone = %v, want 401", err)
	}
}

func TestWaitAndPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	issue, _ := w.sim.OpenIssue(w.repo, w.ann, "t", "b")
	go func() {
		for range 120 {
			w.sim.Comment(issue, w.ann, "x")
		}
	}()
	snap, err := w.sim.Wait(t.Context(), func(s githubsim.Snapshot) bool { return len(s.On(issue)) == 120 })
	if err != nil || len(snap.Issues) != 1 {
		t.Fatal(err)
	}
	opts := &gh.IssueListCommentsOptions{ListOptions: gh.ListOptions{PerPage: 100}}
	first, resp, err := w.client.Issues.ListComments(t.Context(), "acme", "app", issue.Number, opts)
	if err != nil || len(first) != 100 || resp.NextPage != 2 || resp.Rate.Limit != 5000 {
		t.Errorf("ListComments = %d, next %d, %v", len(first), resp.NextPage, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.sim.Wait(ctx, func(githubsim.Snapshot) bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait = %v, want the context's error", err)
	}
}

func TestFaultsAreGoGitHubsErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	get := func(f githubsim.Fault) error {
		w.sim.Fail(f)
		_, _, err := connect(t, w.url, &http.Client{Transport: asToken{w.sim.App().Token}}).Users.Get(t.Context(), "ann")
		return err
	}
	var abuse *gh.AbuseRateLimitError
	if err := get(githubsim.Secondary(403, "30")); !errors.As(err, &abuse) || abuse.RetryAfter.Seconds() != 30 {
		t.Errorf("E2: the secondary limit = %v", err)
	}
	if err := get(githubsim.Secondary(429, "30")); errors.As(err, &abuse) || status(err) != 429 {
		t.Errorf("E2: v66 knows no 429, got %v", err)
	}
	body := "x"
	w.sim.Fail(githubsim.Fault{Drop: true}) // a POST, since net/http repeats a GET
	if _, _, err := w.client.Issues.CreateComment(t.Context(), "acme", "app", 1, &gh.IssueComment{Body: &body}); err == nil || status(err) != -1 {
		t.Errorf("a cut connection = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.sim.Fail(githubsim.Fault{Hang: true})
	before := len(w.sim.Snapshot().Calls)
	go func() {
		_, _ = w.sim.Wait(t.Context(), func(s githubsim.Snapshot) bool { return len(s.Calls) > before })
		cancel()
	}()
	if _, _, err := w.client.Users.Get(ctx, "ann"); !errors.Is(err, context.Canceled) {
		t.Errorf("a hanging call = %v, want the context's error", err)
	}
	if _, _, err := w.client.Users.Get(t.Context(), "nobody"); status(err) != 404 {
		t.Errorf("C1: an unknown user = %v, want 404", err)
	}
}

// TestReadingByGoGitHub: what was said can be read back, with GitHub's paging,
// and what REST does not tell of edits.
func TestReadingByGoGitHub(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	pull, _ := w.sim.OpenPull(w.repo, w.ann, "t", "b", false)
	first, _ := w.sim.ReviewComment(pull, w.ann, "why?", 0)
	for range 4 {
		w.sim.ReviewComment(pull, w.ann, "so", first.ID)
	}
	review, _ := w.sim.Review(pull, w.ann, "approved", "good")
	sha := w.sim.Commit(w.repo, "a commit")

	issue, _, err := w.client.Issues.Get(ctx, "acme", "app", pull.Number)
	if err != nil || issue.GetTitle() != "t" || !issue.IsPullRequest() {
		t.Errorf("Issues.Get = %v, %v", issue, err)
	}
	page := gh.ListOptions{PerPage: 2}
	newest, resp, err := w.client.PullRequests.ListComments(ctx, "acme", "app", pull.Number, &gh.PullRequestListCommentsOptions{Sort: "created", Direction: "desc", ListOptions: page})
	if err != nil || len(newest) != 2 || resp.NextPage != 2 || resp.LastPage != 3 || newest[0].GetID() <= newest[1].GetID() {
		t.Errorf("ListComments = %d, next %d of %d, %v, want the newest two of three pages", len(newest), resp.NextPage, resp.LastPage, err)
	}
	reviews, _, err := w.client.PullRequests.ListReviews(ctx, "acme", "app", pull.Number, nil)
	if err != nil || len(reviews) != 1 || reviews[0].GetBody() != "good" || reviews[0].SubmittedAt == nil {
		t.Errorf("ListReviews = %v, %v", reviews, err)
	}
	commit, _, err := w.client.Git.GetCommit(ctx, "acme", "app", sha)
	if err != nil || commit.GetMessage() != "a commit" {
		t.Errorf("GetCommit = %v, %v", commit, err)
	}
	if _, _, err := w.client.Issues.Get(ctx, "acme", "app", 99); status(err) != 404 {
		t.Errorf("Issues.Get of none = %v, want 404", err)
	}
	if _, _, err := w.client.Git.GetCommit(ctx, "acme", "app", strings.Repeat("0", 40)); status(err) != 404 {
		t.Errorf("GetCommit of none = %v, want 404", err)
	}
	w.sim.EditComment(review, w.ann, "very good")
	w.sim.EditIssue(pull, w.ann, "c")
	if got := w.edits(t, pull.Number); strings.Count(got, `"lastEditedAt":"`) != 2 || !strings.Contains(got, fmt.Sprintf(`"databaseId":%d`, review.ID)) {
		t.Errorf("graphql = %s, want both edited", got)
	}
	if got := w.edits(t, 99); !strings.Contains(got, "NOT_FOUND") {
		t.Errorf("graphql of none = %s, want NOT_FOUND", got)
	}
}

// edits asks when an issue was edited.
func (w *world) edits(t *testing.T, number int) string {
	t.Helper()
	r, err := w.client.NewRequest(http.MethodPost, "../graphql", map[string]any{
		"query":     `query { repository { issueOrPullRequest { ... on Issue { lastEditedAt } } } }`,
		"variables": map[string]any{"owner": "acme", "name": "app", "number": number},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out json.RawMessage
	if _, err := w.client.Do(t.Context(), r, &out); err != nil {
		t.Fatal(err)
	}
	return string(out)
}
