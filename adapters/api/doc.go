// Package api is the admin listener's HTTP interface (spec page 07): /v1 for
// operators, agents and boards, and the probes.
//
// One request goes through these steps, each of which may end it with a
// problem document (RFC 9457):
//
//	route ─▶ Host ─▶ token ─▶ path and method ─▶ role ─▶ query ─▶ records ─▶ wire form
//
// The probes, /healthz and /readyz, skip Host and token. All others need a
// token on every address, also what does not exist: who has none learns
// nothing. Of an executor only the Tickets of its own exist.
//
// One list of routes (routes.go) says what there is and who may call it, one
// table (problem.go) what outsiders hear of an error. The log gets one line a
// request with the cause, and never a token, a query or a message's text.
package api
