package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func commitPromises() []promise {
	return []promise{
		{"RS-4 every kind of record comes back as it was committed, one version on", roundTrip},
		{"RS-4 records that do not exist are left out", leavesOut},
		{"RS-4 a stale version is a conflict", staleConflicts},
		{"RS-4 creating what exists is a conflict", createConflicts},
		{"RS-4 a version of what does not exist is a conflict", ghostConflicts},
		{"RS-4 a conflict in the last of many records leaves nothing changed", allOrNothing},
		{"RS-4 a record that was only read guards the commit", readGuards},
		{"RS-4 a record that was read as missing guards the commit", missingGuards},
		{"RS-4 a guard on an unknown kind is refused", unknownGuard},
		{"RS-4 one record twice in a commit is refused", writtenTwice},
		{"RS-4 what the caller changes afterwards does not reach the store", deepCopies},
		{"AC-1 an action key acts once", actsOnce},
		{"AC-1 two acts of one key in one commit are a conflict", actsOnceInside},
		{"AC-1 an action key of another ticket is another act", actsPerTicket},
		{"AC-1 an act that never happened is not found", neverActed},
		{"SU-2 inputs come back in order, after the one that was seen", inputsInOrder},
		{"PV-1 there is no policy before the first", noPolicy},
		{"PV-6 of two edits of one policy version the second is a conflict", policyConflicts},
	}
}

func everything() orchestrator.Changes {
	at := after(time.Minute)
	th := liveThread("th_1")
	dec := newDecision("dec_1", "th_1", at)
	th.Latest, th.Tickets = &dec, []orchestrator.ThreadTicket{{Ticket: "tkt_1", Kind: orchestrator.SubOwn}}
	tk := newTicket("tkt_1")
	tk.Held, tk.Waiting = []orchestrator.Held{{Trigger: "trg_1", Seq: 1, Root: true}}, []gate.TriggerID{"trg_2"}
	tk.End = &orchestrator.End{Reason: orchestrator.EndStopped, By: "ou_1", At: at}
	msg := orchestrator.Message{Trigger: trigger("trg_1", "th_1"), State: orchestrator.StateQueued, Standing: gate.Own}
	msg.Bundle, msg.With, msg.Rode, msg.Until = "review:7", "trg_2", []gate.TriggerID{"trg_3"}, at
	msg.Run = &gate.Run{Workflow: "build", Name: "Build", Branch: "main", Head: "h1", ID: 7, Began: at, Failed: true, Top: "h1"}
	th.Incidents = []orchestrator.Incident{{Run: *msg.Run, Opened: at, Triggers: []gate.TriggerID{"trg_1"}}}
	msg.Admission.Verdict = gate.Verdict{Strength: gate.Explicit, Basis: gate.Basis{Kind: gate.TableCell, Row: "direct", Cell: gate.UnlistedAddressed}}
	return orchestrator.Changes{
		Threads: []orchestrator.Thread{th}, Tickets: []orchestrator.Ticket{tk}, Messages: []orchestrator.Message{msg},
		Evals:   []orchestrator.Eval{{ID: "evl_1", Thread: "th_1", More: []gate.ThreadID{"th_2"}, Undecided: []gate.TriggerID{"trg_1"}, Deadline: at}},
		Chats:   []orchestrator.Chat{{Key: "dm:oc_1", Open: "th_1", Opened: 2, LastAt: at}},
		Reaches: []orchestrator.Reach{{Place: "fs~oc_1", Lost: "gone", At: at, Wide: true, Changes: 2}},
		Questions: []approvals.Question{
			newQuestion("q1", "tkt_1"),
		},
		Policy: &orchestrator.PolicyRecord{Policy: gate.Policy{Version: 3, Mode: gate.Auto}, By: "file", At: at},
	}
}

func wantAll() orchestrator.Want {
	return orchestrator.Want{
		Threads: []gate.ThreadID{"th_1", "th_2"}, Tickets: []gate.TicketID{"tkt_1", "tkt_2"},
		Messages: []gate.TriggerID{"trg_1", "trg_2"}, Evals: []gate.EvalID{"evl_1", "evl_2"},
		Chats: []string{"dm:oc_1", "dm:oc_2"}, Reaches: []gate.PlaceID{"fs~oc_1", "fs"}, Questions: true,
	}
}

