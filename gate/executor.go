package gate

import "slices"

// DefaultExecutor is the executor of a request that names none.
const DefaultExecutor = "default"

// AnyExecutor in a list of executors is any.
const AnyExecutor = "*"

// ExecutorAllowed reports whether the Policy lets a request have an executor
// (RO-2b); "" means DefaultExecutor.
func ExecutorAllowed(p *Policy, source SourceID, v Verdict, listed bool, matchedRules []string, executor string) bool {
	if executor == "" {
		executor = DefaultExecutor
	}
	return contains(ExecutorsFor(p, source, v, listed, matchedRules), executor)
}

// ExecutorsFor are the executors that the Policy lets a request have (RO-2b),
// AnyExecutor for any. An explicit request goes by the lists of its Source: by
// default any for a listed person, DefaultExecutor for others. An inferred one,
// a bot's and CI's too, gets what its matched rules that are enabled name, by
// default DefaultExecutor; with no such rule it gets none. What was not admitted
// gets none.
func ExecutorsFor(p *Policy, source SourceID, v Verdict, listed bool, matchedRules []string) []string {
	if p == nil {
		return nil
	}
	switch v.Strength {
	case Explicit:
		return p.Sources[source].Executors.of(listed)
	case Inferred:
		return p.ruleExecutors(matchedRules)
	case None:
		return nil
	}
	return nil
}

// of returns the list for people who are listed, or for the others.
func (e Executors) of(listed bool) []string {
	if listed {
		return orList(e.Listed, AnyExecutor)
	}
	return orList(e.Unlisted, DefaultExecutor)
}

func (p *Policy) ruleExecutors(rules []string) (list []string) {
	for _, id := range rules {
		if r, ok := p.Rule(id); ok && r.Enabled {
			list = append(list, r.GivesExecutors()...)
		}
	}
	return list
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
