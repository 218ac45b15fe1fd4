package github

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/gatehouse-bot/gatehouse/adapters/internal/markdown"
)

// hush is a zero-width space: behind an @ it keeps the name from being a
// mention (facts D1), inside a word it keeps the word from being a keyword.
const hush = "\u200b"

// Neutral makes a Markdown text that an agent wrote safe to post: it mentions
// nobody but the person of that login (or nobody at all, where that is ""), and
// closes no issue (GH-7). Code stays as it is. It changes nothing that a reader
// sees, apart from the links of the mentions.
//
// The result is checked as GitHub would read it; should something still be a
// mention, or be too costly to check, every @ is made harmless, in code too.
func Neutral(md, login string) string {
	md = breakMarks(md)
	if !strings.ContainsAny(md, "@&") && !closing.MatchString(md) {
		return md
	}
	if costly(md) {
		return hushAll(md)
	}
	out := outsideCode(md, func(s string, before byte) string { return quiet(s, before, login) })
	if !onlyMentions(out, login) {
		return hushAll(md)
	}
	return out
}

// maxNeutral is the weight of the costliest comment that is parsed. Prose weighs
// less, and blocks of code, which cost nothing, are not weighed; what weighs
// more was made to.
const maxNeutral = 3 * partBytes

func costly(md string) bool {
	left := maxNeutral
	markdown.Outside(md, func(line string) string {
		for i := range len(line) {
			left -= weigh(line[i])
		}
		return line
	})
	return left < 0
}

// hushAll needs no parsing: nothing behind an @ is a name any more.
func hushAll(md string) string {
	md = closing.ReplaceAllStringFunc(decodeAts(md), hushKeyword)
	return strings.ReplaceAll(md, "@", "@"+hush)
}

// breakMarks takes the form of our own hidden mark out of a text.
func breakMarks(md string) string { return strings.ReplaceAll(md, markHead, "<!-- ") }

// onlyMentions reports whether the rendered text mentions nobody but login.
// Unlike in what is said to us, a quoted mention counts: GitHub notifies.
func onlyMentions(md, login string) bool {
	ok := true
	for _, node := range visible(render(md), false) {
		eachMention(node, func(name string) bool {
			ok = login != "" && equalFold(name, login)
			return ok
		})
		if !ok {
			return false
		}
	}
	return true
}

// outsideCode calls do with each piece of Markdown that is not code, and with
// the byte before it (0 at the start), and puts what it returns in its place.
func outsideCode(md string, do func(piece string, before byte) string) string {
	var b strings.Builder
	at := 0
	piece := func(end int) {
		var before byte
		if at > 0 {
			before = md[at-1]
		}
		b.WriteString(do(md[at:end], before))
	}
	for _, c := range codeOf(md) {
		if c.Start < at {
			continue
		}
		piece(c.Start)
		b.WriteString(md[c.Start:c.Stop])
		at = c.Stop
	}
	piece(len(md))
	return b.String()
}

// codeOf finds the code of a Markdown text, in order, as CommonMark sees it. A
// code span with a bar is none: in a table GitHub cuts it there.
func codeOf(md string) []text.Segment {
	src := []byte(md)
	var out []text.Segment
	_ = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			for i := range n.Lines().Len() {
				out = append(out, n.Lines().At(i))
			}
		case *ast.CodeSpan:
			out = append(out, spanOf(n, src)...)
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return out
}

func spanOf(n *ast.CodeSpan, src []byte) []text.Segment {
	var out []text.Segment
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		t, ok := c.(*ast.Text)
		if !ok || strings.Contains(string(t.Segment.Value(src)), "|") {
			return nil
		}
		out = append(out, t.Segment)
	}
	return out
}

// atWords are the ways to write an @ that Markdown or HTML decodes.
var atWords = regexp.MustCompile(`(?i)&(?:#0*64|#x0*40|commat);?`)

func decodeAts(s string) string { return atWords.ReplaceAllString(s, "@") }

// closing is a keyword that closes the issue behind it.
var closing = regexp.MustCompile(`(?i)(^|[^a-z0-9])(close[sd]?|fix(?:e[sd])?|resolve[sd]?)([^a-z0-9#]{1,16}(?:#|gh-\d|https?://|[\w.-]{1,100}/[\w.-]{1,100}#))`)

// quiet makes one piece of text harmless. before is the byte in front of it.
func quiet(s string, before byte, login string) string {
	s = closing.ReplaceAllStringFunc(decodeAts(s), hushKeyword)
	var b strings.Builder
	addressTo := 0
	for i := range len(s) {
		if i >= addressTo {
			addressTo = max(addressTo, addressEnd(s, i))
		}
		if i > 0 {
			before = s[i-1]
		}
		if s[i] == '@' {
			b.WriteString(at(s, i, before, i < addressTo, login))
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// at is how the @ of s at i is written: as it is where it can be no mention, or
// calls the person who may be called. In an address it is written as addresses
// do: the same address, and no mention wherever it stands.
func at(s string, i int, before byte, inAddress bool, login string) string {
	next := byte(' ')
	if i+1 < len(s) {
		next = s[i+1]
	}
	switch {
	case inAddress && (alnum(next) || next == '&' || next == '\\'):
		return "%40"
	case inAddress, strings.IndexByte(" \t\r\n", next) >= 0, mail(s[:i]), free(s[i+1:], before, login):
		return "@"
	}
	return "@" + hush
}

// hushKeyword breaks the keyword and leaves the reference a link.
func hushKeyword(match string) string {
	i := strings.IndexFunc(match, func(r rune) bool { return r < utf8.RuneSelf && letter(byte(r)) })
	return match[:i+1] + hush + match[i+1:]
}

// mail reports whether what stands before an @ makes it an address's: a letter
// or digit, and not the end of an entity.
func mail(before string) bool {
	word := strings.TrimRight(before, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789#")
	return len(word) < len(before) && alnum(before[len(before)-1]) && !strings.HasSuffix(word, "&")
}

// free reports whether the @ calls the one person who may be called: exactly
// that login, between what cannot be part of another name.
func free(after string, before byte, login string) bool {
	if login == "" || len(after) < len(login) || !equalFold(after[:len(login)], login) || before != 0 && before < utf8.RuneSelf && (wordByte(before) || before == '/') {
		return false
	}
	rest := after[len(login):]
	return rest == "" || !nameByte(rest[0]) && strings.IndexByte(`/&\`, rest[0]) < 0
}
