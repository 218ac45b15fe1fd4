package orchestrator_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// ruleName is the number of a rule at the beginning of a scenario's name and of
// its words.
var ruleName = regexp.MustCompile(`^[A-Z]{2,3}-\d+[a-z]?`)

// allScenes reads every scenario file.
func allScenes(t *testing.T) []scene {
	t.Helper()
	files, err := filepath.Glob(scenarios + "/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all []scene
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := readScene(file, data)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func TestScenarioFiles(t *testing.T) {
	t.Parallel()
	for _, s := range allScenes(t) {
		name := filepath.Base(s.file)
		if rule := ruleName.FindString(name); rule == "" || ruleName.FindString(s.about) != rule {
			t.Errorf("%s: its name and its comment begin with the rule that it tells, %q and %q", name, rule, s.about)
		}
		tells := func(l line) bool {
			v, _ := verbOf(strings.TrimPrefix(l.text, "at once, "))
			return v != nil && v.tells
		}
		if !slices.ContainsFunc(s.lines, tells) {
			t.Errorf("%s: nothing in it can fail", name)
		}
	}
}

func TestScenarioLanguage(t *testing.T) {
	t.Parallel()
	begun := "-- story --\nlin says \"@bot one\" in ops as m1\n"
	cases := []struct{ name, data, want string }{
		{"a line that no verb matches names file, line and verbs", begun + "lin sings", "x.txtar:3: lin sings\nno verb matches; the verbs are:\n  (feishu|github) hears"},
		{"a wrong expectation prints what is", begun + "m1 is decided", "x.txtar:3: m1 is decided\nm1 is queued, want decided\n\nthe story so far:\n   2  lin says \"@bot one\" in ops as m1"},
		{"an action that should be refused and is not", begun + "the main session accepts m1 as t1 but is refused: already_decided", "it is not refused; want already_decided"},
		{"an action that is refused otherwise", begun + "the main session attaches m1 to t1 but is refused: already_decided", "want already_decided: refused: missing_field"},
		{"an action that is refused", begun + "the main session attaches m1 to t1", "refused: missing_field"},
		{"a message that nobody said", begun + "m2 is queued", "nobody said m2"},
		{"a ticket that nobody accepted", begun + "t1 is active", "no ticket is called t1"},
		{"an answer that is said only once", begun + "m1 gets a receipt\nthe main session accepts m1 as t1\nfeishu hears \"Accepted*\"\nfeishu hears \"Accepted*\"", "nobody says \"Accepted*\" there"},
		{"what no line asked about", begun + "the main session accepts m1 as t1\nfeishu hears nothing more", "it heard Accepted"},
		{"a receipt that is there", begun + "m1 gets no receipt", "the reaction received is there: true"},
		{"a decision that is there", begun + "the main session ignores m1\nm1 has no decision", "m1 was ignored, want"},
		{"a strength that is there", begun + "m1 has no strength, by anything", "it is explicit"},
		{"a message that is stored", begun + "m1 is not stored", "it is queued"},
		{"a message that is admitted", begun + "m1 is not admitted", "m1 is queued, want not_admitted"},
		{"a section of another name", "-- tale --\n", "x.txtar:1: a section is called policy or story"},
		{"an executor that read something else", begun + "the main session accepts m1 as t1\nt1 reads m1 (context)", "t1 reads m1 (owned), want m1 (context)"},
		{"no story", "-- policy --\nthe mode is auto\n", "there is no story section"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := readScene("x.txtar", []byte(c.data))
			if err == nil {
				synctest.Test(t, func(t *testing.T) { err = s.play(t) })
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it fails with %v, want %q", err, c.want)
			}
		})
	}
}
