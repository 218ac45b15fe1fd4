package main_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
)

// settings are parts of the contract that may not be built yet: a value as the
// READMEs name it, the key that has its line in docs/configuration.md, and a
// configuration that asks for it.
func settings() []struct{ word, key, ask string } {
	return []struct{ word, key, ask string }{
		{"kind: exec", "executors.*.kind", `executors: {default: {kind: exec, command: [a], user: u}}`},
		{"kind: acp", "executors.*.kind", `executors: {default: {kind: acp, command: [a], user: u}}`},
		{"kind: http", "executors.*.kind", `executors: {default: {kind: http}}`},
		{"driver: llm", "orchestrator.driver", `orchestrator: {driver: llm, llm: {base_url: "http://127.0.0.1", model: m}}`},
		{"driver: external", "orchestrator.driver", `orchestrator: {driver: external}`},
		{"kind: github", "sources.*.kind", githubSource + "receive: {repos: [a/b]}}"},
		{"transport: websocket", "sources.*.transport", `sources: {f: {kind: feishu, transport: websocket, app_id: a, app_secret: s}}`},
		{"", "redis.url", `redis: {url: "redis://a:1,b:2"}`},
		{"", "redis.replicas", `redis: {url: "redis://a:1", replicas: 1}`},
		{"", "approvals.chat", feishuSource + `approvals: {chat: {source: f, chat_id: oc_1}}`},
		{"", "orchestrator.team_prompt", `orchestrator: {team_prompt: a}`},
		{"", "orchestrator.llm", `orchestrator: {llm: {model: a}}`},
		{"", "orchestrator.llm.base_url", `orchestrator: {llm: {base_url: "http://127.0.0.1"}}`},
		{"", "orchestrator.llm.model", `orchestrator: {llm: {model: a}}`},
		{"", "orchestrator.llm.api_key", `orchestrator: {llm: {api_key: a}}`},
		{"", "orchestrator.llm.timeout", `orchestrator: {llm: {timeout: 1s}}`},
		{"", "orchestrator.llm.max_tokens", `orchestrator: {llm: {max_tokens: 1}}`},
		{"", "executors.*.instructions", `executors: {default: {kind: echo, instructions: a}}`},
		{"", "executors.*.max_concurrent", `executors: {default: {kind: echo, max_concurrent: 1}}`},
		{"", "executors.*.max_output", `executors: {default: {kind: echo, max_output: 2MiB}}`},
		{"", "executors.*.budget.turns", `executors: {default: {kind: echo, budget: {turns: 1}}}`},
		{"", "executors.*.budget.minutes", `executors: {default: {kind: echo, budget: {minutes: 1}}}`},
		{"", "executors.*.budget.tokens", `executors: {default: {kind: echo, budget: {tokens: 1}}}`},
		{"", "executors.*.follow", feishuSource + `executors: {default: {kind: echo, follow: [f/oc_1]}}`},
		{"", "approvals.machine", `approvals: {machine: {main: reject}}`},
		{"", "loop.limit", `loop: {limit: 5}`},
		{"", "loop.window", `loop: {window: 5m}`},
		{"", "redeliver.interval", `redeliver: {interval: 1m}`},
		{"", "otlp.endpoint", `otlp: {endpoint: "http://127.0.0.1:4318"}`},
		{"", "policy.rules[].match", `policy: {rules: [{id: a, match: "true"}]}`},
		{"", "policy.rules[].review", `policy: {rules: [{id: a, review: {reviewers: [a]}}]}`},
		{"", "policy.rules[].review.reviewers", `policy: {rules: [{id: a, review: {reviewers: [a]}}]}`},
		{"", "policy.rules[].review.approvals", `policy: {rules: [{id: a, review: {reviewers: [a], approvals: 1}}]}`},
		{"", "approvals.approvers.*", feishuSource + `approvals: {approvers: {f: ["group:g_1"]}}`},
		{"", "policy.sources.*.allow", feishuSource + `policy: {sources: {f: {allow: ["group:g_1"]}}}`},
		{"", "sources.*.receive.ci", githubSource + "receive: {repos: [a/b], ci: all}}"},
		{"", "sources.*.receive.addressing_labels", githubSource + "receive: {repos: [a/b], addressing_labels: [a]}}"},
		{"", "links", feishuSource + "  g: {kind: feishu, app_id: b, app_secret: s, encrypt_key: k, verification_token: v}\nlinks: [{f: ou_1, g: ou_2}]"},
	}
}

const feishuSource = "sources:\n  f: {kind: feishu, app_id: a, app_secret: s, encrypt_key: k, verification_token: v}\n"

