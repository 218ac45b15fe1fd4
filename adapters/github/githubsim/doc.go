// Package githubsim is a simulated GitHub: enough of the REST API and of the
// webhooks for a demonstration and for tests that want the real thing's manners
// without an account. It knows the platform only; nothing of the gateway's own
// packages.
//
// One Sim is one GitHub with one App, which also has an ordinary account with a
// token, and people, repositories, issues, pull requests and comments. It has
// two sides:
//
//   - The API side is an http.Handler: App and installation tokens, users,
//     comments of the four kinds, reactions, with GitHub's checks (body length,
//     locked conversations, replies to the top comment only), its paging and
//     its rate limit headers. Faults can be injected with [Sim.Fail].
//   - The sender side does what people do, builds the webhook of it, signs and
//     posts it: [Sim.OpenIssue], [Sim.Comment], [Sim.OpenPull], [Sim.Review], …
//     then [Sim.Deliver]. Delivering one again is a redelivery: same GUID.
//
// A test reads like the conversation it is about:
//
//	sim := githubsim.New(githubsim.App{Slug: "my-bot"})
//	api := httptest.NewServer(sim)                // base_url of the Source
//	… start the gateway with sim.App()'s token and webhook secret …
//	ann, repo := sim.Person("ann"), sim.Repo("acme/app")
//
//	issue, opened := sim.OpenIssue(repo, ann, "Crash on start", "@my-bot have a look")
//	answer, err := sim.Deliver(ctx, hook, opened) // answer.Status == 200
//
//	snap, err := sim.Wait(ctx, func(s githubsim.Snapshot) bool { return len(s.Sent()) == 1 })
//	snap.Sent()[0].Body; snap.Reactions("eyes")
//	_, said := sim.Comment(issue, ann, "thanks")
//	sim.Deliver(ctx, hook, said)
//
// [Sim.Wait] never sleeps: it is woken by every change, and ends with the
// context. Ids are unique within a Sim and reproducible. A Sim is safe for
// concurrent use.
package githubsim
