package githubsim

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Delivery is a webhook on its way. Delivering it again is a redelivery: same
// GUID, same body.
type Delivery struct {
	Event, Action string
	GUID          string
	Body          []byte
}

// Edit returns the delivery with fields changed by dotted path, in a new event:
// a nil value is null.
func (s *Sim) Edit(d Delivery, changes map[string]any) Delivery {
	var v map[string]any
	if err := json.Unmarshal(d.Body, &v); err != nil {
		panic(fmt.Sprintf("githubsim: delivery: %v", err))
	}
	for path, to := range changes {
		set(v, path, to)
	}
	return s.NewDelivery(d.Event, v)
}

// NewDelivery is an event of any kind with a fresh GUID.
func (s *Sim) NewDelivery(event string, payload any) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.delivery(event, payload)
}

// delivery is NewDelivery with the lock held.
func (s *Sim) delivery(event string, payload any) Delivery {
	body, err := json.Marshal(payload)
	if err != nil {
		panic(fmt.Sprintf("githubsim: %s: %v", event, err))
	}
	var in struct {
		Action string `json:"action"`
	}
	_ = json.Unmarshal(body, &in)
	n := s.id()
	return Delivery{Event: event, Action: in.Action, GUID: fmt.Sprintf("%08x-0000-11ee-8000-%012x", n, n), Body: body}
}

// happened wraps what somebody did into a delivery. The lock is held.
func (s *Sim) happened(event, action string, r Repo, by Account, parts obj) Delivery {
	payload := obj{"action": action, "repository": repoJSON(r), "sender": userJSON(by), "installation": obj{"id": s.installed}}
	for k, v := range parts {
		payload[k] = v
	}
	return s.delivery(event, payload)
}

// OpenIssue opens an issue.
func (s *Sim) OpenIssue(r Repo, by Account, title, body string) (Issue, Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.open(Issue{Repo: r, By: by, Title: title, Body: body})
	return *i, s.happened("issues", "opened", r, by, obj{"issue": issueJSON(*i)})
}

// OpenPull opens a pull request, perhaps as a draft.
func (s *Sim) OpenPull(r Repo, by Account, title, body string, draft bool) (Issue, Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.open(Issue{Repo: r, By: by, Title: title, Body: body, Pull: true, Draft: draft, Head: sha("head"), Base: sha("base")})
	return *i, s.happened("pull_request", "opened", r, by, obj{"number": i.Number, "pull_request": pullJSON(*i)})
}

// open numbers an issue. The lock is held.
func (s *Sim) open(i Issue) *Issue {
	i.ID, i.At, i.Updated = s.id(), s.Now(), s.Now()
	for _, other := range s.issues {
		if other.Repo.ID == i.Repo.ID {
			i.Number = max(i.Number, other.Number)
		}
	}
	i.Number++
	s.issues = append(s.issues, &i)
	s.notify()
	return &i
}

// Ready marks a draft as ready for review.
func (s *Sim) Ready(i Issue, by Account) Delivery {
	return s.Act(i, by, "ready_for_review", func(i *Issue) { i.Draft = false })
}

// Close closes an issue or pull request.
func (s *Sim) Close(i Issue, by Account) Delivery {
	return s.Act(i, by, "closed", func(i *Issue) { i.Closed = true })
}

// Act does something to an issue or pull request and builds its event.
func (s *Sim) Act(i Issue, by Account, action string, do func(*Issue)) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.issue(i.Repo, i.Number)
	do(at)
	at.Updated = s.Now()
	s.notify()
	if at.Pull {
		return s.happened("pull_request", action, i.Repo, by, obj{"number": i.Number, "pull_request": pullJSON(*at)})
	}
	return s.happened("issues", action, i.Repo, by, obj{"issue": issueJSON(*at)})
}

// Comment says something in the conversation of an issue or pull request: one
// event for both.
func (s *Sim) Comment(i Issue, by Account, body string) (Comment, Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.keep(Comment{Kind: IssueComment, Repo: i.Repo, Issue: i.Number, By: by, Body: body})
	return *c, s.event(*c, "created", by, nil)
}

// ReviewComment says something on a diff; replyTo is the top comment of a review
// thread, or 0.
func (s *Sim) ReviewComment(i Issue, by Account, body string, replyTo int64) (Comment, Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.keep(Comment{Kind: ReviewComment, Repo: i.Repo, Issue: i.Number, InReplyTo: replyTo, By: by, Body: body})
	return *c, s.event(*c, "created", by, nil)
}

