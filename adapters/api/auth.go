package api

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// Role is what a token may do. The zero value may nothing.
type Role string

// The roles (spec page 07).
const (
	Operator     Role = "operator"     // everything
	Viewer       Role = "viewer"       // reads
	Orchestrator Role = "orchestrator" // reads, and routes candidates
	Executor     Role = "executor"     // the Tickets of its own executor
)

// Token lets its bearer call the listener.
type Token struct {
	Name   string
	Secret string
	Role   Role
	// Executor is whose Tickets a token of role executor has; "": Name.
	Executor string
}

// caller is who sent a request. The zero caller is nobody.
type caller struct {
	name     string
	role     Role
	executor string // of role Executor: its own; never ""
}

// key is a token as it is kept: the secret itself is not.
type key struct {
	digest [sha256.Size]byte
	caller caller
}

type keyring []key

// newKeyring keeps the tokens' digests. An empty secret opens nothing, and
// neither does an executor's token that names no executor.
func newKeyring(tokens []Token) keyring {
	var ring keyring
	for _, t := range tokens {
		who := caller{name: t.Name, role: t.Role}
		if t.Role == Executor {
			who.executor = cmp.Or(t.Executor, t.Name)
		}
		if t.Secret == "" || t.Role == Executor && who.executor == "" {
			continue
		}
		ring = append(ring, key{sha256.Sum256([]byte(t.Secret)), who})
	}
	return ring
}

// identify returns whose token was shown. How long it takes tells nothing of
// the tokens: digests of one length are compared, and always all of them.
func (ring keyring) identify(secret string) (caller, bool) {
	digest := sha256.Sum256([]byte(secret))
	i := choose(len(ring), func(i int) int {
		return subtle.ConstantTimeCompare(ring[i].digest[:], digest[:])
	})
	if i < 0 {
		return caller{}, false
	}
	return ring[i].caller, true
}

// choose returns an i below n for which same is 1, or -1. It asks for every i
// and branches on no answer.
func choose(n int, same func(i int) int) int {
	found := -1
	for i := range n {
		found = subtle.ConstantTimeSelect(same(i), i, found)
	}
	return found
}

// bearer returns the token of a request, or "". A request with two of them
// has none.
func bearer(h http.Header) string {
	values := h.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, secret, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}
