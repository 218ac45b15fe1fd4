// Package approvals is the one place where anything that needs a person's word
// is asked: the approval of an operation, a choice, a clarification (spec
// page 06). It is durable and fail-closed.
//
//	open ──▶ waiting ──┬─▶ answered   (an option and/or text; the first answer wins, and is final)
//	                   ├─▶ timed_out  (bounded: default 5 min, at most 24 h)
//	                   └─▶ cancelled  (its session was cancelled, or the asker withdrew)
//
// The transitions (Open, Settle, Expire, Cancel, Presented) are pure: a
// Question and a time in, a Question and Effects out. Broker is the shell: it
// loads, calls one of them and commits, again from fresh state on a conflict.
//
// On the wire (/v1/sessions/{id}/decisions) a Question keeps the name of its
// origin, decision; in code Decision means an Eval's only.
package approvals
