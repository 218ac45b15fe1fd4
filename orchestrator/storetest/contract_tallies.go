package storetest

import (
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func tallyPromises() []promise {
	return []promise{
		{"AD-13 a tally counts each member once, however often it is put in", talliesOnce},
		{"AD-13 a tally counts the members that were put in after a time", talliesSince},
		{"AD-13 a member that is taken out counts no more, and a set that nobody knows has none", talliesOut},
		{"AD-13 a commit that is refused counts nothing", talliesNothing},
	}
}

func (b *bench) counted(want int, set string, from time.Time) {
	b.t.Helper()
	n, err := b.Tallied(b.ctx(), orchestrator.Counts{Set: set, After: from})
	if err != nil || len(n) != 1 || n[0] != want {
		b.t.Errorf("Tallied(%q, %v) = %v, %v; want %d", set, from, n, err, want)
	}
}

func tallied(set, member string, at time.Time) orchestrator.Changes {
	return orchestrator.Changes{Tallies: []orchestrator.Tally{{Set: set, Member: member, At: at, Keep: time.Hour}}}
}

func talliesOnce(_ *testing.T, b *bench) {
	b.commit(tallied("s", "a", after(0)))
	b.commit(tallied("s", "a", after(time.Second)))
	b.commit(tallied("s", "b", after(time.Second)))
	b.counted(2, "s", time.Time{})
}

func talliesSince(_ *testing.T, b *bench) {
	b.commit(tallied("s", "a", after(0)))
	b.commit(tallied("s", "b", after(time.Minute)))
	b.counted(1, "s", after(0))
	b.counted(2, "s", after(-time.Millisecond))
	b.counted(0, "s", after(time.Minute))
}

func talliesOut(_ *testing.T, b *bench) {
	b.commit(tallied("s", "a", after(0)))
	b.commit(orchestrator.Changes{Tallies: []orchestrator.Tally{{Set: "s", Member: "a", Out: true}}})
	b.commit(orchestrator.Changes{Tallies: []orchestrator.Tally{{Set: "s", Member: "never", Out: true}}})
	b.counted(0, "s", time.Time{})
	b.counted(0, "never", time.Time{})
}

func talliesNothing(t *testing.T, b *bench) {
	c := tallied("s", "a", after(0))
	c.Threads = []orchestrator.Thread{{ID: "th_none", Version: 7}}
	if err := b.Commit(b.ctx(), c); err == nil {
		t.Error("Commit of a version that is not stored was taken")
	}
	b.counted(0, "s", time.Time{})
}
