package logs

import (
	"sync"
	"time"
)

// Seldom bounds how often something is logged that whoever knows an address
// can cause as often as he likes. It is safe for concurrent use; the kinds must
// be a closed set, since each is remembered.
type Seldom struct {
	every time.Duration
	mu    sync.Mutex
	last  map[string]time.Time
}

// NewSeldom lets each kind through once in that time.
func NewSeldom(every time.Duration) *Seldom {
	return &Seldom{every: every, last: map[string]time.Time{}}
}

// Now reports whether a line of the kind may be written now; then it counts as
// written.
func (s *Seldom) Now(kind string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, known := s.last[kind]
	if known && !now.Before(last) && now.Sub(last) < s.every {
		return false
	}
	s.last[kind] = now
	return true
}
