package markdown

import (
	"strings"
	"unicode/utf8"
)

// MinPart is the least that Split cuts to.
const MinPart = 512

// Part is one message of a text that was split.
type Part struct {
	// Head reopens the code block that the cut fell into, Tail closes it.
	// Body is the text's own: all Bodies together are the text, byte by byte.
	Head, Body, Tail string
}

// String is the message: the Body between Head and Tail.
func (p Part) String() string {
	if p.Tail == "" {
		return p.Head + strings.TrimRight(p.Body, "\n")
	}
	return p.Head + strings.TrimRight(p.Body, "\n") + "\n" + p.Tail
}

// Split cuts a text into Parts of at most max bytes each (at least MinPart),
// losing nothing (OUT-5): between paragraphs if it can, else between lines, and
// only a line that is too long by itself is cut at a space or between
// characters. A code block that is cut is closed and opened again. A text that
// fits is one Part; an empty one is none.
func Split(text string, max int) []Part {
	limit := atLeast(max, MinPart)
	lines := cutLines(text, limit/2)
	var parts []Part
	var at Fences
	for len(lines) > 0 {
		n, after := fill(lines, at, limit)
		parts = append(parts, Part{Head: at.Reopen(), Body: join(lines[:n]), Tail: after.Close()})
		lines, at = lines[n:], after
	}
	return parts
}

// piece is a line with its newline, or a part of a line that was too long.
type piece struct {
	text string
	// last: the line ends here, so that it counts for the fences.
	last bool
	line string
}

func cutLines(text string, max int) []piece {
	var out []piece
	for text != "" {
		line := text
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			line = text[:i+1]
		}
		text = text[len(line):]
		rest := line
		for len(rest) > max {
			n := softCut(rest, max)
			out = append(out, piece{text: rest[:n]})
			rest = rest[n:]
		}
		out = append(out, piece{text: rest, last: true, line: line})
	}
	return out
}

// softCut is where to cut s, at most at max: after a space of its second half,
// else between characters.
func softCut(s string, max int) int {
	if i := strings.LastIndexAny(s[:max], " \t"); i >= max/2 {
		return i + 1
	}
	n := max
	for n > max-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// fill tells how many pieces the next Part takes, and where the fences stand
// after them.
func fill(lines []piece, at Fences, max int) (n int, after Fences) {
	size := len(at.Reopen())
	after = at
	good, goodAfter := 0, at
	for n < len(lines) {
		next := after
		if lines[n].last {
			next.Line(lines[n].line)
		}
		size += len(lines[n].text)
		if n > 0 && size+len(next.Close())+1 > max {
			break
		}
		after = next
		n++
		if next.bar == "" && strings.TrimSpace(lines[n-1].text) == "" && size >= max/2 {
			good, goodAfter = n, next
		}
	}
	if n < len(lines) && good > 0 {
		return good, goodAfter
	}
	return n, after
}

func join(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

func atLeast(n, least int) int {
	if n < least {
		return least
	}
	return n
}
