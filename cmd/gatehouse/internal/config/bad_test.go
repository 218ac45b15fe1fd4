package config_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
)

// operator is added to a case that says nothing of the admin listener.
const operator = `admin: {tokens: [{name: ops, token: "${OPS_TOKEN}", role: operator}]}`

// badCase is one case of testdata/bad: a title, a configuration and, after
// "--- want", what the faults print.
type badCase struct{ title, text, want string }

func badCases(t testing.TB, file string) (cases []badCase) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq("\n"+string(data), "\n=== ") {
		title, body, ok := strings.Cut(part, "\n")
		if !ok {
			continue
		}
		text, want, _ := strings.Cut(strings.TrimSuffix(body, "\n")+"\n", "--- want\n")
		cases = append(cases, badCase{title, text, want})
	}
	return cases
}

// config is what the case has Parse read: an operator's token is added, unless
// the case has a section admin or begins with "# alone".
func (c badCase) config() []byte {
	if strings.HasPrefix(c.text, "# alone") || strings.Contains("\n"+c.text, "\nadmin:") {
		return []byte(c.text)
	}
	return []byte(c.text + operator + "\n")
}

func TestBadConfigurations(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		section := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(section, func(t *testing.T) {
			t.Parallel()
			var all bytes.Buffer
			for _, c := range badCases(t, file) {
				got := faultsOf(t, section, c)
				if got != c.want && !*update {
					t.Errorf("%s:\n%s\ngot\n%swant\n%s", c.title, c.text, got, c.want)
				}
				fmt.Fprintf(&all, "=== %s\n%s--- want\n%s", c.title, c.text, got)
			}
			if *update {
				if err := os.WriteFile(file, all.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// faultsOf prints a case's faults. Only the section notbuilt runs on the
// gateway as it is, the others on one that has everything.
func faultsOf(t *testing.T, section string, c badCase) string {
	t.Helper()
	cfg, faults, _ := config.ParseAll("f", c.config(), env, readFile)
	if section == "notbuilt" {
		cfg, faults = config.Parse("f", c.config(), env, readFile)
	}
	if (cfg == nil) != faults.Failed() {
		t.Errorf("%s: config %v, want one exactly when nothing but warnings are found", c.title, cfg)
	}
	var out strings.Builder
	if err := faults.Fprint(&out); err != nil {
		t.Error(err)
	}
	return out.String()
}