// stateOf is what a Load finds after the Changes at a version.
func stateOf(c orchestrator.Changes, version int64) orchestrator.State {
	th, tk, msg, ev, ch, q := c.Threads[0], c.Tickets[0], c.Messages[0], c.Evals[0], c.Chats[0], c.Questions[0]
	th.Version, tk.Version, msg.Version, ev.Version, ch.Version, q.Version = version, version, version, version, version, version
	re := c.Reaches[0]
	re.Version = version
	return orchestrator.State{
		Reaches:   map[gate.PlaceID]orchestrator.Reach{re.Place: re},
		Threads:   map[gate.ThreadID]orchestrator.Thread{th.ID: th},
		Tickets:   map[gate.TicketID]orchestrator.Ticket{tk.ID: tk},
		Messages:  map[gate.TriggerID]orchestrator.Message{msg.ID: msg},
		Evals:     map[gate.EvalID]orchestrator.Eval{ev.ID: ev},
		Chats:     map[string]orchestrator.Chat{ch.Key: ch},
		Questions: map[approvals.ID]approvals.Question{q.ID: q},
	}
}

func roundTrip(t *testing.T, b *bench) {
	c := everything()
	b.commit(c)
	b.equal("Load", b.load(wantAll()), stateOf(c, 1))
	p, err := b.PolicyInForce(b.ctx())
	b.equal("PolicyInForce error", err, nil)
	c.Policy.Version = 1
	b.equal("PolicyInForce", p, *c.Policy)
	c.Threads[0].Version, c.Tickets[0].Version, c.Messages[0].Version = 1, 1, 1
	c.Evals[0].Version, c.Chats[0].Version, c.Questions[0].Version, c.Reaches[0].Version = 1, 1, 1, 1
	c.Threads[0].Title = "again"
	b.commit(c)
	b.equal("Load", b.load(wantAll()), stateOf(c, 2))
}

func leavesOut(t *testing.T, b *bench) {
	b.equal("Load", b.load(wantAll()), orchestrator.State{})
	b.equal("Load", b.load(orchestrator.Want{Questions: true}), orchestrator.State{})
}

func staleConflicts(t *testing.T, b *bench) {
	b.commit(orchestrator.Changes{Threads: []orchestrator.Thread{newThread("th_1")}})
	th := b.thread("th_1")
	b.commit(orchestrator.Changes{Threads: []orchestrator.Thread{th}})
	th.Title = "late"
	b.refuse(orchestrator.Changes{Threads: []orchestrator.Thread{th}}, orchestrator.ErrConflict)
	b.equal("Title", b.thread("th_1").Title, "")
}

func createConflicts(t *testing.T, b *bench) {
	c := everything()
	b.commit(c)
	b.refuse(orchestrator.Changes{Tickets: c.Tickets}, orchestrator.ErrConflict)
	b.refuse(orchestrator.Changes{Policy: c.Policy}, orchestrator.ErrConflict)
	b.refuse(orchestrator.Changes{Questions: c.Questions}, approvals.ErrConflict)
}

func ghostConflicts(t *testing.T, b *bench) {
	th := newThread("th_1")
	th.Version = 4
	b.refuse(orchestrator.Changes{Threads: []orchestrator.Thread{th}}, orchestrator.ErrConflict)
}

func allOrNothing(t *testing.T, b *bench) {
	b.commit(orchestrator.Changes{Chats: []orchestrator.Chat{{Key: "dm:oc_1"}}})
	b.commit(plan(evalDue("kept", after(time.Hour))))
	b.receive(arrival("trg_9", "th_9", "event:9"))
	before := b.depths()
	claim := b.claim(start, orchestrator.DueInbox)
	c := everything() // its Chat, the last but one record, exists
	c.Decisions = []orchestrator.Decision{newDecision("dec_1", "th_1", start)}
	c.Inputs = []orchestrator.Input{{ID: "in_1", Ticket: "tkt_1", Seq: 1, Kind: orchestrator.InputNote}}
	c.Acts = []orchestrator.Act{{Ticket: "tkt_1", Key: "k", Result: []byte("{}")}}
	c.Out = []gate.Outgoing{row("o1", "l1")}
	c.Due, c.Cancel = []approvals.Due{evalDue("new", start)}, []approvals.Due{evalDue("kept", start)}
	c.Log = []approvals.Record{{Type: "x", At: start}}
	c.Seen = []string{"message:om_1"}
	c.Claim, c.Took = &claim, []gate.TriggerID{"trg_9"}
	b.refuse(c, orchestrator.ErrConflict)
	b.untouched(before, claim)
}

