package main

import (
	"net/http"
	"sync/atomic"
)

const (
	// bodiesInFlight is how many bytes of bodies are read at once, over all
	// Sources, so that big ones cannot use the memory up (RS-8a).
	bodiesInFlight = 64 << 20
	// largestBody is what any platform may send; more is refused by its length,
	// unread.
	largestBody = 25 << 20
	// unsaidBody is what a body counts that does not say its length.
	unsaidBody = 16 << 20
)

// budget is a number of bytes that may be in flight.
type budget struct{ left atomic.Int64 }

func newBudget(bytes int64) *budget {
	b := &budget{}
	b.left.Store(bytes)
	return b
}

// take reserves room for a request's body, or reports that there is none: then
// the platform comes again. What is too large for any Source needs no room,
// since nobody reads it.
func (b *budget) take(r *http.Request) (give func(), ok bool) {
	n := r.ContentLength
	switch {
	case n > largestBody:
		return func() {}, true
	case n < 0:
		n = unsaidBody
	}
	if b.left.Add(-n) < 0 {
		b.left.Add(n)
		return nil, false
	}
	return func() { b.left.Add(n) }, true
}
