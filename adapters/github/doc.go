// Package github connects a GitHub App, or an ordinary account, to the gateway
// (spec page 10, GH-1 to GH-7; platform facts in facts/github.md).
//
//	POST /webhooks/{source}
//	      │
//	   Handler ── limit ── verify the signature over the raw body ──▶ JSON
//	      │
//	   Translate (pure: no I/O, no clock) ──▶ one of a closed set of Events (GH-2)
//	      │                                   (replay prints the same)
//	      ├─ refused  ─▶ 401, 400, 413, 415 or 405, and nothing else happens (GH-1)
//	      ├─ ignored  ─▶ 200, counted with its reason (TR-5)
//	      ├─ context  ─▶ 200, counted: something happened on a Thread
//	      ├─ state    ─▶ 200, counted: the Source itself changed
//	      └─ trigger  ─▶ Intake.Receive ─▶ 200, or 503 when it is not durable (TR-2)
//
//	Sender: gate.Outgoing ─▶ comment or reaction (GH-7, OUT-1)
//	Bot:    the own account (GH-6), its connections, what it said lately
//
// go-github is used for calling the API only. Its webhook path is not: it takes
// an empty secret and the SHA-1 signature, has no size limit, loses a whole
// event for one odd field and drops fields that matter (facts F). Bodies are
// decoded into a few fields of our own.
//
// A Thread is `<source>~<owner>~<repo>~<number>` for an issue or pull request
// with all that is said on it (TH-3), `…~<sha>` for a commit, `…~ci~<branch>`
// for the CI of a default branch. A message is `issue_comment:<id>` and so on.
//
// Not built yet, each with its place: CI as Triggers (GH-3, ci.go), the sweep for missed
// deliveries (GH-8), heads of pull requests (GH-9), assignment, review request
// and labels as addressing (GH-10, activity.go), teams and permissions in lists
// (AD-11), and progress comments (GH-7).
package github
