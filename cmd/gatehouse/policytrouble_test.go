package main

import (
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func TestUnavailableCells(t *testing.T) {
	t.Parallel()
	g := &gateway{service: orchestrator.NewService(orchestrator.ServiceConfig{Sources: map[gate.SourceID]*gate.Source{
		"f": {ID: "f", Platform: gate.Feishu, Enabled: true, Scopes: map[gate.Scope]gate.Receive{"chat:oc_a": gate.ReceiveMentions}},
	}})}
	table := func(row gate.Row) *gate.Policy {
		return &gate.Policy{Sources: map[gate.SourceID]gate.SourcePolicy{"f": {Table: gate.Table{"chat:oc_a": row}}}}
	}
	for name, c := range map[string]struct {
		policy *gate.Policy
		want   string
	}{
		"an available cell is well (PV-5a)":             {table(gate.Row{UnlistedAddressed: gate.Inferred}), ""},
		"one that the source makes unavailable (PV-5a)": {table(gate.Row{UnlistedUnaddressed: gate.Inferred}), "it counts as none"},
		"a source that is not configured (PV-5a)": {
			&gate.Policy{Sources: map[gate.SourceID]gate.SourcePolicy{"gone": {}}}, "source gone, which is not configured",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(g.unavailableCells(c.policy), "; "); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("unavailableCells = %q, want %q", got, c.want)
			}
		})
	}
}

func TestSenderFlag(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]gate.Sender{
		"none":       {Kind: gate.NoSender},
		"ou_1":       {Kind: gate.Person, ID: "ou_1"},
		"person:A":   {Kind: gate.Person, ID: "A"},
		"bot:cli_1":  {Kind: gate.Bot, ID: "cli_1"},
		"union:on_1": {Kind: gate.Person, ID: "union:on_1"},
	} {
		if got := senderFlag(flag); got.Kind != want.Kind || got.ID != want.ID {
			t.Errorf("senderFlag(%q) = %+v, want %+v", flag, got, want)
		}
	}
}
