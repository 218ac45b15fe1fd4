package gate_test

import (
	"slices"
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		says   string
		thread gate.ThreadID
		want   []gate.PlaceID
	}{
		{"a Feishu thread is in a chat, and that in a Source (EN-5)", "fs~oc_1~om_1", []gate.PlaceID{"fs", "fs~oc_1", "fs~oc_1~om_1"}},
		{"an issue is in a repository, and that is an owner's (EN-5)", "gh~o~r~7", []gate.PlaceID{"gh", "gh~o", "gh~o~r", "gh~o~r~7"}},
		{"no thread is nowhere (EN-5)", "", nil},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			got := c.thread.Places()
			if !slices.Equal(got, c.want) {
				t.Errorf("Places(%q) = %v, want %v", c.thread, got, c.want)
			}
			for _, p := range got {
				if p.Source() != gate.SourceID(c.want[0]) {
					t.Errorf("Source(%q) = %q, want %q", p, p.Source(), c.want[0])
				}
			}
		})
	}
}
