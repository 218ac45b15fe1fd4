package github

import (
	"strconv"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

func (c *call) readIssue() Event {
	i := c.Issue
	if i == nil || i.Number <= 0 || i.ID <= 0 {
		return ignored(ReasonUnsound)
	}
	m := message{post: i.post, object: objIssue, kind: gate.KindIssue, scope: gate.Issues, number: i.Number, title: i.Title}
	switch c.Action {
	case "opened":
		if c.Changes.transferredIn() { // an old text by another author, moved by the sender
			return about(c.thread(i.Number), ReasonTransferredIn)
		}
		return c.created(m)
	case "edited":
		return c.edited(m)
	case "deleted":
		return c.withReach(c.recalled(m), c.threadReach(i.Number, "the issue was deleted", c.Now))
	case "transferred":
		return c.withReach(about(c.thread(i.Number), ReasonIssueChanged), c.threadReach(i.Number, "the issue was transferred away", c.Now))
	case "locked", "unlocked":
		return c.locked(i.Number, i.UpdatedAt, ReasonIssueChanged)
	}
	return about(c.thread(i.Number), ReasonIssueChanged)
}

// readIssueComment serves issues and pull requests: one event, one sequence of
// numbers, one Thread (TH-3).
func (c *call) readIssueComment() Event {
	if c.Issue == nil || c.Issue.Number <= 0 || c.Comment == nil || c.Comment.ID <= 0 {
		return ignored(ReasonUnsound)
	}
	return c.written(message{
		post: c.Comment.post, object: objComment, kind: gate.KindComment, scope: gate.Comments,
		number: c.Issue.Number, title: c.Issue.Title,
	}, ReasonIssueChanged)
}

// readPull: a pull request is new once, when it is opened for review or first
// becomes ready for it; both have the same dedupe key. Its text is its
// author's, whoever pressed the button.
func (c *call) readPull() Event {
	p := c.PullRequest
	if p == nil || p.Number <= 0 || p.ID <= 0 {
		return ignored(ReasonUnsound)
	}
	m := message{post: p.post, object: objPull, kind: gate.KindPullRequest, scope: gate.Pulls, number: p.Number, title: p.Title}
	switch c.Action {
	case "opened", "edited":
		if p.Draft {
			return ignored(ReasonDraft)
		}
		if c.Action == "edited" {
			return c.edited(m)
		}
		return c.created(m)
	case "locked", "unlocked":
		return c.locked(p.Number, p.UpdatedAt, ReasonPullChanged)
	case "ready_for_review":
		m.at, m.byAuthor = p.UpdatedAt, true
		return c.created(m)
	}
	return about(c.thread(p.Number), ReasonPullChanged)
}

// readReview: a review without a text is the container of its comments, each of
// which comes by itself, and is nothing. What is of one review is one candidate
// (EV-1).
func (c *call) readReview() Event {
	if c.PullRequest == nil || c.PullRequest.Number <= 0 || c.Review == nil || c.Review.ID <= 0 {
		return ignored(ReasonUnsound)
	}
	m := message{
		post: c.Review.post, object: objReview, kind: gate.KindReview, scope: gate.Comments,
		number: c.PullRequest.Number, title: c.PullRequest.Title, at: c.Review.SubmittedAt, review: c.Review.ID,
	}
	switch c.Action {
	case "submitted":
		if strings.TrimSpace(m.Body) == "" {
			return ignored(ReasonEmptyReview)
		}
		return c.created(m)
	case "edited":
		return c.edited(m)
	}
	return about(c.thread(m.number), ReasonReviewChanged)
}

// readReviewComment: the conversation is the pull request's, the answer goes
// below the top comment of the review thread (GH-7).
func (c *call) readReviewComment() Event {
	if c.PullRequest == nil || c.PullRequest.Number <= 0 || c.Comment == nil || c.Comment.ID <= 0 {
		return ignored(ReasonUnsound)
	}
	m := message{
		post: c.Comment.post, object: objReviewComment, kind: gate.KindReviewComment, scope: gate.Comments,
		number: c.PullRequest.Number, title: c.PullRequest.Title, topic: c.Comment.ID, review: c.Comment.Review,
	}
	if c.Comment.InReplyTo > 0 {
		m.topic, m.replyTo = c.Comment.InReplyTo, c.Comment.InReplyTo
	}
	return c.written(m, ReasonReviewChanged)
}

func (c *call) readCommitComment() Event {
	if c.Comment == nil || c.Comment.ID <= 0 || !validSHA(c.Comment.CommitID) {
		return ignored(ReasonUnsound)
	}
	return c.written(message{
		post: c.Comment.post, object: objCommitComment, kind: gate.KindComment, scope: gate.Comments,
		commit: strings.ToLower(c.Comment.CommitID),
	}, ReasonPushed)
}

// written reads the three actions that a comment has.
func (c *call) written(m message, otherwise Reason) Event {
	switch c.Action {
	case "created":
		return c.created(m)
	case "edited":
		return c.edited(m)
	case "deleted":
		return c.recalled(m)
	}
	return about(c.place(m).thread, otherwise)
}

// where is the place of a message in the gateway's and in GitHub's terms.
type where struct {
	thread gate.ThreadID
	place  gate.Place
}

func (c *call) place(m message) where {
	p := gate.Place{Chat: c.repo.String()}
	if m.commit != "" {
		p.Root = m.commit
		return where{thread(c.Config.ID, c.repo, m.commit), p}
	}
	p.Root = strconv.FormatInt(m.number, 10)
	if m.topic != 0 {
		p.Topic = strconv.FormatInt(m.topic, 10)
	}
	return where{c.thread(m.number), p}
}
