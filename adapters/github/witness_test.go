package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// ran is the Trigger of a run's delivery.
func (w *world) ran(t *testing.T, d githubsim.Delivery) gate.Trigger {
	t.Helper()
	ev := w.handler.Read(d.Event, d.Body)
	if ev.Arrival.Trigger.Run == nil {
		t.Fatalf("Read = %v %s, want a run", ev.Outcome, ev.Reason)
	}
	return ev.Arrival.Trigger
}

func (w *world) keepLogs(t *testing.T) {
	t.Helper()
	logs := httptest.NewServer(w.sim.Logs())
	t.Cleanup(logs.Close)
	w.sim.KeepLogs(logs.URL)
}

func TestLook(t *testing.T) {
	t.Parallel()
	for name, as := range map[string]func(*world){"as an App": asApp, "with an account's token": func(*world) {}} {
		t.Run("the text has the failing jobs and the ends of their logs, "+name+" (GH-3)", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, as)
			w.keepLogs(t)
			noise := strings.Repeat("2026-09-10T12:00:00.1234567Z compiling\n", 20000)
			jobs := []githubsim.Job{
				{Name: "lint", Step: "Run lint", Conclusion: "success", Log: "fine"},
				{Name: "test", Step: "Run go test", Conclusion: "failure", Log: noise +
					"2026-09-10T12:00:01.0000000Z \x1b[31mFAIL: TestX ```\x1b[0m\n2026-09-10T12:00:02.0000000Z ##[error]exit 1\n2026-09-10T12:00:03.0000000Z Post job cleanup.\n"},
			}
			sha := w.sim.Push(w.repo, "break it")
			_, d := w.sim.Finish(w.repo, 1, sha, "failure", jobs...)
			got, err := github.NewWitness(w.bot).Look(t.Context(), w.ran(t, d))
			if err != nil || got.Run.Top != sha || got.Run.Superseded() {
				t.Fatalf("Look = %+v, %v; want a run of the head", got.Run, err)
			}
			want := "Failing jobs:\n- test, at the step Run go test\n\nThe end of the log of test:\n\n````\n"
			if !strings.Contains(got.Text, want) || !strings.HasSuffix(got.Text, "compiling\nFAIL: TestX ```\n##[error]exit 1\n````") {
				t.Errorf("GH-3: the text ends in %q", got.Text[max(0, len(got.Text)-400):])
			}
			if n := strings.Count(got.Text, "\n"); n > 60 || len(got.Text) > 8000 {
				t.Errorf("GH-3: the text has %d lines, %d bytes; want it bounded", n, len(got.Text))
			}
		})
	}
	t.Run("of a commit that is not the head any more nothing else is read (GH-3)", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		sha := w.sim.Push(w.repo, "old")
		_, d := w.sim.Finish(w.repo, 1, sha, "failure", githubsim.Job{Name: "test", Conclusion: "failure"})
		w.sim.Push(w.repo, "new")
		got, err := github.NewWitness(w.bot).Look(t.Context(), w.ran(t, d))
		if err != nil || !got.Run.Superseded() || len(w.sim.Snapshot().Named("jobs")) != 0 {
			t.Errorf("Look = %+v, %v; want it superseded, and no look at its jobs", got.Run, err)
		}
	})
	t.Run("what of jobs and logs cannot be read is said (GH-3)", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		sha := w.sim.Push(w.repo, "break it")
		_, d := w.sim.Finish(w.repo, 1, sha, "failure", githubsim.Job{Name: "test", Step: "Run", Conclusion: "failure"})
		got, err := github.NewWitness(w.bot).Look(t.Context(), w.ran(t, d))
		if err != nil || !strings.Contains(got.Text, "- test, at the step Run") || !strings.Contains(got.Text, "the log could not be read") {
			t.Errorf("Look = %q, %v; want the job, and that there is no log", got.Text, err)
		}
		w.sim.Fail(githubsim.Fault{Call: "jobs", Status: http.StatusForbidden, Message: "Resource not accessible by integration"})
		got, err = github.NewWitness(w.bot).Look(t.Context(), w.ran(t, d))
		if err != nil || !strings.Contains(got.Text, "The failing jobs could not be read: github answered HTTP 403") {
			t.Errorf("Look = %q, %v; want that the jobs could not be read", got.Text, err)
		}
	})
	t.Run("an error says whether to try again (GH-3)", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		sha := w.sim.Push(w.repo, "break it")
		_, d := w.sim.Finish(w.repo, 1, sha, "failure")
		tr := w.ran(t, d)
		for status, want := range map[int]gate.SendClass{500: gate.SendRetry, 403: gate.SendDropped, 404: gate.SendDropped} {
			w.sim.Fail(githubsim.Fault{Call: "branch", Status: status})
			_, err := github.NewWitness(w.bot).Look(t.Context(), tr)
			var refused *gate.SendError
			if !errors.As(err, &refused) || refused.Class != want {
				t.Errorf("Look after %d = %v, want class %v", status, err, want)
			}
		}
		tr.Place.Chat = "../.."
		if _, err := github.NewWitness(w.bot).Look(t.Context(), tr); err == nil {
			t.Error("Look at no repository = nil, want an error")
		}
	})
}

