package githubsim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxComment is GitHub's limit, in characters.
const maxComment = 65536

type commentBody struct {
	Body      string `json:"body"`
	InReplyTo int64  `json:"in_reply_to"`
}

// read takes a comment out of a call, or says why it is refused.
func (c *apiCall) read() (commentBody, *apiReply) {
	var in commentBody
	refuse := func(message string) (commentBody, *apiReply) {
		r := bad(http.StatusUnprocessableEntity, message)
		return in, &r
	}
	switch {
	case json.Unmarshal(c.body, &in) != nil:
		return refuse("Problems parsing JSON")
	case strings.TrimSpace(in.Body) == "":
		return refuse("Validation Failed: body can't be blank")
	case utf8.RuneCountInString(in.Body) > maxComment:
		return refuse("Validation Failed: body is too long (maximum is 65536 characters)")
	}
	return in, nil
}

// repo is the repository of a call. The lock is held.
func (s *Sim) repo(c *apiCall) (Repo, bool) {
	r, ok := s.repos[strings.ToLower(c.path[1]+"/"+c.path[2])]
	return r, ok
}

// conversation finds the issue of a call, if one may comment there. The lock is
// held.
func (s *Sim) conversation(c *apiCall, pull bool) (*Issue, *apiReply) {
	r, ok := s.repo(c)
	i := s.issue(r, int(c.number(4)))
	switch {
	case !ok || i == nil || pull && !i.Pull:
		out := notFound()
		return nil, &out
	case i.Locked:
		out := bad(http.StatusForbidden, "Unable to create comment because issue is locked.")
		return nil, &out
	}
	return i, nil
}

func (s *Sim) createComment(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, no := s.conversation(c, false)
	if no != nil {
		return *no
	}
	in, no := c.read()
	if no != nil {
		return *no
	}
	return made(commentJSON(*s.keep(Comment{Kind: IssueComment, Repo: i.Repo, Issue: i.Number, By: c.by, FromApp: true, Body: in.Body})))
}

// createReviewReply answers below a top comment; an answer's id is refused.
func (s *Sim) createReviewReply(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, no := s.conversation(c, true)
	if no != nil {
		return *no
	}
	in, no := c.read()
	if no != nil {
		return *no
	}
	if len(c.path) == 8 {
		in.InReplyTo = c.number(6)
	}
	top := s.comment(ReviewComment, in.InReplyTo)
	if top == nil || top.Issue != i.Number || top.InReplyTo != 0 {
		return bad(http.StatusUnprocessableEntity, "Validation Failed: in_reply_to is not a top comment")
	}
	return made(commentJSON(*s.keep(Comment{
		Kind: ReviewComment, Repo: i.Repo, Issue: i.Number, InReplyTo: top.ID, By: c.by, FromApp: true, Body: in.Body,
	})))
}

func (s *Sim) createCommitComment(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.repo(c)
	if !ok {
		return notFound()
	}
	in, no := c.read()
	if no != nil {
		return *no
	}
	return made(commentJSON(*s.keep(Comment{Kind: CommitComment, Repo: r, SHA: c.path[4], By: c.by, FromApp: true, Body: in.Body})))
}

// editComment changes the text of a comment of one's own.
func (s *Sim) editComment(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	in, no := c.read()
	if no != nil {
		return *no
	}
	kind, id := IssueComment, c.number(len(c.path)-1)
	switch c.path[3] {
	case "pulls":
		kind = ReviewComment
	case "comments":
		kind = CommitComment
	}
	at := s.comment(kind, id)
	switch {
	case at == nil:
		return notFound()
	case at.By.ID != c.by.ID:
		return bad(http.StatusForbidden, "Must have admin rights to Repository.")
	}
	at.Body, at.Updated = in.Body, s.Now()
	s.notify()
	return good(commentJSON(*at))
}

// keep adds a comment. The lock is held.
func (s *Sim) keep(c Comment) *Comment {
	c.ID = s.id()
	c.At = s.Now()
	c.Updated = c.At
	s.comments = append(s.comments, &c)
	if i := s.issue(c.Repo, c.Issue); i != nil {
		i.Updated = c.At
	}
	s.notify()
	return &c
}

// react answers 201, or 200 where the reaction is there already.
func (s *Sim) react(c *apiCall) apiReply {
	var in struct {
		Content string `json:"content"`
	}
	known := []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}
	if json.Unmarshal(c.body, &in) != nil || !slices.Contains(known, in.Content) {
		return bad(http.StatusUnprocessableEntity, "Validation Failed: content")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	on, ok := s.reactedTo(c)
	if !ok {
		return notFound()
	}
	on.Content, on.By = in.Content, c.by
	body := map[string]any{"id": s.id(), "content": in.Content, "user": userJSON(c.by)}
	if slices.Contains(s.reactions, on) {
		return good(body)
	}
	s.reactions = append(s.reactions, on)
	s.notify()
	return made(body)
}

// reactedTo finds what a reaction is for. The lock is held.
func (s *Sim) reactedTo(c *apiCall) (on Reaction, ok bool) {
	r, _ := s.repo(c)
	switch {
	case c.is("repos/*/*/issues/comments/*/reactions"):
		on = Reaction{Kind: IssueComment, ID: c.number(5)}
	case c.is("repos/*/*/pulls/comments/*/reactions"):
		on = Reaction{Kind: ReviewComment, ID: c.number(5)}
	case c.is("repos/*/*/comments/*/reactions"):
		on = Reaction{Kind: CommitComment, ID: c.number(4)}
	case c.is("repos/*/*/issues/*/reactions"):
		on = Reaction{Kind: "issue", ID: c.number(4)}
		return on, s.issue(r, int(on.ID)) != nil
	default:
		return on, false
	}
	return on, s.comment(on.Kind, on.ID) != nil
}
