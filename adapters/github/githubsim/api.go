package githubsim

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRequest bounds what is read of a call; rateLimit is what the headers name.
const (
	maxRequest = 1 << 20
	rateLimit  = 5000
)

// apiCall is one call on its way. path are its segments.
type apiCall struct {
	r    *http.Request
	body []byte
	path []string
	auth string
	by   Account
}

// apiReply is an answer.
type apiReply struct {
	status int
	body   any
	// next is the number of the next page, or 0.
	next int
	// last is the number of the last page, where there is a next.
	last int
	// cursor is where the next page begins, of lists that have no numbers.
	cursor string
	// location is where a redirect goes.
	location string
}

func bad(status int, message string) apiReply {
	return apiReply{status: status, body: map[string]any{"message": message, "documentation_url": "https://docs.github.com/rest"}}
}

func good(body any) apiReply { return apiReply{status: http.StatusOK, body: body} }

func made(body any) apiReply { return apiReply{status: http.StatusCreated, body: body} }

// notFound is also what GitHub says to one who may not know.
func notFound() apiReply { return bad(http.StatusNotFound, "Not Found") }

// ServeHTTP is the API.
func (s *Sim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		answer(w, http.StatusRequestEntityTooLarge, map[string]any{"message": "too large"})
		return
	}
	path := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/api/v3"), "/")
	c := &apiCall{r: r, body: body, path: strings.Split(path, "/")}
	name, do := s.route(c)
	fault := s.fault(name, r.URL.Path, body)
	if fault != nil && !fault.AfterEffect {
		s.record(name, c, fault.Status)
		fault.fail(w, r)
		return
	}
	out := s.guarded(name, c, do)
	s.record(name, c, out.status)
	if fault != nil {
		fault.fail(w, r)
		return
	}
	s.headers(w, r, out)
	answer(w, out.status, out.body)
}

// guarded checks who calls. The App's own key opens the App's own calls and
// nothing else.
func (s *Sim) guarded(name string, c *apiCall, do func(*apiCall) apiReply) apiReply {
	if !s.signedIn(c) {
		return bad(http.StatusUnauthorized, "Bad credentials")
	}
	asApp := c.path[0] == "app" && strings.Contains(name, "deliver") || name == "app" || name == "installations" || name == "installation" || name == "token"
	switch {
	case asApp != (c.auth == "jwt"):
		return bad(http.StatusUnauthorized, "A JSON web token could not be decoded")
	case c.auth == "" && name != "user":
		return bad(http.StatusUnauthorized, "Requires authentication")
	}
	return do(c)
}

func (s *Sim) record(name string, c *apiCall, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, Call{Name: name, Method: c.r.Method, Path: c.r.URL.Path, Status: status, Auth: c.auth})
	s.notify()
}

