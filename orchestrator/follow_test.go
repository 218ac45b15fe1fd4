package orchestrator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// do performs an action on t1 and returns the outcome in a word.
func (d *desk) do(cmd orchestrator.Command) string {
	d.t.Helper()
	d.f.Now = d.f.Now.Add(time.Second)
	d.move(move{kind: mvPerform, ticket: "t1", cmd: cmd})
	return d.performed()
}

// onThread are the Inputs of t1 whose messages were said on a Thread, as the
// Service names them.
func (d *desk) onThread(on gate.ThreadID) (ins []orchestrator.Input) {
	for _, in := range d.ins {
		if m, ok := d.s.Messages[in.Trigger]; ok && in.Ticket == "t1" && in.Owned && m.Thread == on {
			ins = append(ins, in)
		}
	}
	return ins
}

func TestFollowRules(t *testing.T) {
	t.Parallel()
	follow := func(th gate.ThreadID) orchestrator.Command {
		return orchestrator.Command{Verb: orchestrator.VerbFollow, Thread: th}
	}
	rows := []struct {
		rule   string
		thread gate.ThreadID
		want   string
	}{
		{"a follow names a thread (AC-1)", "", "missing_field"},
		{"a thread of the Mandate's chat on which something was said (SU-5a)", "B", "ok"},
		{"one on which nothing was said yet (SU-5a)", "fs~oc_1~om_9", "ok"},
		{"not one of another chat (SU-5a)", "C", "thread_not_allowed"},
		{"nor by its id alone (SU-5a)", "fs~oc_2~om_9", "thread_not_allowed"},
		{"a chat that the configuration names (SU-5a)", "fs~oc_7~om_9", "ok"},
		{"a repository that the configuration names (SU-5a)", "gh~Acme~app~7", "ok"},
		{"not another repository (SU-5a)", "gh~other~app~7", "thread_not_allowed"},
		{"not what no source has (SU-5a)", "none~oc_1~om_9", "thread_not_allowed"},
		{"not what is no thread's name (SU-5a)", "fs~oc_1", "thread_not_allowed"},
		{"its own thread it has already (SU-5a)", "A", "noted"},
	}
	for _, r := range rows {
		t.Run(r.rule, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.f.Settings.Follow = map[string][]orchestrator.Follow{
				"default": {{Source: "fs", Pattern: "oc_7"}, {Source: "gh", Pattern: "acme/*"}, {Source: "gh", Pattern: "["}},
			}
			d.play("say m8 B lin@; say m9 C lin@;" + t1)
			if got := d.do(follow(r.thread)); got != r.want {
				t.Errorf("follow %q = %s, want %s", r.thread, got, r.want)
			}
			if has := strings.Contains(d.look("t1.subs"), string(r.thread)+":context"); has != (r.want == "ok") {
				t.Errorf("subscriptions = %s after %s", d.look("t1.subs"), r.want)
			}
		})
	}
	t.Run("a ticket has at most so many threads (SU-5a)", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.play(t1)
		for i := range 49 {
			d.do(follow(gate.ThreadID(fmt.Sprintf("fs~oc_1~om_%d", i))))
		}
		if got := d.do(follow("fs~oc_1~om_99")); got != "thread_not_allowed" {
			t.Errorf("the 51st thread = %s, want thread_not_allowed", got)
		}
		if got := d.do(opened("fs~oc_1~om_99", true, time.Minute)); got != "thread_not_allowed" {
			t.Errorf("opened as the 51st thread = %s, want thread_not_allowed", got)
		}
	})
}

