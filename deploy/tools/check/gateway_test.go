package check_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/deploy/tools/check"
)

// Three files must agree on names: gatehouse.yaml, the unit, compose.yaml.
const (
	variable = `\$\{([A-Z_]+)\}`
	secret   = `\$\{CREDENTIALS_DIRECTORY\}/([a-z_]+)`
)

func TestSecretsHaveOneNameEverywhere(t *testing.T) {
	t.Parallel()
	config := read(t, "deploy", "gatehouse.yaml")
	service, compose := read(t, "deploy", "systemd", "gatehouse.service"), read(t, "deploy", "compose.yaml")

	want := set(comments.ReplaceAllString(config, ""), secret)
	same(t, "secrets of the unit", sorted(unit(t).Credentials()), want)
	same(t, "secrets of compose.yaml", composeSecrets(t, compose), want)

	// What is switched off in the unit and in compose.yaml is the same, and
	// gatehouse.yaml has it, too.
	every := sorted(check.ReadUnit(switchOn(service)).Credentials())
	same(t, "secrets of compose.yaml with every option", composeSecrets(t, switchOn(compose)), every)
	for _, name := range every {
		if !slices.Contains(set(config, secret), name) {
			t.Errorf("gatehouse.yaml has no secret %s", name)
		}
	}
	for name, path := range check.ReadUnit(switchOn(service)).Credentials() {
		if path != "/etc/gatehouse/secrets/"+name {
			t.Errorf("the unit takes %s from %s", name, path)
		}
	}
}

// composeSecrets are the secrets that the gateway gets.
func composeSecrets(t *testing.T, text string) (names []string) {
	t.Helper()
	p, faults := check.Compose([]byte(text), nil, stopTime(t))
	none(t, "compose.yaml", faults)
	for _, s := range p.Services["gatehouse"].Secrets {
		names = append(names, s.Source)
	}
	slices.Sort(names)
	return names
}

func TestVariablesHaveOneNameEverywhere(t *testing.T) {
	t.Parallel()
	want := set(comments.ReplaceAllString(read(t, "deploy", "gatehouse.yaml"), ""), variable)
	env := unit(t).Environment()
	env["CREDENTIALS_DIRECTORY"] = "systemd gives it"
	same(t, "variables of the unit", sorted(env), want)
	same(t, "variables of compose.yaml", sorted(project(t).Services["gatehouse"].Environment), want)
}

// environments are what the unit and compose.yaml give, with secrets in a
// folder of the test.
func environments(t *testing.T) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range set(read(t, "deploy", "gatehouse.yaml"), secret) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("0123456789abcdef-"+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string][]string{"the unit": {"CREDENTIALS_DIRECTORY=" + dir}, "compose.yaml": {"CREDENTIALS_DIRECTORY=" + dir}}
	for name, value := range unit(t).Environment() {
		all["the unit"] = append(all["the unit"], name+"="+value)
	}
	for name, value := range project(t).Services["gatehouse"].Environment {
		if name != "CREDENTIALS_DIRECTORY" {
			all["compose.yaml"] = append(all["compose.yaml"], name+"="+*value)
		}
	}
	return all
}

func TestGatehouseChecksTheConfiguration(t *testing.T) {
	t.Parallel()
	config := filepath.Join(top, "deploy", "gatehouse.yaml")
	for name, env := range environments(t) {
		out, status := output(t, env, gatehouse(t), "check", "--config", config)
		if status != 0 || strings.Contains(out, "warning") {
			t.Errorf("gatehouse check as under %s: exit status %d: %s", name, status, out)
		}
	}
}

// Exit status 2 is wrong usage; a configuration that is not there is 1.
func TestCommandLinesAreTheGateways(t *testing.T) {
	t.Parallel()
	_, image := check.Dockerfile([]byte(read(t, "deploy", "Dockerfile")))
	started := strings.Fields(unit(t).Service("ExecStart"))
	if started[0] != "/usr/local/bin/gatehouse" {
		t.Errorf("the unit starts %s", started[0])
	}
	for name, args := range map[string][]string{"the unit": started[1:], "the Dockerfile": image} {
		args = slices.Clone(args)
		at := slices.Index(args, "--config") + 1
		if !slices.Contains(args, "serve") || at == 0 || args[at] != "/etc/gatehouse/gatehouse.yaml" {
			t.Errorf("%s: %q, want serve --config /etc/gatehouse/gatehouse.yaml", name, args)
			continue
		}
		args[at] = filepath.Join(t.TempDir(), "not-there.yaml")
		if out, status := output(t, nil, gatehouse(t), args...); status != 1 || !strings.Contains(out, "not-there.yaml") {
			t.Errorf("%s: gatehouse %q has exit status %d, want 1 and the missing file: %s", name, args, status, out)
		}
	}
	if _, status := output(t, nil, gatehouse(t), "serve", "--configuration", "x"); status != 2 {
		t.Errorf("wrong usage has exit status %d, want 2", status)
	}
	if got := unit(t).Service("RestartPreventExitStatus"); got != "2" {
		t.Errorf("RestartPreventExitStatus is %q, want that of wrong usage", got)
	}
}

// TestServesAsDeployed starts the gateway with deploy's configuration, on a
// Redis with compose.yaml's options and on the unit's store of its own, asks
// both health endpoints and stops it.
func TestServesAsDeployed(t *testing.T) {
	t.Parallel()
	for name, env := range environments(t) {
		t.Run(strings.TrimPrefix(name, "the "), func(t *testing.T) {
			dir := t.TempDir()
			need(t, "redis-server", "GATEHOUSE_REQUIRE_REDIS")
			env := slices.DeleteFunc(slices.Clone(env), func(s string) bool { return strings.HasPrefix(s, "GATEHOUSE_BIND=") })
			if i := slices.IndexFunc(env, func(s string) bool { return strings.HasPrefix(s, "REDIS_URL=unix:") }); i >= 0 {
				env[i] = "REDIS_URL=unix://" + startRedis(t)
			}
			host := "127.94.17.23" // a loopback address that nobody else listens on
			serve(t, append(env, "GATEHOUSE_BIND="+host), host, dir)
		})
	}
}

func serve(t *testing.T, env []string, host, dir string) {
	t.Helper()
	text := read(t, "deploy", "gatehouse.yaml")
	for from, to := range map[string]string{"data_dir: /var/lib/gatehouse": "data_dir: " + dir, "https://open.feishu.cn ": "http://127.0.0.1:1 "} {
		if !strings.Contains(text, from) {
			t.Fatalf("gatehouse.yaml: no %q", from)
		}
		text = strings.Replace(text, from, to, 1)
	}
	config := filepath.Join(dir, "gatehouse.yaml")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	cmd := exec.Command(gatehouse(t), "serve", "--config", config)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(env, "PATH="+os.Getenv("PATH")), &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := false
	for range 150 {
		if ready = answers("http://"+host+":8080/healthz") && answers("http://"+host+":8081/readyz"); ready {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	stopped := time.AfterFunc(stopTime(t)+5*time.Second, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	stopped.Stop()
	if !ready || err != nil {
		t.Errorf("the gateway is ready: %t, and ends with %v, want true and no error; it logged:\n%s", ready, err, log.String())
	}
	if strings.Contains(strings.ToLower(log.String()), "trial") {
		t.Errorf("the gateway speaks of a trial:\n%s", log.String())
	}
}

func answers(url string) bool {
	r, err := http.Get(url)
	if err != nil {
		return false
	}
	_ = r.Body.Close()
	return r.StatusCode == http.StatusOK
}
