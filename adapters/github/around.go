package github

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Why a part is unread though GitHub answers.
const (
	whyLater     = "it is later"
	whyUnknown   = "nobody knows what that is"
	whyManySince = "too much was said since"
)

// Surrounder reads what was said near a message (EV-2a).
type Surrounder struct{ bot *Bot }

// NewSurrounder returns the Surrounder of bot's Source.
func NewSurrounder(bot *Bot) *Surrounder { return &Surrounder{bot} }

// Around implements the orchestrator's port. The opening is the title and body
// of the issue or pull request, or the message of the commit. Earlier is what
// stands in the same conversation: the comments, of a pull request its reviews
// too; for a comment on a diff the comments of its review thread; those of the
// commit. GitHub gives the newest text only, so what was edited after the
// Trigger is given without its text (GH-5, facts G3).
func (s *Surrounder) Around(ctx context.Context, t gate.Trigger) gate.Surroundings {
	if t.Kind == gate.KindCI {
		return gate.Surroundings{} // nobody said anything
	}
	n := &near{bot: s.bot, t: t}
	var err error
	if n.to, err = targetOf(t.Place); err == nil {
		n.conn, err = s.bot.api.of(ctx, n.to.repo)
	}
	if err == nil {
		return n.read(ctx)
	}
	for _, part := range [...]gate.Part{gate.PartOpening, gate.PartRepliedTo, gate.PartEarlier} {
		n.miss(part, whyNot(err))
	}
	return n.out
}

// near is the reading of one Trigger's surroundings.
type near struct {
	bot  *Bot
	conn *conn
	to   target
	t    gate.Trigger

	mu  sync.Mutex
	out gate.Surroundings
}

func (n *near) read(ctx context.Context) gate.Surroundings {
	var reading sync.WaitGroup
	reading.Go(func() { n.repliedTo(ctx) })
	switch {
	case n.to.sha != "":
		reading.Go(func() { n.commit(ctx) })
		reading.Go(func() { n.comments(ctx, objCommitComment, "commits/"+n.to.sha+"/comments") })
	case n.to.topic != 0:
		reading.Go(func() { n.conversation(ctx, false) })
		reading.Go(func() { n.reviewThread(ctx) })
	default:
		reading.Go(func() { n.comments(ctx, objComment, fmt.Sprintf("issues/%d/comments", n.to.number)) })
		if n.t.Kind != gate.KindIssue { // which is the opening itself, and has no reviews
			reading.Go(func() { n.conversation(ctx, true) })
		}
	}
	reading.Wait()
	return n.out
}

// whyNot is why something cannot be read, in our own words.
func whyNot(err error) string {
	var unfit *gate.SendError
	if errors.As(err, &unfit) {
		return unfit.Reason
	}
	return said(err).Error()
}

// miss notes a part that could not be read, once.
func (n *near) miss(part gate.Part, why string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, u := range n.out.Unread {
		if u.Part == part {
			return
		}
	}
	n.out.Unread = append(n.out.Unread, gate.Unread{Part: part, Why: why})
}

// add puts quotes before those of a list that are there: lists are read
// backwards, and what was said in the same second keeps its order.
func (n *near) add(quotes ...gate.Quote) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.out.Earlier = append(quotes, n.out.Earlier...)
}

// commit reads a commit's message, which nobody can edit. Its author is free
// text and no identity (facts G12).
func (n *near) commit(ctx context.Context) {
	var c struct {
		Message string `json:"message"`
		URL     string `json:"html_url"`
		Author  struct {
			Date timestamp `json:"date"`
		} `json:"author"`
	}
	if _, err := n.get(ctx, "git/commits/"+n.to.sha, &c); err != nil {
		n.miss(gate.PartOpening, whyNot(err))
		return
	}
	title, text, _ := strings.Cut(c.Message, "\n")
	at := c.Author.Date.Time
	if at.After(n.t.OccurredAt) {
		at = n.t.OccurredAt // a commit's own clock says nothing: it was there to be commented on
	}
	n.out.Opening = &gate.Quote{Title: title, Text: strings.TrimSpace(text), URL: c.URL, At: at}
}

// conversation reads the issue or pull request and, where they are asked for, a
// pull request's reviews. Neither tells when its text was edited: that is asked
// last, so that what was read is not newer than the answer.
func (n *near) conversation(ctx context.Context, reviews bool) {
	var i struct {
		issue
		PullRequest *struct{} `json:"pull_request"`
	}
	if _, err := n.get(ctx, fmt.Sprintf("issues/%d", n.to.number), &i); err != nil {
		n.miss(gate.PartOpening, whyNot(err))
		n.miss(gate.PartEarlier, whyNot(err))
		return
	}
	opens := n.t.Kind == gate.KindPullRequest
	var reviewed []gate.Quote
	if reviews && i.PullRequest != nil {
		reviewed = n.reviews(ctx)
	}
	var last edits
	if !opens && i.UpdatedAt.After(n.t.OccurredAt) || len(reviewed) > 0 {
		last = n.edits(ctx)
	}
	n.add(last.mark(reviewed, n.t.OccurredAt)...)
	if !opens {
		n.opening(i.issue, last)
	}
}

// opening is the issue or pull request as of the Trigger: its title is the
// Trigger's own, its body what it reads now if it was not edited since.
func (n *near) opening(i issue, e edits) {
	q := n.quote(objIssue, i.post)
	q.Message, q.Title = "", n.t.Title // a pull request has another id here than in its own event
	q.Edited = i.UpdatedAt.After(n.t.OccurredAt) && !e.before(e.body, n.t.OccurredAt)
	switch {
	case i.CreatedAt.After(n.t.OccurredAt):
		n.miss(gate.PartOpening, whyLater)
		return
	case q.Edited && e.err != nil:
		n.miss(gate.PartOpening, whyNot(e.err))
	}
	if q.Edited {
		q.Text = ""
	}
	n.out.Opening = &q
}

// repliedTo reads the comment that the Trigger replies to.
func (n *near) repliedTo(ctx context.Context) {
	if n.t.ReplyTo == "" {
		return
	}
	kind, id, ok := parseMessage(n.t.ReplyTo)
	path := map[object]string{objComment: "issues/comments/", objReviewComment: "pulls/comments/", objCommitComment: "comments/"}[kind]
	if !ok || path == "" {
		n.miss(gate.PartRepliedTo, whyUnknown)
		return
	}
	var m comment
	if _, err := n.get(ctx, path+strconv.FormatInt(id, 10), &m); err != nil {
		n.miss(gate.PartRepliedTo, whyNot(err))
		return
	}
	q, _ := n.asOf(kind, m)
	n.out.RepliedTo = &q
}
