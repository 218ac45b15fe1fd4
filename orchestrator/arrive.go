package orchestrator

import (
	"cmp"
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Arrive says what becomes of a message that has just been received: it is
// dropped, owned by Tickets, waits, or goes to the gate. A message that is not
// in the inbox any more changes nothing, so that arriving twice is harmless.
func Arrive(s State, id gate.TriggerID, f Facts) Changes {
	w := begin(s, f)
	if m := w.messages[id]; m != nil && m.State == StateReceived {
		w.arrive(m)
	}
	return w.done()
}

func (w *work) arrive(m *Message) {
	w.place(m)
	m.Late = m.ReplayedBy == "" && w.Settings.LateAfter > 0 && m.ReceivedAt.Sub(m.OccurredAt) > w.Settings.LateAfter
	w.heard(m)
	th := w.threads[m.Thread]
	if why := w.unreceived(m, th); why != "" {
		m.drop(why)
		return
	}
	if th == nil {
		th = w.thread(m)
	}
	if th.Scope == "" { // followed before anything was said on it (SU-5a)
		th.Scope, th.Title = m.Scope, m.Title
	}
	th.LastActivity = w.Now
	if m.ReplayedBy != "" {
		w.log("trigger.replayed", "", map[string]any{"trigger": m.ID, "by": m.ReplayedBy})
	}
	if w.commanded(m) || w.replied(m) {
		return
	}
	reached := w.deliver(m, th)
	revoked := len(m.Owners) == 0 && w.wakes(m) && w.resume(m, th)
	// A resume that failed has revoked Mandates: the gate sees what is left (RE-2).
	m.Standing = w.standing(th)
	quiet := w.witnessed(m, th)
	switch {
	case len(m.Owners) > 0:
		w.notice(m, th)
	case quiet != "":
		w.reject(m, quiet)
		if reached {
			m.State = StateDelivered
		}
	case w.joins(m, th), w.waitsWith(m, th):
	default:
		w.judge(m, th, reached)
	}
	if revoked {
		w.notResumed(m)
	}
}

// unreceived returns why no Source receives the message, or "" (TR-5, AD-9).
func (w *work) unreceived(m *Message, th *Thread) string {
	src := w.Sources[m.Source]
	if src == nil || !src.Enabled || !src.Listens(m.Scope) {
		return "no enabled source receives it (TR-5)"
	}
	if !src.Receives(m.Scope).Takes(m.Addressing) && !w.live(th) {
		return "the scope receives only what addresses the agent (AD-9)"
	}
	return ""
}

// drop forgets what was said: it was not ours to keep (AD-9).
func (m *Message) drop(why string) {
	m.State, m.Why = StateDropped, why
	m.Title, m.Text, m.Plain, m.Attachments, m.Raw = "", "", "", nil, ""
}

// live: a Ticket whose Mandate stands has the Thread, or a message of it waits
// or is in an Eval (AD-9).
func (w *work) live(th *Thread) bool {
	if th == nil {
		return false
	}
	return th.Eval != "" || len(th.Queue)+len(th.Companions) > 0 ||
		slices.ContainsFunc(th.Tickets, func(s ThreadTicket) bool {
			t := w.tickets[s.Ticket]
			return t != nil && t.Mandate.Stands()
		})
}

// deliver gives the message to every active Ticket of the Thread (SU-1) and
// reports whether one got it. A person's message is owned by those that have
// the Thread as their own (SU-2); a context Subscription owns nothing (SU-5).
func (w *work) deliver(m *Message, th *Thread) (reached bool) {
	for _, s := range th.Tickets {
		t := w.tickets[s.Ticket]
		if t == nil || !t.Active() {
			continue
		}
		reached = true
		if s.Kind == SubOwn && w.ownable(m) {
			w.own(t, m, false)
			continue
		}
		w.input(t, Input{Kind: InputContext, Trigger: m.ID})
	}
	return reached
}

// ownable: a person's message, and where follow_ups is "listed", a listed
// person's (SU-2).
func (w *work) ownable(m *Message) bool {
	if m.Sender.Kind != gate.Person {
		return false
	}
	src := w.Sources[m.Source]
	return src == nil || !src.ListedFollowUps || w.lists(m.Source, m.Sender).Allow == gate.Yes
}

// wakes: what can resume an ended Ticket. Bots and CI wake nothing (RE-1), and
// neither does a message that is nothing but a stop word (RE-1a).
func (w *work) wakes(m *Message) bool { return w.ownable(m) && !w.Settings.stopWord(m.Plain) }

// own makes the message an owned Input of an active Ticket.
func (w *work) own(t *Ticket, m *Message, root bool) {
	m.ownedBy(t)
	m.State, m.With = StateOwned, ""
	in := Input{Kind: InputMessage, Owned: true, Trigger: m.ID}
	if root {
		w.guide(t, &in)
	}
	seq := w.input(t, in)
	t.Held = append(t.Held, Held{Trigger: m.ID, Seq: seq, Root: root})
	t.LastOwned = m.ID
	if root {
		t.Root = m.ID
	}
	if t.Report != nil && t.Report.wantsPerson() {
		t.Report = nil
	}
}

func (m *Message) ownedBy(t *Ticket) {
	if !slices.Contains(m.Owners, t.ID) {
		m.Owners = append(m.Owners, t.ID)
	}
}

// wantsPerson: the stages that a new message of a person releases.
func (r *Report) wantsPerson() bool {
	return r.Kind == ReportReady || r.Kind == ReportBlocked || r.Kind == ReportFailed
}

func (w *work) input(t *Ticket, in Input) (seq int) {
	if t.WaitsSince.IsZero() {
		t.WaitsSince = w.Now
	}
	t.Seq++
	in.ID, in.Ticket, in.Seq, in.At = w.NewID("inp_"), t.ID, t.Seq, w.Now
	w.c.Inputs = append(w.c.Inputs, in)
	if m := w.messages[in.Trigger]; m != nil {
		m.Given = true
	}
	t.ActiveAt = w.Now
	w.due(DueTurn, string(t.ID))
	return in.Seq
}

// resume wakes at most one ended Ticket of the Thread: none while one is
// active, else the one with the newest activity whose revalidation passes
// (RE-1a). Where that cannot be told yet, the message waits for it (RV-8). It
// reports whether a Mandate was revoked.
func (w *work) resume(m *Message, th *Thread) (revoked bool) {
	for _, t := range w.sleeping(th) {
		switch r := w.revalidate(t); r.Outcome {
		case gate.Stands:
			w.reopen(t)
			w.own(t, m, true)
			return revoked
		case gate.Fails:
			w.revoke(t, r.Reason)
			revoked = true
		case gate.Waits:
			w.waitFor(t, m)
			return revoked
		}
	}
	return revoked
}

// sleeping returns the ended Tickets that a message on the Thread could wake,
// the newest activity first. An active one would own the message.
func (w *work) sleeping(th *Thread) []*Ticket {
	var ended []*Ticket
	for _, s := range th.Tickets {
		if t := w.tickets[s.Ticket]; t != nil && s.Kind == SubOwn && t.Mandate.Stands() {
			ended = append(ended, t)
		}
	}
	slices.SortStableFunc(ended, func(a, b *Ticket) int {
		return cmp.Or(b.ActiveAt.Compare(a.ActiveAt), cmp.Compare(b.ID, a.ID))
	})
	return ended
}

func (w *work) revalidate(t *Ticket) gate.Revalidation {
	m := &t.Mandate
	if w.Pauses.Hold(m.Source) {
		return gate.Revalidation{Outcome: gate.Waits, Rule: "RE-3", Reason: reasonPaused}
	}
	r := gate.Revalidate(m, w.Sources[m.Source], w.Policy, w.lists(m.Source, m.Sender))
	if why := w.lost(m.Thread); r.Outcome == gate.Stands && why != "" {
		return gate.Revalidation{Outcome: gate.Waits, Rule: "RV-1", Reason: why}
	}
	return r
}

// reopen makes an ended Ticket active again and delivers what waited, oldest
// first (EN-4). The oldest resumed it; the rest can be released (EN-1).
func (w *work) reopen(t *Ticket) {
	t.Former, t.End, t.State, t.Report = t.End, nil, TicketActive, nil
	t.Told, t.Checked = w.Policy.Version, w.Pauses.ended(t.Mandate.Source)
	t.Bereft = w.lostRequester(t) == gate.Yes
	waiting := t.Waiting
	t.Waiting = nil
	first := true
	for _, id := range waiting {
		if m := w.messages[id]; m != nil {
			w.own(t, m, first)
			first = false
		}
	}
	w.retell(t, gate.Sender{})
	w.lookAround(t)
	w.log("ticket.resumed", approvals.SessionID(t.ID), map[string]any{"ticket": t.ID})
}

// revoke withdraws a Mandate after a failed revalidation (RE-2): the Ticket
// stays ended, and its waiting messages count as having reached no Ticket.
func (w *work) revoke(t *Ticket, reason string) {
	t.Mandate.State, t.Mandate.RevokedReason = gate.MandateRevoked, reason
	w.log("mandate.revoked", approvals.SessionID(t.ID), map[string]any{"ticket": t.ID, "reason": reason})
	waiting := t.Waiting
	t.Waiting = nil
	w.release(t, waiting, "")
	for _, id := range waiting {
		if m := w.messages[id]; m != nil {
			w.notResumed(m)
		}
	}
}

// retryResume is how long a resume waits before it is looked at again.
const retryResume = 15 * time.Second

func (w *work) waitFor(t *Ticket, m *Message) {
	t.Waiting = append(t.Waiting, m.ID)
	m.ownedBy(t)
	m.State, m.With = StateWaiting, ""
	w.c.Due = append(w.c.Due, approvals.Due{Kind: DueResume, Key: string(t.ID), At: w.Now.Add(retryResume)})
}

// ResumeWaiting looks again at an ended Ticket that has messages waiting.
func ResumeWaiting(s State, id gate.TicketID, f Facts) Changes {
	w := begin(s, f)
	if t := w.tickets[id]; t != nil && !t.Active() && len(t.Waiting) > 0 {
		w.resumeWaiting(t)
	}
	return w.done()
}

func (w *work) resumeWaiting(t *Ticket) {
	switch r := w.revalidate(t); r.Outcome {
	case gate.Stands:
		w.reopen(t)
	case gate.Fails:
		w.revoke(t, r.Reason)
	case gate.Waits:
		w.c.Next = w.Now.Add(retryResume)
	}
}

// standing is what AD-3 and AD-4 look at.
func (w *work) standing(th *Thread) gate.Standing {
	best := gate.NoTicket
	for _, s := range th.Tickets {
		t := w.tickets[s.Ticket]
		switch {
		case t == nil:
		case s.Kind == SubContext:
			best = max(best, gate.ContextOnly)
		case t.Mandate.Stands():
			best = max(best, gate.Own)
		default:
			best = max(best, gate.OwnGone)
		}
	}
	return best
}

// notice tells the main Session of an owned message (SU-3).
func (w *work) notice(m *Message, th *Thread) {
	th.Notices = append(th.Notices, m.ID)
	line := DueEval
	if w.Settings.stopWord(m.Plain) {
		line = DueEvalFirst
	}
	w.due(line, string(th.ID))
}

// waitsWith makes a person's unaddressed message wait with the newest
// undecided explicit candidate of its Thread (SU-8).
func (w *work) waitsWith(m *Message, th *Thread) bool {
	if m.Sender.Kind != gate.Person || m.Addressing != gate.NotAddressed {
		return false
	}
	for _, id := range slices.Backward(append(w.inEval(th), th.Queue...)) {
		if c := w.messages[id]; c != nil && c.Admission.Strength == gate.Explicit {
			m.State, m.With = StateWaiting, id
			th.Companions = append(th.Companions, m.ID)
			return true
		}
	}
	return false
}
