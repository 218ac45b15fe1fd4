package main

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// TestServeWitnessesCI: a red run becomes a Ticket with the log in its text, its
// reruns are context, and the reply is a comment on the commit (GH-3).
func TestServeWitnessesCI(t *testing.T) {
	t.Parallel()
	b := newBoth(t, redistest.Start(t).URL)
	logs := httptest.NewServer(b.github.Logs())
	t.Cleanup(logs.Close)
	b.github.KeepLogs(logs.URL)
	cfg, err := os.ReadFile(b.config)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(
		`receive: {repos: ["acme/*"]}`, `receive: {repos: ["acme/*"], ci: all}`,
		"github-main: {allow: [octocat]}", "github-main: {allow: [octocat], admission: {ci: {unlisted_unaddressed: inferred}}}",
		"\npolicy:\n", "\npolicy:\n  mode: auto\n  rules: [{id: ci, name: Repair, match: 'kind == \"ci\" && text.contains(\"undefined: x\")', executors: [default]}]\n",
	).Replace(string(cfg))
	if err := os.WriteFile(b.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b.start()
	repo := b.github.Repo("acme/shop")
	sha := b.github.Push(repo, "break it")
	run, red := b.github.Finish(repo, 1, sha, "failure", githubsim.Job{Name: "test", Step: "go test", Conclusion: "failure", Log: "undefined: x\n"})
	b.deliver(red)
	ticket := b.stage("queued")
	_, again := b.github.Rerun(run, "failure")
	b.deliver(again)
	b.says(ticket, "it does not build")
	sent := b.github.Snapshot().Sent()
	last := sent[len(sent)-1]
	if last.SHA != sha || !strings.Contains(last.Body, "it does not build") {
		t.Errorf("GH-3: the last comment is %+v; want the reply on the commit", last)
	}
	b.stage("queued") // and no second Ticket
}
