package orchestrator

import "github.com/gatehouse-bot/gatehouse/gate"

// evaluate judges an inferred candidate by every enabled rule (RU-1). Where one
// matches it becomes a Ticket, or is attached where the Thread has an active
// one, which has seen it already; in mode observe that is only recorded (RU-2).
func (b Builtin) evaluate(h Handout, m Message) Routed {
	r := Routed{Evaluated: true}
	var first *gate.Rule
	r.Verdicts, first = b.verdicts(h, &m)
	active := h.active(m.Thread)
	switch {
	case first == nil:
		r.Item = Item{Trigger: m.ID, Action: ActIgnore, Reason: "no rule matches"}
	case len(active) > 0:
		r.Item = Item{Trigger: m.ID, Action: ActAttach, Ticket: active[0].ID, Reason: "rule " + first.ID + " matches, and the thread has an active ticket"}
	default:
		r.Item = b.work(m, executorOf(first), "rule "+first.ID+" matches")
	}
	return r
}

// ruled is an item, with the verdicts of an evaluation where it takes one.
func (b Builtin) ruled(h Handout, m Message, evaluated bool, it Item) Routed {
	r := Routed{Item: it, Evaluated: evaluated}
	if evaluated {
		r.Verdicts, _ = b.verdicts(h, &m)
	}
	return r
}

// verdicts judges every enabled rule, and names the first that matches.
func (b Builtin) verdicts(h Handout, m *Message) (list []RuleVerdict, first *gate.Rule) {
	for i := range h.Policy.Rules {
		rule := &h.Policy.Rules[i]
		if !rule.Enabled {
			continue
		}
		v := b.verdict(h, rule, m)
		list = append(list, v)
		if v.Match && first == nil {
			first = rule
		}
	}
	return list, first
}

// verdict judges one rule. What cannot be evaluated does not match.
func (b Builtin) verdict(h Handout, rule *gate.Rule, m *Message) RuleVerdict {
	v := RuleVerdict{Rule: rule.ID}
	switch {
	case rule.Match == "":
		v.Reason = "the rule has no match expression"
		return v
	case b.Matcher == nil:
		v.Reason = "this gateway evaluates no match expressions"
		return v
	}
	holds, err := b.Matcher.Match(h.Policy.Version, rule.Match, m, h.Listed[m.ID])
	switch {
	case err != nil:
		v.Reason = "the match expression could not be evaluated: " + oneLine(err.Error(), 200)
	case holds:
		v.Match, v.Reason = true, "the match expression holds"
	default:
		v.Reason = "the match expression does not hold"
	}
	return v
}

// executorOf is the first executor that a rule names; any means the default
// (RO-2b).
func executorOf(rule *gate.Rule) string {
	for _, name := range rule.Executors {
		if name != gate.AnyExecutor {
			return name
		}
	}
	return gate.DefaultExecutor
}
