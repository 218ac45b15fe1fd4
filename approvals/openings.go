package approvals

import (
	"context"
	"sync"
)

// A session that opens so many questions has a bug, which is said each time.
const (
	manyQuestions = 512
	maxSessions   = 1024 // are counted at a time
)

// openings counts the questions that each session opened in this process
// (DE-8). It is bounded: when too many sessions asked, it starts over.
type openings struct {
	mu sync.Mutex
	n  map[SessionID]int
}

// add counts one more, and reports whether it is time to say so.
func (o *openings) add(s SessionID) (n int, many bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n == nil || len(o.n) >= maxSessions && o.n[s] == 0 {
		o.n = map[SessionID]int{}
	}
	o.n[s]++
	return o.n[s], o.n[s]%manyQuestions == 0
}

// countOpening says when a session opens more questions than makes sense.
func (b *Broker) countOpening(ctx context.Context, s SessionID) {
	if n, many := b.openings.add(s); many {
		b.log.WarnContext(ctx, "session opens many questions", "session", s, "opened", n)
	}
}
