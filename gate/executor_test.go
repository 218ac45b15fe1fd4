package gate_test

import (
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

func TestExecutorAllowed(t *testing.T) {
	t.Parallel()
	bare := &gate.Policy{}
	p := &gate.Policy{
		Rules: []gate.Rule{
			{ID: "plain", Enabled: true},
			{ID: "code", Enabled: true, Executors: []string{"coder"}},
			{ID: "any", Enabled: true, Executors: []string{"*"}},
			{ID: "asleep", Executors: []string{"*"}},
		},
		Sources: map[gate.SourceID]gate.SourcePolicy{
			"main": {Executors: gate.Executors{Listed: []string{"coder", "default"}, Unlisted: []string{"helper"}}},
			"open": {Executors: gate.Executors{Unlisted: []string{"*"}}},
		},
	}
	rows := []struct {
		name     string
		p        *gate.Policy
		source   gate.SourceID
		strength gate.Strength
		listed   bool
		rules    []string
		executor string
		want     bool
	}{
		{"RO-2b by default a listed person gets any", bare, "main", gate.Explicit, true, nil, "coder", true},
		{"RO-2b by default others get default", bare, "main", gate.Explicit, false, nil, "default", true},
		{"RO-2b by default others get no other", bare, "main", gate.Explicit, false, nil, "coder", false},
		{"RO-2b no name means default", bare, "main", gate.Explicit, false, nil, "", true},
		{"RO-2b a listed person gets what the source says", p, "main", gate.Explicit, true, nil, "coder", true},
		{"RO-2b and no other", p, "main", gate.Explicit, true, nil, "helper", false},
		{"RO-2b others get what the source says", p, "main", gate.Explicit, false, nil, "helper", true},
		{"RO-2b and not even default", p, "main", gate.Explicit, false, nil, "", false},
		{"RO-2b a star is any", p, "open", gate.Explicit, false, nil, "coder", true},
		{"RO-2b explicit ones do not go by rules", p, "main", gate.Explicit, false, []string{"any"}, "coder", false},
		{"RO-2b an inferred one gets the default of its rule", p, "main", gate.Inferred, false, []string{"plain"}, "", true},
		{"RO-2b and no other of the source", p, "open", gate.Inferred, true, []string{"plain"}, "coder", false},
		{"RO-2b a rule names its executors", p, "main", gate.Inferred, false, []string{"code"}, "coder", true},
		{"RO-2b and default is then none of them", p, "main", gate.Inferred, false, []string{"code"}, "default", false},
		{"RO-2b one of several rules is enough", p, "main", gate.Inferred, false, []string{"plain", "code"}, "coder", true},
		{"RO-2b a rule can name any", p, "main", gate.Inferred, false, []string{"any"}, "coder", true},
		{"RO-2b a disabled rule gives none", p, "main", gate.Inferred, false, []string{"asleep"}, "default", false},
		{"RO-2b a rule that is gone gives none", p, "main", gate.Inferred, false, []string{"gone"}, "default", false},
		{"RO-2b no matched rule gives none", p, "main", gate.Inferred, true, nil, "default", false},
		{"RO-2b what is not admitted gets none", bare, "main", gate.None, true, []string{"plain"}, "default", false},
		{"RO-2b an unknown strength gets none", bare, "main", 9, true, []string{"plain"}, "default", false},
		{"RO-2b without a policy none", nil, "main", gate.Explicit, true, nil, "default", false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			v := gate.Verdict{Strength: r.strength}
			if got := gate.ExecutorAllowed(r.p, r.source, v, r.listed, r.rules, r.executor); got != r.want {
				t.Errorf("ExecutorAllowed(%s, %s, listed %t, rules %v, %q) = %t, want %t",
					r.source, r.strength, r.listed, r.rules, r.executor, got, r.want)
			}
		})
	}
}
