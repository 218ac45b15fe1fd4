package check_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var folders = []string{"", "feishu", "github"}

var (
	link    = regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`)
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	ownPath = regexp.MustCompile(`deploy/[A-Za-z][A-Za-z0-9./-]*`)
)

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, folder := range folders {
		for _, name := range languages {
			text := read(t, "deploy", folder, name)
			for _, m := range link.FindAllStringSubmatch(text, -1) {
				if _, err := os.Stat(filepath.Join(top, "deploy", folder, m[1])); err != nil {
					t.Errorf("deploy/%s/%s: %v", folder, name, err)
				}
			}
		}
	}
}

func TestPathsOfDeployExist(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"README.md", "README.zh-CN.md", "Dockerfile", "compose.yaml", "gatehouse.yaml", "policy.example.yaml", filepath.Join("systemd", "gatehouse.service"),
	} {
		for _, path := range ownPath.FindAllString(read(t, "deploy", name), -1) {
			if _, err := os.Stat(filepath.Join(top, strings.TrimRight(path, "."))); err != nil {
				t.Errorf("deploy/%s: %v", name, err)
			}
		}
	}
}

// Both languages have the same sections and the same commands.
func TestLanguagesAgree(t *testing.T) {
	t.Parallel()
	ascii := regexp.MustCompile(`[^\x00-\x7f].*`)
	for _, folder := range folders {
		english, chinese := read(t, "deploy", folder, languages[0]), read(t, "deploy", folder, languages[1])
		if e, c := strings.Count(english, "\n## "), strings.Count(chinese, "\n## "); e != c {
			t.Errorf("deploy/%s: %d sections in English, %d in Chinese", folder, e, c)
		}
		e, c := fence.FindAllString(english, -1), fence.FindAllString(chinese, -1)
		if len(e) != len(c) {
			t.Errorf("deploy/%s: %d blocks in English, %d in Chinese", folder, len(e), len(c))
			continue
		}
		for i := range e {
			for j, line := range strings.Split(c[i], "\n") {
				english := strings.Split(e[i], "\n")
				if plain := ascii.ReplaceAllString(line, ""); j >= len(english) || !strings.HasPrefix(english[j], plain) {
					t.Errorf("deploy/%s: the Chinese README has %q in block %d, the English one has not", folder, line, i)
				}
			}
		}
	}
}

// What the README promises about times is what the code has.
func TestReadmeKnowsTheStopTime(t *testing.T) {
	t.Parallel()
	seconds := regexp.MustCompile(`at most (\d+) s; hence the (\d+) s`).FindStringSubmatch(read(t, "deploy", "README.md"))
	if seconds == nil || seconds[1]+"s" != stopTime(t).String() || seconds[2] != unit(t).Service("TimeoutStopSec") {
		t.Errorf("README.md says %q, want %s and the unit's %s", seconds, stopTime(t), unit(t).Service("TimeoutStopSec"))
	}
}
