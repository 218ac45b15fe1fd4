package orchestrator_test

import (
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// edit changes a record of a State.
func edit[K comparable, V any](m map[K]V, id K, change func(*V)) {
	v := m[id]
	change(&v)
	m[id] = v
}

type (
	message = orchestrator.Message
	ticket  = orchestrator.Ticket
	thread  = orchestrator.Thread
)

// TestStateRulesCanFail breaks a good State by hand: an invariant that finds
// nothing proves nothing.
func TestStateRulesCanFail(t *testing.T) {
	t.Parallel()
	const script = t1 + `
		say m2 A lin; say m3 A lin; back t1 m3; eval A; say m4 A lin; back t1 m4
		say m5 B lin@; say m6 B wang
		say m7 C lin@; eval C; accept m7; report t2 done; list lin unknown; say m8 C wang; halt t2; list lin yes
		say m9 C lin@; eval C; accept m9; report t3 done; list lin unknown; say m10 C wang`
	const place, books, whole = "a message is in exactly one place", "EN-1 the books of a Ticket agree with its messages", "a Ticket is active with a standing Mandate, or ended with nothing in hand"
	const evals, subs = "EV-1 a Thread has at most one Eval under way, of its own evaluating messages", "SU-1 Threads and Tickets agree on their Subscriptions"
	for _, b := range []struct {
		what, rule string
		do         func(s *orchestrator.State)
	}{
		{"a candidate that no queue has", place, func(s *orchestrator.State) { edit(s.Threads, "B", func(t *thread) { t.Queue = nil }) }},
		{"a candidate in a queue twice", place, func(s *orchestrator.State) { edit(s.Threads, "B", func(t *thread) { t.Queue = append(t.Queue, "m5") }) }},
		{"a candidate in a foreign queue", place, func(s *orchestrator.State) {
			edit(s.Threads, "C", func(t *thread) { t.Queue, s.Threads["B"] = append(t.Queue, "m5"), thread{ID: "B"} })
		}},
		{"a companion that nobody has", place, func(s *orchestrator.State) { edit(s.Threads, "B", func(t *thread) { t.Companions = nil }) }},
		{"a companion of a decided candidate", place, func(s *orchestrator.State) { edit(s.Messages, "m6", func(m *message) { m.With = "m1" }) }},
		{"an evaluating message that its Eval does not have", place, func(s *orchestrator.State) {
			edit(s.Evals, s.Threads["A"].Eval, func(e *orchestrator.Eval) { e.Undecided = []gate.TriggerID{"m4"} })
		}},
		{"a queued message that a Ticket owns", place, func(s *orchestrator.State) {
			edit(s.Messages, "m5", func(m *message) { m.Owners = []gate.TicketID{"t1"} })
		}},
		{"an owned message that is queued", place, func(s *orchestrator.State) { edit(s.Threads, "A", func(t *thread) { t.Queue = append(t.Queue, "m2") }) }},
		{"an owned message of nobody", place, func(s *orchestrator.State) { edit(s.Messages, "m2", func(m *message) { m.Owners = nil }) }},
		{"a waiting message of nobody", place, func(s *orchestrator.State) { edit(s.Tickets, "t3", func(t *ticket) { t.Waiting = nil }) }},
		{"a message that waits with a candidate and is owned", place, func(s *orchestrator.State) { edit(s.Messages, "m2", func(m *message) { m.With = "m5" }) }},
		{"a decided message without a decision", place, func(s *orchestrator.State) {
			edit(s.Messages, "m8", func(m *message) { m.State = orchestrator.StateDecided })
		}},
		{"a received message with an owner", place, func(s *orchestrator.State) {
			edit(s.Messages, "m8", func(m *message) { m.State, m.Owners = orchestrator.StateReceived, []gate.TicketID{"t2"} })
		}},
		{"a message in no known state", place, func(s *orchestrator.State) { edit(s.Messages, "m8", func(m *message) { m.State = "lost" }) }},

		{"two Evals of a Thread", evals, func(s *orchestrator.State) {
			s.Evals["e9"] = orchestrator.Eval{ID: "e9", Thread: "A", Undecided: []gate.TriggerID{"m3"}}
		}},
		{"an Eval with a queued message", evals, func(s *orchestrator.State) {
			edit(s.Evals, s.Threads["A"].Eval, func(e *orchestrator.Eval) { e.Undecided = append(e.Undecided, "m4") })
		}},
		{"an Eval that came with a Thread which does not know it", evals, func(s *orchestrator.State) {
			edit(s.Evals, s.Threads["A"].Eval, func(e *orchestrator.Eval) { e.More = []gate.ThreadID{"B"} })
		}},
		{"a Thread that its Eval does not know", evals, func(s *orchestrator.State) {
			edit(s.Threads, "B", func(t *thread) { t.Eval = s.Threads["A"].Eval })
		}},
		{"an Eval that is over", evals, func(s *orchestrator.State) { edit(s.Threads, "B", func(t *thread) { t.Eval = "e9" }) }},

		{"a stopped Ticket with a Mandate", "ST-3 a stopped Ticket has nothing", func(s *orchestrator.State) {
			edit(s.Tickets, "t2", func(t *ticket) { t.Mandate.State = gate.MandateActive })
		}},
		{"a stopped Ticket with a question", "ST-3 a stopped Ticket has nothing", func(s *orchestrator.State) {
			s.Questions["q"] = approvals.Question{ID: "q", Session: approvals.Session{ID: "t2"}}
		}},
		{"an ended Ticket with a question", "DE-7 only an active Ticket has open questions", func(s *orchestrator.State) {
			s.Questions["q"] = approvals.Question{ID: "q", Session: approvals.Session{ID: "t3"}}
		}},

		{"an active Ticket whose Mandate is gone", whole, func(s *orchestrator.State) {
			edit(s.Tickets, "t1", func(t *ticket) { t.Mandate.State = gate.MandateRevoked })
		}},
		{"an ended Ticket that holds something", whole, func(s *orchestrator.State) {
			edit(s.Tickets, "t3", func(t *ticket) { t.Held = []orchestrator.Held{{Trigger: "m9", Seq: 1}} })
		}},
		{"a message that waits for a revoked Ticket", whole, func(s *orchestrator.State) {
			edit(s.Tickets, "t3", func(t *ticket) { t.Mandate.State = gate.MandateRevoked })
		}},

		{"a message that a Ticket holds twice", books, func(s *orchestrator.State) {
			edit(s.Tickets, "t1", func(t *ticket) { t.Held = append(t.Held, t.Held[0]) })
		}},
		{"a message that a Ticket holds and does not own", books, func(s *orchestrator.State) {
			edit(s.Tickets, "t1", func(t *ticket) { t.Held = append(t.Held, orchestrator.Held{Trigger: "m5", Seq: t.Seq}) })
		}},
		{"a message that is held though it is covered", books, func(s *orchestrator.State) {
			edit(s.Tickets, "t1", func(t *ticket) { t.Covered, t.Delivered = t.Seq, t.Seq })
		}},
		{"more delivered than there is", books, func(s *orchestrator.State) { edit(s.Tickets, "t1", func(t *ticket) { t.Delivered = t.Seq + 1 }) }},
		{"a message that waits and does not know it", books, func(s *orchestrator.State) { edit(s.Messages, "m10", func(m *message) { m.Owners = nil }) }},
		{"a message owned twice", books, func(s *orchestrator.State) {
			edit(s.Messages, "m2", func(m *message) { m.Owners = []gate.TicketID{"t1", "t1"} })
		}},

		{"a Ticket that its Thread does not know", subs, func(s *orchestrator.State) { edit(s.Threads, "A", func(t *thread) { t.Tickets = nil }) }},
		{"a Thread that its Ticket does not know", subs, func(s *orchestrator.State) { edit(s.Tickets, "t1", func(t *ticket) { t.Subs = nil }) }},
		{"a Thread followed twice", subs, func(s *orchestrator.State) {
			edit(s.Tickets, "t1", func(t *ticket) { t.Subs = append(t.Subs, t.Subs[0]) })
		}},

		{"a notice of a message that nobody owns", "SU-3 notices are of owned messages, each once", func(s *orchestrator.State) {
			edit(s.Threads, "B", func(t *thread) { t.Notices = []gate.TriggerID{"m5"} })
		}},
		{"a notice twice", "SU-3 notices are of owned messages, each once", func(s *orchestrator.State) {
			edit(s.Threads, "A", func(t *thread) { t.Notices = []gate.TriggerID{"m2", "m2"} })
		}},
		{"an addressed message that waits with a candidate", "SU-8 only people's unaddressed messages wait with a candidate", func(s *orchestrator.State) {
			edit(s.Messages, "m6", func(m *message) { m.Addressing = gate.Mention })
		}},
	} {
		t.Run(b.what, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.play(script)
			b.do(&d.s)
			found := map[string]error{}
			for _, r := range stateRules {
				found[r.name] = r.check(&d.s)
			}
			if err, known := found[b.rule]; err == nil || !known {
				t.Errorf("%q = %v, want it to find %s", b.rule, err, b.what)
			}
		})
	}
}

