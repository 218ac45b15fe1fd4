package storetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// count changes a tally. Members that count no more are left in it: who asks
// says from when.
func (m *Mem) count(t orchestrator.Tally) {
	if t.Out {
		delete(m.tally[t.Set], t.Member)
		return
	}
	if m.tally[t.Set] == nil {
		m.tally[t.Set] = map[string]int64{}
	}
	m.tally[t.Set][t.Member] = t.At.UnixMilli()
}

// room reports whether a tally may be put in.
func (m *Mem) room(t orchestrator.Tally) bool {
	_, in := m.tally[t.Set][t.Member]
	return t.Out || t.Most <= 0 || in || len(m.tally[t.Set]) < t.Most
}

// Members implements orchestrator.Tallies.
func (m *Mem) Members(ctx context.Context, sets ...orchestrator.Counts) ([][]orchestrator.Member, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("list tallies: %w", err)
	}
	defer leave()
	all := make([][]orchestrator.Member, len(sets))
	for i, c := range sets {
		for id, at := range m.tally[c.Set] {
			if c.After.IsZero() || at > c.After.UnixMilli() {
				all[i] = append(all[i], orchestrator.Member{ID: id, At: time.UnixMilli(at).UTC()})
			}
		}
		slices.SortFunc(all[i], func(a, b orchestrator.Member) int {
			return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
		})
	}
	return all, nil
}

// Tallied implements orchestrator.Tallies.
func (m *Mem) Tallied(ctx context.Context, sets ...orchestrator.Counts) ([]int, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("count tallies: %w", err)
	}
	defer leave()
	n := make([]int, len(sets))
	for i, c := range sets {
		for _, at := range m.tally[c.Set] {
			if c.After.IsZero() || at > c.After.UnixMilli() {
				n[i]++
			}
		}
	}
	return n, nil
}
