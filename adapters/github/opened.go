package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// OpenedIssue is an issue or pull request, and whether the agent's own account
// opened it (SU-9).
type OpenedIssue struct {
	Thread gate.ThreadID
	Scope  gate.Scope
	Place  gate.Place
	Title  string
	// Ours: its author has the own account's numeric id.
	Ours bool
	At   time.Time
}

// Opened asks GitHub about an issue or pull request by its page's address. ok
// is false for what is not one of this Source's repositories, or not there.
func (b *Bot) Opened(ctx context.Context, page string) (o OpenedIssue, ok bool, err error) {
	r, number, ok := b.issueOf(page)
	if !ok {
		return OpenedIssue{}, false, nil
	}
	c, err := b.api.of(ctx, r)
	if err != nil {
		return OpenedIssue{}, false, fmt.Errorf("reach %s: %w", r, err)
	}
	issue, _, err := c.Issues.Get(ctx, r.owner, r.name, number)
	var answer *gh.ErrorResponse
	if errors.As(err, &answer) && answer.Response != nil && (answer.Response.StatusCode == http.StatusNotFound || answer.Response.StatusCode == http.StatusGone) {
		return OpenedIssue{}, false, nil
	}
	if err != nil {
		return OpenedIssue{}, false, fmt.Errorf("get issue %s#%d: %w", r, number, err)
	}
	o = OpenedIssue{
		Thread: ThreadOf(b.cfg.ID, r.String(), int64(number)), Scope: gate.Issues, Title: issue.GetTitle(),
		Place: gate.Place{Chat: r.String(), Root: strconv.Itoa(number)},
		Ours:  b.ID() != 0 && issue.GetUser().GetID() == b.ID(), At: issue.GetCreatedAt().Time,
	}
	if issue.IsPullRequest() {
		o.Scope = gate.Pulls
	}
	return o, true, nil
}

// issueOf takes the address of an issue's or pull request's page apart.
func (b *Bot) issueOf(page string) (r repo, number int, ok bool) {
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || !strings.EqualFold(u.Host, b.pages()) {
		return repo{}, 0, false
	}
	part := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(part) < 4 || part[2] != "issues" && part[2] != "pull" {
		return repo{}, 0, false
	}
	r, ok = splitRepo(part[0] + "/" + part[1])
	number, err = strconv.Atoi(part[3])
	return r, number, ok && err == nil && number > 0 && r.matchesAny(b.cfg.Repos)
}

// pages is the host of GitHub's pages: that of the API but on github.com.
func (b *Bot) pages() string {
	if b.api.base.Host == "api.github.com" {
		return "github.com"
	}
	return b.api.base.Host
}