func TestUnfollowRules(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.play(t1 + "say m2 A lin; back t1 m2; eval A; say m3 B lin@; eval B; attach m3 t1; follow t1 C")
	d.want("t1.subs=A:own,B:own,C:context")
	leave := func(th gate.ThreadID) orchestrator.Command {
		return orchestrator.Command{Verb: orchestrator.VerbUnfollow, Thread: th}
	}
	back := func(th gate.ThreadID, ins []orchestrator.Input) orchestrator.Command {
		return orchestrator.Command{Verb: orchestrator.VerbHandBack, Thread: th, Reason: "unrelated", Inputs: ins}
	}
	steps := []struct {
		rule string
		cmd  orchestrator.Command
		want string
	}{
		{"an unfollow names a thread (AC-1)", leave(""), "missing_field"},
		{"a context Subscription ends (SU-5a)", leave("C"), "ok"},
		{"once (SU-5a)", leave("C"), "noted"},
		{"the Mandate's thread stays (SU-5a)", leave("A"), "thread_not_allowed"},
		{"an attached thread stays until its messages are handed back (SU-5a)", leave("B"), "thread_not_allowed"},
		{"no foreign thread is handed back (HB-2)", back("C", nil), "thread_not_allowed"},
		{"all of an attached thread goes back in one call (HB-2)", back("B", d.onThread("B")), "ok"},
		{"and has no effect again (HB-1)", back("B", d.onThread("B")), "noted"},
		{"then it can be left (SU-5a)", leave("B"), "ok"},
	}
	for _, s := range steps {
		if got := d.do(s.cmd); got != s.want {
			t.Errorf("%s: %s, want %s", s.rule, got, s.want)
		}
	}
	d.want("t1.subs=A:own B.tickets= m3=queued")

	c, err := orchestrator.Unsubscribe(d.s, "t1", "A", "api:ops", d.f)
	if err != nil || len(c.Tickets) != 1 || len(c.Tickets[0].Subs) != 0 || len(c.Log) != 1 {
		t.Errorf("SU-5a Unsubscribe(A) = %+v, %v, want no subscription left, and a line of the log", c.Tickets, err)
	}
	for _, id := range []gate.TicketID{"t1", "t9"} {
		if c, err := orchestrator.Unsubscribe(d.s, id, "Z", "api:ops", d.f); err == nil || !unchanged(c) {
			t.Errorf("Unsubscribe(%s, Z) = %v, want not found", id, err)
		}
	}
}

// opened is the action, with what the platform says.
func opened(th gate.ThreadID, ours bool, later time.Duration) orchestrator.Command {
	return orchestrator.Command{Verb: orchestrator.VerbOpened, URL: "https://example.com/7", Opened: &orchestrator.Opened{
		Thread: th, Scope: gate.ChatScope("oc_1"), Place: gate.Place{Chat: "oc_1", Root: "om_7"}, Ours: ours, At: epoch.Add(later),
	}}
}

func TestOpenedRules(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.play(t1)
	const hour, own = time.Hour, gate.ThreadID("fs~oc_1~om_7")
	nobody := opened(own, true, hour)
	nobody.Opened = nil
	steps := []struct {
		rule string
		cmd  orchestrator.Command
		want string
	}{
		{"what was opened has a url (AC-1)", orchestrator.Command{Verb: orchestrator.VerbOpened}, "missing_field"},
		{"where nobody can tell it is not believed (SU-9)", nobody, "thread_not_allowed"},
		{"what somebody else opened is not (SU-9)", opened(own, false, hour), "thread_not_allowed"},
		{"nor what is older than the Ticket (SU-9)", opened(own, true, -hour), "thread_not_allowed"},
		{"what the agent's account opened becomes an own thread (SU-9)", opened(own, true, hour), "ok"},
		{"once (SU-9)", opened(own, true, hour), "noted"},
	}
	for _, s := range steps {
		if got := d.do(s.cmd); got != s.want {
			t.Errorf("%s: %s, want %s", s.rule, got, s.want)
		}
	}
	d.want("t1.subs=A:own,fs~oc_1~om_7:own t1.mandate=active")
	if th := d.s.Threads[own]; th.Source != "fs" || len(th.Tickets) != 1 {
		t.Errorf("thread = %+v, want one of fs that feeds t1", th)
	}
	if got := d.do(orchestrator.Command{}); got != "missing_field" {
		t.Errorf("AC-1 no action = %s, want missing_field", got)
	}
}
