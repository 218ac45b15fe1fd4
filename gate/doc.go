// Package gate decides who may start what.
//
// It holds the nouns of the domain (spec page 01) and the pure functions that
// read them: Admit (page 02), Revalidate and Affected (page 05), MayAnswer
// (CA-3) and MayStop (ST-2). No function here takes a context, reads a clock,
// logs or does I/O: everything that a decision depends on is an argument, so
// that a decision can be tested exhaustively, explained and repeated.
//
// # Which line decides (page 02)
//
//	           Trigger, Source, Policy, Standing, Lists
//	                            │
//	TR-5  not received?         ├──────────────────────────────────────────────────▶ none
//	AD-1  a bot?                ├─ listed bot that addresses the agent, or posts ──▶ inferred, bot_list
//	                            │  where all messages are received; else ──────────▶ none
//	AD-2  a listed person       ├─ who addresses the agent ────────────────────────▶ explicit, allow_list
//	AD-8  another person        ├─ who addresses it, where the cell is explicit ───▶ explicit, cell:…
//	AD-3  a follow-up on an     ├─ by a listed person ─────────────────────────────▶ explicit, follow_up
//	      own Thread            ├─ the fitting cell says explicit ─────────────────▶ explicit, cell:…
//	                            ├─ else ───────────────────────────────────────────▶ inferred, follow_up_unlisted
//	AD-9  only mentions         ├─ are received, and it is none ───────────────────▶ none
//	AD-5  the admission table   └─ the cell, if it is available (AD-7) ────────────▶ its strength, cell:…
//	AD-6  mode off turns every inferred verdict into none.
//
// The same in data is in lines.go; Admit and Explain walk it.
//
// A refusal is a value: the zero Verdict admits nothing, the zero Strength is
// None, the zero Mode is Off, the zero SenderKind is nobody. An error never
// comes out of a decision.
package gate
