// Package match evaluates the match expressions of a Policy's rules, in CEL
// (DR-1). An expression reads the variables of one message and says true or
// false; it reaches nothing else and its cost is bounded.
package match

import (
	"fmt"
	"sync"

	"cel.dev/cel-go/cel"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// The bounds of an expression and of one evaluation.
const (
	// MaxExpression is the longest expression, in bytes.
	MaxExpression = 4 << 10
	// MaxText is how much of a message's text an expression sees, in bytes.
	MaxText = 64 << 10
	// maxCost is what one evaluation may cost, in CEL's units: about a hundred
	// looks through a text of MaxText.
	maxCost  = 1_000_000
	maxDepth = 50
)

// Matcher evaluates expressions. It keeps what it compiled for one Policy
// version, so that an expression is compiled once for each. It is safe for
// concurrent use.
type Matcher struct {
	mu       sync.Mutex
	version  int
	compiled map[string]compiled
}

var _ orchestrator.Matcher = (*Matcher)(nil)

// compiled is a program, or why there is none.
type compiled struct {
	program cel.Program
	err     error
}

// New returns a Matcher.
func New() *Matcher { return &Matcher{compiled: map[string]compiled{}} }

// Match implements orchestrator.Matcher.
func (x *Matcher) Match(version int, expression string, m *orchestrator.Message, listed bool) (bool, error) {
	p := x.of(version, expression)
	if p.err != nil {
		return false, p.err
	}
	out, _, err := p.program.Eval(variables(m, listed))
	if err != nil {
		return false, fmt.Errorf("evaluate: %w", err)
	}
	holds, ok := out.Value().(bool)
	if !ok {
		return false, fmt.Errorf("evaluate: want true or false, got %s", out.Type().TypeName())
	}
	return holds, nil
}

func (x *Matcher) of(version int, expression string) compiled {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.version != version {
		x.version, x.compiled = version, map[string]compiled{}
	}
	c, known := x.compiled[expression]
	if !known {
		c = compile(expression)
		x.compiled[expression] = c
	}
	return c
}

func compile(expression string) compiled {
	env, ast, faults := check(expression)
	if len(faults) > 0 {
		return compiled{err: faults[0]}
	}
	program, err := env.Program(ast, cel.CostLimit(maxCost), cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return compiled{err: fmt.Errorf("compile: %w", err)}
	}
	return compiled{program: program}
}
