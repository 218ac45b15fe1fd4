package main_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// modulePath is what this module's import paths begin with.
const modulePath = "github.com/gatehouse-bot/gatehouse"

// file is what the floor plan looks at in one Go file.
type file struct {
	path    string // slash-separated, from the module's root
	imports []string
	comment bool     // it carries the package comment
	inits   int      // functions called init
	impure  []string // its uses of impureUses, and go statements
}

func (f file) dir() string    { return path.Dir(f.path) }
func (f file) isTest() bool   { return strings.HasSuffix(f.path, "_test.go") }
func (f file) isShell() bool  { return slices.Contains(f.imports, "context") }
func (f file) String() string { return f.path }

// readModule parses every Go file of the module; folders that are modules of
// their own are other houses.
func readModule(t *testing.T, root string) []file {
	t.Helper()
	var files []file
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipFolder(root, p, d.Name())
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		src, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		f, err := readFile(filepath.ToSlash(rel), src)
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func skipFolder(root, p, name string) error {
	if p == root {
		return nil
	}
	_, err := os.Stat(filepath.Join(p, "go.mod"))
	if err == nil || name == "testdata" || name == "node_modules" || name[0] == '.' || name[0] == '_' {
		return filepath.SkipDir
	}
	return nil
}

func readFile(name string, src []byte) (file, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return file{}, err
	}
	f := file{path: name, comment: parsed.Doc != nil}
	names := map[string]string{} // what the file calls a package: its path
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return file{}, err
		}
		f.imports = append(f.imports, imported)
		called := path.Base(imported)
		if spec.Name != nil {
			called = spec.Name.Name
		}
		names[called] = imported
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				f.inits++
			}
		case *ast.GoStmt:
			f.impure = append(f.impure, "a go statement")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				if use := names[x.Name] + "." + n.Sel.Name; among(use, impureUses) {
					f.impure = append(f.impure, use)
				}
			}
		}
		return true
	})
	return f, nil
}

// among reports whether a path is one of the words of a list. A word "x/..."
// takes in x and what is below it, the word "..." everything.
func among(p, list string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(word string) bool {
		below, isTree := strings.CutSuffix(word, "...")
		below = strings.TrimSuffix(below, "/")
		return p == word || isTree && (below == "" || p == below || strings.HasPrefix(p, below+"/"))
	})
}

// of reports whether a package belongs to one of the modules of a list,
// whatever the major version.
func of(pkg, modules string) bool {
	return slices.ContainsFunc(strings.Fields(modules), func(m string) bool {
		return m == "..." || among(pkg, m+"/...")
	})
}

func placeOf(dir string) (place, bool) {
	for _, p := range floors {
		if among(dir, p.dir) {
			return p, true
		}
	}
	return place{}, false
}

// badImports holds every import against the table.
func badImports(files []file) (complaints []string) {
	for _, f := range files {
		row, known := placeOf(f.dir())
		if !known {
			complaints = append(complaints, fmt.Sprintf("%s: folder %s stands on no line of the floor plan", f, f.dir()))
			continue
		}
		for _, imported := range f.imports {
			if why := refuse(row, f, imported); why != "" {
				complaints = append(complaints, fmt.Sprintf("%s: may not import %s: %s", f, imported, why))
			}
		}
	}
	return complaints
}

// refuse says why a file may not import something, or "".
func refuse(row place, f file, imported string) string {
	if own, ok := strings.CutPrefix(imported, modulePath+"/"); ok {
		if among(own, row.own) || f.isTest() && (own == f.dir() || among(own, testHelpers)) {
			return ""
		}
		return fmt.Sprintf("of this module, %s imports only: %s", row.dir, orNothing(row.own))
	}
	if first, _, _ := strings.Cut(imported, "/"); strings.Contains(first, ".") {
		if of(imported, row.third) || f.isTest() && of(imported, testLibraries) {
			return ""
		}
		if _, reserved := vendorOf(imported); reserved && f.isTest() {
			return "" // badVendors judges it
		}
		return fmt.Sprintf("of other modules, %s imports only: %s", row.dir, orNothing(row.third))
	}
	return refuseStd(row, f, imported)
}

