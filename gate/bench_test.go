package gate_test

import (
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// benched are messages that end early, late and by a cell.
func benched() map[string]*input {
	points := map[string]point{
		"listed": {kind: gate.Person, allow: gate.Yes, addressing: gate.Mention},
		"bot":    {kind: gate.Bot, bots: gate.Yes},
		"cell":   {kind: gate.Person, cells: gate.Row{UnlistedUnaddressed: gate.Inferred}},
		"none":   {kind: gate.Person, allow: gate.Unknown},
	}
	ins := map[string]*input{}
	for name, p := range points {
		p.scope, p.receive, p.mode = "chat:oc_1", gate.ReceiveAll, gate.Auto
		ins[name] = newInput(p.scope)
		ins[name].move(p)
	}
	return ins
}

func BenchmarkAdmit(b *testing.B) {
	for name, in := range benched() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				gate.Admit(&in.t, &in.src, &in.pol, in.standing, in.lists)
			}
		})
	}
}

// AllocsPerRun counts the whole process, so this test is not parallel.
func TestAdmitDoesNotAllocate(t *testing.T) {
	for name, in := range benched() {
		n := testing.AllocsPerRun(100, func() {
			gate.Admit(&in.t, &in.src, &in.pol, in.standing, in.lists)
		})
		if n != 0 {
			t.Errorf("Admit(%s) = %v allocations, want 0", name, n)
		}
	}
}