func TestGreen(t *testing.T) {
	t.Parallel()
	t.Run("a workflow is green when its latest run at the head is (GH-3)", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		witness := github.NewWitness(w.bot)
		at := time.Now()
		w.sim.Now = func() time.Time { at = at.Add(time.Minute); return at }
		first := w.sim.Push(w.repo, "break it")
		run, d := w.sim.Finish(w.repo, 1, first, "failure")
		tr := w.ran(t, d)
		ask := func() string {
			green, err := witness.Green(t.Context(), tr.Place, []gate.Run{*tr.Run})
			if err != nil {
				t.Fatal(err)
			}
			if len(green) == 0 {
				return "red"
			}
			return green[0].Head
		}
		if got := ask(); got != "red" {
			t.Errorf("GH-3: after a failure it is %s", got)
		}
		w.sim.Rerun(run, "success")
		if got := ask(); got != first {
			t.Errorf("GH-3: after a green rerun it is %s, want green at the head", got)
		}
		second := w.sim.Push(w.repo, "next")
		if got := ask(); got != "red" {
			t.Errorf("GH-3: where nothing ran at the head yet it is %s", got)
		}
		w.sim.Finish(w.repo, 2, second, "success")
		if got := ask(); got != "red" {
			t.Errorf("GH-3: another workflow's success makes it %s", got)
		}
		w.sim.Finish(w.repo, 1, second, "success")
		if got := ask(); got != second {
			t.Errorf("GH-3: at the end it is %s, want green at %s", got, second)
		}
	})
	t.Run("an App's checks and a status are looked up by their own lists (GH-3)", func(t *testing.T) {
		t.Parallel()
		lists := map[string]string{
			"/repos/acme/app/branches/main": `{"commit":{"sha":"` + ciSHA + `"}}`,
			"/repos/acme/app/commits/" + ciSHA + "/check-suites": `{"check_suites":[
				{"app":{"id":5},"conclusion":"failure","updated_at":"2026-09-10T12:00:00Z"},
				{"app":{"id":5},"conclusion":"success","updated_at":"2026-09-10T12:05:00Z"},
				{"app":{"id":6},"conclusion":"failure","updated_at":"2026-09-10T12:06:00Z"}]}`,
			"/repos/acme/app/commits/" + ciSHA + "/statuses": `[
				{"context":"ci/circle","state":"success","updated_at":"2026-09-10T12:05:00Z"},
				{"context":"ci/circle","state":"failure","updated_at":"2026-09-10T12:00:00Z"},
				{"context":"ci/other","state":"failure","updated_at":"2026-09-10T12:06:00Z"}]`,
			"/repos/acme/app/check-suites/77/check-runs": `{"check_runs":[{"name":"vet","conclusion":"success"},
				{"name":"lint","conclusion":"failure","output":{"title":"3 faults","summary":"in main.go"}}]}`,
		}
		api := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if lists[r.URL.Path] == "" {
				rw.WriteHeader(http.StatusNotFound)
			}
			fmt.Fprint(rw, lists[r.URL.Path])
		}))
		t.Cleanup(api.Close)
		w := newWorld(t, func(w *world) { w.cfg.BaseURL = api.URL })
		witness, place := github.NewWitness(w.bot), gate.Place{Chat: "acme/app"}
		green, err := witness.Green(t.Context(), place, []gate.Run{
			{Workflow: "app:5", Branch: "main"}, {Workflow: "app:6", Branch: "main"},
			{Workflow: "status:ci/circle", Branch: "main"}, {Workflow: "status:ci/other", Branch: "main"}, {Workflow: "odd", Branch: "main"},
		})
		if err != nil || len(green) != 2 || green[0].Workflow != "app:5" || green[1].Workflow != "status:ci/circle" || green[0].Top != ciSHA {
			t.Errorf("Green = %+v, %v; want app:5 and ci/circle", green, err)
		}
		got, err := witness.Look(t.Context(), gate.Trigger{Place: place, Run: &gate.Run{Workflow: "app:5", ID: 77, Branch: "main", Head: ciSHA, Failed: true}})
		if err != nil || !strings.Contains(got.Text, "- lint") || !strings.Contains(got.Text, "3 faults\nin main.go") || strings.Contains(got.Text, "vet") {
			t.Errorf("Look = %q, %v; want the failing check and what it says", got.Text, err)
		}
		if _, err := witness.Green(t.Context(), gate.Place{Chat: "acme/gone"}, []gate.Run{{Workflow: "app:5", Branch: "main"}}); err == nil {
			t.Error("Green of a repository that is not there = nil, want an error")
		}
	})
}

