package gate_test

import (
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

func TestWhenLate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		says string
		in   gate.Strength
		want gate.Strength
		rule string
	}{
		{"an explicit request stands (TR-6)", gate.Explicit, gate.Explicit, "AD-2"},
		{"what is inferred is not admitted (TR-6)", gate.Inferred, gate.None, "TR-6"},
		{"what was refused stays refused by its own rule (TR-6)", gate.None, gate.None, "AD-2"},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			got := gate.WhenLate(gate.Verdict{Strength: c.in, Rule: "AD-2", Reason: "because"})
			if got.Strength != c.want || got.Rule != c.rule || got.Reason == "" {
				t.Errorf("WhenLate(%s) = %+v, want %s by %s with a reason", c.in, got, c.want, c.rule)
			}
		})
	}
}
