package markdown

import "strings"

// Plain is Markdown without code blocks, code spans, quotes and HTML comments:
// what a command or a word may be looked for in. It reads line by line, takes
// time in the length of the text, and does not render.
func Plain(text string) string {
	var keep []string
	var fences Fences
	for line := range strings.SplitSeq(text, "\n") {
		if !fences.Line(line) && !strings.HasPrefix(strings.TrimLeft(line, " "), ">") {
			keep = append(keep, line)
		}
	}
	return strings.TrimSpace(dropComments(dropSpans(strings.Join(keep, "\n"))))
}

// dropSpans takes out code spans: a run of backticks up to the next run of the
// same length in the same paragraph. A run without a partner is text.
func dropSpans(s string) string {
	paragraphs := strings.Split(s, "\n\n")
	for i, p := range paragraphs {
		if strings.Contains(p, "`") {
			paragraphs[i] = dropSpansIn(p)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

func dropSpansIn(s string) string {
	ticks := backticks(s)
	next := partners(ticks)
	var b strings.Builder
	at := 0
	for i := 0; i < len(ticks); i++ {
		if next[i] < 0 {
			continue
		}
		b.WriteString(s[at:ticks[i].from])
		i = next[i]
		at = ticks[i].to
	}
	b.WriteString(s[at:])
	return b.String()
}

// span is a run of backticks.
type span struct{ from, to int }

func backticks(s string) []span {
	var out []span
	for i := 0; i < len(s); i++ {
		if s[i] != '`' {
			continue
		}
		from := i
		for i < len(s) && s[i] == '`' {
			i++
		}
		out = append(out, span{from, i})
	}
	return out
}

// partners finds for each run the next one of the same length, or -1.
func partners(runs []span) []int {
	next := make([]int, len(runs))
	last := map[int]int{}
	for i := len(runs) - 1; i >= 0; i-- {
		n := runs[i].to - runs[i].from
		next[i] = -1
		if j, ok := last[n]; ok {
			next[i] = j
		}
		last[n] = i
	}
	return next
}

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