// untouched checks that the refused commit of allOrNothing left no trace.
func (b *bench) untouched(before orchestrator.Depths, claim orchestrator.Claim) {
	b.t.Helper()
	b.equal("Depths", b.depths(), before)
	s := b.load(wantAll())
	b.equal("records", len(s.Threads)+len(s.Tickets)+len(s.Messages)+len(s.Evals)+len(s.Questions), 0)
	b.equal("chat", s.Chats["dm:oc_1"].Version, int64(1))
	_, err := b.PolicyInForce(b.ctx())
	b.equal("policy", err, orchestrator.ErrNotFound)
	in, _ := b.Inputs(b.ctx(), "tkt_1", 0)
	b.equal("inputs", len(in), 0)
	_, err = b.Acted(b.ctx(), "tkt_1", "k")
	b.equal("act", err, orchestrator.ErrNotFound)
	ds, _, _ := b.ListDecisions(b.ctx(), orchestrator.DecisionFilter{}, orchestrator.Page{})
	b.equal("decisions", len(ds), 0)
	_, err = b.Known(b.ctx(), "message:om_1")
	b.equal("seen", err, orchestrator.ErrNotFound)
	b.nothing(start, orchestrator.DueOutbox)
	b.nothing(after(time.Minute), orchestrator.DueEval)
	b.equal("kept", b.claim(after(time.Hour), orchestrator.DueEval).Key, "kept")
	ids, err := b.Inbox(b.ctx(), claim, 10)
	b.equal("claim", err, nil)
	b.equal("inbox", ids, []gate.TriggerID{"trg_9"})
	b.equal("log", b.logged(), []string{})
}

func readGuards(t *testing.T, b *bench) {
	b.commit(orchestrator.Changes{Threads: []orchestrator.Thread{newThread("th_1")}})
	guarded := say(row("o1", "l1"))
	guarded.Read = []approvals.Guard{{Kind: orchestrator.KindThread, ID: "th_1", Version: 1}}
	b.commit(guarded)
	b.commit(orchestrator.Changes{Threads: []orchestrator.Thread{b.thread("th_1")}})
	guarded.Out = []gate.Outgoing{row("o2", "l1")}
	b.refuse(guarded, orchestrator.ErrConflict)
	b.equal("outbox", b.depths().Outbox, 1)
}

func missingGuards(t *testing.T, b *bench) {
	c := everything()
	b.commit(orchestrator.Changes{Policy: c.Policy, Evals: c.Evals})
	for _, g := range []approvals.Guard{
		{Kind: orchestrator.KindPolicy}, {Kind: orchestrator.KindEval, ID: "evl_1"},
		{Kind: orchestrator.KindTicket, ID: "tkt_1", Version: 1},
	} {
		b.refuse(orchestrator.Changes{Read: []approvals.Guard{g}, Chats: c.Chats}, orchestrator.ErrConflict)
	}
	b.commit(orchestrator.Changes{Chats: c.Chats, Read: []approvals.Guard{
		{Kind: orchestrator.KindPolicy, Version: 1}, {Kind: orchestrator.KindEval, ID: "evl_1", Version: 1},
		{Kind: orchestrator.KindMessage, ID: "trg_1"}, {Kind: orchestrator.KindChat, ID: "dm:oc_1"},
		{Kind: orchestrator.KindQuestion, ID: "q1"}, {Kind: orchestrator.KindReach, ID: "fs~oc_1"},
	}})
}

func unknownGuard(t *testing.T, b *bench) {
	err := b.Commit(b.ctx(), orchestrator.Changes{Read: []approvals.Guard{{Kind: "tickets", ID: "tkt_1"}}})
	if err == nil || errors.Is(err, orchestrator.ErrConflict) {
		t.Fatalf("Commit = %v, want a plain error", err)
	}
}

