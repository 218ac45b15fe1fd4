package github

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// payload is what we read of a delivery's body: a few fields of each event
// (facts F: go-github drops some that matter, loses a whole event for one odd
// field, and costs more than all the rest of intake).
type payload struct {
	Action      string      `json:"action"`
	Issue       *issue      `json:"issue"`
	PullRequest *pull       `json:"pull_request"`
	Comment     *comment    `json:"comment"`
	Review      *review     `json:"review"`
	Changes     changes     `json:"changes"`
	Repository  *repository `json:"repository"`
	Sender      *account    `json:"sender"`

	Installation struct {
		ID        int64     `json:"id"`
		Account   account   `json:"account"`
		UpdatedAt timestamp `json:"updated_at"`
	} `json:"installation"`

	// Repositories are those of a new installation; the others came into one or
	// left it.
	Repositories []repository `json:"repositories"`
	ReposAdded   []repository `json:"repositories_added"`
	ReposRemoved []repository `json:"repositories_removed"`

	WorkflowRun *run   `json:"workflow_run"`
	CheckSuite  *run   `json:"check_suite"`
	Ref         string `json:"ref"` // push
	status
}

type repository struct {
	ID            int64  `json:"id"`
	FullName      string `json:"full_name"`
	DefaultBranch string `json:"default_branch"`
}

type account struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Type  string `json:"type"`
}

// app is performed_via_github_app, which go-github does not have.
type app struct {
	ID   int64  `json:"id"`
	Slug string `json:"slug"`
}

// post is what a person wrote, in whatever it stands.
type post struct {
	ID        int64     `json:"id"`
	User      *account  `json:"user"`
	Body      string    `json:"body"`
	URL       string    `json:"html_url"`
	CreatedAt timestamp `json:"created_at"`
	UpdatedAt timestamp `json:"updated_at"`
	Via       *app      `json:"performed_via_github_app"`
}

type issue struct {
	post
	Number int64  `json:"number"`
	Title  string `json:"title"`
}

type pull struct {
	post
	Number int64  `json:"number"`
	Title  string `json:"title"`
	Draft  bool   `json:"draft"`
	Merged bool   `json:"merged"`
}

type comment struct {
	post
	InReplyTo int64  `json:"in_reply_to_id"` // review comment
	CommitID  string `json:"commit_id"`      // commit comment
	Review    int64  `json:"pull_request_review_id"`
}

type review struct {
	post
	SubmittedAt timestamp `json:"submitted_at"`
}

// run is a workflow run or a check suite.
type run struct {
	ID             int64      `json:"id"`
	Name           string     `json:"name"`
	WorkflowID     int64      `json:"workflow_id"`
	Attempt        int64      `json:"run_attempt"`
	Event          string     `json:"event"`
	HeadBranch     string     `json:"head_branch"`
	HeadSHA        string     `json:"head_sha"`
	HeadRepository repository `json:"head_repository"`
	HeadCommit     struct {
		Message string `json:"message"`
	} `json:"head_commit"`
	Conclusion   string    `json:"conclusion"`
	URL          string    `json:"html_url"`
	StartedAt    timestamp `json:"run_started_at"`
	CreatedAt    timestamp `json:"created_at"`
	UpdatedAt    timestamp `json:"updated_at"`
	PullRequests []struct {
		Number int64 `json:"number"`
	} `json:"pull_requests"`
	App struct {
		ID   int64  `json:"id"`
		Slug string `json:"slug"`
		Name string `json:"name"`
	} `json:"app"`
}

// status is what an older integration says of a commit; it stands at the top of
// its event.
type status struct {
	StatusID    int64     `json:"id"`
	SHA         string    `json:"sha"`
	State       string    `json:"state"`
	Context     string    `json:"context"`
	Description string    `json:"description"`
	TargetURL   string    `json:"target_url"`
	UpdatedAt   timestamp `json:"updated_at"`
	Commit      struct {
		Commit struct {
			Message string `json:"message"`
		} `json:"commit"`
	} `json:"commit"`
	Branches []struct {
		Name   string `json:"name"`
		Commit struct {
			SHA string `json:"sha"`
		} `json:"commit"`
	} `json:"branches"`
}

type changes struct {
	Body *struct {
		From string `json:"from"`
	} `json:"body"`
	DefaultBranch json.RawMessage `json:"default_branch"`
	// Owner is whom a transferred repository had before.
	Owner struct {
		From struct {
			User         account `json:"user"`
			Organization account `json:"organization"`
		} `json:"from"`
	} `json:"owner"`
	// OldIssue and OldRepository mark an issue that was transferred in, which
	// go-github does not have (facts B1).
	OldIssue      json.RawMessage `json:"old_issue"`
	OldRepository json.RawMessage `json:"old_repository"`
}

func (c changes) transferredIn() bool { return present(c.OldIssue) || present(c.OldRepository) }

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

var errNotObject = errors.New("not one JSON object")

// decode reads one JSON object. A field of an unexpected type is left out and
// loses nothing else (facts F).
func decode(body []byte) (payload, error) {
	var p payload
	if !isObject(body) {
		return p, errNotObject
	}
	var odd *json.UnmarshalTypeError
	if err := json.Unmarshal(body, &p); err != nil && !errors.As(err, &odd) {
		return payload{}, errNotObject
	}
	return p, nil
}

// isObject reports whether JSON, if it is any, is an object: a body of null or a
// list is no event (facts F).
func isObject(body []byte) bool {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '{'
}

// timestamp is a time as GitHub writes it, in an installation perhaps as
// seconds, or the zero time for anything else.
type timestamp struct{ time.Time }

// UnmarshalJSON never fails.
func (t *timestamp) UnmarshalJSON(b []byte) error {
	at, err := time.Parse(time.RFC3339, strings.Trim(string(b), `"`))
	if err != nil {
		at = time.Time{}
		if seconds, err := strconv.ParseInt(string(b), 10, 64); err == nil && seconds > 0 {
			at = time.Unix(seconds, 0)
		}
	}
	t.Time = at.UTC()
	return nil
}

// version is the time in the form of a dedupe key, or "".
func (t timestamp) version() string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}
