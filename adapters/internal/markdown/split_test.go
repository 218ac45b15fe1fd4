package markdown_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-bot/gatehouse/adapters/internal/markdown"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	code := "```go\n" + strings.Repeat("fmt.Println(1)\n", 100) + "```\n"
	for name, text := range map[string]string{
		"a short text is one part":                  "hello\n\nworld",
		"paragraphs":                                strings.Repeat("One line of a paragraph.\nAnother.\n\n", 60),
		"OUT-5 a code block is closed and reopened": "Before\n\n" + code + "\nAfter",
		"tildes":                       "~~~~ sh\n" + strings.Repeat("ls ``` -l\n", 200) + "~~~~\n",
		"one endless line":             strings.Repeat("字", 3000),
		"one endless line with spaces": strings.Repeat("word ", 1000),
		"an unclosed block":            "```\n" + strings.Repeat("x\n", 800),
		"CRLF":                         strings.Repeat("line\r\n", 400),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, text, 600)
		})
	}
}

func check(t *testing.T, text string, max int) {
	t.Helper()
	parts := markdown.Split(text, max)
	var whole strings.Builder
	for i, p := range parts {
		whole.WriteString(p.Body)
		if n := len(p.String()); n > max {
			t.Errorf("part %d has %d bytes, want at most %d", i, n, max)
		}
		if utf8.ValidString(text) && !utf8.ValidString(p.String()) {
			t.Errorf("part %d is cut inside a character", i)
		}
		if fences := open(p.String()); fences {
			t.Errorf("part %d leaves a code block open: %q", i, p.String())
		}
	}
	if whole.String() != text {
		t.Errorf("the parts' bodies are not the text")
	}
}

// open reports whether a text ends inside a code block.
func open(text string) bool {
	var f markdown.Fences
	for _, line := range strings.Split(text, "\n") {
		f.Line(line)
	}
	return f.Close() != ""
}

func TestSplitKeepsTheLanguage(t *testing.T) {
	t.Parallel()
	parts := markdown.Split("```go\n"+strings.Repeat("code line\n", 100)+"```", 600)
	if len(parts) < 2 || !strings.HasPrefix(parts[1].String(), "```go\ncode line") || !strings.HasSuffix(parts[0].String(), "\n```") {
		t.Errorf("Split = %q, want the second part to start with the language and the first to end with a fence", parts)
	}
	if got := markdown.Split("", 600); got != nil {
		t.Errorf("Split(\"\") = %v, want none", got)
	}
}

func TestOutside(t *testing.T) {
	t.Parallel()
	got := markdown.Outside("a\n```\nb\n```\nc", strings.ToUpper)
	if want := "A\n```\nb\n```\nC"; got != want {
		t.Errorf("Outside = %q, want %q", got, want)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("text\n\n```go\ncode\n```\nmore", 10)
	f.Add(strings.Repeat("`", 700), 512)
	f.Fuzz(func(t *testing.T, text string, max int) {
		max = 512 + (max&0xfff+0x1000)%0x1000
		parts := markdown.Split(text, max)
		var whole strings.Builder
		for _, p := range parts {
			whole.WriteString(p.Body)
			if len(p.String()) > max {
				t.Fatalf("a part has %d bytes, want at most %d", len(p.String()), max)
			}
		}
		if whole.String() != text {
			t.Fatal("the parts' bodies are not the text")
		}
	})
}
