package orchestrator_test

import (
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// ci is what CI tells of a run, or what the sweep finds green.
func (d *desk) ci(verb string, arg []string, opt map[string]string) {
	d.t.Helper()
	word := func(key, otherwise string) string {
		if opt[key] != "" {
			return opt[key]
		}
		return otherwise
	}
	r := gate.Run{Workflow: word("w", "build"), Name: "Build", Branch: "main", Head: word("head", "h1"), Began: d.f.Now, Failed: verb == "red"}
	r.Top = word("top", r.Head)
	if ago, err := time.ParseDuration(opt["ago"]); err == nil {
		r.Began = r.Began.Add(-ago)
	}
	if verb == "swept" {
		mv := move{kind: mvSwept, thread: gate.ThreadID(arg[0]), runs: []gate.Run{r}}
		if opt["w"] == "none" {
			mv.runs = nil
		}
		d.move(mv)
		return
	}
	m := said(gate.TriggerID(arg[0]), arg[1]+"bot@") // a bot on the list is judged as CI is
	m.Kind, m.Bundle, m.Run, m.ReplayedBy = gate.KindCI, "head:"+r.Head, &r, opt["by"]
	if verb == "green" {
		m.Change.Kind = gate.ChangePassed
	}
	d.s.Messages[m.ID] = m
	d.move(move{kind: mvWitness, message: m.ID})
}

func TestIncidents(t *testing.T) {
	t.Parallel()
	const (
		red    = "mode auto; red m1 A;"
		worked = red + "eval A; accept m1 judged;"
		done   = worked + "turn t1; report t1 done;"
	)
	playRows(t, []row{
		{"a red of the head is a Trigger, and opens an incident (GH-3)", red, "m1=queued A.red=build/h1 due=incidents:A,eval_later:A"},
		{"one of a commit that is not the head any more is context (GH-3)", "mode auto; red m1 A top=h2", "m1=not_admitted A.red="},
		{"a rerun of a failure that waits is no other Trigger (GH-3)", red + "red m2 A", "m2=not_admitted A.queue=m1 A.incidents=build/m1"},
		{"another workflow's failure of that head is one candidate with it (GH-3, EV-1)", red + "red m2 A w=lint", "m2=waiting/m1 A.red=build/h1,lint/h1"},
		{"a red of the next head is a Trigger while nobody works on the first (GH-3)", red + "red m2 A head=h2", "A.queue=m1,m2 A.incidents=build/m1,m2"},
		{"and where the first was ignored (GH-3)", red + "eval A; ignore m1 judged; red m2 A head=h2", "m2=queued A.incidents=build/m2"},
		{"and where it was not admitted (GH-3)", "mode off; red m1 A; mode auto; red m2 A head=h2", "m2=queued A.incidents=build/m2"},
		{"and where its message is gone (GH-3)", red + "eval A; ignore m1 judged; forget m1; red m2 A head=h2", "m2=queued A.incidents=build/m2"},
		{"while a Ticket works on it, a further red is its context (GH-3)", worked + "red m2 A head=h2", "m2=delivered t1.in=message:m1,context:m2 A.queue="},
		{"also where the red rode with another (GH-3, EV-1)", red + "red m2 A w=lint; eval A; accept m1 judged; red m3 A w=lint head=h2", "m3=delivered"},
		{"less than a day after its end it is context, and wakes nothing (GH-3, RE-1)", done + "later 23h; red m2 A head=h2", "m2=not_admitted t1=ended:completed A.queue="},
		{"a day after its end it is a Trigger (GH-3)", done + "later 24h; red m2 A head=h2", "m2=queued A.red=build/h2"},
		{"another workflow is another incident (GH-3)", worked + "red m2 A w=lint head=h2", "m2=queued"},
		{"green closes it, and the next red is a Trigger (GH-3)", worked + "green m2 A; red m3 A head=h2", "m2=dropped m3=queued t1.in=message:m1,note,context:m3"},
		{"green of an ended Ticket's incident tells nobody (GH-3)", done + "green m2 A", "A.red= t1.in=message:m1"},
		{"green of a run that began earlier closes nothing (GH-3)", red + "green m2 A ago=1m", "A.red=build/h1"},
		{"neither does green of a commit that is not the head (GH-3)", red + "green m2 A head=h0 top=h1", "A.red=build/h1"},
		{"nor green of another workflow, or of another branch (GH-3)", red + "green m2 A w=lint; green m3 B", "A.red=build/h1 m3=dropped"},
		{"late news of a run before the green opens nothing (GH-3)", red + "green m2 A; red m3 A ago=30s", "m3=not_admitted A.red="},
		{"an incident closes by seven days (GH-3)", worked + "later 168h; red m2 A head=h2", "m2=queued A.red=build/h2"},
		{"it closes where the sweep sees the head green (GH-3)", red + "swept A", "A.red="},
		{"not by an earlier run (GH-3)", red + "swept A ago=1m", "A.red=build/h1"},
		{"what was closed is forgotten after seven days (GH-3)", red + "green m2 A; later 168h; swept A w=none", "A.incidents="},
		{"a sweep of a branch that is not known is harmless (GH-3)", "swept A", "changes=false"},
		{"what CI told is carried out once (GH-3)", red + "arrive m1", "changes=false A.queue=m1"},
		{"an operator's replay is judged whatever is known (TR-7)", worked + "red m2 A by=op", "m2=queued"},
	})
}

// TestSweepsAgain: a branch is looked at as long as it may have a red workflow.
func TestSweepsAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		says, script string
		after        time.Duration
	}{
		{"a red branch is looked at every few minutes (GH-3)", "swept A w=none", 5 * time.Minute},
		{"one that is green when what is known of it can be forgotten (GH-3)", "swept A", 7*24*time.Hour + time.Second},
		{"the earliest of both (GH-3)", "red m2 A w=lint; swept A w=lint", 5 * time.Minute},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.play("mode auto; red m1 A;" + c.script)
			if got := d.c.Next.Sub(d.f.Now); got != c.after {
				t.Errorf("GH-3: looks again in %s; want %s", got, c.after)
			}
		})
	}
	d := newDesk(t)
	d.f.Settings.Redeliver = time.Hour
	d.play("mode auto; red m1 A; swept A w=none")
	if got := d.c.Next.Sub(d.f.Now); got != time.Hour {
		t.Errorf("GH-3: looks again in %s; want what redeliver.interval says", got)
	}
}