// route finds the call by its segments. (net/http's patterns cannot tell
// /issues/{number}/comments from /issues/comments/{id}.)
func (s *Sim) route(c *apiCall) (name string, do func(*apiCall) apiReply) {
	p, post := c.path, c.r.Method == http.MethodPost
	switch {
	case c.is("app"):
		return "app", s.appInfo
	case c.is("app/installations"):
		return "installations", s.installations
	case c.is("app/installations/*/access_tokens") && post:
		return "token", s.token
	case c.has("app/hook/deliveries", "repos/*/*/hooks/*/deliveries", "orgs/*/hooks/*/deliveries"):
		return "deliveries", s.deliveries
	case c.has("app/hook/deliveries/*", "repos/*/*/hooks/*/deliveries/*", "orgs/*/hooks/*/deliveries/*"):
		return "delivery", s.getDelivery
	case c.has("app/hook/deliveries/*/attempts", "repos/*/*/hooks/*/deliveries/*/attempts", "orgs/*/hooks/*/deliveries/*/attempts") && post:
		return "redeliver", s.redeliver
	case c.has("repos/*/*/hooks", "orgs/*/hooks"):
		return "hooks", s.hooks
	case c.is("user"):
		return "me", s.me
	case c.is("users/*"):
		return "user", s.user
	case (c.is("graphql") || c.is("api/graphql")) && post:
		return "graphql", s.graphQL
	case len(p) < 4 || p[0] != "repos":
	case c.is("repos/*/*/installation"):
		return "installation", s.installation
	case p[len(p)-1] == "reactions" && post:
		return "react", s.react
	case c.is("repos/*/*/issues") && post:
		return "open", s.createIssue
	case c.is("repos/*/*/issues"):
		return "issues", s.issueList
	case c.is("repos/*/*/branches/*"):
		return "branch", s.branch
	case c.is("repos/*/*/actions/runs/*/jobs"):
		return "jobs", s.jobs
	case c.is("repos/*/*/actions/jobs/*/logs"):
		return "log", s.jobLog
	case c.is("repos/*/*/actions/workflows/*/runs"):
		return "runs", s.workflowRuns
	case c.is("repos/*/*/issues/*/comments") && post:
		return "comment", s.createComment
	case c.is("repos/*/*/commits/*/comments") && post:
		return "commit_comment", s.createCommitComment
	case (c.is("repos/*/*/pulls/*/comments") || c.is("repos/*/*/pulls/*/comments/*/replies")) && post:
		return "review_reply", s.createReviewReply
	case p[len(p)-1] == "comments", c.is("repos/*/*/pulls/*/reviews"):
		return "list", s.list
	case c.is("repos/*/*/git/commits/*"):
		return "commit", s.getCommit
	case c.r.Method == http.MethodPatch && len(p) > 4 && p[len(p)-2] == "comments":
		return "edit", s.editComment
	case c.is("repos/*/*/issues/comments/*"), c.is("repos/*/*/pulls/comments/*"), c.is("repos/*/*/comments/*"):
		return "get", s.getComment
	case c.is("repos/*/*/issues/*"):
		return "issue", s.getIssue
	}
	return "unknown", func(*apiCall) apiReply { return notFound() }
}

// is compares the segments with a pattern, where * is any one.
func (c *apiCall) is(pattern string) bool {
	want := strings.Split(pattern, "/")
	if len(want) != len(c.path) {
		return false
	}
	for i, w := range want {
		if w != "*" && w != c.path[i] || c.path[i] == "" {
			return false
		}
	}
	return true
}

// has: one of the patterns fits.
func (c *apiCall) has(patterns ...string) bool {
	for _, p := range patterns {
		if c.is(p) {
			return true
		}
	}
	return false
}

// number is a segment as an id, or 0.
func (c *apiCall) number(i int) int64 {
	n, err := strconv.ParseInt(c.path[i], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (s *Sim) headers(w http.ResponseWriter, r *http.Request, out apiReply) {
	h := w.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(rateLimit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(rateLimit-1))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(s.Now().Add(time.Hour).Unix(), 10))
	h.Set("X-RateLimit-Resource", "core")
	if out.cursor != "" {
		h.Set("Link", cursorLink(r, out.cursor))
	}
	if out.location != "" {
		h.Set("Location", out.location)
	}
	if out.next > 0 {
		h.Set("Link", pageLink(r, out.next, "next")+", "+pageLink(r, out.last, "last"))
	}
}

func pageLink(r *http.Request, page int, rel string) string {
	u := *r.URL
	u.Scheme, u.Host = "http", r.Host
	q := u.Query()
	q.Set("page", strconv.Itoa(page))
	u.RawQuery = q.Encode()
	return "<" + u.String() + `>; rel="` + rel + `"`
}

func cursorLink(r *http.Request, cursor string) string {
	u := *r.URL
	u.Scheme, u.Host = "http", r.Host
	q := u.Query()
	q.Set("cursor", cursor)
	u.RawQuery = q.Encode()
	return "<" + u.String() + `>; rel="next"`
}

func answer(w http.ResponseWriter, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}
