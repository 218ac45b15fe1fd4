package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The command line, as testdata/script tells it.
func TestCLI(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			return copyInto(env.WorkDir, "internal/config/testdata/ten-mistakes.yaml", "internal/config/testdata/ten-mistakes.golden")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "lines": lines, "json": isJSON,
		},
	})
}

func copyInto(dir string, files ...string) error {
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(f)), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// exits STATUS PROGRAM ARG… runs a program and wants that very exit status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits status program [arg…]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("%s exits with %d, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// lines FILE N wants so many lines.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines file number")
	}
	if got := strings.Count(ts.ReadFile(args[0]), "\n"); strconv.Itoa(got) != args[1] {
		ts.Fatalf("%s has %d lines, want %s", args[0], got, args[1])
	}
}

// json FILE wants one JSON value.
func isJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: json file")
	}
	if !json.Valid([]byte(ts.ReadFile(args[0]))) {
		ts.Fatalf("%s is not JSON", args[0])
	}
}

// gatehouse runs the command line and returns what it printed and its status.
func gatehouse(t *testing.T, args ...string) (out, errOut string, status int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = append(os.Environ(), "GATEHOUSE_TEST_MAIN=1")
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run gatehouse %q: %v", args, err)
	}
	return stdout.String(), stderr.String(), c.ProcessState.ExitCode()
}

// commands are the names that --help lists.
func commands(t *testing.T) []string {
	t.Helper()
	out, _, _ := gatehouse(t, "--help")
	_, list, _ := strings.Cut(out, "Commands:\n")
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z]+(?: [a-z]+)*)`).FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	if len(names) < 4 {
		t.Fatalf("--help lists %q", names)
	}
	return names
}

func TestCLIEveryCommandsHelpShowsAnExample(t *testing.T) {
	t.Parallel()
	for _, name := range commands(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, errOut, status := gatehouse(t, append(strings.Fields(name), "--help")...)
			if status != 0 || errOut != "" {
				t.Fatalf("exit status %d, stderr %q, want 0 and nothing", status, errOut)
			}
			_, example, ok := strings.Cut(out, "Example:")
			if !ok || !strings.Contains(example, "  gatehouse "+name) {
				t.Errorf("no example of gatehouse %s in:\n%s", name, out)
			}
		})
	}
}

// The READMEs show what the demo prints. After a change of the demo run
//
//	GATEHOUSE_UPDATE_DOCS=1 go test ./cmd/gatehouse -run CLIDemo
func TestCLIDemoIsWhatTheReadmesShow(t *testing.T) {
	t.Parallel()
	out, errOut, status := gatehouse(t, "demo", "--once")
	if status != 0 || errOut != "" {
		t.Fatalf("demo --once exits with %d, stderr %q:\n%s", status, errOut, out)
	}
	for _, want := range []string{" 1. FS-1 TR-2 ", "RO-2 OUT-6", "CA-3 ", "CA-4 DE-4", "TR-1 ", "\nThe main job holds.\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the demo does not print %q:\n%s", want, out)
		}
	}
	block := regexp.MustCompile("(?s)(<!-- demo -->\n```\n)(.*?)(```\n<!-- /demo -->)")
	for _, name := range []string{"README.md", "README.zh-CN.md"} {
		path := filepath.Join(moduleRoot, name)
		text := readText(t, path)
		m := block.FindStringSubmatch(text)
		switch {
		case m == nil:
			t.Errorf("%s has no demo block", name)
		case masked(m[2]) == masked(out):
		case os.Getenv("GATEHOUSE_UPDATE_DOCS") == "1":
			text = strings.Replace(text, m[0], m[1]+out+m[3], 1)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s shows\n%s\nthe demo prints\n%s\nrun this test with GATEHOUSE_UPDATE_DOCS=1", name, m[2], out)
		}
	}
}

// masked hides what differs from run to run: short ids, ports and times.
func masked(s string) string {
	return regexp.MustCompile(`\b[0-9a-f]{8}\b|\d+\.\d+\.\d+\.\d+:\d+|\b\d+(\.\d+)?m?s\b`).ReplaceAllString(s, "…")
}
