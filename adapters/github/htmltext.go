package github

import "strings"

// maxOpen: with more elements open than this, a text is nobody's message, and
// the walk gives up (facts D2).
const maxOpen = 512

// visible returns the text nodes of rendered HTML, still escaped, that a mention
// can stand in: not inside code or links, and where skipQuotes, not inside
// quotes. It reads tags as a browser does, in one pass; of HTML that is nested
// too deep it returns nothing.
func visible(doc string, skipQuotes bool) []string {
	w := walk{rest: doc, skipQuotes: skipQuotes}
	for w.rest != "" {
		i := strings.IndexByte(w.rest, '<')
		if i < 0 {
			i = len(w.rest)
		}
		w.say(w.rest[:i])
		w.rest = w.rest[i:]
		w.markup()
		if len(w.open) > maxOpen {
			return nil
		}
	}
	return w.endNode()
}

type walk struct {
	rest string
	// open are the names of the elements around, mute how many of them keep
	// mentions from counting.
	open       []string
	mute       int
	skipQuotes bool
	node       strings.Builder
	nodes      []string
}

func (w *walk) say(text string) {
	if w.mute == 0 {
		w.node.WriteString(text)
	}
}

func (w *walk) endNode() []string {
	if w.node.Len() > 0 {
		w.nodes = append(w.nodes, w.node.String())
		w.node.Reset()
	}
	return w.nodes
}

// markup reads what begins with "<" at the start of rest: a comment, a tag, or
// a character.
func (w *walk) markup() {
	s := w.rest
	switch {
	case s == "":
		return
	case strings.HasPrefix(s, "<!--"):
		w.skip(commentEnd(s))
	case len(s) > 1 && (s[1] == '!' || s[1] == '?'), len(s) > 2 && s[1] == '/' && !letter(s[2]) && s[2] != '>':
		w.skip(through(s, ">"))
	case len(s) > 1 && letter(s[1]):
		name, end := tag(s, 1)
		w.skip(end)
		if end <= len(s) && s[end-1] == '>' {
			w.start(name)
		}
	case len(s) > 2 && s[1] == '/' && letter(s[2]):
		name, end := tag(s, 2)
		w.skip(end)
		w.end(name)
	case strings.HasPrefix(s, "</>"):
		w.skip(len("</>"))
	default:
		w.say("<")
		w.rest = s[1:]
	}
}

// skip ends the text node: two texts with anything between them are two.
func (w *walk) skip(n int) {
	w.endNode()
	w.rest = w.rest[n:]
}

func commentEnd(s string) int {
	body := s[len("<!--"):]
	for _, abrupt := range [...]string{">", "->"} {
		if strings.HasPrefix(body, abrupt) {
			return len("<!--") + len(abrupt)
		}
	}
	end := through(s, "-->")
	return min(end, through(s[:end], "--!>"))
}

// through is the length of s up to and with the mark, or all of it.
func through(s, mark string) int {
	if i := strings.Index(s, mark); i >= 0 {
		return i + len(mark)
	}
	return len(s)
}

// tag reads a tag whose name starts at from: its name in lower case, and where
// it ends. A quoted attribute may hold a ">". One without an end takes the rest.
func tag(s string, from int) (name string, end int) {
	end = from
	for end < len(s) && !strings.ContainsRune(" \t\n\f\r/>", rune(s[end])) {
		end++
	}
	name = strings.ToLower(s[from:end])
	for end < len(s) && s[end] != '>' {
		if s[end] != '=' {
			end++
			continue
		}
		end++
		for end < len(s) && strings.ContainsRune(" \t\n\f\r", rune(s[end])) {
			end++
		}
		if end < len(s) && (s[end] == '"' || s[end] == '\'') {
			end += 1 + through(s[end+1:], s[end:end+1])
		}
	}
	return name, min(end+1, len(s))
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func (w *walk) start(name string) {
	switch {
	case oneOf(name, "area base br col embed hr img input link meta param source track wbr"):
		return
	case name == "a": // links do not nest
		w.end("a")
	}
	if oneOf(name, "address article aside blockquote center dd details div dl dt fieldset figcaption figure footer form "+
		"h1 h2 h3 h4 h5 h6 header li main nav ol p pre section summary table ul") {
		w.end("p")
	}
	w.open = append(w.open, name)
	w.mute += w.weight(name)
}

// end closes the innermost element of that name and what is open inside it;
// formatting goes on behind it, as in a browser.
func (w *walk) end(name string) {
	at := len(w.open) - 1
	for at >= 0 && w.open[at] != name {
		at--
	}
	if at < 0 {
		return
	}
	inner := w.open[at+1:]
	w.mute -= w.weight(name)
	kept := w.open[:at]
	for _, n := range inner {
		if oneOf(n, "a b big code em font i nobr s small strike strong tt u") {
			kept = append(kept, n)
		} else {
			w.mute -= w.weight(n)
		}
	}
	w.open = kept
}

func (w *walk) weight(name string) int {
	if oneOf(name, "pre code tt a script style") || w.skipQuotes && name == "blockquote" {
		return 1
	}
	return 0
}

// oneOf reports whether a word is in a list of words.
func oneOf(word, list string) bool {
	for list != "" {
		first, rest, _ := strings.Cut(list, " ")
		if first == word {
			return true
		}
		list = rest
	}
	return false
}
