package gate

import "slices"

// DefaultExecutor is the executor of a request that names none.
const DefaultExecutor = "default"

// AnyExecutor in a list of executors is any.
const AnyExecutor = "*"

// ExecutorAllowed reports whether the Policy lets a request have an executor
// (RO-2b); "" means DefaultExecutor. An explicit request goes by the lists of
// its Source: by default any for a listed person, DefaultExecutor for others.
// An inferred one, a bot's and CI's too, gets what one of its matched rules
// that are enabled names, by default DefaultExecutor; with no such rule it
// gets none. What was not admitted gets none.
func ExecutorAllowed(p *Policy, source SourceID, v Verdict, listed bool, matchedRules []string, executor string) bool {
	if p == nil {
		return false
	}
	if executor == "" {
		executor = DefaultExecutor
	}
	switch v.Strength {
	case Explicit:
		return contains(p.Sources[source].Executors.of(listed), executor)
	case Inferred:
		return slices.ContainsFunc(matchedRules, func(id string) bool { return p.ruleAllows(id, executor) })
	case None:
		return false
	}
	return false
}

// of returns the list for people who are listed, or for the others.
func (e Executors) of(listed bool) []string {
	if listed {
		return orList(e.Listed, AnyExecutor)
	}
	return orList(e.Unlisted, DefaultExecutor)
}

func (p *Policy) ruleAllows(id, executor string) bool {
	r, ok := p.Rule(id)
	return ok && r.Enabled && contains(r.GivesExecutors(), executor)
}

// GivesExecutors are the executors that work by this rule may get, AnyExecutor
// for any (RO-2b).
func (r *Rule) GivesExecutors() []string { return orList(r.Executors, DefaultExecutor) }

func orList(list []string, def string) []string {
	if len(list) == 0 {
		return []string{def}
	}
	return list
}

func contains(list []string, executor string) bool {
	return slices.Contains(list, AnyExecutor) || slices.Contains(list, executor)
}
