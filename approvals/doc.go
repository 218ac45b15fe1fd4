// Package approvals is the one place where anything that needs a person's word
// is asked: the approval of an operation, a choice, a clarification (spec
// page 06). It is durable and fail-closed.
//
//	open ──▶ waiting ──┬─▶ answered   (an option and/or text; the first answer wins, and is final)
//	                   ├─▶ timed_out  (bounded: default 5 min, at most 24 h)
//	                   └─▶ cancelled  (its session was cancelled, or the asker withdrew)
//
// The transitions (Open, Reopen, Settle, Expire, Cancel, Unreachable,
// Presented, Updated, Refused) are pure: a Question and a time in, a Question
// and Effects out; they never change what they are given. Those that act on an
// open question let its deadline pass first, so that a late answer cannot count
// (DE-5). Broker is the shell: it loads, calls one of them and commits, again from fresh state on a
// conflict.
//
// Before people are asked, an approval passes a chain that may decide it at
// once: the session's policy, then the configuration's machine answerer
// (AP-3, AP-4). After that every way in, card, panel, API, GitHub, ends in
// Settle, where the first answer takes the one slot.
//
// On the wire (/v1/sessions/{id}/decisions) a Question keeps the name of its
// origin, decision; in code Decision means an Eval's only.
package approvals
