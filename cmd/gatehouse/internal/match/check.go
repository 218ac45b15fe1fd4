package match

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
)

// Fault is one thing that is wrong with an expression, and where; line and
// column begin at 1.
type Fault struct {
	Line, Column int
	Text         string
}

// Error is the fault on one line.
func (f Fault) Error() string { return fmt.Sprintf("%d:%d: %s", f.Line, f.Column, f.Text) }

// Check returns what is wrong with an expression; none when it can be
// evaluated.
func Check(expression string) []Fault {
	if _, _, faults := check(expression); len(faults) > 0 {
		return faults
	}
	if c := compile(expression); c.err != nil {
		return []Fault{{1, 1, oneLine(c.err.Error())}}
	}
	return nil
}

func check(expression string) (*cel.Env, *cel.Ast, []Fault) {
	if len(expression) > MaxExpression {
		return nil, nil, []Fault{{1, 1, fmt.Sprintf("%d bytes, at most %d", len(expression), MaxExpression)}}
	}
	env, err := environment()
	if err != nil {
		return nil, nil, []Fault{{1, 1, err.Error()}}
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return nil, nil, faultsOf(issues)
	}
	if !ast.OutputType().IsExactType(cel.BoolType) {
		return nil, nil, []Fault{{1, 1, "want an expression that is true or false, this one is " + ast.OutputType().String()}}
	}
	return env, ast, nil
}

// environment is what expressions can name. Extensions whose cost CEL does not
// count are left out.
func environment() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.ParserExpressionSizeLimit(MaxExpression), cel.ParserRecursionLimit(maxDepth),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateHomogeneousAggregateLiterals()),
	}
	for _, v := range all {
		options = append(options, cel.Variable(v.name, v.of))
	}
	return cel.NewEnv(options...)
}

func faultsOf(issues *cel.Issues) []Fault {
	var faults []Fault
	for _, e := range issues.Errors() {
		faults = append(faults, Fault{max(e.Location.Line(), 1), max(e.Location.Column()+1, 1), oneLine(e.Message)})
	}
	return faults
}

// oneLine takes the library's hints about a place in the text away: they fill
// further lines.
func oneLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(first)
}
