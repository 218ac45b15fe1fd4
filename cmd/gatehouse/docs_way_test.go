package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mostHops is how far it may be from the webhook to the reply.
const mostHops = 8

// The way of a mention, and of a click, is told in at most eight hops, and
// every file and function on it exists.
func TestDocsWayOfAMention(t *testing.T) {
	t.Parallel()
	place := regexp.MustCompile(`\[([\w./-]+\.go): (\w+)\]\(([^)]+)\)`)
	for _, page := range []string{"docs/way-of-a-mention.md", "docs/zh/way-of-a-mention.md"} {
		text := readText(t, filepath.Join(moduleRoot, page))
		ways := strings.Split(text, "\n## ")[1:]
		if len(ways) != 2 {
			t.Fatalf("%s tells %d ways, want 2", page, len(ways))
		}
		for _, way := range ways {
			hops := regexp.MustCompile(`(?m)^\| \d+ \| \[`).FindAllString(way, -1)
			if len(hops) < 5 || len(hops) > mostHops {
				t.Errorf("%s: a way of %d hops, want at most %d", page, len(hops), mostHops)
			}
		}
		for _, m := range place.FindAllStringSubmatch(text, -1) {
			if got := path.Join(path.Dir(page), m[3]); got != m[1] {
				t.Errorf("%s: the link of %s leads to %s", page, m[1], got)
			}
			if !hasFunction(t, filepath.Join(moduleRoot, m[1]), m[2]) {
				t.Errorf("%s: %s has no function %s", page, m[1], m[2])
			}
		}
	}
}

func hasFunction(t *testing.T, file, name string) bool {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == name {
			return true
		}
	}
	return false
}
