package storetest

import (
	"errors"
	"strings"
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
		{"EX-5 the members of a tally are listed by when they were put in", talliesListed},
		{"EX-5 a tally with a bound is never fuller, and a member of it may come again", talliesBounded},
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

func talliesListed(t *testing.T, b *bench) {
	b.commit(tallied("s", "b", after(0)))
	b.commit(tallied("s", "a", after(time.Second)))
	b.commit(tallied("s", "c", after(time.Second)))
	for want, from := range map[string]time.Time{"b a c": {}, "a c": after(0), "": after(time.Second)} {
		got, err := b.Members(b.ctx(), orchestrator.Counts{Set: "s", After: from}, orchestrator.Counts{Set: "none"})
		if err != nil || len(got) != 2 || len(got[1]) != 0 {
			t.Fatalf("Members = %v, %v", got, err)
		}
		var ids []string
		for _, m := range got[0] {
			ids = append(ids, m.ID)
			if m.ID == "b" && !m.At.Equal(after(0)) {
				t.Errorf("b is in it since %v, want %v", m.At, after(0))
			}
		}
		if strings.Join(ids, " ") != want {
			t.Errorf("Members after %v = %v, want %q", from, ids, want)
		}
	}
}

func talliesBounded(t *testing.T, b *bench) {
	put := func(member string, out bool) error {
		c := tallied("s", member, after(0))
		c.Tallies[0].Most, c.Tallies[0].Out = 2, out
		return b.Commit(b.ctx(), c)
	}
	for _, r := range []struct {
		member string
		out    bool
		want   error
	}{{"a", false, nil}, {"b", false, nil}, {"c", false, orchestrator.ErrConflict}, {"a", false, nil}, {"a", true, nil}, {"c", false, nil}} {
		if err := put(r.member, r.out); !errors.Is(err, r.want) {
			t.Errorf("put %s, out %t = %v, want %v", r.member, r.out, err, r.want)
		}
	}
	b.counted(2, "s", time.Time{})
}
