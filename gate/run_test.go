package gate_test

import (
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

func TestDeliveryKey(t *testing.T) {
	t.Parallel()
	if a, b := gate.DeliveryKey("gh", "1"), gate.MessageKey("gh", "1"); a != "gh:delivery:1" || a == b {
		t.Errorf("TR-1: keys %q and %q; want them apart", a, b)
	}
}

func TestSuperseded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		says string
		run  gate.Run
		want bool
	}{
		{"a run of the branch's head is not superseded (GH-3)", gate.Run{Head: "h1", Top: "h1"}, false},
		{"a run of an older commit is (GH-3)", gate.Run{Head: "h1", Top: "h2"}, true},
		{"one whose branch was not looked at counts as such (GH-3)", gate.Run{Head: "h1"}, true},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			if got := c.run.Superseded(); got != c.want {
				t.Errorf("Superseded(%+v) = %v, want %v", c.run, got, c.want)
			}
		})
	}
}
