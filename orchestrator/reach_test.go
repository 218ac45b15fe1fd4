package orchestrator_test

import (
	"testing"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func TestReach(t *testing.T) {
	t.Parallel()
	const lost = t1 + "turn t1; lost A; look t1;"
	playRows(t, []row{
		{"a Thread that is lost: its Ticket gets a note and is blocked (EN-5)", lost, "t1.lost=A:gone t1.in=message:m1,note t1.stage=blocked"},
		{"looking twice tells once (EN-5)", lost + "look t1", "t1.in=message:m1,note changes=false"},
		{"the Source's Tickets are looked at once something changed (EN-5)", t1 + "lost A", "due=reach:A"},
		{"the same news again changes nothing there (EN-5)", t1 + "lost A; lost A", "due="},
		{"being reached again gives a note, and the stage is as before (EN-5)", lost + "found A; look t1; turn t1", "t1.lost= t1.in=message:m1,note,note t1.stage=working"},
		{"older news than what is known counts no more (EN-5)", t1 + "found A; lost A ago=1m; look t1", "t1.lost= changes=false"},
		{"also in the other direction (EN-5)", t1 + "lost A; found A ago=1m; look t1", "t1.lost=A:gone"},
		{"a Ticket that is ready is for review first (EN-5)", lost + "report t1 ready", "t1.stage=review"},
		{"a new message of a person does not release it (EN-5)", lost + "say m2 A lin; turn t1", "t1.stage=blocked"},
		{"an ended Ticket is told nothing (EN-5)", t1 + "report t1 done; lost A; look t1", "changes=false t1.stage=ended"},
		{"no Ticket at all is harmless (EN-5)", "lost A; look t9", "changes=false"},
		{"a Thread that it only follows blocks nothing (EN-5)", t1 + "follow t1 B; lost B; look t1", "changes=false"},
		{"a Ticket that is accepted on a lost Thread knows at once (EN-5)", "say m1 A lin@; eval A; lost A; accept m1", "t1.lost=A:gone t1.in=message:m1,note"},
		{"open questions are unavailable where there is no other chat (EN-5, CA-7)", t1 + "turn t1; ask t1 q1; lost A; look t1", "questions=q1:timed_out t1.stage=blocked"},
		{"they move to the chat for approvals (EN-5, CA-1)", "approvals-chat fs oc_9;" + t1 + "turn t1; ask t1 q1; lost A; look t1", "questions=q1:open last=fs~oc_9: t1.stage=answer"},
		{"unless that is lost as well (EN-5, CA-7)", "approvals-chat fs oc_9;" + t1 + "turn t1; ask t1 q1; lost fs~oc_9; lost A; look t1", "questions=q1:timed_out"},
		{"those of another Thread, or Ticket, stay (EN-5)", t1 + "ask t1 q1; say m2 B lin@; eval B; accept m2; lost B; look t2", "questions="},
		{"a resume waits (EN-5, RV-1)", t1 + "report t1 done; lost A; say m2 A wang", "t1=ended:completed m2=waiting:t1 due=resume:t1,eval:A"},
		{"and comes when the Thread is reached again (EN-5, RV-1)", t1 + "report t1 done; lost A; say m2 A wang; found A; resume t1", "t1=active m2=owned:t1"},
	})
}

// TestHeard: what is said in a chat proves that the gateway is in it.
func TestHeard(t *testing.T) {
	t.Parallel()
	chat := func(d *desk, id gate.TriggerID, thread gate.ThreadID) {
		m := said(id, "Alin@")
		m.Thread, m.OccurredAt = thread, d.f.Now
		d.s.Messages[id] = m
		d.move(move{kind: mvArrive, message: id})
	}
	for _, c := range []struct {
		says, script string
		place        gate.PlaceID
		lost         bool
	}{
		{"a message from a lost chat finds it again, though that news is missing (EN-5)", "lost fs~oc_1 ago=1s", "fs~oc_1", false},
		{"one that was said before does not (EN-5)", "lost fs~oc_1", "fs~oc_1", true},
		{"a locked conversation stays lost: some may still write (EN-5)", "lost fs~oc_1~om_1 ago=1s", "fs~oc_1~om_1", true},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.play(c.script)
			chat(d, "m1", "fs~oc_1~om_1")
			if r := d.s.Reaches[c.place]; (r.Lost != "") != c.lost {
				t.Errorf("Reaches[%s] = %+v, want lost %v", c.place, r, c.lost)
			}
		})
	}
}

// TestLookedAtIsGuarded: a Ticket that is accepted while its chat is lost sees
// it, or its commit fails.
func TestLookedAtIsGuarded(t *testing.T) {
	t.Parallel()
	t.Run("an accept guards the places of its Thread, also those without a record (EN-5)", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.play("found A; say m1 A lin@; eval A; accept m1")
		want := approvals.Guard{Kind: orchestrator.KindReach, ID: "A"}
		for _, g := range d.c.Read {
			if g == want {
				return
			}
		}
		t.Errorf("Read = %v, want %v among it", d.c.Read, want)
	})
}
