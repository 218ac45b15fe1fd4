package orchestrator_test

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// verb is a sentence that scenarios may use. In its pattern {who}, {m} and the
// like stand for words, and what follows them in brackets may be left out.
type verb struct {
	pattern string
	do      func(p *play, a []string) error
}

// nouns are the words that patterns name.
var nouns = map[string]string{
	"who":   `([a-z]+)`,
	"text":  `"([^"]*)"`,
	"m":     `(m\d+)`,
	"ms":    `(m\d+(?:, m\d+)*)`,
	"t":     `(t\d+)`,
	"ts":    `(t\d+(?:, t\d+)*)`,
	"rules": `([a-z]+(?:, [a-z]+)*)`,
	"q":     `(q\d+)`,
	"n":     `(\d+)`,
	"d":     `((?:\d+[dhms])+)`,
	"word":  `([\w.:/*-]+)`,
	"words": `(.+)`,
	"place": `((?:in|on) .+?)`,
}

// sentence is a verb whose pattern is compiled.
type sentence struct {
	verb
	is *regexp.Regexp
	// tells: it says what is. asks: it does so by asking for it.
	tells, asks bool
}

// sentences are all verbs, those that tell first.
var sentences = sync.OnceValue(func() []sentence {
	var all []sentence
	for _, v := range slices.Concat(givenVerbs, messageVerbs, ticketVerbs) {
		all = append(all, sentence{v, compile(v.pattern), true, false})
	}
	for _, v := range readVerbs {
		all = append(all, sentence{v, compile(v.pattern), true, true})
	}
	for _, v := range slices.Concat(policyVerbs, settingVerbs, peopleVerbs, operatorVerbs, sessionVerbs, executorVerbs) {
		all = append(all, sentence{v, compile(v.pattern), false, false})
	}
	return all
})

var (
	placeholder = regexp.MustCompile(`\{(\w+)\}`)
	optional    = regexp.MustCompile(`\[([^][]*)\]`)
)

// compile makes the expression of a pattern.
func compile(pattern string) *regexp.Regexp {
	expr := optional.ReplaceAllString(pattern, `(?:$1)?`)
	expr = placeholder.ReplaceAllStringFunc(expr, func(name string) string {
		return nouns[strings.Trim(name, "{}")]
	})
	return regexp.MustCompile("^" + expr + "$")
}

// refusal is what an action of a story was refused with.
type refusal struct{ code, why string }

func (r refusal) Error() string { return "refused: " + r.code + ": " + r.why }

// line does one sentence. "At once" in front says that nothing happens between
// it and the one before; "but is refused: code" behind, that it is refused.
func (p *play) line(text string) error {
	text, atOnce := strings.CutPrefix(text, "at once, ")
	if !atOnce {
		p.settle()
	}
	text, code, refused := strings.Cut(text, " but is refused: ")
	err := p.sentence(text)
	var got refusal
	switch {
	case !refused:
		return err
	case errors.As(err, &got) && got.code == code:
		return nil
	case err == nil:
		return fmt.Errorf("it is not refused; want %s", code)
	}
	return fmt.Errorf("want %s: %w", code, err)
}

// planted plants a wrong word into a line that says what is: that must not hold.
// So every such line of every scenario can fail.
func (p *play) planted(text string) error {
	if wrong := falsified(text); wrong != "" && p.line(wrong) == nil {
		return fmt.Errorf("so does: %s", wrong)
	}
	return nil
}

// falsified is a line that says what is with another last word, or "" where
// there is no such word, or asking changes something.
func falsified(text string) string {
	v, at := verbOf(text)
	if v == nil || !v.tells || v.asks || strings.Contains(text, " but is refused: ") || len(at) < 4 {
		return ""
	}
	last := len(at) - 2
	for at[last] < 0 { // a part that is left out
		last -= 2
	}
	from, to := at[last], at[last+1]
	for _, word := range []string{
		"other", "99", "t99", "m99", "q99", "inferred", "explicit", "recalled", "dropped", "wants", "does not want", "that", "another than that", "one eval", "different evals",
	} {
		wrong := text[:from] + word + text[to:]
		if is, _ := verbOf(wrong); word != text[from:to] && is != nil && is.pattern == v.pattern {
			return wrong
		}
	}
	return ""
}

// verbOf finds the verb of a line, and where its words are.
func verbOf(text string) (*sentence, []int) {
	all := sentences()
	for i := range all {
		if at := all[i].is.FindStringSubmatchIndex(text); at != nil {
			return &all[i], at
		}
	}
	return nil, nil
}

func (p *play) sentence(text string) error {
	for _, s := range p.verbs {
		if a := s.is.FindStringSubmatch(text); a != nil {
			return s.do(p, a[1:])
		}
	}
	return fmt.Errorf("no verb matches; the verbs are:\n%s", verbList(p.verbs))
}

func verbList(all []sentence) string {
	lines := map[string]bool{}
	for _, s := range all {
		lines["  "+s.pattern] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(lines)), "\n")
}

// names splits "m1, m2".
func names(list string) []string { return strings.Split(list, ", ") }