// Review submits a review: commented, approved or changes_requested.
func (s *Sim) Review(i Issue, by Account, state, body string) (Comment, Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.keep(Comment{Kind: Review, Repo: i.Repo, Issue: i.Number, By: by, Body: body, State: state})
	return *c, s.event(*c, "submitted", by, nil)
}

// ReviewWith submits a review with comments on the diff, each an event of its
// own that names the review.
func (s *Sim) ReviewWith(i Issue, by Account, body string, comments ...string) []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.keep(Comment{Kind: Review, Repo: i.Repo, Issue: i.Number, By: by, Body: body, State: "commented"})
	all := []Delivery{s.event(*r, "submitted", by, nil)}
	for _, text := range comments {
		c := s.keep(Comment{Kind: ReviewComment, Repo: i.Repo, Issue: i.Number, InReview: r.ID, By: by, Body: text})
		all = append(all, s.event(*c, "created", by, nil))
	}
	return all
}

// CommitComment says something on a commit.
func (s *Sim) CommitComment(r Repo, sha string, by Account, body string) (Comment, Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.keep(Comment{Kind: CommitComment, Repo: r, SHA: sha, By: by, Body: body})
	return *c, s.event(*c, "created", by, nil)
}

// EditComment changes a comment's text.
func (s *Sim) EditComment(c Comment, by Account, body string) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.comment(c.Kind, c.ID)
	from := at.Body
	at.Body, at.Updated, at.Edited = body, s.Now(), s.Now()
	s.notify()
	return s.event(*at, "edited", by, obj{"body": obj{"from": from}})
}

// EditIssue changes the body of an issue or pull request.
func (s *Sim) EditIssue(i Issue, by Account, body string) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.issue(i.Repo, i.Number)
	from := at.Body
	at.Body, at.Updated, at.Edited = body, s.Now(), s.Now()
	s.notify()
	parts := obj{"changes": obj{"body": obj{"from": from}}}
	if at.Pull {
		parts["number"], parts["pull_request"] = i.Number, pullJSON(*at)
		return s.happened("pull_request", "edited", i.Repo, by, parts)
	}
	parts["issue"] = issueJSON(*at)
	return s.happened("issues", "edited", i.Repo, by, parts)
}

// Commit makes a commit with that message and returns its name.
func (s *Sim) Commit(r Repo, message string) (name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name = sha(r.FullName() + message)
	s.commits[name] = obj{
		"sha": name, "message": message, "html_url": webURL(r) + "/commit/" + name,
		"author": obj{"name": "a", "email": "a@example.org", "date": stamp(s.Now())},
	}
	return name
}

// Delete removes a comment.
func (s *Sim) Delete(c Comment, by Account) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.event(c, "deleted", by, nil)
	for n, at := range s.comments {
		if at.Kind == c.Kind && at.ID == c.ID {
			s.comments = append(s.comments[:n:n], s.comments[n+1:]...)
			break
		}
	}
	s.notify()
	return d
}

// Echo is the event that GitHub sends of a comment, also of one that the
// gateway made itself.
func (s *Sim) Echo(c Comment) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.event(c, "created", c.By, nil)
}

// event builds the webhook of a comment. The lock is held.
func (s *Sim) event(c Comment, action string, by Account, changes obj) Delivery {
	parts := obj{"comment": commentJSON(c)}
	if changes != nil {
		parts["changes"] = changes
	}
	name := map[string]string{
		IssueComment: "issue_comment", ReviewComment: "pull_request_review_comment", CommitComment: "commit_comment", Review: "pull_request_review",
	}[c.Kind]
	if i := s.issue(c.Repo, c.Issue); i != nil {
		if c.Kind == IssueComment {
			parts["issue"] = issueJSON(*i)
		} else {
			parts["pull_request"] = pullJSON(*i)
		}
	}
	if c.Kind == Review {
		parts["review"] = parts["comment"]
		delete(parts, "comment")
	}
	return s.happened(name, action, c.Repo, by, parts)
}

// sha makes the name of a commit.
func sha(of string) string {
	sum := sha1.Sum([]byte(of))
	return hex.EncodeToString(sum[:])
}
