// Package orchestrator says what becomes of a Trigger (spec pages 03 to 05).
//
// It is a functional core in an imperative shell. The core are pure
// transitions over a State, the part of the workspace that one event touches:
//
//	(State, event, Facts) ──▶ Changes (new state and effects) | refusal
//
// The shell is the Service, which loads a State, calls one transition and
// commits its Changes in one atomic step, again from fresh state when
// something moved meanwhile; and the Worker, which claims due work and hands
// it to the Service.
//
// # Where a message is
//
// A message is at any time in exactly one place:
//
//	received ─▶ dropped                       not received by any Source (TR-5, AD-9)
//	   ├──────▶ owned ──────┬─▶ (finished)    an Executor owns it (SU-2)
//	   │          ▲         └─▶ gate          handed back, released (HB-3, EN-2)
//	   ├──────▶ waiting ────┬─▶ owned, gate   waits with a candidate (SU-8), or to resume (RE-1)
//	   └─▶ gate ─▶ queued ─▶ evaluating ─▶ decided | owned (accepted, attached)
//	          ├──▶ delivered                  context only
//	          └──▶ not_admitted
//
// A recall takes it to recalled from every place where it is undecided or waits
// to be delivered (TR-4a). An edit moves it nowhere (TR-4).
package orchestrator
