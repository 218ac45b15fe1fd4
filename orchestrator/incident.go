package orchestrator

import (
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// CI is a quiet witness (GH-3): one failure is one Trigger, whatever the number
// of jobs and reruns. The Thread of a default branch keeps what failed there.
//
//	              red, of the branch's head
//	(green) ───────────────────────────────▶ open ──┐ red of another head: a Trigger,
//	   ▲                                      │ ▲    │ unless a Ticket works on it or
//	   │  green · 7 days · the sweep finds    │ └────┘ ended less than 24 h ago
//	   └──── the head green ──────────────────┘

const (
	// incidentLife is when an incident closes by itself.
	incidentLife = 7 * 24 * time.Hour
	// incidentQuiet is how long after the end of a Ticket a further red of its
	// incident is no Trigger.
	incidentQuiet = 24 * time.Hour
)

// Incident is a workflow that failed on a default branch. A closed one is kept
// for a while, so that late news of an earlier run opens no other.
type Incident struct {
	// Run is the latest that counted.
	Run gate.Run `json:"run"`
	// Opened is when its first red was told; zero: it is closed.
	Opened time.Time `json:"opened,omitzero"`
	// Triggers are its reds that went to the gate, as far as a Ticket of theirs
	// can still keep further ones away.
	Triggers []gate.TriggerID `json:"triggers,omitempty"`
}

// open reports whether the workflow counts as red.
func (i *Incident) open(now time.Time) bool {
	return !i.Opened.IsZero() && now.Before(i.Opened.Add(incidentLife))
}

// Red are the runs of the Thread's open incidents.
func (t *Thread) Red(now time.Time) []gate.Run {
	var red []gate.Run
	for i := range t.Incidents {
		if t.Incidents[i].open(now) {
			red = append(red, t.Incidents[i].Run)
		}
	}
	return red
}

// incident is what is known of a workflow, or nil.
func (t *Thread) incident(workflow string) *Incident {
	for i := range t.Incidents {
		if t.Incidents[i].Run.Workflow == workflow {
			return &t.Incidents[i]
		}
	}
	return nil
}

// Why a red run is no Trigger (GH-3).
const (
	whySuperseded = "a newer commit is the head of its branch (GH-3)"
	whyOldRun     = "a later run of it was told before (GH-3)"
	whyRerun      = "it is a rerun of a failure that was told before (GH-3)"
	whyWorkedOn   = "a ticket works on this failure, or ended less than a day ago (GH-3)"
)

// Witnessed says what becomes of what CI told, once its branch was looked at: a
// red run arrives like a message, a green one closes its incident. What is not
// in the inbox any more changes nothing.
func Witnessed(s State, id gate.TriggerID, f Facts) Changes {
	w := begin(s, f)
	m := w.messages[id]
	switch {
	case m == nil || m.Run == nil || m.State != StateReceived:
	case m.Run.Failed:
		w.arrive(m)
	default:
		w.passed(m)
		m.spent()
	}
	return w.done()
}

// witnessed says why a message is no Trigger though CI told it, or "". A red
// that is one opens its incident, or goes on with it. What an operator replays
// by force is judged whatever is known.
func (w *work) witnessed(m *Message, th *Thread) string {
	r := m.Run
	if r == nil || m.ReplayedBy != "" {
		return ""
	}
	if r.Superseded() {
		return whySuperseded
	}
	in := th.incident(r.Workflow)
	switch {
	case in == nil:
		th.Incidents = append(th.Incidents, Incident{})
		in = &th.Incidents[len(th.Incidents)-1]
	case r.Began.Before(in.Run.Began):
		return whyOldRun
	}
	return w.red(in, m)
}

// red goes on with an incident that is open, or opens it.
func (w *work) red(in *Incident, m *Message) string {
	was := in.Run.Head
	in.Run = *m.Run
	if !in.open(w.Now) {
		in.Opened, in.Triggers = w.Now, []gate.TriggerID{m.ID}
		w.c.Due = append(w.c.Due, approvals.Due{Kind: DueIncidents, Key: string(m.Thread), At: w.Now.Add(w.Settings.missedEvery())})
		w.log("incident.opened", "", map[string]any{"thread": m.Thread, "workflow": m.Run.Workflow})
		return ""
	}
	in.Triggers = slices.DeleteFunc(in.Triggers, w.forgotten)
	switch {
	case was == m.Run.Head:
		return whyRerun
	case slices.ContainsFunc(in.Triggers, w.workedOn):
		return whyWorkedOn
	}
	in.Triggers = append(in.Triggers, m.ID)
	return ""
}

// workedOn: a Ticket that the red went to is active, or ended less than a day
// ago.
func (w *work) workedOn(id gate.TriggerID) bool {
	m := w.messages[id]
	return m != nil && slices.ContainsFunc(m.Decided, func(d Decided) bool {
		t := w.tickets[d.Ticket]
		return t != nil && !d.Observed && (t.Active() || w.Now.Before(t.End.At.Add(incidentQuiet)))
	})
}

// forgotten: the red is gone, or nothing can come of it any more.
func (w *work) forgotten(id gate.TriggerID) bool {
	m := w.messages[id]
	return m == nil || m.State == StateNotAdmitted || m.State == StateDecided && !w.workedOn(id)
}

// passed closes the incident of a green run, unless a later run was red since,
// or the branch has a newer commit.
func (w *work) passed(m *Message) {
	th := w.threads[m.Thread]
	if th == nil || m.Run.Superseded() {
		return
	}
	in := th.incident(m.Run.Workflow)
	if in != nil && in.open(w.Now) && !m.Run.Began.Before(in.Run.Began) {
		w.green(th, in, *m.Run)
	}
}

// green closes an incident, and tells the Tickets of the Thread.
func (w *work) green(th *Thread, in *Incident, by gate.Run) {
	in.Run, in.Opened, in.Triggers = by, time.Time{}, nil
	w.log("incident.closed", "", map[string]any{"thread": th.ID, "workflow": by.Workflow})
	for _, s := range th.Tickets {
		if t := w.tickets[s.Ticket]; t != nil && t.Active() {
			w.input(t, Input{Kind: InputNote, Note: "CI is green again on " + by.Branch + ": " + by.Name + ", at " + by.Head})
		}
	}
}

// Swept closes the incidents of a Thread whose time is over, and those of the
// runs that were found green at the branch's head. Next says when to look
// again; where nothing is red any more it is zero.
func Swept(s State, id gate.ThreadID, found []gate.Run, f Facts) Changes {
	w := begin(s, f)
	if th := w.threads[id]; th != nil {
		w.swept(th, found)
	}
	return w.done()
}

func (w *work) swept(th *Thread, found []gate.Run) {
	for _, g := range found {
		if in := th.incident(g.Workflow); in != nil && in.open(w.Now) && !g.Began.Before(in.Run.Began) {
			w.green(th, in, g)
		}
	}
	th.Incidents = slices.DeleteFunc(th.Incidents, func(in Incident) bool {
		return !in.open(w.Now) && w.Now.After(in.Run.Began.Add(incidentLife))
	})
	for i := range th.Incidents {
		if at := w.sweepAt(&th.Incidents[i]); w.c.Next.IsZero() || at.Before(w.c.Next) {
			w.c.Next = at
		}
	}
}

// sweepAt is when to look at an incident again: a closed one is then forgotten.
func (w *work) sweepAt(in *Incident) time.Time {
	if in.open(w.Now) {
		return w.Now.Add(w.Settings.missedEvery())
	}
	return in.Run.Began.Add(incidentLife + time.Second)
}
