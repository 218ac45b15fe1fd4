package config_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// parse is Parse of text that has nothing wrong with it.
func parse(t *testing.T, text string) *config.Config {
	t.Helper()
	c, faults := config.Parse("f", []byte(text), env, readFile)
	if faults != nil {
		t.Fatalf("Parse(%s): %v, want no fault", text, faults)
	}
	return c
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c := parse(t, string(testdata(t, "minimal.yaml")))
	echo := config.Executor{
		Kind: config.KindEcho, MaxConcurrent: 2, TurnTimeout: 30 * time.Minute, MaxOutput: 1 << 20,
		Budget: config.Budget{Turns: 50, Minutes: 240},
	}
	want := &config.Config{
		Workspace: "default", DataDir: "./data", Language: "zh", Listen: "127.0.0.1:8080",
		LateAfter: 2 * time.Hour, DirectQuiet: 30 * time.Minute,
		Admin: config.Admin{
			Listen: "127.0.0.1:8081",
			Tokens: []config.Token{{Name: "ops", Token: config.NewSecret("the-ops_token-of-the-tests"), Role: "operator"}},
		},
		Retention: config.Retention{Raw: 72 * time.Hour, Records: 90 * 24 * time.Hour, Dedupe: 7 * 24 * time.Hour},
		Orchestrator: config.Orchestrator{
			Driver: "builtin", EvalTimeout: 10 * time.Minute, MaxRequeues: 2, StopWords: []string{"stop", "停", "停止", "停下", "取消"},
			LLM: config.LLM{Timeout: time.Minute, MaxTokens: 4096},
		},
		Executors: map[string]config.Executor{"default": echo},
		Approvals: config.Approvals{Policy: "ask", Timeout: 5 * time.Minute, Approvers: map[gate.SourceID][]string{}},
		Loop:      config.Loop{Limit: 10, Window: 10 * time.Minute},
		Redeliver: config.Redeliver{Interval: 5 * time.Minute},
		Policy:    gate.Policy{Mode: gate.Observe},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("minimal.yaml is\n%+v\nwant\n%+v", c, want)
	}
}

func TestDefaultsOfSources(t *testing.T) {
	t.Parallel()
	const text = `
approvals: {timeout: 7m}
sources:
  chat: {kind: feishu, app_id: a, app_secret: b, encrypt_key: c, verification_token: d}
  code: {kind: github, webhook_secrets: ["${GH_SECRET}"], login: bot, auth: {token: t}, receive: {repos: [a/b]}}
` + operator
	c, faults, _ := config.ParseAll("f", []byte(text), env, readFile)
	if faults != nil {
		t.Fatal(faults)
	}
	want := []config.Source{
		{ID: "chat", Enabled: true, BaseURL: "https://open.feishu.cn", Refusal: "reaction", ApprovalsTimeout: 7 * time.Minute, Feishu: &config.Feishu{
			Transport: "webhook", AppID: "a", ReplyInThread: true,
			AppSecret: config.NewSecret("b"), EncryptKey: config.NewSecret("c"), VerificationToken: config.NewSecret("d"),
			Receive: config.FeishuReceive{Chats: map[string]gate.Receive{}, Direct: true},
		}},
		{ID: "code", Enabled: true, BaseURL: "https://api.github.com", Refusal: "reaction", ApprovalsTimeout: 24 * time.Hour, GitHub: &config.GitHub{
			WebhookSecrets: []config.Secret{config.NewSecret("the-gh_secret-of-the-tests")}, Login: "bot", CIReportTo: "commit",
			Auth: config.GitHubAuth{Token: config.NewSecret("t")},
			Receive: config.GitHubReceive{
				Repos: []string{"a/b"}, Issues: gate.ReceiveMentions, Pulls: gate.ReceiveMentions, Comments: gate.ReceiveMentions,
				CIEvents: []string{"push"},
			},
		}},
	}
	if !reflect.DeepEqual(c.Sources, want) {
		t.Errorf("sources are\n%+v\nwant\n%+v", c.Sources, want)
	}
}

