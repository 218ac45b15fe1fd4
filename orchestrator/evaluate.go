package orchestrator

import (
	"slices"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// judged checks that an evaluation judges every enabled rule exactly once,
// each with a reason (RU-1). The refusal lists what is wrong.
func (w *work) judged(r Ruling) *Result {
	var missing, doubled, silent, unknown []string
	given := map[string]int{}
	for _, v := range r.Verdicts {
		given[v.Rule]++
		switch {
		case !w.Policy.RuleEnabled(v.Rule):
			unknown = append(unknown, v.Rule)
		case given[v.Rule] == 2:
			doubled = append(doubled, v.Rule)
		case given[v.Rule] == 1 && strings.TrimSpace(v.Reason) == "":
			silent = append(silent, v.Rule)
		}
	}
	for i := range w.Policy.Rules {
		if rule := &w.Policy.Rules[i]; rule.Enabled && given[rule.ID] == 0 {
			missing = append(missing, rule.ID)
		}
	}
	faults := slices.Concat(named("missing", missing), named("given twice", doubled),
		named("without a reason", silent), named("unknown or not enabled", unknown))
	if len(faults) == 0 {
		return nil
	}
	res := refused(CodeVerdictsIncomplete, "judge every enabled rule exactly once, matched or not, with a reason each; "+strings.Join(faults, "; "))
	return &res
}

func named(what string, rules []string) []string {
	if len(rules) == 0 {
		return nil
	}
	return []string{what + ": " + strings.Join(rules, ", ")}
}

// bounded says what an evaluation of an inferred candidate may not do, or
// records what it would have done (RU-2). It is nil where the action goes on:
// in mode auto, and for explicit candidates.
func (w *work) bounded(m *Message, it Item, r Ruling) *Result {
	if m.Admission.Strength == gate.Explicit || it.Action == ActIgnore || it.Action == ActRequeue {
		return nil
	}
	if it.Action == ActAccept && len(matched(r.Verdicts)) == 0 {
		res := refused(CodeNoMatchingRule, "no rule matches, so nothing may start; ignore it, or say which rule matches")
		return &res
	}
	if w.Policy.Mode == gate.Auto {
		return nil
	}
	if m.State != StateEvaluating {
		res := refused(CodeModeForbids, "in mode "+w.Policy.Mode.String()+" an inferred message does nothing; acknowledge the notice")
		return &res
	}
	res := w.observe(m, it, r)
	return &res
}

// observe records what an evaluation would have done; nothing starts.
func (w *work) observe(m *Message, it Item, r Ruling) Result {
	t := w.tickets[it.Ticket]
	var res *Result
	switch it.Action {
	case ActAccept:
		_, res = w.executor(m, it, r)
	case ActAttach:
		res = w.attachable(m, t)
	case ActStop:
		res = w.stoppable(m, t)
	case ActIgnore, ActRequeue, ActNote:
	}
	if res != nil {
		return *res
	}
	d := w.decide(m, it.Action, Observed, it.Ticket, it.Reason, r)
	m.State = StateDecided
	w.settleWith(m, nil)
	return Result{OK: true, Decision: d}
}
