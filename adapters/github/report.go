package github

import (
	"context"
	"fmt"
	"strings"

	gh "github.com/google/go-github/v66/github"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// reportRoot is the Root of a Place whose issue is opened when something is said
// there (ci_report_to: issue); its Topic is the commit.
const reportRoot = "ci"

// reportPages bounds the search for a report that an earlier process opened.
const reportPages = 3

// reportIssue is the number of the issue about the failed CI of a commit. It is
// opened once, like a comment is written once: by its mark, among our own
// (OUT-1). The turn is held.
func (s *Sender) reportIssue(ctx context.Context, c *conn, to target) (int, error) {
	m := mark("ci:"+to.report, 0)
	if sent, ok := s.bot.said.get(m); ok {
		_, number, _ := parseMessage(sent.Message)
		return int(number), nil
	}
	number, err := s.findReport(ctx, c, to, m)
	if err == nil && number == 0 {
		number, err = s.openReport(ctx, c, to, m)
	}
	if err != nil {
		return 0, fmt.Errorf("open the issue of a report: %w", err)
	}
	s.bot.said.add(m, gate.Sent{Message: messageID(objIssue, int64(number))})
	return number, nil
}

func (s *Sender) findReport(ctx context.Context, c *conn, to target, m string) (int, error) {
	me, err := s.bot.self(ctx)
	if err != nil {
		return 0, err
	}
	opts := &gh.IssueListByRepoOptions{Creator: me.Login, State: "all", Sort: "created", Direction: "desc", ListOptions: gh.ListOptions{Page: 1, PerPage: 100}}
	for range reportPages {
		all, resp, err := c.Issues.ListByRepo(ctx, to.owner, to.name, opts)
		if err != nil {
			return 0, said(err)
		}
		for _, i := range all {
			if i.GetUser().GetID() == me.ID && strings.HasSuffix(strings.TrimSpace(i.GetBody()), m) {
				return i.GetNumber(), nil
			}
		}
		if opts.Page = resp.NextPage; opts.Page == 0 {
			break
		}
	}
	return 0, nil
}

func (s *Sender) openReport(ctx context.Context, c *conn, to target, m string) (int, error) {
	if wait := c.pace.take(s.Now()); wait > 0 {
		return 0, paced(wait)
	}
	title, body := "CI failed at "+to.report[:7], "CI: "+to.report+"\n\n"+m
	made, _, err := c.Issues.Create(ctx, to.owner, to.name, &gh.IssueRequest{Title: &title, Body: &body})
	switch {
	case err != nil:
		return 0, said(err)
	case made.GetNumber() <= 0: // an answer that is no issue: it may or may not be there
		return 0, &apiError{}
	}
	return made.GetNumber(), nil
}
