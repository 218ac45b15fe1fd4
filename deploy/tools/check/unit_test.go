package check_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/deploy/tools/check"
)

// mostExposure is the worst mark of `systemd-analyze security` that the unit
// may have, in tenths; it has 12.
const mostExposure = "15"

func TestUnit(t *testing.T) {
	t.Parallel()
	text := read(t, "deploy", "systemd", "gatehouse.service")
	faults := func(s string) []string { return check.ReadUnit(s).Faults(stopTime(t)) }
	none(t, "gatehouse.service", faults(text))
	finds(t, text, faults, [][3]string{
		{"TimeoutStopSec=30", "TimeoutStopSec=23", "TimeoutStopSec"},
		{"TimeoutStopSec=30", "", "TimeoutStopSec"},
		{"KillMode=mixed", "", "KillMode"},
		{"DynamicUser=yes\nUser=gatehouse", "DynamicUser=no", "root"},
		{"ProtectSystem=strict", "ProtectSystem=full", "ProtectSystem"},
		{"SystemCallFilter=@system-service\nSystemCallFilter=~@privileged", "SystemCallFilter=", "SystemCallFilter"},
	})
}

func TestUnitPassesSystemdAnalyze(t *testing.T) {
	t.Parallel()
	analyze := need(t, "systemd-analyze", "GATEHOUSE_REQUIRE_SYSTEMD")
	text := read(t, "deploy", "systemd", "gatehouse.service")
	// The binary must be there to be verified.
	text = strings.Replace(text, "/usr/local/bin/gatehouse", gatehouse(t), 1)
	for name, unit := range map[string]string{"as it stands": text, "with every option": switchOn(text)} {
		out, status := verify(t, analyze, unit)
		if status != 0 || out != "" {
			t.Errorf("systemd-analyze verify %s: exit status %d: %s", name, status, out)
		}
	}
	for planted, want := range map[string]string{
		"TimeoutStopSecs=30": "Unknown key", "NoNewPrivileges=perhaps": "Failed to parse", "SystemCallFilter=opne": "opne", "ExecStartPre=/not/there": "not executable",
	} {
		if out, _ := verify(t, analyze, strings.Replace(text, "[Install]", planted+"\n[Install]", 1)); !strings.Contains(out, want) {
			t.Errorf("systemd-analyze verify says %q of %s, want %q", out, planted, want)
		}
	}
	path := filepath.Join(t.TempDir(), "gatehouse.service")
	for unit, want := range map[string]int{text: 0, regexp.MustCompile(`(?m)^(Protect|System|Private|Restrict).*$`).ReplaceAllString(text, ""): 1} {
		if err := os.WriteFile(path, []byte(unit), 0o600); err != nil {
			t.Fatal(err)
		}
		out, status := output(t, nil, analyze, "security", "--offline=yes", "--no-pager", "--threshold="+mostExposure, path)
		if status != want {
			t.Errorf("systemd-analyze security --threshold=%s: exit status %d, want %d:\n%s", mostExposure, status, want, out)
		}
	}
}

func verify(t *testing.T, analyze, unit string) (string, int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gatehouse.service")
	if err := os.WriteFile(path, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	return output(t, nil, analyze, "verify", "--man=no", path)
}

// SIGHUP ends a program that does not listen to it.
func TestUnitReloadsOnlyIfTheGatewayListens(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(top, "cmd", "gatehouse", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of the gateway: %v", err)
	}
	listens := false
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		listens = listens || !strings.HasSuffix(file, "_test.go") && strings.Contains(string(data), "syscall.SIGHUP")
	}
	if reload := unit(t).Service("ExecReload"); reload != "" && !listens {
		t.Errorf("ExecReload=%s, but nothing in cmd/gatehouse listens to SIGHUP", reload)
	}
}
