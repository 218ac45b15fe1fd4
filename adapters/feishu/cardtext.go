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
// cannot call anybody, load an image, or dress up as the host's own headings,
// rules and tags. Code blocks keep their text.
func tame(s string) string {
	return markdown.Outside(quiet(s), tameLine)
}

func tameLine(line string) string {
	line = strings.ReplaceAll(line, "![", "!"+breaker+"[")
	var b strings.Builder
	for i := range len(line) {
		b.WriteByte(line[i])
		if line[i] == '<' && i+1 < len(line) && tagByte(line[i+1]) {
			b.WriteString(breaker)
		}
	}
	line = b.String()
	body := strings.TrimLeft(line, " ")
	if strings.HasPrefix(body, "#") || isRule(body) {
		return breaker + body
	}
	return line
}

func tagByte(c byte) bool { return c == '/' || c == '!' || wordByte(c) }

// isRule reports a line of only -, =, * or _: a rule, or the underline that
// makes the line above a heading.
func isRule(s string) bool {
	s = strings.ReplaceAll(strings.TrimSpace(s), " ", "")
	return len(s) > 1 && strings.Trim(s, s[:1]) == "" && strings.ContainsAny(s[:1], "-=*_")
}

// tidy keeps a text to what can be seen: valid UTF-8, no control characters but
// newline and tab, no bidirectional or invisible ones.
func tidy(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200d': // the joiner of emoji stays
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\ufffd"))
}

// exact shows an operation as it is: what is invisible is spelled out, since a
// person is asked to approve what they see.
func exact(s string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\ufffd") {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
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
	return "```\n" + strings.ReplaceAll(strings.TrimRight(s, "\n"), "```", "``"+breaker+"`") + "\n```"
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

// closeFences ends a code block that a cut, or the agent, left open.
func closeFences(s string) string {
	var f markdown.Fences
	for _, line := range strings.Split(s, "\n") {
		f.Line(line)
	}
	if f.Close() == "" {
		return s
	}
	return s + "\n" + f.Close()
}
