package check_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"

	"github.com/gatehouse-bot/gatehouse/deploy/tools/check"
)

// top is the repository.
var top = filepath.Join("..", "..", "..")

func read(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{top}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// none fails for each fault.
func none(t *testing.T, what string, faults []string) {
	t.Helper()
	for _, f := range faults {
		t.Errorf("%s: %s", what, f)
	}
}

// finds fails unless planting a fault in text is noticed: each row replaces the
// first text by the second, and wants the third in one of the faults.
func finds(t *testing.T, text string, faults func(string) []string, rows [][3]string) {
	t.Helper()
	for _, row := range rows {
		planted := strings.Replace(text, row[0], row[1], 1)
		if planted == text {
			t.Errorf("%q is not there to be replaced", row[0])
			continue
		}
		if got := strings.Join(faults(planted), "\n"); !strings.Contains(got, row[2]) {
			t.Errorf("with %q for %q the faults are %q, want %q among them", row[1], row[0], got, row[2])
		}
	}
}

// switchedOff is a line of an example with # right before a key, or with the
// two or four spaces between that a key further in has.
var switchedOff = regexp.MustCompile(`(?m)^( *)#((?: {2}){0,2}[^ #\n].*)$`)

// switchOn takes these # away.
func switchOn(text string) string { return switchedOff.ReplaceAllString(text, "$1$2") }

// comments are the comments of a YAML file or a unit.
var comments = regexp.MustCompile(`(?m)(^|\s)#.*$`)

// set is what is found of a pattern's first group.
func set(text, pattern string) []string {
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found[m[1]] = true
	}
	return sorted(found)
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func unit(t *testing.T) check.Unit {
	t.Helper()
	return check.ReadUnit(read(t, "deploy", "systemd", "gatehouse.service"))
}

func project(t *testing.T) *types.Project {
	t.Helper()
	p, faults := check.Compose([]byte(read(t, "deploy", "compose.yaml")), nil, stopTime(t))
	if p == nil {
		t.Fatal(faults)
	}
	return p
}

// stopTime is how long the gateway takes to stop, as cmd/gatehouse has it.
func stopTime(t *testing.T) time.Duration {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(top, "cmd", "gatehouse", "gateway.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	units := map[string]time.Duration{"Second": time.Second, "Minute": time.Minute}
	times := map[string]time.Duration{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		product, ok := spec.Values[0].(*ast.BinaryExpr)
		if !ok {
			return true
		}
		number, isNumber := product.X.(*ast.BasicLit)
		of, isUnit := product.Y.(*ast.SelectorExpr)
		if isNumber && isUnit {
			n, _ := constant.Int64Val(constant.MakeFromLiteral(number.Value, number.Kind, 0))
			times[spec.Names[0].Name] = time.Duration(n) * units[of.Sel.Name]
		}
		return true
	})
	drain, shutdown := times["drainTime"], times["shutdownTime"]
	if drain == 0 || shutdown == 0 {
		t.Fatalf("cmd/gatehouse/gateway.go: drainTime %s and shutdownTime %s, want both", drain, shutdown)
	}
	return drain + shutdown
}

// need skips a test where a program is missing, or fails it when the machine
// is said to have it.
func need(t *testing.T, program, variable string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		return path
	}
	if os.Getenv(variable) == "1" {
		t.Fatalf("%s is missing, and %s=1", program, variable)
	}
	t.Skipf("SKIPPED, NOT CHECKED: %s is not on this machine (%s=1 makes this a failure)", program, variable)
	return ""
}

// output runs a program and returns what it said and its exit status.
func output(t *testing.T, env []string, name string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(name, args...)
	if env != nil {
		cmd.Env = append(env, "PATH="+os.Getenv("PATH"))
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", name, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

var work string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gatehouse-deploy-")
	if err != nil {
		panic(err)
	}
	work = dir
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

var build = sync.OnceValues(func() (string, error) {
	path := filepath.Join(work, "gatehouse")
	cmd := exec.Command("go", "build", "-ldflags", "-X main.version=1.2.3-test", "-o", path, "./cmd/gatehouse")
	cmd.Dir = top
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the gateway: %w\n%s", err, out)
	}
	return path, nil
})

// gatehouse is the binary. It is built with the flags that the other tests
// leave in the build cache, not with the Dockerfile's, which take minutes.
func gatehouse(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
