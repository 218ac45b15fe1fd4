// Package feishusim is a simulated Feishu: enough of the open platform for a
// demonstration and for tests that want the real thing's manners without an
// account. It knows the platform only; nothing of the gateway's own packages.
//
// One Sim is one app in one tenant, with people, chats, messages and cards. It
// has two sides:
//
//   - The API side is an http.Handler: tenant token, bot info, create, reply,
//     patch, get, list and reactions, as the platform answers them: its codes, its
//     token check, `uuid` honoured for an hour, topics, its limits on size and
//     on what a card may hold. Faults can be injected with [Sim.Fail].
//   - The sender side builds real webhook requests, encrypted and signed, and
//     posts them: [Sim.Say] then [Sim.Deliver], [Sim.Click], [Sim.Submit],
//     [Sim.Challenge].
//
// A test reads like the conversation it is about:
//
//	sim := feishusim.New(feishusim.App{})
//	api := httptest.NewServer(sim)              // base_url of the Source
//	… start the gateway with sim.App()'s id and secrets …
//	lin, ops := sim.Person("林岚"), sim.Group("ops")
//
//	said := sim.Say(ops, lin, "@bot deploy 1.4.2")
//	answer, err := sim.Deliver(ctx, hook, said) // answer.Status == 200
//
//	snap, err := sim.Wait(ctx, func(s feishusim.Snapshot) bool { return len(s.Cards()) == 1 })
//	card := snap.Cards()[0]
//	answer, err = sim.Click(ctx, hook, card, lin, "approve") // by option id, or by label
//	answer.Toast.Content; answer.Card; sim.Message(card.ID).Text()
//
// [Sim.Wait] sleeps never: it is woken by every change, and ends with the
// context. Ids are unique within a Sim and reproducible: the same calls give
// the same ids. A Sim is safe for concurrent use.
package feishusim