func writtenTwice(t *testing.T, b *bench) {
	err := b.Commit(b.ctx(), orchestrator.Changes{Threads: []orchestrator.Thread{newThread("th_1"), newThread("th_1")}})
	if err == nil || errors.Is(err, orchestrator.ErrConflict) {
		t.Fatalf("Commit = %v, want a plain error", err)
	}
}

func deepCopies(t *testing.T, b *bench) {
	c := everything()
	b.commit(c)
	c.Threads[0].Queue[0] = "changed"
	c.Tickets[0].End.By = "changed"
	b.equal("Queue", b.thread("th_1").Queue[0], gate.TriggerID("trg_q"))
	s := b.load(wantAll())
	b.equal("End", s.Tickets["tkt_1"].End.By, "ou_1")
	s.Tickets["tkt_1"].End.By = "changed"
	b.equal("End", b.load(wantAll()).Tickets["tkt_1"].End.By, "ou_1")
}

func act(ticket gate.TicketID, key, result string) orchestrator.Changes {
	return orchestrator.Changes{Acts: []orchestrator.Act{{Ticket: ticket, Key: key, Result: []byte(result)}}}
}

func actsOnce(t *testing.T, b *bench) {
	b.commit(act("tkt_1", "k", `{"ok":1}`))
	b.refuse(act("tkt_1", "k", `{"ok":2}`), orchestrator.ErrConflict)
	got, err := b.Acted(b.ctx(), "tkt_1", "k")
	b.equal("Acted", string(got), `{"ok":1}`)
	b.equal("Acted error", err, nil)
}

func actsOnceInside(t *testing.T, b *bench) {
	c := act("tkt_1", "k", `{"ok":1}`)
	c.Acts = append(c.Acts, c.Acts[0])
	b.refuse(c, orchestrator.ErrConflict)
}

func actsPerTicket(t *testing.T, b *bench) {
	b.commit(act("tkt_1", "k", `{"ok":1}`))
	b.commit(act("tkt_2", "k", `{"ok":2}`))
	got, _ := b.Acted(b.ctx(), "tkt_2", "k")
	b.equal("Acted", string(got), `{"ok":2}`)
}

func neverActed(t *testing.T, b *bench) {
	_, err := b.Acted(b.ctx(), "tkt_1", "k")
	b.equal("Acted", err, orchestrator.ErrNotFound)
}

func inputsInOrder(t *testing.T, b *bench) {
	var all []orchestrator.Input
	for seq := 1; seq <= 12; seq++ {
		in := orchestrator.Input{ID: "in", Ticket: "tkt_1", Seq: seq, Kind: orchestrator.InputMessage, Owned: true, At: start}
		all = append(all, in)
	}
	all[0].Instructions = "Write tests first."
	all[0].Rules = []orchestrator.WorkRule{{ID: "triage", Name: "Triage", Instructions: "Label it.", Review: gate.Review{Reviewers: []string{"ou_1"}, Approvals: 1}}}
	b.commit(orchestrator.Changes{Inputs: all[:5]})
	b.commit(orchestrator.Changes{Inputs: all[5:]})
	b.commit(orchestrator.Changes{Inputs: []orchestrator.Input{{ID: "other", Ticket: "tkt_2", Seq: 1}}})
	for _, after := range []int{0, 4, 9, 12, 40} {
		got, err := b.Inputs(b.ctx(), "tkt_1", after)
		b.equal("Inputs error", err, nil)
		b.equal("Inputs", got, all[min(after, 12):])
	}
}

func noPolicy(t *testing.T, b *bench) {
	_, err := b.PolicyInForce(b.ctx())
	b.equal("PolicyInForce", err, orchestrator.ErrNotFound)
}

func policyConflicts(t *testing.T, b *bench) {
	p := orchestrator.PolicyRecord{Policy: gate.Policy{Version: 1}}
	b.commit(orchestrator.Changes{Policy: &p})
	p.Version, p.By = 1, "panel"
	b.commit(orchestrator.Changes{Policy: &p})
	p.By = "api"
	b.refuse(orchestrator.Changes{Policy: &p}, orchestrator.ErrConflict)
	got, _ := b.PolicyInForce(b.ctx())
	b.equal("By", got.By, "panel")
}
