package github

import (
	"bytes"
	"html"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	htmlrenderer "github.com/yuin/goldmark/renderer/html"
)

// Rendering hostile Markdown takes time in the square of its length (libs T6).
// So maxParsed bytes of a text are looked at for a mention, and less where much
// of it is what such texts are made of: each such byte counts dear times, and
// all together up to maxWeight.
const (
	maxParsed = 16 << 10
	maxWeight = 3 * maxParsed
	dear      = 32
)

// Mentions reports whether a Markdown text mentions the account or App of that
// name as GitHub would see it, except that quotes do not count (GH-4, facts D):
// in the rendered text, outside code, links and quotes, never in an attribute
// or a comment. The name is without @ and [bot]; `@name[bot]` mentions it too.
//
// At most the first 16 KiB of a text are looked at, and nothing is rendered
// where the name does not occur in the bytes.
func Mentions(text, name string) bool {
	if name == "" || !holdsFold(text, name) {
		return false
	}
	for _, node := range visible(render(capped(text)), true) {
		if mentionsIn(node, name) {
			return true
		}
	}
	return false
}

// render makes HTML of Markdown, raw HTML included. No tables, no links from
// bare addresses: those extensions are slower than the core by far on hostile
// input, and a bare address is found by addressEnd.
func render(text string) string {
	var out bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.Strikethrough), goldmark.WithRendererOptions(htmlrenderer.WithUnsafe()))
	if md.Convert([]byte(text), &out) != nil {
		return ""
	}
	return out.String()
}

// capped cuts a text that is too long to be parsed, between lines or words, so
// that the cut makes no mention of a longer name.
func capped(text string) string {
	n := affordable(text, maxWeight)
	if n = min(n, maxParsed); n >= len(text) {
		return text
	}
	cut := text[:n]
	if i := strings.LastIndexAny(cut, "\n\t "); i >= 0 {
		return cut[:i]
	}
	for len(cut) > 0 && !utf8.RuneStart(text[len(cut)]) {
		cut = cut[:len(cut)-1]
	}
	return strings.TrimRightFunc(cut, func(r rune) bool { return r < utf8.RuneSelf && (nameByte(byte(r)) || r == '@' || r == '.') })
}

// affordable is how much of a text may be parsed for that weight.
func affordable(text string, weight int) int {
	for i := range len(text) {
		if weight -= weigh(text[i]); weight < 0 {
			return i
		}
	}
	return len(text)
}

func weigh(c byte) int {
	switch c {
	case '[', '*', '_', '<', '>':
		return dear
	}
	return 1
}

// mentionsIn looks for @name in one text node (facts D1).
func mentionsIn(node, name string) bool {
	found := false
	eachMention(node, func(mentioned string) bool {
		found = equalFold(mentioned, name)
		return !found
	})
	return found
}

// eachMention calls do with every name that a text node mentions, until it
// returns false. Names are as they are written.
func eachMention(node string, do func(name string) bool) {
	node = html.UnescapeString(node)
	for i, skip := 0, 0; i < len(node); i++ {
		if i >= skip {
			skip = max(skip, addressEnd(node, i))
		}
		if node[i] != '@' || i < skip || i > 0 && wordByte(node[i-1]) {
			continue
		}
		if name := mentionAt(node[i+1:]); name != "" && !do(name) {
			return
		}
	}
}

// mentionAt returns the name that stands after an @, or "": a name, and after it
// neither a slash (a team) nor dots and a letter (a domain).
func mentionAt(s string) string {
	n := 0
	for n < len(s) && nameByte(s[n]) {
		n++
	}
	rest := strings.TrimLeft(s[n:], ".")
	switch {
	case n == 0 || !alnum(s[0]):
		return ""
	case strings.HasPrefix(s[n:], "/"):
		return ""
	case len(rest) < len(s)-n && rest != "" && wordByte(rest[0]):
		return ""
	}
	return s[:n]
}

func nameByte(c byte) bool { return wordByte(c) || c == '-' }

// addressEnd is the end of the bare web address that starts at i, or 0. GitHub
// makes a link of it, up to the next space or tag, and a link mentions nobody.
func addressEnd(s string, i int) int {
	n := 0
	for _, scheme := range [...]string{"http://", "https://", "www."} {
		if len(s)-i > len(scheme) && equalFold(s[i:i+len(scheme)], scheme) {
			n = len(scheme)
		}
	}
	if n == 0 || !alnum(s[i+n]) && s[i+n] < utf8.RuneSelf {
		return 0
	}
	if i > 0 && (alnum(s[i-1]) || n == len("www.") && !strings.ContainsRune(" \t\n*_~(", rune(s[i-1]))) {
		return 0
	}
	end := strings.IndexAny(s[i:], " \t\n<")
	if end < 0 {
		return len(s)
	}
	return i + end
}

// cutMention removes mentions of the name from the start of a text, and one
// comma or colon after each.
func cutMention(text, name string) string {
	for {
		text = strings.TrimSpace(text)
		rest, ok := strings.CutPrefix(text, "@")
		if !ok || !equalFold(mentionAt(rest), name) {
			return text
		}
		rest = rest[len(name):]
		if len(rest) >= len(botSuffix) && equalFold(rest[:len(botSuffix)], botSuffix) {
			rest = rest[len(botSuffix):]
		}
		for _, sign := range [...]string{",", ":", "，", "："} {
			if after, ok := strings.CutPrefix(rest, sign); ok {
				rest = after
				break
			}
		}
		text = rest
	}
}

// equalFold compares ASCII letters without regard to case, and nothing else:
// a letter that Unicode folds to ASCII is another letter.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func holdsFold(s, sub string) bool {
	for i := 0; i+len(sub) <= len(s); i++ {
		if lower(s[i]) == lower(sub[0]) && equalFold(s[i:i+len(sub)], sub) {
			return true
		}
	}
	return false
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}