// TestStepRulesCanFail makes a good move and then breaks what came of it.
func TestStepRulesCanFail(t *testing.T) {
	t.Parallel()
	const done = t1 + "turn t1; report t1 done;"
	const (
		owned, refused, one      = "SU-3, RO-7 an owned message gets no Decision but stopped", "RO-1 a refused item changes nothing but what fell to none (AD-14)", "RO-8 one Decision an item, and a Ticket only by accept"
		inputs, re4, re1         = "ST-3, SU-1 only active Tickets get Inputs, in order", "RE-4 three things change a Mandate", "RE-1, RE-1a what wakes a Ticket"
		loses, gets, heardRule   = "EN-1, HB-1 a Ticket loses a message only for a cause", "SU-2, SU-8 a Ticket comes to own a message only for a cause", "SU-3 the main Session hears of every owned message"
		reach, said1, closed     = "SU-1 an arrival reaches every active Ticket of its Thread", "OUT-6 accepted, declined and stopped are said once", "DE-10 a question that was closed is due for its asker"
		stays, wakeup            = "TR-1 what was received stays", "no lost wake-up"
		line                     = "EX-5 no more turns than the bound, who waits longest first"
		approvalAsked, endedTurn = t1 + "turn t1; ask t1 q1;", "idle t1"
	)
	for _, b := range []struct {
		what, rule, before, move string
		do                       func(st *step)
	}{
		{"a decision on an owned message", owned, t1 + "say m2 A lin", "accept m2", func(st *step) {
			st.c.Decisions = []orchestrator.Decision{{Trigger: "m2", Outcome: orchestrator.Accepted}}
		}},
		{"a refused item that decides", refused, t1 + "say m2 A lin", "accept m2", func(st *step) { st.c.Decisions = make([]orchestrator.Decision, 1) }},
		{"a refused item that moves a message", refused, t1 + "say m2 A lin", "accept m2", func(st *step) { st.c.Messages = []message{{}} }},
		{"a refused item that writes a Thread", refused, t1 + "say m2 A lin", "accept m2", func(st *step) { st.c.Threads = []thread{{}} }},
		{"a refused action that does something", refused, t1, "ack t1", func(st *step) { st.c.Inputs = make([]orchestrator.Input, 1) }},
		{"two decisions of an item", one, "say m1 A lin@; eval A", "accept m1", func(st *step) { st.c.Decisions = append(st.c.Decisions, st.c.Decisions...) }},
		{"a Ticket without an accept", one, "say m1 A lin@; eval A", "ignore m1", func(st *step) { st.after.Tickets["t9"] = ticket{} }},
		{"a decision of what nobody admitted", one, "say m1 A lin@; eval A", "ignore m1", func(st *step) { st.c.Decisions[0].Strength = gate.None }},
		{"a Decision by nobody", one, "say m1 A lin@", "eval A", func(st *step) { st.c.Decisions = make([]orchestrator.Decision, 1) }},
		{"an Input of a stopped Ticket", inputs, t1 + "halt t1", "say m2 A lin@", func(st *step) {
			st.c.Inputs = []orchestrator.Input{{Ticket: "t1", Seq: st.before.Tickets["t1"].Seq + 1}}
		}},
		{"an Input out of order", inputs, t1, "say m2 A lin", func(st *step) { st.c.Inputs[0].Seq++ }},
		{"an Input that is not counted", inputs, t1, "say m2 A lin", func(st *step) { edit(st.after.Tickets, "t1", func(t *ticket) { t.Seq++ }) }},
		{"an end that withdraws the Mandate", re4, t1, "report t1 done", func(st *step) {
			edit(st.after.Tickets, "t1", func(t *ticket) { t.Mandate.State = gate.MandateWithdrawn })
		}},
		{"a Mandate revoked though it stands", re4, done, "say m2 A lin", func(st *step) {
			edit(st.after.Tickets, "t1", func(t *ticket) { t.Mandate.State = gate.MandateRevoked })
		}},
		{"a Mandate that comes back", re4, done + "halt t1", "say m2 A lin@", func(st *step) {
			edit(st.after.Tickets, "t1", func(t *ticket) { t.Mandate.State = gate.MandateActive })
		}},
		{"a Mandate that grows", re4, t1, "say m2 A lin", func(st *step) { edit(st.after.Tickets, "t1", func(t *ticket) { t.Mandate.Executor = "root" }) }},
		{"a Ticket resumed by a bot", re1, "mode off;" + done, "say m2 A bot@", wake},
		{"a Ticket resumed by a stop word", re1, done, "say m2 A lin stop", wake},
		{"a Ticket resumed by its own action", re1, t1 + "report t1 done", "notices A m1", wake},
		{"a Ticket resumed though its Mandate fails", re1, done + "list lin no", "say m2 A wang", wake},
		{"a Ticket resumed by another item", re1, done + "say m2 B lin@; eval B", "ignore m2", wake},
		{"a Ticket resumed while another is active", re1, t2 + "report t1 done", "say m3 A lin", wake},
		{"two resumed at once", re1, t2 + "report t1 done; report t2 done", "say m3 A lin", wake},
		{"a message that is lost at an arrival", loses, t1 + "say m2 A lin", "say m3 A lin", func(st *step) { edit(st.after.Messages, "m2", func(m *message) { m.Owners = nil }) }},
		{"an undealt message that an end keeps", loses, t1 + "say m2 A lin", "report t1 done", func(st *step) {
			edit(st.after.Messages, "m2", func(m *message) { m.State, m.Owners = orchestrator.StateOwned, []gate.TicketID{"t1"} })
		}},
		{"a root that an end releases", loses, t1, "report t1 done", func(st *step) { edit(st.after.Messages, "m1", func(m *message) { m.Owners = nil }) }},
		{"a released message that is nowhere", loses, t1 + "say m2 A lin", "report t1 done", func(st *step) {
			edit(st.after.Messages, "m2", func(m *message) { m.State = orchestrator.StateOwned })
		}},
		{"a released message that counts as decided", loses, t1 + "say m2 A lin", "report t1 done", func(st *step) {
			edit(st.after.Messages, "m2", func(m *message) { m.State = orchestrator.StateDecided })
		}},
		{"a stop word that its Ticket keeps", loses, t1 + "say m2 A lin stop", "stop m2 t1", func(st *step) {
			edit(st.after.Messages, "m2", func(m *message) { m.Owners = []gate.TicketID{"t1"} })
		}},
		{"a message that waits in vain", loses, done + "list lin unknown; say m2 A wang", "resume t1", func(st *step) {
			edit(st.after.Tickets, "t1", func(t *ticket) { t.Waiting = nil })
		}},
		{"a message that a Ticket just has", gets, t1 + "say m2 B lin@", "say m3 A lin", func(st *step) { edit(st.after.Messages, "m2", func(m *message) { m.Owners = []gate.TicketID{"t1"} }) }},
		{"a stop word that is judged again", "EN-3 what stopped a Ticket goes to the gate again only when it is handed back", t2 + "say m3 A lin stop; stop m3 t1", "report t2 done", func(st *step) {
			edit(st.after.Messages, "m3", func(m *message) { m.State = orchestrator.StateQueued })
		}},
		{"an owned message without a notice", heardRule, t1, "say m2 A lin", func(st *step) { edit(st.after.Threads, "A", func(t *thread) { t.Notices = nil }) }},
		{"a notice that nobody looks at", heardRule, t1, "say m2 A lin", func(st *step) { st.c.Due = nil }},
		{"an arrival that a Ticket does not get", reach, t1, "say m2 A bot", func(st *step) { st.c.Inputs = nil }},
		{"an arrival that a Ticket gets twice", reach, t1, "say m2 A bot", func(st *step) { st.c.Inputs = append(st.c.Inputs, st.c.Inputs...) }},
		{"an ignored request that is told nothing", said1, "say m1 A lin@; eval A", "ignore m1", func(st *step) { st.c.Out = nil }},
		{"a Ticket accepted with two replies", said1, "say m1 A lin@; eval A", "accept m1", func(st *step) { st.c.Out = append(st.c.Out, st.c.Out...) }},
		{"a closed question that nobody hears of", closed, approvalAsked, endedTurn, func(st *step) { st.c.Due = nil }},
		{"a message that vanishes", stays, t1, "turn t1", func(st *step) { delete(st.after.Messages, "m1") }},
		{"a message that comes back", stays, t1, "turn t1", func(st *step) {
			edit(st.after.Messages, "m1", func(m *message) { m.State = orchestrator.StateReceived })
		}},
		{"a candidate that nobody looks at", wakeup, "", "say m1 A lin@", func(st *step) { st.c.Due = nil }},
		{"a queue that outlives its Eval unseen", wakeup, "say m1 A lin@; eval A; say m2 A lin@", "ignore m1", func(st *step) { st.c.Due = nil }},
		{"a queue that an Eval leaves behind", wakeup, "say m1 A lin@", "eval A", func(st *step) { st.after = st.before }},
		{"an Input that nobody takes", wakeup, t1 + "turn t1", "say m2 A lin", func(st *step) { st.c.Due = nil }},
		{"a turn that is cancelled", wakeup, t1, "say m2 A lin", func(st *step) { st.c.Cancel, st.c.Due = st.c.Due, nil }},
		{"a waiting message that nobody looks at", wakeup, done + "list lin unknown", "say m2 A wang", func(st *step) { st.c.Due = nil }},
		{"a turn over the bound", line, "bound;" + t2 + "turn t1", "turn t2", func(st *step) { edit(st.after.Tickets, "t2", func(t *ticket) { t.Turn = true }) }},
		{"a turn that is kept waiting though it is next", line, "bound;" + t2, "turn t1", func(st *step) { st.after = st.before }},
		{"a turn that is not let in", line, "bound;" + t2 + "turn t1", "idle t1", func(st *step) { st.c.Due = nil }},
		{"a place that is not booked", line, "bound;" + t1, "turn t1", func(st *step) { st.c.Tallies = nil }},
		{"a place that leaks", line, "bound;" + t1 + "turn t1", "idle t1", func(st *step) { st.c.Tallies = nil }},
		{"a resume that is given up", wakeup, done + "list lin unknown; say m2 A wang", "resume t1", func(st *step) { st.c.Next = time.Time{} }},
	} {
		t.Run(b.what, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.play(b.before)
			d.play(b.move)
			if t.Failed() {
				return
			}
			st := d.st
			b.do(&st)
			found := map[string]error{}
			for _, r := range stepRules {
				found[r.name] = r.check(&st)
			}
			if err, known := found[b.rule]; err == nil || !known {
				t.Errorf("%q = %v, want it to find %s", b.rule, err, b.what)
			}
		})
	}
}

// wake makes all Tickets active.
func wake(st *step) {
	for id := range st.after.Tickets {
		edit(st.after.Tickets, id, func(t *ticket) { t.State, t.End = orchestrator.TicketActive, nil })
	}
}
