package feishu

import (
	"strings"

	"github.com/gatehouse-bot/gatehouse/adapters/internal/markdown"
)

// plainText is Markdown without code blocks, code spans, quotes and HTML
// comments: what a command or a name may be looked for in (Trigger.Plain).
func plainText(text string) string {
	var keep []string
	var fences markdown.Fences
	for _, line := range strings.Split(text, "\n") {
		if !fences.Line(line) && !strings.HasPrefix(strings.TrimLeft(line, " "), ">") {
			keep = append(keep, line)
		}
	}
	return strings.TrimSpace(dropComments(dropSpans(strings.Join(keep, "\n"))))
}

// dropSpans takes out code spans: a run of backticks up to the next run of the
// same length. A run without a partner is text.
func dropSpans(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '`')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		n := run(s[i:])
		b.WriteString(s[:i])
		s = s[i:]
		end := partner(s[n:], n)
		if end < 0 {
			b.WriteString(s[:n])
			s = s[n:]
			continue
		}
		s = s[n+end+n:]
	}
}

// partner is where the next run of exactly n backticks starts, or -1.
func partner(s string, n int) int {
	at := 0
	for {
		i := strings.IndexByte(s[at:], '`')
		if i < 0 {
			return -1
		}
		at += i
		m := run(s[at:])
		if m == n {
			return at
		}
		at += m
	}
}

func run(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

func dropComments(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "<!--")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		end := strings.Index(s[i:], "-->")
		if end < 0 {
			return b.String()
		}
		s = s[i+end+len("-->"):]
	}
}
