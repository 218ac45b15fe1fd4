// Package feishu connects a Feishu (or Lark) app to the gateway (spec pages 06,
// 07 and 10; platform facts in facts/feishu.md, sections A to F).
//
//	POST /webhooks/{source}
//	      │
//	   Handler ── limit ── verify the signature ── decrypt ──▶ plain JSON
//	      │
//	   Translate (pure: no I/O, no clock) ──▶ one of a closed set of Events
//	      │                                   (`gatehouse replay` prints the same)
//	      ├─ refused    ─▶ 401, one and the same answer for every fault (FS-1)
//	      ├─ challenge  ─▶ 200 with the challenge, whatever the store's state
//	      ├─ ignored    ─▶ 200, counted with its reason (FS-4, TR-5)
//	      ├─ trigger    ─▶ Intake.Receive ─▶ 200, or 503 when it is not durable (TR-2)
//	      └─ card       ─▶ Answers.Answer ─▶ 200 with a toast and the final card (CA-4)
//
//	Sender: gate.Outgoing ─▶ message, card, card update or emoji (FS-5, OUT-1)
//	Bot:    the app's own identity, its tenant, and the messages it sent (TR-3)
//
// The SDK (oapi-sdk-go) is used for calling the API only. Its webhook path is
// not: it accepts forged tokens, has no size limit, panics on wrong keys and
// acks before anything is durable (facts F, libs T1). Its *lark.Client is never
// built: the im/v1 service alone is enough, and a client that reaches an `any`
// costs 13 MB of binary (libs T7). Its process-global token cache is not used
// either (facts F26): each Bot has its own.
//
// Recalls and edits are news of their message (news.go, TR-4, TR-4a); of an edit
// the text is read back by the Rereader. The bot's coming and going is acked and
// counted for now; Setting.read in translate.go is where it gets its reader.
package feishu