// TestReports: what is said about CI goes to the commit, or to one issue of it.
func TestReports(t *testing.T) {
	t.Parallel()
	for name, as := range map[string]func(*world){"an App": asApp, "an account": func(*world) {}} {
		t.Run("replies open one issue for a commit, whoever says them first, as "+name+" (GH-3, OUT-1)", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, as)
			sha := w.sim.Push(w.repo, "break it")
			say := func(s *github.Sender, id, text string) {
				t.Helper()
				_, err := s.Send(t.Context(), gate.Outgoing{
					ID: id, Kind: gate.OutReply, Text: text, Place: gate.Place{Chat: "acme/app", Root: "ci", Topic: sha}, CreatedAt: now, Attempts: 1,
				})
				if err != nil {
					t.Fatalf("Send = %v", err)
				}
			}
			w.sim.Fail(githubsim.Fault{Call: "open", Status: 502, AfterEffect: true})
			if _, err := w.sender.Send(t.Context(), gate.Outgoing{ID: "1", Kind: gate.OutReply, Text: "looking", Place: gate.Place{Chat: "acme/app", Root: "ci", Topic: sha}}); err == nil {
				t.Fatal("Send whose answer was lost = nil, want an error")
			}
			say(w.sender, "1", "looking")
			say(w.sender, "2", "fixed")
			other, err := github.NewBot(w.cfg)
			if err != nil {
				t.Fatal(err)
			}
			say(github.NewSender(other, questions{}, discard()), "3", "merged")
			snap := w.sim.Snapshot()
			if len(snap.Issues) != 1 || len(snap.Sent()) != 3 || len(snap.On(snap.Issues[0])) != 3 || !strings.HasPrefix(snap.Issues[0].Title, "CI failed at ") {
				t.Errorf("GH-3: %d issues, %d comments; want one with three", len(snap.Issues), len(snap.Sent()))
			}
		})
	}
	t.Run("replies to a commit are comments on it (GH-3)", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		sha := w.sim.Push(w.repo, "break it")
		_, err := w.sender.Send(t.Context(), gate.Outgoing{ID: "1", Kind: gate.OutReply, Text: "looking", Place: gate.Place{Chat: "acme/app", Root: sha}, CreatedAt: now})
		if sent := w.sim.Snapshot().Sent(); err != nil || len(sent) != 1 || sent[0].SHA != sha {
			t.Errorf("Send = %v, %+v; want a comment on the commit", err, sent)
		}
	})
}
