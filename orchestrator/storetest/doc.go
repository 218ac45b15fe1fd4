// Package storetest is the contract of an orchestrator.Store as a test suite,
// and a store in memory that keeps it.
//
// Run proves the promises of orchestrator/store.go, state.go and
// approvals/effects.go, one subtest a promise, against any store; Compare
// drives a store and Mem side by side with random operations. Mem is for fast
// tests and for searching the space of all histories: it can be cloned.
//
// What the contract says beyond the comments of the ports:
//
//   - A claim is lost when somebody else has claimed the work or it was
//     cancelled, not when its lease merely ran out: the Token fences.
//   - Due work of a name that is claimed stays as it is; its holder sees the
//     new work, or its commit conflicts and it looks again.
//   - A commit gives the claim back first, then cancels, then schedules: a Due
//     in the same commit wins over both.
//   - Work that is given back though its list has rows (inbox, outbox) is due
//     since the time it was claimed, or when its first row may be sent.
//   - Nothing becomes due before its time: times are rounded up to the
//     millisecond, now is rounded down.
//   - A message committed without Raw loses its raw payload (RS-6, TR-4a).
package storetest
