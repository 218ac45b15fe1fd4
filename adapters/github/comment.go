package github

import (
	"context"
	"fmt"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/gatehouse-bot/gatehouse/adapters/internal/markdown"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// partBytes is the text of one comment. GitHub takes 65,536 characters; what
// Neutral adds at most doubles a text (facts E3).
const partBytes = 30_000

// markHead begins the hidden mark of our comments.
const markHead = "<!-- gatehouse:"

// mark is the hidden comment that tells the part of an Outgoing. It stands at
// the end of a comment, where no text of an agent can put one (OUT-1).
func mark(id string, part int) string {
	if part > 0 {
		id = fmt.Sprintf("%s:%d", id, part+1)
	}
	return markHead + strings.ReplaceAll(id, "--", "- -") + " -->"
}

// commentsOf cuts a text into comments and makes each harmless, after it was
// cut (facts E3). The person that the Outgoing calls is called in the first,
// unless the text does. The requester may be called, by the text alone.
func commentsOf(out gate.Outgoing) []string {
	login := mentionOf(out.Mention)
	may := login
	if may == "" {
		may = mentionOf(out.Requester)
	}
	var bodies []string
	for _, p := range markdown.Split(strings.TrimSpace(out.Text), partBytes) {
		body := Neutral(p.String(), may)
		if !blank(body) {
			bodies = append(bodies, body)
		}
	}
	if len(bodies) > 0 && login != "" && !calls(bodies[0], login) {
		bodies[0] = "@" + login + " " + lead(bodies[0])
	}
	return bodies
}

// calls reports whether a text mentions the login for GitHub, quotes included.
func calls(md, login string) bool {
	if !holdsFold(md, login) || costly(md) {
		return false
	}
	for _, node := range visible(render(md), false) {
		if mentionsIn(node, login) {
			return true
		}
	}
	return false
}

// lead puts what must begin a line of its own below the mention.
func lead(body string) string {
	if first := body[0]; letter(first) || first >= 0x80 {
		return body
	}
	return "\n\n" + body
}

// comment writes a comment where the target is.
func (c *conn) comment(ctx context.Context, to target, body string) (gate.Sent, error) {
	kind, id, err := c.write(ctx, to, body)
	switch {
	case err != nil:
		return gate.Sent{}, said(err)
	case id <= 0: // an answer that is no comment: it may or may not be there
		return gate.Sent{}, &apiError{}
	}
	return sentAs(to, kind, id), nil
}

func (c *conn) write(ctx context.Context, to target, body string) (object, int64, error) {
	switch {
	case to.sha != "":
		made, _, err := c.Repositories.CreateComment(ctx, to.owner, to.name, to.sha, &gh.RepositoryComment{Body: &body})
		return objCommitComment, made.GetID(), err
	case to.topic != 0:
		made, _, err := c.PullRequests.CreateCommentInReplyTo(ctx, to.owner, to.name, to.number, body, to.topic)
		return objReviewComment, made.GetID(), err
	}
	made, _, err := c.Issues.CreateComment(ctx, to.owner, to.name, to.number, &gh.IssueComment{Body: &body})
	return objComment, made.GetID(), err
}

func sentAs(to target, kind object, id int64) gate.Sent {
	return gate.Sent{Message: messageID(kind, id), Chat: to.String()}
}

const (
	// maxPages bounds the search for what was said: 3,000 comments since.
	maxPages = 30
	// clockSkew is how far GitHub's clock may be off ours.
	clockSkew = 10 * time.Minute
)

// find looks for the comments of an Outgoing: by the mark at their end, and
// only among our own, since anybody can copy a mark (facts E3).
func (s *Sender) find(ctx context.Context, c *conn, to target, out gate.Outgoing) (map[string]gate.Sent, error) {
	me, err := s.bot.self(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string]gate.Sent{}
	see := func(kind object, id int64, by *gh.User, body string) {
		if i := strings.LastIndex(body, markHead); i >= 0 && by.GetID() == me.ID {
			found[strings.TrimSpace(body[i:])] = sentAs(to, kind, id)
		}
	}
	since := out.CreatedAt.Add(-clockSkew)
	for page := 1; page != 0 && page <= maxPages; {
		next, err := c.list(ctx, to, since, gh.ListOptions{Page: page, PerPage: 100}, see)
		if err != nil {
			return nil, said(err)
		}
		page = next
	}
	return found, nil
}

// list reads one page of what was said at the target and returns the next
// page's number, or 0. Only that number is taken from the answer's links.
func (c *conn) list(ctx context.Context, to target, since time.Time, page gh.ListOptions, see func(object, int64, *gh.User, string)) (int, error) {
	switch {
	case to.sha != "":
		all, resp, err := c.Repositories.ListCommitComments(ctx, to.owner, to.name, to.sha, &page)
		for _, m := range all {
			see(objCommitComment, m.GetID(), m.User, m.GetBody())
		}
		return nextPage(resp, err)
	case to.topic != 0:
		all, resp, err := c.PullRequests.ListComments(ctx, to.owner, to.name, to.number, &gh.PullRequestListCommentsOptions{Since: since, ListOptions: page})
		for _, m := range all {
			see(objReviewComment, m.GetID(), m.User, m.GetBody())
		}
		return nextPage(resp, err)
	}
	all, resp, err := c.Issues.ListComments(ctx, to.owner, to.name, to.number, &gh.IssueListCommentsOptions{Since: &since, ListOptions: page})
	for _, m := range all {
		see(objComment, m.GetID(), m.User, m.GetBody())
	}
	return nextPage(resp, err)
}

func nextPage(resp *gh.Response, err error) (int, error) {
	if err != nil || resp == nil {
		return 0, err
	}
	return resp.NextPage, nil
}

// reaction puts a reaction on a message. There is none for a review (facts E3):
// its pull request gets it.
func (c *conn) reaction(ctx context.Context, to target, kind object, id int64, content string) error {
	var err error
	switch kind {
	case objIssue, objPull, objReview:
		_, _, err = c.Reactions.CreateIssueReaction(ctx, to.owner, to.name, to.number, content)
	case objComment:
		_, _, err = c.Reactions.CreateIssueCommentReaction(ctx, to.owner, to.name, id, content)
	case objReviewComment:
		_, _, err = c.Reactions.CreatePullRequestCommentReaction(ctx, to.owner, to.name, id, content)
	case objCommitComment:
		_, _, err = c.Reactions.CreateCommentReaction(ctx, to.owner, to.name, id, content)
	default:
		return dropped("no such kind of message")
	}
	if err != nil {
		return fmt.Errorf("react: %w", said(err))
	}
	return nil
}
