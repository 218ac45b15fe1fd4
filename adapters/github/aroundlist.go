package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/gatehouse-bot/gatehouse/gate"
)

const (
	// nearPage is GitHub's longest page, nearPages how many are read of one
	// list, nearEnough how many earlier messages are looked for (EV-2a).
	nearPage   = 100
	nearPages  = 4
	nearEnough = 20
)

// get reads one thing of the repository into a type of our own: go-github's lack
// performed_via_github_app (facts C1).
func (n *near) get(ctx context.Context, path string, into any) (*gh.Response, error) {
	r, err := n.conn.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/%s", n.to.owner, n.to.name, path), nil)
	if err != nil {
		return nil, err
	}
	return n.conn.Do(ctx, r, into)
}

// comments reads a list that GitHub gives oldest first, and cannot turn round:
// its first page tells which is the last, and it is read back from there.
func (n *near) comments(ctx context.Context, kind object, path string) {
	first, resp, err := n.page(ctx, path, 1, "")
	if err != nil {
		n.miss(gate.PartEarlier, whyNot(err))
		return
	}
	last := max(1, resp.LastPage)
	had := 0
	for page := last; page >= 1; page-- {
		got := first
		if page > 1 {
			if last-page == nearPages {
				n.miss(gate.PartEarlier, whyManySince)
				return
			}
			if got, _, err = n.page(ctx, path, page, ""); err != nil {
				n.miss(gate.PartEarlier, whyNot(err))
				return
			}
		}
		quotes := n.earlier(kind, got)
		n.add(quotes...)
		if had += len(quotes); had >= nearEnough {
			return
		}
	}
}

// reviewThread reads the comments of the Trigger's review thread, which stand
// among all those of the pull request, newest first.
func (n *near) reviewThread(ctx context.Context) {
	had := 0
	for page := 1; page != 0; {
		if page > nearPages {
			n.miss(gate.PartEarlier, whyManySince)
			return
		}
		got, resp, err := n.page(ctx, fmt.Sprintf("pulls/%d/comments", n.to.number), page, "&sort=created&direction=desc")
		if err != nil {
			n.miss(gate.PartEarlier, whyNot(err))
			return
		}
		page = resp.NextPage
		var ours []comment
		for _, m := range got {
			if m.ID == n.to.topic || m.InReplyTo == n.to.topic {
				ours = append(ours, m)
			}
		}
		slices.Reverse(ours)
		quotes := n.earlier(objReviewComment, ours)
		n.add(quotes...)
		if had += len(quotes); had >= nearEnough {
			return
		}
	}
}

// reviews reads the reviews of a pull request that say something; whether they
// were edited is not known yet.
func (n *near) reviews(ctx context.Context) (quotes []gate.Quote) {
	path := fmt.Sprintf("pulls/%d/reviews", n.to.number)
	var got []review
	resp, err := n.get(ctx, path+fmt.Sprintf("?per_page=%d", nearPage), &got)
	if err == nil && resp.LastPage > 1 {
		got = nil
		_, err = n.get(ctx, path+fmt.Sprintf("?per_page=%d&page=%d", nearPage, resp.LastPage), &got)
	}
	if err != nil {
		n.miss(gate.PartEarlier, whyNot(err))
		return nil
	}
	for _, r := range got {
		r.CreatedAt = r.SubmittedAt
		if strings.TrimSpace(r.Body) != "" && !r.SubmittedAt.IsZero() && n.isBefore(objReview, r.post) {
			quotes = append(quotes, n.quote(objReview, r.post))
		}
	}
	return quotes
}

func (n *near) page(ctx context.Context, path string, page int, more string) (got []comment, resp *gh.Response, err error) {
	resp, err = n.get(ctx, fmt.Sprintf("%s?per_page=%d&page=%d%s", path, nearPage, page, more), &got)
	return got, resp, err
}

// earlier are the comments of before the Trigger.
func (n *near) earlier(kind object, all []comment) (quotes []gate.Quote) {
	for _, m := range all {
		if q, ok := n.asOf(kind, m); ok {
			quotes = append(quotes, q)
		}
	}
	return quotes
}

// asOf is a comment as of the Trigger's time; false for one that is later, or
// the Trigger itself.
func (n *near) asOf(kind object, m comment) (gate.Quote, bool) {
	q := n.quote(kind, m.post)
	if q.Edited = m.UpdatedAt.After(n.t.OccurredAt); q.Edited {
		q.Text = ""
	}
	return q, n.isBefore(kind, m.post)
}

// isBefore: GitHub's times are whole seconds, so within one the ids tell, which
// grow within a kind; of another kind it may be later and is left out.
func (n *near) isBefore(kind object, p post) bool {
	at, then := p.CreatedAt.Time, n.t.OccurredAt.Truncate(time.Second)
	if !at.Equal(then) {
		return at.Before(then)
	}
	of, id, _ := parseMessage(n.t.IDs.Message)
	return of == kind && p.ID < id
}

// quote is what somebody wrote, in the gateway's terms. The hidden mark of our
// own comments is no part of their text.
func (n *near) quote(kind object, p post) gate.Quote {
	q := gate.Quote{
		Message: messageID(kind, p.ID), Sender: p.User.sender(p.Via), URL: p.URL, At: p.CreatedAt.Time,
		Own:  p.User.is(n.bot.ID()) || p.Via != nil && p.Via.ID != 0 && p.Via.ID == n.bot.cfg.Auth.AppID,
		Text: strings.TrimSpace(strings.ReplaceAll(p.Body, "\r\n", "\n")),
	}
	if i := strings.LastIndex(q.Text, markHead); q.Own && i >= 0 {
		q.Text = strings.TrimSpace(q.Text[:i])
	}
	return q
}
