package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

const replayConfig = `
admin: {tokens: [{name: ops, token: replay-operator-token-0123, role: operator}]}
sources:
  feishu-main:
    kind: feishu
    app_id: cli_a8f3c1d2e5b7900c
    app_secret: not-used-not-used
    encrypt_key: sample-encrypt-key-7Qx2Lm9
    verification_token: Zk3vT9mQe1RbX7uLc5WyH2sNd8PgA4Jf
    receive: {chats: {oc_cf66cde46906ea92ae2a4b059eccf3d3: mentions}, other_chats: mentions}
  github-main:
    kind: github
    webhook_secrets: [replay-webhook-secret]
    login: duty-bot
    auth: {token: not-used}
    receive: {repos: ["Codertocat/*"], issues: all, pulls: all, comments: all}
policy:
  sources:
    feishu-main: {allow: [ou_4fe584cb0be34a1894129f094b4464b0]}
    github-main: {allow: [Codertocat], admission: {issues: {listed_unaddressed: explicit}}}
`

// replayLine is a line of the answer, as an outside program reads it.
type replayLine struct {
	File, Outcome, Reason string
	Trigger               *struct {
		Scope, Thread, Addressing string
		Sender                    struct{ Kind, ID string }
	}
	Admission *struct{ Strength, Basis, Reason string }
	Card      json.RawMessage
}

// replay runs the command over recorded bodies and returns its lines by file.
func replay(t *testing.T, args ...string) map[string]replayLine {
	t.Helper()
	cfg := filepath.Join(t.TempDir(), "gatehouse.yaml")
	if err := os.WriteFile(cfg, []byte(replayConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	noEnv := func(string) (string, bool) { return "", false }
	if status := run(append([]string{"replay", "--config", cfg}, args...), &app{out: &out, err: &errOut, env: noEnv}); status != exitOK {
		t.Fatalf("replay ended with %d: %s", status, errOut.String())
	}
	lines := map[string]replayLine{}
	for d := json.NewDecoder(&out); d.More(); {
		var l replayLine
		if err := d.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines[filepath.Base(l.File)] = l
	}
	return lines
}

const (
	feishuSamples = "../../adapters/feishu/testdata/samples/"
	githubSamples = "../../adapters/github/testdata/samples/"
)

// TestReplayFeishu replays recorded Feishu bodies (page 07).
func TestReplayFeishu(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"group-text-at-bot.json":                  "trigger explicit allow_list",
		"redelivery-same-event-id.json":           "trigger explicit allow_list",
		"p2p-text.json":                           "trigger explicit allow_list",
		"group-bot-sender-at-bot.json":            "trigger none ",
		"group-text-no-mention.json":              "ignored",
		"group-own-message-echo.json":             "ignored",
		"message-recalled.json":                   "change",
		"event-unknown-type.json":                 "ignored",
		"card-button-click.json":                  "card",
		"url-verification-plain.json":             "challenge",
		"url-verification-plain-wrong-token.json": "refused",
		"event-wrong-token.json":                  "refused",
		"event-wrong-app-id.json":                 "refused",
	}
	args := []string{"--source", "feishu-main", "--bot-id", "ou_bd1611224f3a3d9ff7bd850ded1344f4"}
	for file := range want {
		args = append(args, feishuSamples+file)
	}
	checkReplay(t, replay(t, args...), want)
}

// TestReplayGitHub replays recorded GitHub bodies; the event's name is that of
// the file up to its first dot.
func TestReplayGitHub(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"issues.opened.json":               "trigger explicit cell:issues/listed_unaddressed",
		"issue_comment.created.json":       "trigger none ",
		"issues.opened.by-transfer.json":   "context",
		"pull_request.synchronize.json":    "context",
		"repository.transferred.json":      "state",
		"ping.repository-hook.json":        "ignored",
		"check_run.created.json":           "ignored",
		"issues.edited.empty-changes.json": "ignored",
	}
	args := []string{"--source", "github-main", "--bot-id", "9001"}
	for file := range want {
		args = append(args, githubSamples+file)
	}
	checkReplay(t, replay(t, args...), want)
}

func checkReplay(t *testing.T, lines map[string]replayLine, want map[string]string) {
	t.Helper()
	for file, w := range want {
		l := lines[file]
		got := l.Outcome
		if l.Outcome == "trigger" {
			if l.Trigger == nil || l.Admission == nil || l.Admission.Reason == "" || l.Trigger.Thread == "" {
				t.Errorf("%s: a trigger without its shape: %+v", file, l)
				continue
			}
			got += " " + l.Admission.Strength + " " + l.Admission.Basis
		} else if l.Outcome != "challenge" && l.Reason == "" {
			t.Errorf("%s: %s without a reason", file, l.Outcome)
		}
		if got != w {
			t.Errorf("%s = %q (%s), want %q", file, got, l.Reason, w)
		}
	}
	if len(lines) != len(want) {
		t.Errorf("%d lines for %d files", len(lines), len(want))
	}
}

// TestReplayDeliver sends a recorded body, signed, to the running gateway.
func TestReplayDeliver(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	w := newWorld(t, redis.URL)
	w.start()
	w.until("it is ready", func(ctx context.Context) bool { return w.ready(ctx) == http.StatusOK })
	said := w.sim.Say(w.ops, w.lin, "@bot hello")
	file := filepath.Join(t.TempDir(), "said.json")
	if err := os.WriteFile(file, said.Body, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	args := []string{"replay", "--config", w.config, "--source", "feishu-main", "--deliver", "--url", w.hook, file}
	if status := run(args, &app{out: &out, err: &errOut, env: os.LookupEnv}); status != exitOK || !strings.Contains(out.String(), `"outcome":"delivered"`) {
		t.Fatalf("replay --deliver ended with %d: %s%s", status, out.String(), errOut.String())
	}
	type item struct {
		Text       string
		ReplayedBy *string `json:"replayed_by"`
	}
	there := func(what string, ok func([]item) bool) {
		w.until(what, func(ctx context.Context) bool {
			var list struct{ Items []item }
			return w.get(ctx, "/v1/triggers", &list) == nil && ok(list.Items)
		})
	}
	there("the trigger is there", func(l []item) bool { return len(l) == 1 && l[0].Text == "hello" })

	again := []string{"replay", "--config", w.config, "--source", "feishu-main", "--deliver", "--force", "--url", w.admin, file}
	if status := run(again, &app{out: &out, err: &errOut, env: os.LookupEnv}); status != exitOK {
		t.Fatalf("replay --deliver --force ended with %d: %s%s", status, out.String(), errOut.String())
	}
	there("TR-7: the forced one is another, and marked", func(l []item) bool {
		return len(l) == 2 && l[0].ReplayedBy != nil && *l[0].ReplayedBy == "test" && l[1].ReplayedBy == nil
	})
	if status := run([]string{"replay", "--config", w.config, "--source", "feishu-main", "--force", file}, &app{out: &out, err: &errOut, env: os.LookupEnv}); status == exitOK {
		t.Error("replay --force alone was taken")
	}
}