const githubSource = "sources:\n  g: {kind: github, webhook_secrets: [0123456789abcdef], login: a, auth: {token: t}, "

func isBuilt(t *testing.T, ask string) bool {
	t.Helper()
	_, faults := config.Parse("ask.yaml", []byte("admin: {tokens: [{name: ops, token: 0123456789abcdef, role: operator}]}\n"+ask), nil, nil)
	for _, f := range faults {
		if strings.Contains(f.Text, "not built yet") {
			return false
		}
		if !f.Warning {
			t.Fatalf("%s: %v", ask, f)
		}
	}
	return true
}

// notYet is what a README says is not built.
func notYet(t *testing.T, readme string) string {
	t.Helper()
	_, rest, ok := strings.Cut(readText(t, filepath.Join(moduleRoot, readme)), "<!-- not yet -->")
	section, _, closed := strings.Cut(rest, "<!-- /not yet -->")
	if !ok || !closed {
		t.Fatalf("%s does not say what is not built yet", readme)
	}
	return section
}

// The READMEs and the table of keys call a value "not built yet" exactly when
// the configuration refuses it with these words.
func TestDocsSayWhatTheConfigurationRefuses(t *testing.T) {
	t.Parallel()
	unbuilt := map[string]bool{}
	for _, s := range settings() {
		ok := isBuilt(t, s.ask)
		unbuilt[s.key] = unbuilt[s.key] || !ok
		for _, readme := range []string{"README.md", "README.zh-CN.md"} {
			if said := strings.Contains(notYet(t, readme), "`"+s.word+"`"); s.word != "" && said == ok {
				t.Errorf("%s says that `%s` is not built yet: %v; it is built: %v", readme, s.word, said, ok)
			}
		}
	}
	for page, phrase := range map[string]string{"docs/configuration.md": "not built yet", "docs/zh/configuration.md": "尚未实现"} {
		rows := keyRows(t, page)
		for key, want := range unbuilt {
			if said := strings.Contains(strings.ToLower(rows[key].text), phrase); said != want {
				t.Errorf("%s says of %s %q: %v, want %v", page, key, phrase, said, want)
			}
		}
	}
}

// The READMEs call exactly those commands of the contract not built that the
// command line does not have.
func TestDocsSayWhichCommandsAreMissing(t *testing.T) {
	t.Parallel()
	have := commands(t)
	for _, name := range []string{"serve", "demo", "check", "version", "replay", "doctor", "status", "policy", "redeliver", "init", "pause", "resume"} {
		there := slices.ContainsFunc(have, func(c string) bool { return c == name || strings.HasPrefix(c, name+" ") })
		for _, readme := range []string{"README.md", "README.zh-CN.md"} {
			if said := strings.Contains(notYet(t, readme), "`gatehouse "+name+"`"); said == there {
				t.Errorf("%s says that gatehouse %s is not built yet: %v; it is there: %v", readme, name, said, there)
			}
		}
	}
}

// Keys that are taken and have no effect are called so exactly as long as no
// code reads them.
func TestDocsSayWhichKeysHaveNoEffect(t *testing.T) {
	t.Parallel()
	code := readCode(t, "cmd/gatehouse", "orchestrator")
	reads := map[string]string{
		"late_after":              `Settings\.LateAfter`,
		"retention.refused_text":  `\.RefusedText`,
		"loop":                    `\.Loop\b`,
		"redeliver":               `\.Redeliver\b`,
		"policy.sources.*.limits": `WithinLimits\(`,
	}
	for page, phrase := range map[string]string{"docs/configuration.md": "no effect yet", "docs/zh/configuration.md": "尚不起作用"} {
		rows := keyRows(t, page)
		for key, pattern := range reads {
			used := regexp.MustCompile(pattern).MatchString(code)
			if said := strings.Contains(strings.ToLower(rows[key].text), phrase); said == used {
				t.Errorf("%s says of %s %q: %v; code that reads it (%s): %v", page, key, phrase, said, pattern, used)
			}
		}
		security := readText(t, filepath.Join(moduleRoot, filepath.Dir(page), "security.md"))
		used := regexp.MustCompile(reads["policy.sources.*.limits"]).MatchString(code)
		if said := strings.Contains(security, phrase); said == used {
			t.Errorf("%s says that the limits have no effect yet: %v; code that reads them: %v", filepath.Dir(page)+"/security.md", said, used)
		}
		if said := strings.Contains(strings.ToLower(rows["policy"].text), "restart") || strings.Contains(rows["policy"].text, "重启"); said == strings.Contains(code, "NeedsRestart(") {
			t.Errorf("%s says that a change of the policy needs a restart: %v", page, said)
		}
	}
}

