package gate_test

import (
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

func TestWhenReplayed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		says string
		in   gate.Strength
		mode gate.Mode
		want gate.Strength
		rule string
	}{
		{"an explicit request is inferred (TR-7)", gate.Explicit, gate.Auto, gate.Inferred, "TR-7"},
		{"also in mode observe (TR-7)", gate.Explicit, gate.Observe, gate.Inferred, "TR-7"},
		{"in mode off nothing is (TR-7)", gate.Explicit, gate.Off, gate.None, "TR-7"},
		{"what is inferred stays so (TR-7)", gate.Inferred, gate.Auto, gate.Inferred, "TR-7"},
		{"what was refused stays refused by its own rule (TR-7)", gate.None, gate.Auto, gate.None, "AD-2"},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			basis := gate.Basis{Kind: gate.AllowList}
			got := gate.WhenReplayed(gate.Verdict{Strength: c.in, Basis: basis, Rule: "AD-2", Reason: "because"}, c.mode)
			if got.Strength != c.want || got.Rule != c.rule || got.Reason == "" || got.Admitted() && got.Basis != basis {
				t.Errorf("WhenReplayed(%s, %s) = %+v, want %s by %s with a reason", c.in, c.mode, got, c.want, c.rule)
			}
		})
	}
}
