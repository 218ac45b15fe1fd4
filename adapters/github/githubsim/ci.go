package githubsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Run is a run of a workflow on the default branch.
type Run struct {
	ID, Workflow int64
	Attempt      int
	Repo         Repo
	Name, Event  string
	SHA          string
	Conclusion   string
	Began        time.Time
	Jobs         []Job
}

// Job is a job of a Run; its Log is kept where no token is asked for.
type Job struct {
	ID         int64
	Name, Step string
	Conclusion string
	Log        string
}

// Push makes a commit and moves the default branch to it.
func (s *Sim) Push(r Repo, message string) (sha string) {
	sha = s.Commit(r, message)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heads[r.ID] = sha
	return sha
}

// Finish ends a run of the workflow of that number, started by a push.
func (s *Sim) Finish(r Repo, workflow int64, sha, conclusion string, jobs ...Job) (Run, Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	run := Run{
		ID: s.id(), Workflow: workflow, Attempt: 1, Repo: r, Name: fmt.Sprint("CI ", workflow), Event: "push", SHA: sha,
		Conclusion: conclusion, Began: s.Now(), Jobs: jobs,
	}
	for i := range run.Jobs {
		run.Jobs[i].ID = s.id()
	}
	s.runs = append(s.runs, &run)
	return run, s.ran(run)
}

// Rerun runs it again: the same run, another attempt.
func (s *Sim) Rerun(r Run, conclusion string) (Run, Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.runs {
		if at.ID == r.ID {
			at.Attempt, at.Conclusion, at.Began = at.Attempt+1, conclusion, s.Now()
			r = *at
		}
	}
	return r, s.ran(r)
}

func (s *Sim) ran(r Run) Delivery {
	return s.happened("workflow_run", "completed", r.Repo, Account{ID: 41898282, Login: "github-actions[bot]", Type: "Bot"}, obj{
		"workflow": obj{"id": r.Workflow, "name": r.Name}, "workflow_run": s.runJSON(r),
	})
}

func (s *Sim) runJSON(r Run) obj {
	commit, _ := s.commits[r.SHA]["message"].(string)
	return obj{
		"id": r.ID, "name": r.Name, "workflow_id": r.Workflow, "run_attempt": r.Attempt, "event": r.Event, "status": "completed",
		"conclusion": r.Conclusion, "head_branch": r.Repo.DefaultBranch, "head_sha": r.SHA, "head_repository": repoJSON(r.Repo),
		"head_commit": obj{"id": r.SHA, "message": commit}, "html_url": fmt.Sprintf("%s/actions/runs/%d", webURL(r.Repo), r.ID),
		"run_started_at": stamp(r.Began), "created_at": stamp(r.Began), "updated_at": stamp(s.Now()), "pull_requests": []any{},
	}
}

// branch knows the default branch only.
func (s *Sim) branch(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.repo(c)
	if !ok || c.path[4] != r.DefaultBranch {
		return notFound()
	}
	return good(obj{"name": r.DefaultBranch, "commit": obj{"sha": s.heads[r.ID]}})
}

func (s *Sim) jobs(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []any{}
	for _, r := range s.runs {
		for _, j := range r.Jobs {
			if r.ID == c.number(5) {
				list = append(list, obj{"id": j.ID, "name": j.Name, "conclusion": j.Conclusion, "steps": []any{
					obj{"name": "Set up job", "conclusion": "success"}, obj{"name": j.Step, "conclusion": j.Conclusion},
				}})
			}
		}
	}
	return good(obj{"total_count": len(list), "jobs": list})
}

func (s *Sim) workflowRuns(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []any{}
	for _, r := range s.runs {
		if sha := c.r.URL.Query().Get("head_sha"); r.Workflow == c.number(5) && (sha == "" || sha == r.SHA) {
			list = append(list, s.runJSON(*r))
		}
	}
	return good(obj{"total_count": len(list), "workflow_runs": list})
}

// jobLog sends the caller to where the log is.
func (s *Sim) jobLog(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runs {
		for _, j := range r.Jobs {
			if j.ID == c.number(5) && s.logs != "" {
				return apiReply{status: http.StatusFound, body: obj{}, location: fmt.Sprintf("%s/logs/%d", s.logs, j.ID)}
			}
		}
	}
	return notFound()
}

// KeepLogs says where Logs is served.
func (s *Sim) KeepLogs(at string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs = at
}

// Logs serves the logs of jobs. It refuses whoever brings a token along: that
// was not meant for it.
func (s *Sim) Logs() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.Header.Get("Authorization") != "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for _, run := range s.runs {
			for _, j := range run.Jobs {
				if r.URL.Path == fmt.Sprint("/logs/", j.ID) {
					_, _ = w.Write([]byte(j.Log))
					return
				}
			}
		}
		w.WriteHeader(http.StatusNotFound)
	})
}

// createIssue opens an issue by API.
func (s *Sim) createIssue(c *apiCall) apiReply {
	var in struct{ Title, Body string }
	if json.Unmarshal(c.body, &in) != nil || in.Title == "" {
		return bad(http.StatusUnprocessableEntity, "Validation Failed")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.repo(c)
	if !ok {
		return notFound()
	}
	return made(issueJSON(*s.open(Issue{Repo: r, By: c.by, Title: in.Title, Body: in.Body})))
}

// issueList lists the issues that somebody opened, the newest first.
func (s *Sim) issueList(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.repo(c)
	if !ok {
		return notFound()
	}
	list := []any{}
	by := c.r.URL.Query().Get("creator")
	for n := range s.issues {
		if i := s.issues[len(s.issues)-1-n]; i.Repo.ID == r.ID && (by == "" || strings.EqualFold(by, i.By.Login)) {
			list = append(list, issueJSON(*i))
		}
	}
	return page(c, list)
}
