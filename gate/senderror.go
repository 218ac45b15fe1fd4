package gate

import (
	"fmt"
	"time"
)

// SendClass is what the outbox does after a failed try.
type SendClass uint8

// The classes. The zero value keeps the row and tries again.
const (
	// SendRetry: try the same row again, not before After (or the outbox's own back-off).
	SendRetry SendClass = iota
	// SendDropped: it can never be sent (target gone, content refused); drop
	// it and record the reason.
	SendDropped
)

// SendError is why an Outgoing was not sent, in a form that the outbox can act
// on without knowing the platform.
type SendError struct {
	Class SendClass
	// After is the platform's own wait (Retry-After), or 0.
	After time.Duration
	// Reason is a short sentence for status and log; no body, no token.
	Reason string
	Err    error
}

func (e *SendError) Error() string {
	if e.Err == nil {
		return e.Reason
	}
	return fmt.Sprintf("%s: %v", e.Reason, e.Err)
}

func (e *SendError) Unwrap() error { return e.Err }
