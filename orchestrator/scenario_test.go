package orchestrator_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rogpeppe/go-internal/txtar"
)

// scenarios is where the scenario files are. A file is named after the rule
// that it tells, and a few words: EN-2-released-messages-go-to-the-gate.txtar.
const scenarios = "testdata/scenarios"

// scene is a scenario file: what it is about, the lines that say how the world
// is, and the lines of the story.
type scene struct {
	file  string
	about string
	lines []line
}

// line is a sentence of a scenario and where it stands.
type line struct {
	number int
	text   string
	// policy: it stands in the file's policy section.
	policy bool
}

// TestScenarios plays every scenario file over a real Service, Worker and
// Broker: go test ./orchestrator -run 'Scenarios/EN-2'.
func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(scenarios + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob(%s) = %d files, %v", scenarios, len(files), err)
	}
	sentences() // once, and outside of the bubbles
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := readScene(file, data)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				if err := s.play(t); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// readScene reads a scenario file: the comment, then a policy section, which
// may be left out, and a story section.
func readScene(file string, data []byte) (scene, error) {
	a := txtar.Parse(data)
	s := scene{file: file, about: strings.TrimSpace(string(a.Comment))}
	at := 1 + strings.Count(string(a.Comment), "\n")
	story := false
	for _, part := range a.Files {
		if part.Name != "policy" && part.Name != "story" {
			return s, fmt.Errorf("%s:%d: a section is called policy or story, not %q", file, at, part.Name)
		}
		story = story || part.Name == "story"
		for i, text := range strings.Split(string(part.Data), "\n") {
			text, _, _ = strings.Cut(strings.TrimSpace(text), "# ")
			if text = strings.TrimSpace(text); text != "" {
				s.lines = append(s.lines, line{number: at + 1 + i, text: text, policy: part.Name == "policy"})
			}
		}
		at += 1 + strings.Count(string(part.Data), "\n")
	}
	if !story {
		return s, fmt.Errorf("%s: %w: there is no story section", file, fs.ErrInvalid)
	}
	return s, nil
}

// play plays the scene up to the first line that does not hold.
func (s scene) play(t *testing.T) error {
	p := newPlay(t)
	for _, l := range s.lines {
		if !l.policy {
			p.open()
		}
		err := p.planted(l.text)
		if err == nil {
			err = p.line(l.text)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %s\n%w%s", s.file, l.number, l.text, err, p.soFar())
		}
		p.told = append(p.told, fmt.Sprintf("%4d  %s", l.number, l.text))
	}
	p.open()
	return nil
}
