package feishu

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-bot/gatehouse/adapters/internal/markdown"
)

// breaker is a zero width space: put into a construct, it shows what was
// written and keeps the client from acting on it.
const breaker = "\u200b"

// callTag finds what would call or show a person, anywhere in a card's or
// post's text.
func callTag() *regexp.Regexp { return regexp.MustCompile(`(?i)<(/?\s*(?:at|person)\b)`) }

// quiet makes text that an agent wrote harmless where only mentions can hurt:
// <at> becomes text (D.1, PL-4).
func quiet(s string) string {
	return callTag().ReplaceAllString(tidy(s), "<"+breaker+"$1")
}

// tame makes an agent's Markdown harmless on a card of ours (PL-4, CA-2): it
// cannot call anybody, load an image, hide where a link leads, or dress up as
// the host's own headings, rules and tags. Its code blocks keep their text and
// are written in one form, closed, so that the client sees them where we do.
func tame(s string) string {
	var f markdown.Fences
	t := newTamer()
	lines := strings.Split(quiet(s), "\n")
	for i, line := range lines {
		open := f.Close() != ""
		switch code := f.Line(line); {
		case !code:
			lines[i] = t.few(t.line(line))
		case !open:
			lines[i] = "```" + language(line)
		case f.Close() == "":
			lines[i] = "```"
		default:
			lines[i] = inBlock(line)
		}
	}
	if f.Close() != "" {
		lines = append(lines, "```")
	}
	return strings.Join(lines, "\n")
}

// language is that of a fence's line, or "".
func language(fence string) string {
	word := strings.TrimLeft(fence, " `~")
	if at := strings.IndexFunc(word, func(r rune) bool { return r > 'z' || !wordByte(byte(r)) }); at >= 0 {
		word = word[:at]
	}
	return word
}

// inBlock keeps a text from ending the block that it is in.
func inBlock(s string) string {
	if !strings.Contains(s, "```") {
		return s
	}
	return strings.ReplaceAll(s, "``", "`"+breaker+"`")
}

// tamer tames the lines of one text, outside of its code blocks.
type tamer struct {
	// link is one whose text and address are plain; prefix is what quotes and
	// lists begin a line with.
	link, prefix *regexp.Regexp
	tables       int
	last         string
}

func newTamer() *tamer {
	return &tamer{
		link:   regexp.MustCompile(`\[([^\[\]]*)\]\(\s*<?(https?://[^\s()<>\[\]]+)>?\s*(?:"[^"]*"|'[^']*')?\s*\)`),
		prefix: regexp.MustCompile(`^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])[ \t]))*[ \t]*`),
	}
}

func tameLine(line string) string { return newTamer().line(line) }

// few breaks the line under the head of a table that is one too many.
func (t *tamer) few(line string) string {
	head := strings.Contains(t.last, "|")
	t.last = line
	if !head || !isDivider(line) {
		return line
	}
	if t.tables++; t.tables > maxTables {
		return breaker + strings.ReplaceAll(line, "-", "-"+breaker)
	}
	return line
}

// isDivider reports the line under a table's head.
func isDivider(line string) bool {
	return strings.Contains(line, "-") && strings.Trim(line, " \t|:->") == ""
}

func (t *tamer) line(line string) string {
	line = t.bareLinks(strings.ReplaceAll(line, "![", "!"+breaker+"["))
	var b strings.Builder
	for i := range len(line) {
		b.WriteByte(line[i])
		if line[i] == '<' && i+1 < len(line) && tagByte(line[i+1]) {
			b.WriteString(breaker)
		}
	}
	line = b.String()
	body := line[len(t.prefix.FindString(line)):]
	if strings.HasPrefix(body, "#") || isRule(body) || isRule(line) {
		return line[:len(line)-len(body)] + breaker + body
	}
	return line
}

// bareLinks shows where links lead: the text and the address, which the client
// makes a link by itself. What else could become one does not (PL-4).
func (t *tamer) bareLinks(line string) string {
	line = t.link.ReplaceAllStringFunc(line, func(link string) string {
		m := t.link.FindStringSubmatch(link)
		if m[1] == m[2] || m[1] == "" {
			return " " + m[2] + " "
		}
		return m[1] + " ( " + m[2] + " )"
	})
	return strings.NewReplacer("](", "]"+breaker+"(", "][", "]"+breaker+"[", "]:", "]"+breaker+":").Replace(line)
}

func tagByte(c byte) bool { return c == '/' || c == '!' || c == '?' || wordByte(c) }

// isRule reports a line of only -, =, * or _: a rule, or the underline that
// makes the line above a heading.
func isRule(s string) bool {
	s = strings.NewReplacer(" ", "", "\t", "").Replace(s)
	return s != "" && strings.Trim(s, s[:1]) == "" && strings.ContainsAny(s[:1], "-=*_")
}

// unseen reports a character that nobody sees: a control, a mark of direction,
// a filler or joiner.
func unseen(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || r == '\u2800'
}

// tidy keeps a text to what can be seen: valid UTF-8, no control characters but
// newline and tab, no bidirectional or invisible ones. What joins and shapes
// emoji stays behind one.
func tidy(s string) string {
	emoji := false
	return strings.Map(func(r rune) rune {
		shapes := r == '\u200d' || r == '\ufe0f'
		switch {
		case r == '\n', r == '\t', shapes && emoji:
			return r
		case unseen(r):
			return -1
		}
		emoji = unicode.In(r, unicode.So, unicode.Sk)
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\ufffd"))
}

// visibleLine is what can be seen of a text, on one line of at most that many
// runes.
func visibleLine(s string, runes int) string {
	return oneLine(strings.TrimSpace(strings.Map(func(r rune) rune {
		if unseen(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)), runes)
}

// exact shows an operation as it is: what is invisible is spelled out, since a
// person is asked to approve what they see.
func exact(s string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\ufffd") {
		if r != '\n' && r != '\t' && unseen(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// codeBlock puts an operation into a block that it cannot end by itself.
func codeBlock(s string) string {
	s = callTag().ReplaceAllString(exact(s), "<"+breaker+"$1")
	return "```\n" + inBlock(strings.TrimRight(s, "\n")) + "\n```"
}

// cut keeps at most that many bytes and lines of s, and tells how many bytes
// it left out.
func cut(s string, bytes, lines int) (kept string, left int) {
	kept = s
	if len(kept) > bytes {
		kept = kept[:bytes]
		for len(kept) > 0 && !utf8.ValidString(kept[max(0, len(kept)-utf8.UTFMax):]) && !utf8.RuneStart(s[len(kept)]) {
			kept = kept[:len(kept)-1]
		}
	}
	for i, n := 0, 0; i < len(kept); i++ {
		if kept[i] == '\n' {
			if n++; n == lines {
				kept = kept[:i]
			}
		}
	}
	return kept, len(s) - len(kept)
}