func TestEveryKeyOfTheContractIsDecoded(t *testing.T) {
	t.Parallel()
	c, faults, _ := config.ParseAll("full.yaml", testdata(t, "full.yaml"), env, readFile)
	if faults.Failed() {
		t.Fatal(faults)
	}
	out, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "full.golden", string(out)+"\n")
	if url := c.Redis.URL.Reveal(); !strings.Contains(url, ":the-redis_password-of-the-tests@") {
		t.Errorf("redis.url is %s, want the password of the variable in it", url)
	}
	hooks := c.Source("github-files").GitHub.WebhookSecrets
	if len(hooks) != 2 || hooks[1].Reveal() != "second-webhook-secret" {
		t.Errorf("webhook_secrets_file gives %d secrets, want the two lines", len(hooks))
	}
	if got := c.Admin.Operator().Name; got != "ops" {
		t.Errorf("the operator's token is %q, want ops", got)
	}
	if got := (config.Admin{}).Operator(); got != (config.Token{}) {
		t.Errorf("the operator's token of nobody is %+v, want none", got)
	}
}

func TestTenMistakesAreTenFaults(t *testing.T) {
	t.Parallel()
	_, faults := config.Parse("ten-mistakes.yaml", testdata(t, "ten-mistakes.yaml"), env, readFile)
	if len(faults) != 10 {
		t.Errorf("%d faults, want 10", len(faults))
	}
	golden(t, "ten-mistakes.golden", faults.Error()+"\n")
}

func TestWhatIsNotBuiltIsSaid(t *testing.T) {
	t.Parallel()
	_, faults := config.Parse("full.yaml", testdata(t, "full.yaml"), env, readFile)
	golden(t, "full.notbuilt", faults.Error()+"\n")
}

func TestExampleParses(t *testing.T) {
	t.Parallel()
	vars := map[string]bool{"OPS_TOKEN": true, "FEISHU_APP_SECRET": true, "FEISHU_ENCRYPT_KEY": true, "FEISHU_VERIFICATION_TOKEN": true}
	c, faults := config.Parse("example.yaml", []byte(config.Example()), func(name string) (string, bool) {
		return "0123456789abcdef", vars[name]
	}, nil)
	if faults != nil {
		t.Fatalf("example.yaml: %v, want no fault", faults)
	}
	if len(c.Executors["default"].Script) != 3 || c.Executors["default"].Script[1].Approve.Tool != "deploy" {
		t.Errorf("EX-1 script is %+v, want three steps with an approval", c.Executors["default"].Script)
	}
}

func TestLoadFindsSecretsBesideTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	absolute := write("absolute", "an-absolute-path-of-a-token")
	write("token", "a-relative-path-of-a-token\n")
	path := write("gatehouse.yaml", "admin: {tokens: [{name: a, token_file: token, role: operator}, {name: b, token_file: "+absolute+", role: viewer}]}")
	c, faults := config.Load(path, env)
	if faults.Failed() {
		t.Fatal(faults)
	}
	if got := c.Admin.Tokens[0].Token.Reveal() + c.Admin.Tokens[1].Token.Reveal(); got != "a-relative-path-of-a-tokenan-absolute-path-of-a-token" {
		t.Errorf("tokens are %s", got)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	big := filepath.Join(t.TempDir(), "big.yaml")
	if err := os.WriteFile(big, bytes.Repeat([]byte("#"), 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"testdata/nowhere.yaml": "testdata/nowhere.yaml: stat testdata/nowhere.yaml: no such file or directory; name one with --config; to write one, copy deploy/gatehouse.yaml, or follow docs/getting-started.md",
		big:                     big + ": read " + big + ": larger than 1 MiB; name another with --config",
	} {
		c, faults := config.Load(path, env)
		if c != nil || faults.Error() != want {
			t.Errorf("Load(%s) = %v, %v, want %s", path, c, faults, want)
		}
	}
}

func TestLoadWarnsOfAGatewayThatNothingCanReach(t *testing.T) {
	t.Parallel()
	const feishu = "{kind: feishu, app_id: a, app_secret: b, encrypt_key: c, verification_token: d"
	for sources, want := range map[string]string{
		"":            "no source is configured",
		"sources: {}": "no source is configured",
		"sources: {a: " + feishu + ", enabled: false}}":                     "no source is enabled",
		"sources: {a: " + feishu + "}}":                                     "",
		"sources: {a: " + feishu + ", enabled: maybe}}":                     "",
		"sources: {a: " + feishu + ", enabled: false}, b: " + feishu + "}}": "",
	} {
		path := filepath.Join(t.TempDir(), "f.yaml")
		if err := os.WriteFile(path, []byte(operator+"\n"+sources), 0o600); err != nil {
			t.Fatal(err)
		}
		c, faults := config.Load(path, env)
		if got := strings.Contains(faults.Error(), path+": warning: "+want+": nothing can reach the agent"); want != "" && !got {
			t.Errorf("Load(%s): %v, want a warning: %s", sources, faults, want)
		}
		if want == "" && strings.Contains(faults.Error(), "nothing can reach") || want != "" && c == nil {
			t.Errorf("Load(%s) = %v, %v, want a configuration without that warning", sources, c, faults)
		}
	}
}

func TestNoFileWithoutADisk(t *testing.T) {
	t.Parallel()
	_, faults := config.Parse("f", []byte("admin: {tokens: [{name: a, token_file: t, role: operator}]}"), env, nil)
	const want = "f:1:40: admin.tokens[0].token_file: no file can be read here; name a file that holds the secret and nothing else"
	if faults.Error() != want {
		t.Errorf("Parse = %v, want %s", faults, want)
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	s := config.NewSecret("hunter2")
	in := struct{ Token config.Secret }{s}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "token", s, "in", in)
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	printed := fmt.Sprintf("%s %v %q %d %x %+v %#v %s %s", s, s, s, s, s, in, in, s.String(), text) + log.String()
	if strings.Contains(printed, "hunter") || strings.Contains(printed, fmt.Sprintf("%x", "hunter2")) || !strings.Contains(printed, "***") {
		t.Errorf("a secret prints as %s, want ***", printed)
	}
	if s.Reveal() != "hunter2" || s.IsZero() || !(config.Secret{}).IsZero() {
		t.Error("Reveal or IsZero is wrong")
	}
}

func TestFaultsShowNoSecret(t *testing.T) {
	t.Parallel()
	const text = `
admin: hunter2
redis: {url: "http://me:hunter2@here", replicas: hunter}
sources:
  a: {kind: feishu, app_id: x, app_secret: [hunter2], encrypt_key: hunter2, encrypt_key_file: y, verification_token: {hunter2: x}}
  b: {kind: github, webhook_secrets: hunter2, login: bot, auth: hunter2, receive: {repos: [a/b]}}
  c: {kind: github, webhook_secrets: [hunter2], login: bot, auth: {app_id: 1, private_key: hunter2}, receive: {repos: [a/b]}}
language: ${HUNTER2}
`
	_, faults, _ := config.ParseAll("f", []byte(text), env, readFile)
	if strings.Contains(faults.Error(), "hunter2") || strings.Contains(faults.Error(), "the-hunter2") {
		t.Errorf("the faults show a secret:\n%v", faults)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	warning := config.Faults{{File: "f", Line: 1, Column: 2, Warning: true, Text: "odd"}}
	if warning.Failed() || warning.Err() != nil || warning.Error() != "f:1:2: warning: odd" {
		t.Errorf("a warning fails: %v", warning.Err())
	}
	wrong := append(warning, config.Fault{File: "f", Text: "bad"})
	if !wrong.Failed() || wrong.Err() == nil || wrong.Err().Error() != "f:1:2: warning: odd\nf: bad" {
		t.Errorf("Err() = %v, want both lines", wrong.Err())
	}
	if err := wrong.Fprint(full{}); !errors.Is(err, errFull) {
		t.Errorf("Fprint to a full disk = %v, want %v", err, errFull)
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "7d": 7 * 24 * time.Hour, "1d12h": 36 * time.Hour, "1.5d": 36 * time.Hour, "0d": 0, "0": 0, "-1h": -time.Hour,
	} {
		if got, err := config.ParseDuration(text); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "1", "-1d", "1dd", "1d1d", "2h1d", "1d-1s", "110000d", "9999999999d", "53375d2562047h"} {
		if got, err := config.ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) = %v, want an error", text, got)
		}
	}
}
