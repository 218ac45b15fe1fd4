// Package markdown cuts Markdown into messages. It is not a Markdown parser: it
// knows code fences, which is what a cut must not break.
package markdown

import "strings"

// maxBar: a longer fence is nobody's code block, and repeating it costs room.
const maxBar = 64

// Fences follows the code fences of a text line by line. The zero value stands
// at its start.
type Fences struct{ bar, info string }

// Line takes the next line and reports whether it belongs to a code block, the
// fences included.
func (f *Fences) Line(line string) (code bool) {
	body := strings.TrimLeft(strings.TrimRight(line, "\r\n"), " ")
	mark := fenceMark(body)
	if f.bar == "" {
		f.bar = mark
		if mark != "" {
			f.info = infoOf(body[len(mark):])
		}
		return mark != ""
	}
	if mark != "" && mark[0] == f.bar[0] && len(mark) >= len(f.bar) && strings.TrimSpace(body[len(mark):]) == "" {
		*f = Fences{}
	}
	return true
}

// Reopen is the line that starts the open block again, or "".
func (f Fences) Reopen() string {
	if f.bar == "" {
		return ""
	}
	return f.bar + f.info + "\n"
}

// Close is the line that ends the open block, or "".
func (f Fences) Close() string { return f.bar }

// fenceMark is the run of ` or ~ that opens or closes a block, or "".
func fenceMark(s string) string {
	for _, c := range [...]string{"`", "~"} {
		n := len(s) - len(strings.TrimLeft(s, c))
		if n < 3 || n > maxBar {
			continue
		}
		if c == "`" && strings.Contains(s[n:], "`") {
			return "" // a code span on one line
		}
		return s[:n]
	}
	return ""
}

// infoOf is the first word after an opening fence: the language.
func infoOf(s string) string {
	words := strings.Fields(s)
	if len(words) == 0 || len(words[0]) > maxBar {
		return ""
	}
	return words[0]
}

// Outside calls do with every line that is not in a code block, and puts what
// it returns in the line's place. Lines come without their newline.
func Outside(text string, do func(line string) string) string {
	lines := strings.Split(text, "\n")
	var f Fences
	for i, line := range lines {
		if !f.Line(line) {
			lines[i] = do(line)
		}
	}
	return strings.Join(lines, "\n")
}
