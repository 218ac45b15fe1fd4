package storetest

import (
	"context"
	"fmt"

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
