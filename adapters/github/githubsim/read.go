package githubsim

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// list is one page of what was said at an issue, a pull request's diff or a
// commit, oldest first. Only that of a diff can be turned round.
func (s *Sim) list(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.repo(c)
	if !ok || len(c.path) != 6 {
		return notFound()
	}
	kind := map[string]string{"issues": IssueComment, "pulls": ReviewComment, "commits": CommitComment}[c.path[3]]
	if c.path[5] == "reviews" {
		kind = Review
	}
	q := c.r.URL.Query()
	since, _ := time.Parse(time.RFC3339, q.Get("since"))
	found := []any{}
	for _, m := range s.comments {
		where := m.SHA == c.path[4] || m.Issue != 0 && m.Issue == int(c.number(4))
		if m.Kind == kind && m.Repo.ID == r.ID && where && !m.Updated.Before(since) {
			found = append(found, commentJSON(*m))
		}
	}
	if kind == ReviewComment && q.Get("sort") != "" && q.Get("direction") == "desc" {
		slices.Reverse(found)
	}
	return page(c, found)
}

func page(c *apiCall, all []any) apiReply {
	q := c.r.URL.Query()
	number, size := max(1, atoi(q.Get("page"))), atoi(q.Get("per_page"))
	if size <= 0 {
		size = 30
	}
	size = min(size, 100)
	from := min((number-1)*size, len(all))
	to := min(from+size, len(all))
	out := good(all[from:to])
	if to < len(all) {
		out.next, out.last = number+1, (len(all)+size-1)/size
	}
	return out
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

func (s *Sim) getComment(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := map[string]string{"issues": IssueComment, "pulls": ReviewComment, "comments": CommitComment}[c.path[3]]
	m := s.comment(kind, c.number(len(c.path)-1))
	if m == nil {
		return notFound()
	}
	return good(commentJSON(*m))
}

func (s *Sim) getIssue(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.repo(c)
	i := s.issue(r, int(c.number(4)))
	if !ok || i == nil {
		return notFound()
	}
	return good(issueJSON(*i))
}

func (s *Sim) getCommit(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	commit, ok := s.commits[strings.ToLower(c.path[5])]
	if !ok {
		return notFound()
	}
	return good(commit)
}

// graphQL knows one thing: when the texts of an issue or a pull request, and of
// its reviews, were last edited. What it does not find is an answer, too.
func (s *Sim) graphQL(c *apiCall) apiReply {
	var in struct {
		Query     string `json:"query"`
		Variables struct {
			Owner, Name string
			Number      int
		} `json:"variables"`
	}
	if json.Unmarshal(c.body, &in) != nil || !strings.Contains(in.Query, "issueOrPullRequest") || !strings.Contains(in.Query, "lastEditedAt") {
		return good(obj{"errors": []any{obj{"message": "the simulation knows one query"}}})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repos[strings.ToLower(in.Variables.Owner+"/"+in.Variables.Name)]
	i := s.issue(r, in.Variables.Number)
	if i == nil {
		return good(obj{"data": obj{"repository": nil}, "errors": []any{obj{"type": "NOT_FOUND"}}})
	}
	out := obj{"lastEditedAt": stampOrNull(i.Edited)}
	if i.Pull {
		nodes := []any{}
		for _, m := range s.comments {
			if m.Kind == Review && m.Repo.ID == i.Repo.ID && m.Issue == i.Number {
				nodes = append(nodes, obj{"databaseId": m.ID, "lastEditedAt": stampOrNull(m.Edited)})
			}
		}
		out["reviews"] = obj{"nodes": nodes}
	}
	return good(obj{"data": obj{"repository": obj{"issueOrPullRequest": out}}})
}

func stampOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return stamp(t)
}
