package github_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// z is the zero-width space.
const z = "\u200b"

func TestNeutral(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string][2]string{
		"a mention":                             {"cc @bob", "cc @" + z + "bob"},
		"a team":                                {"@acme/core look", "@" + z + "acme/core look"},
		"the requester's own":                   {"@ann: done, @ANN!", "@ann: done, @ANN!"},
		"not a team of that name":               {"@ann/core", "@" + z + "ann/core"},
		"not a longer name":                     {"@ann-lee @ann_x @ann2", "@" + z + "ann-lee @" + z + "ann_x @" + z + "ann2"},
		"not one that grows by an entity":       {"@ann&#45;lee", "@" + z + "ann&#45;lee"},
		"two signs":                             {"@@bob", "@" + z + "@" + z + "bob"},
		"an entity for the sign":                {"&#64;bob &#x40;bob &commat;bob &#0064;bob", "@" + z + "bob @" + z + "bob @" + z + "bob @" + z + "bob"},
		"an entity in the name":                 {"@&#98;ob", "@" + z + "&#98;ob"},
		"a mail address stays":                  {"x@example.com", "x@example.com"},
		"one after an entity's name does not":   {"<p>&copy@bob</p>", "<p>&copy@" + z + "bob</p>"},
		"a web address keeps its meaning":       {"https://medium.com/@bob/post", "https://medium.com/%40bob/post"},
		"an emphasis in front":                  {"_x_@bob", "_x_@" + z + "bob"},
		"a quote, since GitHub notifies":        {"> @bob", "> @" + z + "bob"},
		"code stays":                            {"`@bob`", "`@bob`"},
		"a block of code stays":                 {"```java\n@Override\n```", "```java\n@Override\n```"},
		"indented code stays":                   {"    @app.route", "    @app.route"},
		"what only looks like a fence does not": {"    ```\n\n@bob", "    ```\n\n@" + z + "bob"},
		"nor a fence inside of a comment":       {"<!--\n```\n-->\n@bob", "<!--\n```\n-->\n@" + z + "bob"},
		"nor one inside of an HTML block":       {"<div>\n```\n@bob\n```\n</div>", "<div>\n```\n@" + z + "bob\n```\n</div>"},
		"nor a code span that a table cuts":     {"| a | b |\n|---|---|\n| `x | @bob` |", "| a | b |\n|---|---|\n| `x | @" + z + "bob` |"},
		"a lone sign stays":                     {"a @ b @", "a @ b @"},
		"a closing keyword":                     {"fixes #12", "f" + z + "ixes #12"},
		"with a colon":                          {"Closes: #12, resolved GH-3", "C" + z + "loses: #12, r" + z + "esolved GH-3"},
		"of another repository":                 {"FIXED acme/app#3", "F" + z + "IXED acme/app#3"},
		"by address":                            {"close https://github.com/a/b/issues/1", "c" + z + "lose https://github.com/a/b/issues/1"},
		"in bold":                               {"**resolves** #1", "**r" + z + "esolves** #1"},
		"on two lines":                          {"fix\n#1", "f" + z + "ix\n#1"},
		"two for one":                           {"fixes closes #1", "fixes c" + z + "loses #1"},
		"not a word that only ends so":          {"prefixes #1", "prefixes #1"},
		"not a keyword without an issue":        {"this fixes the bug", "this fixes the bug"},
		"not in code":                           {"`fixes #1`", "`fixes #1`"},
		"a plain reference stays":               {"see #12", "see #12"},
		"E3 our own mark":                       {"<!-- gatehouse:x -->", "<!-- x -->"},
		"a plain text stays":                    {"All is well & good <b>x</b>\n\n- a\n- b", "All is well & good <b>x</b>\n\n- a\n- b"},
		"nothing":                               {"", ""},
	} {
		if got := github.Neutral(tt[0], "ann"); got != tt[1] {
			t.Errorf("GH-7 %s: Neutral(%q) = %q, want %q", name, tt[0], got, tt[1])
		}
	}
}

func TestNeutralKeepsWithinTheLimit(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"@", "@a", "&#64;", "fix #1 ", "http://a/@a@a@a@a@a@a@a ", ">@a", "`@a` ", "@@a`", "[@a](", "<!-- gatehouse:", "字", "@a\n", "&#64;\n"} {
		start := time.Now()
		size := 31_000 // a whole comment and some
		if strings.ContainsAny(unit, "[`") {
			size = 8_000 // slow to parse, and slower under the race detector
		}
		text := strings.Repeat(unit, size/len(unit))
		for i, c := range github.CommentsOf(gate.Outgoing{Text: text, Mention: gate.Sender{Kind: gate.Person, Name: "ann"}}) {
			if n := utf8.RuneCountInString(c); n > 65_000 {
				t.Errorf("OUT-5: comment %d of %q… has %d characters, want at most 65,536 with the mark", i, unit, n)
			}
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("GH-7: neutralising %q… took %v", unit, took)
		}
	}
}

func FuzzNeutral(f *testing.F) {
	for _, s := range []string{"cc @bob", "`@bob` @bob", "&#64;bob", "<p>@bob</p>", "fixes #1", "@ann/x", "https://x/@bob", "```\n@bob", "[@bob](x)", "> @bob", "\\@bob"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 || !utf8.ValidString(text) {
			return
		}
		out := github.Neutral(text, "ann")
		for _, name := range []string{"bob", "a", "acme", "everyone"} {
			if slowMentions(out, name) {
				t.Fatalf("Neutral(%q) = %q mentions %s", text, out, name)
			}
		}
	})
}
