package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Witness looks at the CI of a Source's default branches (GH-3).
type Witness struct {
	bot *Bot
	// logs fetches what GitHub keeps elsewhere: it has no token to give away.
	logs *http.Client
}

// NewWitness returns the Witness of bot's Source.
func NewWitness(bot *Bot) *Witness {
	return &Witness{bot, &http.Client{Transport: newTransport(), Timeout: logTime}}
}

// sight is one look at a repository.
type sight struct {
	*Witness
	conn *conn
	repo repo
}

// Look implements the orchestrator's port. A run of a commit that is not the
// branch's any more needs no more than that. What of jobs and logs cannot be
// read is said in the text: a failure is told rather than lost. Its error is a
// *gate.SendError.
func (w *Witness) Look(ctx context.Context, t gate.Trigger) (gate.Trigger, error) {
	s, err := w.at(ctx, t.Place)
	if err != nil {
		return t, err
	}
	run := *t.Run
	if run.Top, err = s.head(ctx, run.Branch); err != nil {
		return t, err
	}
	t.Run = &run
	if run.Failed && !run.Superseded() {
		t.Text += "\n\n" + s.failing(ctx, run)
	}
	return t, nil
}

func (w *Witness) at(ctx context.Context, p gate.Place) (*sight, error) {
	r, ok := splitRepo(p.Chat)
	if !ok {
		return nil, dropped("the place names no repository")
	}
	c, err := w.bot.api.of(ctx, r)
	if err != nil {
		return nil, sendError(err, freshTries)
	}
	return &sight{w, c, r}, nil
}

// get reads one thing of the repository into a type of our own.
func (s *sight) get(ctx context.Context, path string, into any) error {
	r, err := s.conn.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/%s", s.repo.owner, s.repo.name, path), nil)
	if err != nil {
		return err
	}
	_, err = s.conn.Do(ctx, r, into)
	return err
}

// head is the commit of a branch now.
func (s *sight) head(ctx context.Context, branch string) (string, error) {
	var b struct {
		Commit struct {
			SHA string `json:"sha"`
		} `json:"commit"`
	}
	if err := s.get(ctx, "branches/"+url.PathEscape(branch), &b); err != nil {
		return "", sendError(err, freshTries)
	}
	return b.Commit.SHA, nil
}

// Green implements the orchestrator's port: those of the runs whose workflow is
// green at the head of their branch. All are of one branch.
func (w *Witness) Green(ctx context.Context, place gate.Place, red []gate.Run) ([]gate.Run, error) {
	s, err := w.at(ctx, place)
	if err != nil {
		return nil, err
	}
	var green []gate.Run
	heads := map[string]string{}
	for _, r := range red {
		if heads[r.Branch] == "" {
			if heads[r.Branch], err = s.head(ctx, r.Branch); err != nil {
				return nil, err
			}
		}
		now, ok, err := s.latest(ctx, r, heads[r.Branch])
		if err != nil {
			return nil, sendError(err, freshTries)
		}
		if ok {
			green = append(green, now)
		}
	}
	return green, nil
}

// latest is what a workflow says of a commit, and whether that is green.
func (s *sight) latest(ctx context.Context, r gate.Run, head string) (gate.Run, bool, error) {
	var began time.Time
	var passed bool
	var err error
	switch kind, id := runKey(r.Workflow); kind {
	case "workflow":
		began, passed, err = s.latestRun(ctx, id, head)
	case "app":
		began, passed, err = s.latestSuite(ctx, id, head)
	case "status":
		began, passed, err = s.latestStatus(ctx, id, head)
	}
	r.Head, r.Top, r.Began, r.Failed = head, head, began, false
	return r, passed, err
}

func (s *sight) latestRun(ctx context.Context, workflow, head string) (began time.Time, passed bool, err error) {
	var list struct {
		Runs []run `json:"workflow_runs"`
	}
	err = s.get(ctx, "actions/workflows/"+url.PathEscape(workflow)+"/runs?per_page=50&status=completed&head_sha="+url.QueryEscape(head), &list)
	for _, r := range list.Runs {
		_, over := concluded(r.Conclusion)
		counts := slices.Contains(s.bot.cfg.ciEvents(), r.Event) && over
		if at := cmp.Or(r.StartedAt.Time, r.CreatedAt.Time); counts && r.HeadSHA == head && at.After(began) {
			began, passed = at, r.Conclusion == "success"
		}
	}
	return began, passed, err
}

func (s *sight) latestSuite(ctx context.Context, app, head string) (began time.Time, passed bool, err error) {
	var list struct {
		Suites []run `json:"check_suites"`
	}
	err = s.get(ctx, "commits/"+head+"/check-suites?per_page=50&app_id="+url.QueryEscape(app), &list)
	for _, r := range list.Suites {
		if appKey(r.App.ID) == "app:"+app && r.UpdatedAt.After(began) {
			began, passed = r.UpdatedAt.Time, r.Conclusion == "success"
		}
	}
	return began, passed, err
}

func (s *sight) latestStatus(ctx context.Context, name, head string) (began time.Time, passed bool, err error) {
	var list []status
	err = s.get(ctx, "commits/"+head+"/statuses?per_page=100", &list)
	for _, st := range list {
		if st.Context == name && st.UpdatedAt.After(began) {
			began, passed = st.UpdatedAt.Time, st.State == "success"
		}
	}
	return began, passed, err
}

// failing is the part of a text that names the failing jobs.
func (s *sight) failing(ctx context.Context, r gate.Run) string {
	var jobs []failed
	var err error
	switch kind, _ := runKey(r.Workflow); kind {
	case "workflow":
		jobs, err = s.jobs(ctx, r.ID)
	case "app":
		jobs, err = s.checks(ctx, r.ID)
	default: // a status says what it has to say itself
		return ""
	}
	if err != nil {
		return "The failing jobs could not be read: " + whyNot(err)
	}
	return describe(jobs)
}

// describe words the failing jobs, each with the end of its log.
func describe(jobs []failed) string {
	var b strings.Builder
	b.WriteString("Failing jobs:")
	for i, j := range jobs {
		if i == maxNamed {
			fmt.Fprintf(&b, "\n- and %d more", len(jobs)-maxNamed)
			break
		}
		b.WriteString("\n- " + oneLine(j.name))
		if j.step != "" {
			b.WriteString(", at the step " + oneLine(j.step))
		}
	}
	for _, j := range jobs[:min(len(jobs), maxLogs)] {
		if j.log != "" {
			b.WriteString("\n\nThe end of the log of " + oneLine(j.name) + ":\n\n" + fenceOf(j.log))
		}
	}
	return b.String()
}
