package main_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// proof is a test that names a rule: its file, and what it is called there. A
// scenario is a file of its own.
type proof struct {
	file, test string
	at         token.Pos
	// rank orders the proofs of a rule.
	rank int
}

// The ranks. What only says of itself that it tests a rule is shown, but proves
// nothing.
const (
	aScenario = iota
	byName    // its name has the rule
	within    // it names the rule, as where it fails
	saidSo    // its comment does
)

var ruleID = regexp.MustCompile(`\b[A-Z]{2,3}-\d+[a-z]?\b`)

// findProofs looks through the module's tests and scenarios.
func findProofs(t *testing.T) map[string][]proof {
	t.Helper()
	found := map[string][]proof{}
	err := filepath.WalkDir(moduleRoot, func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, moduleRoot+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != moduleRoot || name == "deploy"):
			return filepath.SkipDir
		case strings.HasSuffix(name, "_test.go"):
			return proofsOf(path, name, found)
		case strings.Contains(name, "/testdata/scenarios/"):
			return scenarioProof(path, name, found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id := range found {
		slices.SortStableFunc(found[id], func(a, b proof) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(floor(a.file), floor(b.file)), cmp.Compare(a.file, b.file), cmp.Compare(a.at, b.at))
		})
	}
	return found
}

// floor orders files from the bottom of the house up.
func floor(file string) int {
	top, _, _ := strings.Cut(file, "/")
	return slices.Index([]string{"gate", "approvals", "orchestrator", "redisstore", "adapters", "cmd"}, top)
}

// scenarioProof: a scenario is of the rules that its comment begins with.
func scenarioProof(path, name string, found map[string][]proof) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, _, _ := strings.Cut(string(data), ":")
	run := strings.TrimSuffix(filepath.Base(name), ".txtar")
	for _, id := range ruleID.FindAllString(head, -1) {
		found[id] = append(found[id], proof{file: "TestScenarios/" + run})
	}
	return nil
}

// proofsOf finds the rules that the tests of a file name.
func proofsOf(path, name string, found map[string][]proof) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, decl := range file.Decls {
		add := func(id string, p proof) {
			if p.test != "" {
				p.file, p.at = name, decl.Pos()
				found[id] = append(found[id], p)
			}
		}
		test := testOf(decl, add)
		failing := failures(decl)
		ast.Inspect(decl, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				return true
			}
			for _, id := range ruleID.FindAllString(text, -1) {
				add(id, proofBy(test, text, failing[lit]))
			}
			return true
		})
	}
	return nil
}

var ruleInName = regexp.MustCompile(`^Test([A-Z]{2,3})(\d+)`)

// testOf is the name of a test function, or ""; add gets the rules that its name
// and its comment have.
func testOf(decl ast.Decl, add func(id string, p proof)) string {
	f, ok := decl.(*ast.FuncDecl)
	if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") && !strings.HasPrefix(f.Name.Name, "Fuzz") {
		return ""
	}
	name := f.Name.Name
	if m := ruleInName.FindStringSubmatch(name); m != nil {
		add(m[1]+"-"+m[2], proof{test: name, rank: byName})
	}
	for _, id := range ruleID.FindAllString(f.Doc.Text(), -1) {
		add(id, proof{test: name, rank: saidSo})
	}
	return name
}

// sentenceName is a string that may be the name of a row or a subtest: some
// words on one line, and no data.
var sentenceName = regexp.MustCompile(`^[^\n{}="]*[a-z]+ [^\n{}="]*[a-z]+[^\n{}="]*$`)

// proofBy is what a string proves: it is the name of a test, or a test names the
// rule in it.
func proofBy(test, text string, failing bool) proof {
	switch {
	case !failing && sentenceName.MatchString(text):
		return proof{test: strings.TrimPrefix(test+": "+strings.TrimSpace(text), ": "), rank: byName}
	case test != "":
		return proof{test: test, rank: within}
	}
	return proof{}
}

// failures are the strings that a declaration's failures are told with.
func failures(decl ast.Node) map[*ast.BasicLit]bool {
	said := map[*ast.BasicLit]bool{}
	ast.Inspect(decl, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"Error", "Errorf", "Fatal", "Fatalf", "Log", "Logf", "Skip", "Skipf"}, sel.Sel.Name) {
			return true
		}
		for _, arg := range call.Args {
			ast.Inspect(arg, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok {
					said[lit] = true
				}
				return true
			})
		}
		return true
	})
	return said
}
