package storetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Dump returns all content in a fixed order, one thing a line, so that equal
// stores have equal dumps: what a search over histories remembers. The event
// log, the dedupe keys and the claims' Tokens are left out, record versions as
// well: two histories that led to the same state are the same.
func (m *Mem) Dump() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for n, r := range m.records {
		add("%s %s %s", n.kind, n.id, r.json)
	}
	for n, w := range m.due {
		add("due %s %s at %d claimed %t", n.kind, n.id, w.at, w.token != 0)
	}
	for part, list := range m.inbox {
		add("inbox %s %v", part, list)
	}
	for lane, ids := range m.lanes {
		for i, id := range ids {
			add("outbox %s %d %+v", lane, i, m.rows[id])
		}
	}
	for t, in := range m.inputs {
		for _, seq := range slices.Sorted(maps.Keys(in)) {
			add("input %s %06d %s", t, seq, in[seq])
		}
	}
	for n, result := range m.acts {
		add("act %s %s %s", n.kind, n.id, result)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
