package github

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// editsQuery asks when texts were last edited. The REST API does not tell that:
// an issue's updated_at moves with every comment and label, and a review has
// none.
const editsQuery = `query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    issueOrPullRequest(number: $number) {
      ... on Issue { lastEditedAt }
      ... on PullRequest { lastEditedAt reviews(last: 100) { nodes { databaseId lastEditedAt } } }
    }
  }
}`

// edits are the times of the last edits: of the opening's body, and of reviews.
// A zero time is a text that was never edited.
type edits struct {
	asked   bool
	body    timestamp
	reviews map[string]timestamp
	err     error
}

var errNoEdits = errors.New("github does not tell when it was edited")

func (n *near) edits(ctx context.Context) edits {
	r, err := n.conn.NewRequest(http.MethodPost, n.bot.api.graphQL(), map[string]any{
		"query": editsQuery, "variables": map[string]any{"owner": n.to.owner, "name": n.to.name, "number": n.to.number},
	})
	if err != nil {
		return edits{err: err}
	}
	var answer struct {
		Data struct {
			Repository struct {
				Issue *struct {
					LastEditedAt timestamp `json:"lastEditedAt"`
					Reviews      struct {
						Nodes []struct {
							ID           int64     `json:"databaseId"`
							LastEditedAt timestamp `json:"lastEditedAt"`
						} `json:"nodes"`
					} `json:"reviews"`
				} `json:"issueOrPullRequest"`
			} `json:"repository"`
		} `json:"data"`
	}
	if _, err := n.conn.Do(ctx, r, &answer); err != nil {
		return edits{err: err}
	}
	i := answer.Data.Repository.Issue
	if i == nil {
		return edits{err: errNoEdits}
	}
	e := edits{asked: true, body: i.LastEditedAt, reviews: map[string]timestamp{}}
	for _, r := range i.Reviews.Nodes {
		e.reviews[messageID(objReview, r.ID)] = r.LastEditedAt
	}
	return e
}

// before: it is known that a text was last edited not after then, if ever.
func (e edits) before(last timestamp, then time.Time) bool { return e.asked && !last.After(then) }

// mark takes the text from reviews that were, or may have been, edited since.
func (e edits) mark(quotes []gate.Quote, then time.Time) []gate.Quote {
	for i := range quotes {
		last, known := e.reviews[quotes[i].Message]
		if !known || !e.before(last, then) {
			quotes[i].Edited, quotes[i].Text = true, ""
		}
	}
	return quotes
}

// graphQL is the address of the other API, from the root of this one: beside it
// on github.com, and beside its v3 on an Enterprise Server.
func (a *api) graphQL() string {
	if strings.HasSuffix(a.base.Path, "/api/v3/") {
		return "../graphql"
	}
	return "graphql"
}
