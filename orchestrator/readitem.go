package orchestrator

import (
	"encoding/json"
	"fmt"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Judgement is what an evaluation has beside its item (RU-1).
type Judgement struct {
	Eval          gate.EvalID   `json:"eval"`
	PolicyVersion int           `json:"policy_version"`
	Verdicts      []RuleVerdict `json:"verdicts"`
}

// ReadItem reads one item as a model wrote it, with the fields of an
// evaluation if it has them. A field of a wrong type refuses this item only,
// with a message that names it (RO-1).
func ReadItem(raw []byte) (it Item, j Judgement, refused *RouteError) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return it, j, &RouteError{CodeMissingField, "an item is an object with action, trigger and what the action needs"}
	}
	text := []struct {
		name string
		to   any
	}{
		{"trigger", &it.Trigger}, {"action", &it.Action}, {"ticket", &it.Ticket}, {"title", &it.Title},
		{"brief", &it.Brief}, {"executor", &it.Executor}, {"reason", &it.Reason},
		{"public_reason", &it.PublicReason}, {"text", &it.Text}, {"eval", &j.Eval},
	}
	for _, f := range text {
		if value, ok := fields[f.name]; ok && json.Unmarshal(value, f.to) != nil {
			return it, j, &RouteError{CodeMissingField, fmt.Sprintf("%s must be a text; give the item again with one", f.name)}
		}
	}
	if v, ok := fields["policy_version"]; ok && json.Unmarshal(v, &j.PolicyVersion) != nil {
		return it, j, &RouteError{CodeMissingField, "policy_version must be a number; it stands beside the candidates"}
	}
	if v, ok := fields["verdicts"]; ok && json.Unmarshal(v, &j.Verdicts) != nil {
		return it, j, &RouteError{CodeVerdictsIncomplete, "verdicts is a list of {rule: text, match: true or false, reason: text}"}
	}
	return it, j, nil
}
