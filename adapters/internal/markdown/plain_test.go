package markdown_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/internal/markdown"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"stop":                               "stop",
		"a `code` b":                         "a  b",
		"a ``x ` y`` b":                      "a  b",
		"a ` b":                              "a ` b",
		"a `` b ` c":                         "a `` b ` c",
		"a ` b\n\nc ` d":                     "a ` b\n\nc ` d",
		"```\ncode\n```\nafter":              "after",
		"~~~\ncode":                          "",
		"> quote\nafter":                     "after",
		"a <!-- b --> c":                     "a  c",
		"a <!-- b":                           "a",
		"<!-- a\n\nb -->c":                   "c",
		"`a` and `b` and `":                  "and  and `",
		"text\n> q\n```go\nx\n```\n`y` more": "text\n more",
	} {
		if got := markdown.Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
	start := time.Now()
	for _, unit := range []string{"`", "` ", "`` ` ", "<!--", "> ", "```\n"} {
		markdown.Plain(strings.Repeat(unit, 1<<18/len(unit)))
	}
	var runs strings.Builder
	for n := range 700 {
		runs.WriteString(strings.Repeat("`", n) + " ")
	}
	markdown.Plain(runs.String())
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("Plain took %v on hostile text, want time in its length", took)
	}
}
