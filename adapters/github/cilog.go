package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	gh "github.com/google/go-github/v66/github"
)

const (
	// maxNamed is how many failing jobs are named, maxLogs of how many the log is
	// read, logLines and logBytes how much of each is shown.
	maxNamed = 20
	maxLogs  = 3
	logLines = 40
	logBytes = 4 << 10
	// logRead bounds what is read of one log, logKept what of its end is looked at.
	logRead = 64 << 20
	logKept = 256 << 10
	logTime = 20 * time.Second
)

// failed is a job, or a check, that failed.
type failed struct{ name, step, log string }

// jobs are the failing jobs of a workflow run's latest attempt.
func (s *sight) jobs(ctx context.Context, id int64) ([]failed, error) {
	var list struct {
		Jobs []struct {
			ID         int64  `json:"id"`
			Name       string `json:"name"`
			Conclusion string `json:"conclusion"`
			Steps      []struct {
				Name       string `json:"name"`
				Conclusion string `json:"conclusion"`
			} `json:"steps"`
		} `json:"jobs"`
	}
	if err := s.get(ctx, fmt.Sprintf("actions/runs/%d/jobs?filter=latest&per_page=100", id), &list); err != nil {
		return nil, err
	}
	var out []failed
	for _, j := range list.Jobs {
		if red, _ := concluded(j.Conclusion); !red {
			continue
		}
		f := failed{name: j.Name}
		for _, step := range j.Steps {
			if red, _ := concluded(step.Conclusion); red {
				f.step = step.Name
				break
			}
		}
		if len(out) < maxLogs {
			f.log = s.log(ctx, j.ID)
		}
		out = append(out, f)
	}
	return out, nil
}

// checks are the failing checks of an App's suite, with what they say.
func (s *sight) checks(ctx context.Context, suite int64) ([]failed, error) {
	var list struct {
		Runs []struct {
			Name       string `json:"name"`
			Conclusion string `json:"conclusion"`
			Output     struct {
				Title   string `json:"title"`
				Summary string `json:"summary"`
			} `json:"output"`
		} `json:"check_runs"`
	}
	if err := s.get(ctx, fmt.Sprintf("check-suites/%d/check-runs?filter=latest&per_page=100", suite), &list); err != nil {
		return nil, err
	}
	var out []failed
	for _, r := range list.Runs {
		if red, _ := concluded(r.Conclusion); red {
			out = append(out, failed{name: r.Name, log: logEnd(strings.TrimSpace(r.Output.Title + "\n" + r.Output.Summary))})
		}
	}
	return out, nil
}

// log is the end of a job's log, or why there is none. GitHub answers with an
// address elsewhere, good for a minute: the token does not go there.
func (s *sight) log(ctx context.Context, job int64) string {
	at, _, err := s.conn.Actions.GetWorkflowJobLogs(ctx, s.repo.owner, s.repo.name, job, 0)
	if err != nil {
		return "(the log could not be read: " + whyNot(unredirected(err)) + ")"
	}
	text, err := s.fetch(ctx, at)
	if err != nil {
		return "(the log could not be read: " + whyNot(err) + ")"
	}
	return logEnd(text)
}

// unredirected: go-github tells an answer that is no redirect in words only.
func unredirected(err error) error {
	var answer *gh.ErrorResponse
	if errors.As(err, &answer) {
		return err
	}
	return &apiError{why: "it gives no address of the log"}
}

// fetch reads the end of a log. Only where our own GitHub speaks plain HTTP may
// the log do so.
func (s *sight) fetch(ctx context.Context, at *url.URL) (string, error) {
	if at.Scheme != "https" && at.Scheme != s.bot.api.base.Scheme {
		return "", errForeignHost
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return "", errForeignHost
	}
	resp, err := s.logs.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", &apiError{status: resp.StatusCode}
	}
	return lastOf(io.LimitReader(resp.Body, logRead))
}

// lastOf keeps the last bytes of what it reads.
func lastOf(r io.Reader) (string, error) {
	kept, buf := []byte(nil), make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		kept = append(kept, buf[:n]...)
		if over := len(kept) - logKept; over > logKept || over > 0 && err != nil {
			kept = slices.Delete(kept, 0, over)
		}
		switch {
		case errors.Is(err, io.EOF):
			return strings.ToValidUTF8(string(kept), ""), nil
		case err != nil:
			return "", err
		}
	}
}

// logNoise is what a log has before its lines: a time, and colours.
var logNoise = regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT[\d:.]+Z ?|\x1b\[[0-9;]*[A-Za-z]|\r`)

// logEnd is the end of a log: what stands before its last error, where it names
// one, since cleaning up is logged after it.
func logEnd(text string) string {
	text = strings.TrimRight(logNoise.ReplaceAllString(text, ""), "\n")
	lines := strings.Split(text, "\n")
	for i, l := range slices.Backward(lines) {
		if strings.HasPrefix(l, "##[error]") {
			lines = lines[:i+1]
			break
		}
	}
	text = strings.Join(lines[max(0, len(lines)-logLines):], "\n")
	if cut := len(text) - logBytes; cut > 0 {
		for ; cut < len(text) && !utf8.RuneStart(text[cut]); cut++ {
		}
		text = "…" + text[cut:]
	}
	return text
}

// fenceOf puts a text into a fence that it cannot close.
func fenceOf(text string) string {
	bar := "```"
	for strings.Contains(text, bar) {
		bar += "`"
	}
	return bar + "\n" + text + "\n" + bar
}

// oneLine is a name of somebody else's on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