func refuseStd(row place, f file, imported string) string {
	switch {
	case f.isTest() || row.std == allStd:
		return ""
	case row.std == core && among(imported, coreDenied):
		return row.dir + " reaches for nothing outside; it is handed in"
	case row.std == core && f.isShell() || among(imported, pureStd):
		return ""
	case row.std == core:
		return "a file that does not import context is pure"
	default:
		return row.dir + " is pure"
	}
}

func orNothing(list string) string {
	if list == "" {
		return "nothing"
	}
	return list
}

func vendorOf(imported string) (only string, reserved bool) {
	for _, v := range vendors {
		if of(imported, v.module) {
			return v.only, true
		}
	}
	return "", false
}

// badVendors finds a vendor's library outside the folder that hides it.
func badVendors(files []file) (complaints []string) {
	for _, f := range files {
		for _, imported := range f.imports {
			if only, reserved := vendorOf(imported); reserved && !among(f.dir(), only) {
				complaints = append(complaints, fmt.Sprintf("%s: may not import %s: only %s does", f, imported, only))
			}
		}
	}
	return complaints
}

// badPurity finds clocks, output and goroutines in pure files.
func badPurity(files []file) (complaints []string) {
	for _, f := range files {
		row, _ := placeOf(f.dir())
		isPure := row.std == pure || row.std == core && !f.isShell()
		if f.isTest() || !isPure {
			continue
		}
		for _, use := range f.impure {
			complaints = append(complaints, fmt.Sprintf("%s: uses %s; a pure file is handed what it needs", f, use))
		}
	}
	return complaints
}

// badPackages finds packages without a comment and names without meaning.
func badPackages(files []file) (complaints []string) {
	commented := map[string]bool{}
	for _, f := range files {
		if !f.isTest() {
			commented[f.dir()] = commented[f.dir()] || f.comment
		}
		for word := range strings.SplitSeq(f.dir(), "/") {
			if among(word, shapeless) {
				complaints = append(complaints, fmt.Sprintf("%s: a folder called %s says nothing; a noun lives with the verb that changes it", f, word))
			}
		}
	}
	for dir, ok := range commented {
		if !ok {
			complaints = append(complaints, dir+": no file has a package comment")
		}
	}
	slices.Sort(complaints)
	return slices.Compact(complaints)
}

// badInits finds functions called init.
func badInits(files []file) (complaints []string) {
	for _, f := range files {
		if f.inits > 0 {
			complaints = append(complaints, f.path+": has an init function; cmd/gatehouse/wire.go shows what is plugged into what")
		}
	}
	return complaints
}

// badVersions finds imports of another major version of a chosen library, and
// a chosen library that is imported but missing from go.mod.
func badVersions(files []file, gomod string) (complaints []string) {
	for _, f := range files {
		for _, imported := range f.imports {
			module, ok := chosenModule(imported)
			required := regexp.MustCompile(`(?m)^\s*(require )?` + regexp.QuoteMeta(module) + `(/\S+)? v`)
			switch {
			case module == "":
			case !ok:
				complaints = append(complaints, fmt.Sprintf("%s: imports %s; the owner chose %s", f, imported, module))
			case !required.MatchString(gomod):
				complaints = append(complaints, fmt.Sprintf("%s: imports %s; go.mod does not require %s", f, imported, module))
			}
		}
	}
	return complaints
}

// chosenModule gives the chosen module that an import belongs to, or "" when
// it belongs to none; ok is false when it is another version of it.
func chosenModule(imported string) (module string, ok bool) {
	for _, c := range chosen {
		if of(imported, c.stem) {
			module = strings.TrimSuffix(c.module, "/...")
			ok = among(imported, module+"/...")
		}
	}
	return module, ok
}
