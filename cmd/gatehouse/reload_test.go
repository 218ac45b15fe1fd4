package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// edit replaces a text of the configuration file, as an editor does.
func (w *world) edit(old, next string) {
	w.t.Helper()
	data, err := os.ReadFile(w.config)
	if err != nil || !strings.Contains(string(data), old) {
		w.t.Fatalf("edit %q: %v in\n%s", old, err, data)
	}
	temporary := w.config + ".new"
	if err := os.WriteFile(temporary, []byte(strings.Replace(string(data), old, next, 1)), 0o600); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Rename(temporary, w.config); err != nil {
		w.t.Fatal(err)
	}
}

// inForce waits until the running policy has a version and its mode.
func (w *world) inForce(version int, mode string) {
	w.t.Helper()
	w.until("the policy is in force", func(ctx context.Context) bool {
		var p struct {
			Version int
			Policy  struct{ Mode string }
		}
		return w.get(ctx, "/v1/policy", &p) == nil && p.Version == version && p.Policy.Mode == mode
	})
}

// health waits until an entry of the status says something; "" is ok.
func (w *world) health(name, want string) {
	w.t.Helper()
	w.until(name+" says "+want, func(ctx context.Context) bool {
		var st struct{ Entries []api.Entry }
		if w.get(ctx, "/v1/status", &st) != nil {
			return false
		}
		for _, e := range st.Entries {
			if e.Name == name {
				return (e.State == api.OK) == (want == "") && strings.Contains(e.Message, want)
			}
		}
		return false
	})
}

// command runs a command of the line against the running gateway.
func (w *world) command(args ...string) (out string, status int) {
	w.t.Helper()
	var both bytes.Buffer
	args = append(args, "--config", w.config, "--url", w.admin, "--token", worldToken)
	status = run(args, &app{out: &both, err: &both, env: os.LookupEnv})
	return both.String(), status
}

func (w *world) says(want string, status int, args ...string) {
	w.t.Helper()
	if out, got := w.command(args...); got != status || !strings.Contains(out, want) {
		w.t.Errorf("gatehouse %s exits with %d, want %d and %q:\n%s", strings.Join(args, " "), got, status, want, out)
	}
}

// The policy is edited in the file, by the command line and in the file again,
// on a running gateway.
func TestPolicyReload(t *testing.T) {
	t.Parallel()
	w := newWorld(t, redistest.Start(t).URL)
	w.start()
	w.inForce(1, "observe")

	t.Log("a change of the file comes into force (PV-6)")
	w.edit("policy:\n", "policy:\n  mode: auto\n")
	w.inForce(2, "auto")

	t.Log("SIGHUP does no harm, and what needs a restart is said (PV-6)")
	w.edit("language: zh", "language: en")
	if err := w.proc.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	w.until("the log says it", func(context.Context) bool {
		return strings.Contains(w.logged(), "needs a restart") && strings.Contains(w.logged(), "keys=language")
	})

	t.Log("an invalid file is refused whole, and the running policy stays (PV-6)")
	w.edit("mode: auto", "mode: aut0")
	w.health("policy", "mode: want off, observe or auto")
	w.inForce(2, "auto")
	w.edit("mode: aut0", "mode: auto")
	w.health("policy", "")

	t.Log("an exported policy can be edited and applied, once (PV-6)")
	file := filepath.Join(t.TempDir(), "policy.yaml")
	exported, _ := w.command("policy", "export")
	if err := os.WriteFile(file, []byte(strings.Replace(exported, "auto", "off", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	w.says(`"considered":0,"changed":[]`, 0, "policy", "backtest", "--policy", file)
	w.says("version 3 is in force", 0, "policy", "apply", "--policy", file)
	w.says("412 Precondition Failed outdated", 1, "policy", "apply", "--policy", file)

	t.Log("the file started from another policy: it is not applied until by force (PV-6)")
	w.edit("mode: auto", "mode: observe")
	w.health("policy", "policy apply --force")
	w.inForce(3, "off")
	w.says("does not say which version", 1, "policy", "apply", "--policy", w.config)
	w.says("version 4 is in force", 0, "policy", "apply", "--policy", w.config, "--force")
	w.health("policy", "")

	t.Log("the policy is explained (AD-2)")
	w.says(`"basis":"allow_list"`, 0, "policy", "explain", "--source", "feishu-main", "--scope", "chat:"+w.ops.ID,
		"--sender", w.lin.OpenID, "--addressing", "mention")

	t.Log("processing is paused and goes on (RE-3)")
	w.says("404 Not Found not_found", 1, "pause", "--source", "nowhere")
	w.says("paused: feishu-main", 0, "pause", "--source", "feishu-main")
	w.health("workers", "paused: [feishu-main]")
	w.says("everything is paused", 0, "pause")
	w.health("workers", "paused by api:test")
	w.says("nothing is paused", 0, "resume")
	w.health("workers", "")

	t.Log("without a running gateway the file alone explains")
	w.kill()
	w.says("the file alone decides", 0, "policy", "explain", "--source", "feishu-main", "--scope", "chat:"+w.ops.ID, "--sender", "bot:cli_1")
	w.says("there are no recorded messages", 0, "policy", "backtest", "--policy", file)
	w.says("is it running?", 1, "policy", "export")
	event := filepath.Join(t.TempDir(), "event.json")
	said := w.sim.Say(w.ops, w.lin, "@bot deploy")
	if err := os.WriteFile(event, said.Body, 0o600); err != nil {
		t.Fatal(err)
	}
	w.says(`"basis":"allow_list"`, 0, "policy", "explain", "--source", "feishu-main", "--event", event, "--bot-id", w.sim.App().BotOpenID)
}