// The metrics that the pages name exist.
func TestDocsNameMetricsThatExist(t *testing.T) {
	t.Parallel()
	code := readCode(t, "cmd/gatehouse")
	for _, page := range []string{"docs/operations.md", "docs/zh/operations.md"} {
		for _, m := range regexp.MustCompile("`gatehouse_([a-z_]+)`").FindAllStringSubmatch(readText(t, filepath.Join(moduleRoot, page)), -1) {
			if !strings.Contains(code, `"`+m[1]+`"`) && !strings.Contains(code, `"_`+m[1]+`"`) {
				t.Errorf("%s names the metric gatehouse_%s, which does not exist", page, m[1])
			}
		}
	}
}

// The lines of the log that operators are told to watch are written somewhere.
func TestDocsNameLogLinesThatExist(t *testing.T) {
	t.Parallel()
	code := readCode(t, "cmd/gatehouse", "orchestrator", "approvals", "redisstore", "adapters/feishu", "adapters/github")
	for _, page := range []string{"docs/operations.md", "docs/zh/operations.md"} {
		_, table, _ := strings.Cut(readText(t, filepath.Join(moduleRoot, page)), "--log-format json")
		for _, m := range regexp.MustCompile("(?m)^\\| (.*`[a-z; ]+`.*) \\| ").FindAllStringSubmatch(table, -1) {
			for _, message := range regexp.MustCompile("`([a-z; ]+)`").FindAllStringSubmatch(m[1], -1) {
				if !strings.Contains(code, `"`+message[1]+`"`) {
					t.Errorf("%s tells to watch for %q, which nobody logs", page, message[1])
				}
			}
		}
	}
}

// readCode is the text of the folders' Go files without their tests.
func readCode(t *testing.T, folders ...string) string {
	t.Helper()
	var all strings.Builder
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(moduleRoot, folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f, "_test.go") {
				all.WriteString(readText(t, f))
			}
		}
	}
	return all.String()
}

// The calls that docs/http-api.md lists exist on a running gateway, and those
// that it calls missing do not.
func TestDocsListTheCallsOfTheAPI(t *testing.T) {
	t.Parallel()
	admin := startForDocs(t)
	for _, page := range []string{"docs/http-api.md", "docs/zh/http-api.md"} {
		text := readText(t, filepath.Join(moduleRoot, page))
		_, section, _ := strings.Cut(text, "`admin.listen`")
		listed := regexp.MustCompile("(?m)^\\| `GET ([^` ]+)`").FindAllStringSubmatch(section, -1)
		missing := regexp.MustCompile("(?s)<!-- missing -->(.*?)<!-- /missing -->").FindStringSubmatch(text)
		if len(listed) < 8 || missing == nil {
			t.Fatalf("%s lists %d calls; says what is missing: %v", page, len(listed), missing != nil)
		}
		for _, m := range listed {
			if !callExists(t, admin+strings.ReplaceAll(m[1], "{id}", "x")) {
				t.Errorf("%s lists %s, which the gateway does not have", page, m[1])
			}
		}
		for _, m := range regexp.MustCompile("`(/[^` ]*)`").FindAllStringSubmatch(missing[1], -1) {
			if callExists(t, admin+m[1]) {
				t.Errorf("%s calls %s missing, which the gateway has", page, m[1])
			}
		}
	}
}

const docsToken = "0123456789abcdef"

func callExists(t *testing.T, url string) bool {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+docsToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var problem struct{ Code string }
	if res.StatusCode == http.StatusNotFound {
		_ = json.NewDecoder(res.Body).Decode(&problem)
	}
	return problem.Code != "unknown_route"
}

// startForDocs runs a gateway with the trial store and returns the address of
// its API.
func startForDocs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "gatehouse.yaml")
	text := "listen: 127.0.0.1:0\nadmin: {listen: 127.0.0.1:0, tokens: [{name: ops, token: " + docsToken + ", role: operator}]}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "serve", "--config", file)
	c.Env = []string{"GATEHOUSE_TEST_MAIN=1", "PATH="}
	c.Dir = dir
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	logged, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	up := regexp.MustCompile(`gatehouse is up.* admin=(\S+)`)
	for s := bufio.NewScanner(logged); s.Scan(); {
		if m := up.FindStringSubmatch(s.Text()); m != nil {
			go func() {
				for s.Scan() {
				}
			}()
			return "http://" + m[1]
		}
	}
	t.Fatal("the gateway did not start")
	return ""
}
