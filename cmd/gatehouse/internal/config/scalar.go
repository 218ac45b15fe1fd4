package config

import (
	"encoding"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// text decodes text. A number or a bare true is refused, since YAML may have
// changed it: 0o17, 1e3.
func (n node) text(to *string) bool {
	if !n.is(scalar, "text") {
		return false
	}
	if tag := n.value.tag; tag != "!!str" && len(n.value.vars) == 0 {
		n.fault("want text, got %s; put it in quotes", brief(n.value.written))
		return false
	}
	if n.filled && strings.TrimSpace(n.value.text) == "" {
		n.fault("is empty%s; write a value", n.from())
		return false
	}
	*to = n.value.text
	return true
}

// from names the variables of a value, for messages.
func (n node) from() string {
	if len(n.value.vars) == 0 {
		return ""
	}
	return " (" + n.value.written + ")"
}

// match decodes text of a form.
func (n node) match(to *string, form *regexp.Regexp, want string) bool {
	var s string
	if !n.text(&s) {
		return false
	}
	if !form.MatchString(s) {
		n.fault("want %s, got %s", want, n.got())
		return false
	}
	*to = s
	return true
}

// boolean decodes true or false.
func (n node) boolean(to *bool) {
	if !n.is(scalar, "true or false") {
		return
	}
	ok := n.value.tag == "!!bool" || len(n.value.vars) > 0
	b, err := strconv.ParseBool(strings.ToLower(n.value.text))
	if !ok || err != nil {
		n.fault("want true or false, got %s", n.got())
		return
	}
	*to = b
}

// integer decodes a whole number within bounds.
func (n node) integer(to *int, least, most int) bool {
	if !n.is(scalar, "a whole number") {
		return false
	}
	ok := n.value.tag == "!!int" || len(n.value.vars) > 0
	i, err := strconv.Atoi(n.value.text)
	switch {
	case !ok || errors.Is(err, strconv.ErrSyntax):
		n.fault("want a whole number such as %d, got %s", max(least, min(*to, most)), n.got())
	case i < least || i > most || err != nil:
		n.fault("want a number from %d to %d, got %s", least, most, n.got())
	default:
		*to = i
		return true
	}
	return false
}

// word decodes one of a closed set of words.
func (n node) word(words ...string) (string, bool) {
	if !n.is(scalar, orList(words)) {
		return "", false
	}
	if s := n.value.text; slices.Contains(words, s) {
		return s, true
	}
	hint := ""
	if near := nearest(n.value.text, words); near != "" && len(n.value.vars) == 0 {
		hint = "; did you mean " + strconv.Quote(near) + "?"
	}
	n.fault("want %s, got %s%s", orList(words), n.got(), hint)
	return "", false
}

// enum decodes one of the values of a closed set of texts.
func enum[T ~string](n node, to *T, set ...T) {
	words := make([]string, len(set))
	for i, w := range set {
		words[i] = string(w)
	}
	if w, ok := n.word(words...); ok {
		*to = T(w)
	}
}

// named decodes one of the words that a type of package gate reads.
func named(n node, to encoding.TextUnmarshaler, words ...string) bool {
	w, ok := n.word(words...)
	return ok && to.UnmarshalText([]byte(w)) == nil
}

// texts decodes a list of texts, none of them empty and none twice.
func (n node) texts(to *[]string) {
	n.uniqueTexts(to, func(item node, s *string) bool { return item.text(s) })
}

// uniqueTexts decodes a list by a decoder of its items; the list replaces the
// default.
func (n node) uniqueTexts(to *[]string, read func(item node, s *string) bool) {
	if !n.set() {
		return
	}
	all, seen := []string{}, map[string]bool{}
	n.list(func(item node) {
		var s string
		switch {
		case !read(item.nonEmpty(), &s):
		case seen[s]:
			item.fault("%s is there twice; keep one", item.got())
		default:
			all, seen[s] = append(all, s), true
		}
	})
	*to = all
}
