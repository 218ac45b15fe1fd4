package orchestrator_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// The place of a message, as its State says it, and where else that shows. A
// message is in exactly one row:
//
//	received      nowhere; no Owners
//	queued        once in the Queue of its Thread; no Ticket owns it
//	evaluating    once in the Undecided of its Thread's Eval; no Ticket owns it
//	waiting       With set: once in the Companions of its Thread, and With is
//	              queued or evaluating there; no Ticket owns it (SU-8)
//	              With empty: once in the Waiting of exactly one ended Ticket
//	              whose Mandate stands, and which is among the Owners (RE-1)
//	owned         an active Ticket is among the Owners, each of which has it in
//	              Held (in its books) or dealt with it; or finished: those that
//	              dealt with it have ended
//	decided       nowhere, Decided is not empty; no Ticket owns it
//	delivered, not_admitted, dropped, recalled
//	              nowhere; no Ticket owns it
//
// So nothing is ever lost: queued and evaluating messages come to a Decision,
// waiting ones to a Ticket or the gate, owned ones are with an Executor.

// stateRule is an invariant of every State.
type stateRule struct {
	name  string
	check func(s *orchestrator.State) error
}

var stateRules = []stateRule{
	{"a message is in exactly one place", onePlace},
	{"EV-1 a Thread has at most one Eval under way, of its own evaluating messages", oneEval},
	{"ST-3 a stopped Ticket has nothing", stoppedHasNothing},
	{"a Ticket is active with a standing Mandate, or ended with nothing in hand", wholeTicket},
	{"EN-1 the books of a Ticket agree with its messages", heldBooks},
	{"SU-1 Threads and Tickets agree on their Subscriptions", subscriptions},
	{"SU-3 notices are of owned messages, each once", noticesOwned},
	{"DE-7 only an active Ticket has open questions", questionsActive},
	{"SU-8 only people's unaddressed messages wait with a candidate", companions},
}

type places struct{ queue, with, eval, waiting int }

func placesOf(s *orchestrator.State, m *orchestrator.Message) (p places) {
	for id, th := range s.Threads {
		here := places{queue: count(th.Queue, m.ID), with: count(th.Companions, m.ID)}
		if e, ok := s.Evals[th.Eval]; ok && id == m.Thread {
			here.eval = count(e.Undecided, m.ID)
		}
		if id != m.Thread && here != (places{}) {
			here.queue += 10 // on a foreign Thread
		}
		p.queue, p.with, p.eval = p.queue+here.queue, p.with+here.with, p.eval+here.eval
	}
	for _, t := range s.Tickets {
		p.waiting += count(t.Waiting, m.ID)
	}
	return p
}

func count[T comparable](list []T, x T) (n int) {
	for _, y := range list {
		if x == y {
			n++
		}
	}
	return n
}

func onePlace(s *orchestrator.State) error {
	for id, m := range s.Messages {
		got, owners := placesOf(s, &m), len(liveOwners(s, &m))
		var want places
		ok := owners == 0
		switch m.State {
		case orchestrator.StateReceived:
			ok = len(m.Owners) == 0
		case orchestrator.StateQueued:
			want = places{queue: 1}
		case orchestrator.StateEvaluating:
			want = places{eval: 1}
		case orchestrator.StateWaiting:
			if m.With != "" {
				c := s.Messages[m.With]
				want = places{with: 1}
				ok = ok && c.Thread == m.Thread && (c.State == orchestrator.StateQueued || c.State == orchestrator.StateEvaluating)
				break
			}
			want, ok = places{waiting: 1}, owners == 1
		case orchestrator.StateOwned:
			ok = len(m.Owners) > 0
		case orchestrator.StateDecided:
			ok = ok && len(m.Decided) > 0
		case orchestrator.StateDelivered, orchestrator.StateNotAdmitted, orchestrator.StateDropped, orchestrator.StateRecalled:
		default:
			ok = false
		}
		if m.With != "" && m.State != orchestrator.StateWaiting {
			ok = false
		}
		if got != want || !ok {
			return fmt.Errorf("%s is %s (with %q, owners %v, %d live) and in %+v", id, m.State, m.With, m.Owners, owners, got)
		}
	}
	return nil
}

func oneEval(s *orchestrator.State) error {
	for id, e := range s.Evals {
		if !e.Open() || len(e.More) >= 20 {
			return fmt.Errorf("eval %s has %d undecided, of %d threads", id, len(e.Undecided), len(e.More)+1)
		}
		for _, on := range e.Threads() {
			if th := s.Threads[on]; th.Eval != id || count(e.Threads(), on) != 1 {
				return fmt.Errorf("eval %s of %v is not the one under way on %s (%q)", id, e.Threads(), on, th.Eval)
			}
		}
		for _, u := range e.Undecided {
			m := s.Messages[u]
			if m.State != orchestrator.StateEvaluating || !slices.Contains(e.Threads(), m.Thread) {
				return fmt.Errorf("%s is undecided in %s, but %s on %s", u, id, m.State, m.Thread)
			}
		}
	}
	for id, th := range s.Threads {
		if e, ok := s.Evals[th.Eval]; th.Eval != "" && (!ok || !slices.Contains(e.Threads(), id)) {
			return fmt.Errorf("thread %s has an eval that is over, or of others: %v", id, e.Threads())
		}
	}
	return nil
}

func stoppedHasNothing(s *orchestrator.State) error {
	for id, t := range s.Tickets {
		if !t.End.ByPerson() {
			continue
		}
		if t.Active() || t.Mandate.Stands() || len(t.Waiting)+len(t.Held) > 0 {
			return fmt.Errorf("stopped %s is %s, its mandate %v, holds %v, has %v waiting", id, t.State, t.Mandate.State, t.Held, t.Waiting)
		}
		for _, q := range s.Questions {
			if q.Session.ID == approvals.SessionID(id) {
				return fmt.Errorf("stopped %s has an open question", id)
			}
		}
	}
	return nil
}

func wholeTicket(s *orchestrator.State) error {
	for id, t := range s.Tickets {
		active := t.Active() && t.End == nil && t.Mandate.Stands() && len(t.Waiting) == 0
		ended := t.State == orchestrator.TicketEnded && t.End != nil && len(t.Held) == 0 && !t.Turn && t.Former == nil && t.Upto == 0
		if active == ended {
			return fmt.Errorf("%s is %s (end %+v, mandate %v, held %v, waiting %v, turn %v)", id, t.State, t.End, t.Mandate.State, t.Held, t.Waiting, t.Turn)
		}
		if len(t.Waiting) > 0 && !t.Mandate.Stands() {
			return fmt.Errorf("%v wait for %s, whose mandate is %v", t.Waiting, id, t.Mandate.State)
		}
	}
	return nil
}

func heldBooks(s *orchestrator.State) error {
	for id, t := range s.Tickets {
		if t.Covered > t.Delivered || t.Delivered > t.Seq || t.Upto > t.Delivered {
			return fmt.Errorf("%s covered %d, delivered %d of %d, upto %d", id, t.Covered, t.Delivered, t.Seq, t.Upto)
		}
		for i, h := range t.Held {
			m := s.Messages[h.Trigger]
			again := slices.ContainsFunc(t.Held[:i], func(o orchestrator.Held) bool { return o.Trigger == h.Trigger || o.Seq >= h.Seq })
			if again || h.Seq <= t.Covered || h.Seq > t.Seq || m.State != orchestrator.StateOwned || !slices.Contains(m.Owners, id) {
				return fmt.Errorf("%s holds %+v of %v, and it is %s of %v", id, h, t.Held, m.State, m.Owners)
			}
		}
		for _, w := range t.Waiting {
			if m := s.Messages[w]; m.State != orchestrator.StateWaiting || !slices.Contains(m.Owners, id) {
				return fmt.Errorf("%s waits for %s, and is %s of %v", w, id, m.State, m.Owners)
			}
		}
	}
	for id, m := range s.Messages {
		if len(slices.Compact(slices.Sorted(slices.Values(m.Owners)))) != len(m.Owners) {
			return fmt.Errorf("%s is owned twice: %v", id, m.Owners)
		}
	}
	return nil
}

func subscriptions(s *orchestrator.State) error {
	type link struct {
		ticket gate.TicketID
		thread gate.ThreadID
	}
	kinds := map[link]orchestrator.SubscriptionKind{}
	for id, t := range s.Tickets {
		for _, sub := range t.Subs {
			if kinds[link{id, sub.Thread}] != "" {
				return fmt.Errorf("%s follows %s twice", id, sub.Thread)
			}
			kinds[link{id, sub.Thread}] = sub.Kind
		}
	}
	n := 0
	for id, th := range s.Threads {
		for _, k := range th.Tickets {
			n++
			if kinds[link{k.Ticket, id}] != k.Kind {
				return fmt.Errorf("%s feeds %s as %s, which says %s", id, k.Ticket, k.Kind, kinds[link{k.Ticket, id}])
			}
		}
	}
	if n != len(kinds) {
		return fmt.Errorf("%d subscriptions on threads, %d on tickets", n, len(kinds))
	}
	return nil
}

func noticesOwned(s *orchestrator.State) error {
	for id, th := range s.Threads {
		for _, n := range th.Notices {
			m := s.Messages[n]
			owned := m.State == orchestrator.StateOwned || m.State == orchestrator.StateWaiting && m.With == ""
			if !owned || m.Thread != id || count(th.Notices, n) > 1 {
				return fmt.Errorf("%s has notices %v, and %s is %s on %s", id, th.Notices, n, m.State, m.Thread)
			}
		}
	}
	return nil
}

func questionsActive(s *orchestrator.State) error {
	for id, q := range s.Questions {
		if t := s.Tickets[gate.TicketID(q.Session.ID)]; !t.Active() {
			return fmt.Errorf("question %s of %s, which is %s", id, q.Session.ID, t.State)
		}
	}
	return nil
}

func companions(s *orchestrator.State) error {
	for id, m := range s.Messages {
		if c := s.Messages[m.With]; m.Bundle != "" && c.Bundle == m.Bundle { // one candidate with it (EV-1)
			continue
		}
		if m.With != "" && (m.Sender.Kind != gate.Person || m.Addressing != gate.NotAddressed) {
			return fmt.Errorf("%s of a %v, addressing %v, waits with %s", id, m.Sender.Kind, m.Addressing, m.With)
		}
	}
	return nil
}

// step is a transition that was made.
type step struct {
	before, after orchestrator.State
	move          move
	c             orchestrator.Changes
	a             answer
	f             orchestrator.Facts
}

// stepRule is an invariant of every transition.
type stepRule struct {
	name  string
	check func(st *step) error
}

var stepRules = []stepRule{
	{"SU-3, RO-7 an owned message gets no Decision but stopped", decisionsOnOwned},
	{"RO-1 a refused item changes nothing but what fell to none (AD-14)", refusedChangesNothing},
	{"RO-8 one Decision an item, and a Ticket only by accept", oneDecision},
	{"ST-3, SU-1 only active Tickets get Inputs, in order", inputsToActive},
	{"RE-4 three things change a Mandate", mandates},
	{"RE-1, RE-1a what wakes a Ticket", wakes},
	{"EN-1, HB-1 a Ticket loses a message only for a cause", releases},
	{"SU-2, SU-8 a Ticket comes to own a message only for a cause", acquisitions},
	{"EN-3 what stopped a Ticket goes to the gate again only when it is handed back", stopsRest},
	{"SU-3 the main Session hears of every owned message", heard},
	{"SU-1 an arrival reaches every active Ticket of its Thread", reachesAll},
	{"OUT-6 accepted, declined and stopped are said once", saidOnce},
	{"DE-10 a question that was closed is due for its asker", settledDue},
	{"TR-1 what was received stays", nothingVanishes},
	{"no lost wake-up", noLostWake},
	{"EX-5 no more turns than the bound, who waits longest first", keepsLine},
	{"EV-1 only inferred candidates come with those of other Threads", bundlesInferred},
}

func bundlesInferred(st *step) error {
	if st.move.kind != mvForm {
		return nil
	}
	e := st.after.Evals[st.after.Threads[st.move.thread].Eval]
	if _, was := st.before.Evals[e.ID]; was || len(e.More) == 0 {
		return nil
	}
	for _, on := range e.Threads() {
		if n := st.after.Threads[on].Notices; len(n) > 0 {
			return fmt.Errorf("%s came with others, and has notices %v", on, n)
		}
	}
	for _, id := range e.Undecided {
		if m := st.after.Messages[id]; m.Admission.Strength != gate.Inferred || m.Place.Chat != st.after.Threads[e.Thread].Place.Chat {
			return fmt.Errorf("%s of %s is %v, and came with others", id, m.Place.Chat, m.Admission.Strength)
		}
	}
	return nil
}

func decisionsOnOwned(st *step) error {
	for _, d := range st.c.Decisions {
		if m := st.before.Messages[d.Trigger]; live(&st.before, &m) && d.Outcome != orchestrator.Stopped {
			return fmt.Errorf("%s is owned by %v and was decided: %s", d.Trigger, m.Owners, d.Outcome)
		}
	}
	return nil
}

// refusedChangesNothing: the admission is recomputed (AD-14), a candidate that
// fell leaves its Eval, and an attach can revoke (RE-2).
func refusedChangesNothing(st *step) error {
	refused := st.a.result.Error
	switch {
	case st.move.kind == mvPerform && st.a.performed.Error != nil && !unchanged(st.c):
		return fmt.Errorf("refused with %s, and yet it changed something", st.a.performed.Error.Code)
	case st.move.kind != mvRoute || refused == nil:
		return nil
	case len(st.c.Decisions)+len(st.c.Inputs) > 0 && refused.Code != orchestrator.CodeStalePolicy:
		return fmt.Errorf("refused with %s, and yet %d decisions, %d inputs", refused.Code, len(st.c.Decisions), len(st.c.Inputs))
	case refused.Code == orchestrator.CodeNotAdmitted, refused.Code == orchestrator.CodeNeedsNewAccept:
		return nil
	case refused.Code == orchestrator.CodeStalePolicy: // its Eval is discarded (EV-6)
		return nil
	}
	for _, m := range st.c.Messages {
		was := st.before.Messages[m.ID]
		if was.State != m.State || len(was.Owners) != len(m.Owners) || m.ID != st.move.item.Trigger {
			return fmt.Errorf("refused with %s, and yet %s is %s now", refused.Code, m.ID, m.State)
		}
	}
	if len(st.c.Threads)+len(st.c.Tickets)+len(st.c.Evals) > 0 {
		return fmt.Errorf("refused with %s, and yet threads, tickets or evals changed", refused.Code)
	}
	return nil
}

func oneDecision(st *step) error {
	want, tickets := 0, 0
	r := st.a.result
	quiet := st.move.item.Action == orchestrator.ActRequeue || st.move.item.Action == orchestrator.ActNote
	if st.move.kind == mvRoute && r.OK && !r.Deduped && !quiet {
		want = 1
		if st.move.item.Action == orchestrator.ActAccept && !observed(st.c.Decisions) {
			tickets = 1
		}
	}
	switch st.move.kind {
	case mvExpire, mvFail, mvDismiss: // of the undecided, and the same again
		want = len(st.c.Decisions)
	default:
	}
	if st.a.result.Error != nil { // a discarded Eval's (EV-6)
		want = len(st.c.Decisions)
	}
	if st.move.kind == mvForm { // a discarded Eval's (EV-6)
		want = len(st.before.Evals[st.before.Threads[st.move.thread].Eval].Undecided)
		if len(st.c.Decisions) == 0 {
			want = 0
		}
	}
	if len(st.c.Decisions) != want || len(st.after.Tickets) != len(st.before.Tickets)+tickets {
		return fmt.Errorf("%d decisions and %d more tickets, want %d and %d",
			len(st.c.Decisions), len(st.after.Tickets)-len(st.before.Tickets), want, tickets)
	}
	for _, d := range st.c.Decisions {
		if d.Outcome == orchestrator.Unavailable {
			continue
		}
		if m := st.after.Messages[d.Trigger]; d.Trigger != st.move.item.Trigger || d.Strength == gate.None || len(m.Decided) == 0 {
			return fmt.Errorf("decision %+v", d)
		}
	}
	return nil
}

// observed: the Decision says what would have been done (RU-2).
func observed(list []orchestrator.Decision) bool {
	return len(list) == 1 && list[0].Outcome == orchestrator.Observed
}

func inputsToActive(st *step) error {
	seq := map[gate.TicketID]int{}
	for _, in := range st.c.Inputs {
		before, after := st.before.Tickets[in.Ticket], st.after.Tickets[in.Ticket]
		if seq[in.Ticket] == 0 {
			seq[in.Ticket] = before.Seq
		}
		seq[in.Ticket]++
		if !after.Active() || before.End.ByPerson() || in.Seq != seq[in.Ticket] {
			return fmt.Errorf("%s is %s (was %+v) and got input %d, want %d", in.Ticket, after.State, before.End, in.Seq, seq[in.Ticket])
		}
	}
	for id, n := range seq {
		if t := st.after.Tickets[id]; t.Seq != n {
			return fmt.Errorf("%s has %d inputs, says %d", id, n, t.Seq)
		}
	}
	return nil
}

func mandates(st *step) error {
	for id, after := range st.after.Tickets {
		before, existed := st.before.Tickets[id]
		from, to := before.Mandate.State, after.Mandate.State
		recalled := st.move.kind == mvChanged && st.move.of == before.Mandate.Trigger && before.Delivered == 0 // TR-4a
		stopped := st.move.ticket == id && st.move.kind == mvStop || recalled ||
			st.move.kind == mvArrive && strings.HasPrefix(st.before.Messages[st.move.message].Text, orchestrator.StopTicket) || // ST-2
			st.move.kind == mvRoute && st.move.item.Ticket == id && st.move.item.Action == orchestrator.ActStop && st.a.result.OK
		ok := false
		switch {
		case from == to:
			ok = true
		case !existed:
			ok = st.a.result.OK && st.move.item.Action == orchestrator.ActAccept && to == gate.MandateActive
		case to == gate.MandateWithdrawn:
			ok = stopped && from == gate.MandateActive
		case to == gate.MandateRevoked:
			ok = from == gate.MandateActive && revalidated(st, &before) == gate.Fails
		}
		if !ok {
			return fmt.Errorf("mandate of %s went from %v to %v", id, from, to)
		}
		if before.Mandate.State, before.Mandate.RevokedReason = to, after.Mandate.RevokedReason; existed && !sameMandate(before.Mandate, after.Mandate) {
			return fmt.Errorf("mandate of %s became %+v", id, after.Mandate)
		}
	}
	return nil
}

func sameMandate(a, b gate.Mandate) bool {
	return a.Source == b.Source && a.Scope == b.Scope && a.Thread == b.Thread && a.Trigger == b.Trigger &&
		a.Sender.Same(b.Sender) && a.Strength == b.Strength && a.Basis == b.Basis && a.Executor == b.Executor &&
		slices.Equal(a.Rules, b.Rules) && a.Listed == b.Listed && a.PolicyVersion == b.PolicyVersion
}

func revalidated(st *step, t *orchestrator.Ticket) gate.RevalidationOutcome {
	m := t.Mandate
	return gate.Revalidate(&m, st.f.Sources[m.Source], st.f.Policy, st.f.Lists[orchestrator.WhoIs(m.Source, m.Sender)]).Outcome
}

func wakes(st *step) error {
	woken := 0
	for id, after := range st.after.Tickets {
		before, existed := st.before.Tickets[id]
		if !existed || before.Active() || !after.Active() {
			continue
		}
		woken++
		if revalidated(st, &before) != gate.Stands {
			return fmt.Errorf("%s was resumed, and its mandate does not carry that", id)
		}
		switch st.move.kind {
		case mvResume:
		case mvRoute:
			if !st.a.result.OK || st.move.item.Action != orchestrator.ActAttach || st.move.item.Ticket != id {
				return fmt.Errorf("%s was resumed by %s", id, st.move)
			}
		case mvArrive:
			if err := wokenByArrival(st, id); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%s was resumed by %s", id, st.move)
		}
	}
	if woken > 1 {
		return fmt.Errorf("%d tickets were resumed at once", woken)
	}
	return nil
}

func wokenByArrival(st *step, id gate.TicketID) error {
	m := st.before.Messages[st.move.message]
	if m.Sender.Kind != gate.Person || isStop(m.Plain) {
		return fmt.Errorf("%s was resumed by a %v saying %q", id, m.Sender.Kind, m.Plain)
	}
	for _, k := range st.before.Threads[m.Thread].Tickets {
		o := st.before.Tickets[k.Ticket]
		if k.Kind != orchestrator.SubOwn {
			continue
		}
		newer := o.ActiveAt.After(st.before.Tickets[id].ActiveAt) && revalidated(st, &o) != gate.Fails && o.Mandate.Stands()
		if o.Active() || newer {
			return fmt.Errorf("%s was resumed while %s is %s, newer: %v", id, k.Ticket, o.State, newer)
		}
	}
	return nil
}

func isStop(text string) bool { return text == "stop" }

func releases(st *step) error {
	for id, before := range st.before.Messages {
		after := st.after.Messages[id]
		for _, owner := range liveOwners(&st.before, &before) {
			if slices.Contains(liveOwners(&st.after, &after), owner) {
				continue
			}
			if err := left(st, &before, &after, owner); err != nil {
				return err
			}
		}
		if gone := len(before.Owners) > len(after.Owners); gone && !live(&st.after, &after) {
			switch after.State {
			case orchestrator.StateQueued, orchestrator.StateNotAdmitted, orchestrator.StateDelivered:
			case orchestrator.StateWaiting: // it is one candidate with another (EV-1)
				if after.Bundle == "" || st.after.Messages[after.With].Bundle != after.Bundle {
					return fmt.Errorf("%s was released and waits with %q", id, after.With)
				}
			case orchestrator.StateRecalled: // TR-4a
				if !after.Recalled || after.Text != "" {
					return fmt.Errorf("%s is recalled and says %q", id, after.Text)
				}
			case orchestrator.StateDecided:
				if !slices.ContainsFunc(after.Decided, func(d orchestrator.Decided) bool { return d.Action == orchestrator.ActStop }) {
					return fmt.Errorf("%s was released and is decided: %+v", id, after.Decided)
				}
			default:
				return fmt.Errorf("%s was released and is %s", id, after.State)
			}
		}
	}
	return nil
}

// left: the Ticket does not own the message any more. It ended, handed the
// message back, or the message waited for it in vain.
func left(st *step, before, after *orchestrator.Message, owner gate.TicketID) error {
	if st.move.kind == mvChanged && st.move.of == before.ID && after.Recalled { // TR-4a
		return nil
	}
	t, now := st.before.Tickets[owner], st.after.Tickets[owner]
	keeps := slices.Contains(after.Owners, owner)
	said := st.move.kind == mvRoute && st.move.item.Action == orchestrator.ActStop && st.move.item.Trigger == before.ID
	switch {
	case st.move.kind == mvToEval && st.move.message == before.ID: // PA-1
		if keeps || after.State != orchestrator.StateQueued {
			return fmt.Errorf("%s was sent to eval and is %s of %v", before.ID, after.State, after.Owners)
		}
	case now.Active():
		if handed := st.move.cmd.Verb == orchestrator.VerbHandBack && st.move.ticket == owner; !handed || len(after.HandBacks) != len(before.HandBacks)+1 {
			return fmt.Errorf("%s lost %s by %s", owner, before.ID, st.move)
		}
	case !t.Active():
		if keeps || now.Mandate.Stands() {
			return fmt.Errorf("%s waits no more for %s, whose mandate is %v", before.ID, owner, now.Mandate.State)
		}
	case said:
		if keeps {
			return fmt.Errorf("%s stopped %s, which keeps it", before.ID, owner)
		}
	default:
		i := slices.IndexFunc(t.Held, func(h orchestrator.Held) bool { return h.Trigger == before.ID })
		undealt := i >= 0 && !t.Held[i].Root && t.Held[i].Seq > now.Covered
		if undealt == keeps {
			return fmt.Errorf("%s ended, undealt with %s: %v, keeps it: %v", owner, before.ID, undealt, keeps)
		}
	}
	return nil
}

func acquisitions(st *step) error {
	for id, after := range st.after.Messages {
		before := st.before.Messages[id]
		for _, owner := range liveOwners(&st.after, &after) {
			if slices.Contains(before.Owners, owner) {
				continue // also one that had it, ended and was resumed
			}
			routed := st.move.kind == mvRoute && st.a.result.OK && st.a.result.Ticket == owner
			arrived := st.move.kind == mvArrive && st.move.message == id && after.Sender.Kind == gate.Person
			companion := routed && before.With == st.move.item.Trigger
			if !arrived && !companion && (!routed || st.move.item.Trigger != id) {
				return fmt.Errorf("%s came to own %s by %s", owner, id, st.move)
			}
		}
	}
	return nil
}

func stopsRest(st *step) error {
	for id, after := range st.after.Messages {
		before := st.before.Messages[id]
		stopped := slices.ContainsFunc(before.Decided, func(d orchestrator.Decided) bool { return d.Action == orchestrator.ActStop })
		open := before.State == orchestrator.StateQueued || before.State == orchestrator.StateEvaluating
		handed := st.move.kind == mvPerform && st.move.cmd.Verb == orchestrator.VerbHandBack
		if stopped && !open && !handed && after.State == orchestrator.StateQueued {
			return fmt.Errorf("%s stopped a ticket and is a candidate again by %s", id, st.move)
		}
	}
	return nil
}

func heard(st *step) error {
	for id, after := range st.after.Messages {
		before := st.before.Messages[id]
		known := live(&st.before, &before) || before.State == orchestrator.StateOwned ||
			st.move.kind == mvRoute && st.move.item.Trigger == id
		rode := before.With != "" && before.Bundle != "" && before.Bundle == st.before.Messages[before.With].Bundle // EV-1
		if known || rode || !live(&st.after, &after) {
			continue
		}
		due := slices.ContainsFunc(st.c.Due, func(d approvals.Due) bool {
			return oneLine(d.Kind) == orchestrator.DueEval && d.Key == string(after.Thread)
		})
		if !due || !slices.Contains(st.after.Threads[after.Thread].Notices, id) {
			return fmt.Errorf("%s is owned by %v, noticed %v, due %v", id, after.Owners, st.after.Threads[after.Thread].Notices, due)
		}
	}
	return nil
}

func reachesAll(st *step) error {
	m := st.before.Messages[st.move.message]
	if st.move.kind != mvArrive || m.State != orchestrator.StateReceived || st.after.Messages[m.ID].State == orchestrator.StateDropped {
		return nil
	}
	if m.Addressing.Addresses() && strings.HasPrefix(m.Text, "/") { // a command is the gateway's alone (OUT-7)
		return nil
	}
	for _, k := range st.before.Threads[m.Thread].Tickets {
		got := 0
		for _, in := range st.c.Inputs {
			if in.Ticket == k.Ticket && in.Trigger == m.ID {
				got++
			}
		}
		if t := st.before.Tickets[k.Ticket]; t.Active() && got != 1 {
			return fmt.Errorf("%s got %s %d times", k.Ticket, m.ID, got)
		}
	}
	return nil
}

func saidOnce(st *step) error {
	replies := 0
	for _, o := range st.c.Out {
		if o.Kind == gate.OutReply && !strings.HasPrefix(o.Text, "The earlier task") {
			replies++
		}
	}
	for _, d := range st.c.Decisions {
		want := 1
		if d.Outcome == orchestrator.Unavailable {
			continue
		}
		if d.Outcome == orchestrator.Observed && replies == 0 {
			continue
		}
		silent := slices.ContainsFunc(d.Verdicts, func(v orchestrator.RuleVerdict) bool {
			r, ok := st.f.Policy.Rule(v.Rule)
			return v.Match && ok && !r.Acknowledge
		})
		if silent && d.Outcome == orchestrator.Accepted || d.Outcome == orchestrator.Attached || d.Outcome == orchestrator.Ignored && d.Strength != gate.Explicit {
			want = 0
		}
		if d.Outcome != orchestrator.Attached && replies != want {
			return fmt.Errorf("%s was %s (%v) and %d replies were said, want %d", d.Trigger, d.Outcome, d.Strength, replies, want)
		}
	}
	return nil
}

func settledDue(st *step) error {
	for _, q := range st.c.Questions {
		due := slices.ContainsFunc(st.c.Due, func(d approvals.Due) bool {
			return d.Kind == approvals.DueSettled && d.Key == string(q.ID)
		})
		if q.Status.Terminal() && !due {
			return fmt.Errorf("question %s is %s, and its asker will not hear", q.ID, q.Status)
		}
	}
	return nil
}

func nothingVanishes(st *step) error {
	if len(st.after.Messages) != len(st.before.Messages) {
		return fmt.Errorf("%d messages, were %d", len(st.after.Messages), len(st.before.Messages))
	}
	for id, m := range st.after.Messages {
		if was := st.before.Messages[id]; was.State != orchestrator.StateReceived && m.State == orchestrator.StateReceived {
			return fmt.Errorf("%s is in the inbox again", id)
		}
	}
	return nil
}

// noLostWake: what needs a follow-up has due work. It is emitted when the need
// arises, and again by a move that takes the due work up (as a handler does)
// and leaves the need; nothing else may cancel it.
func noLostWake(st *step) error {
	before, after := needs(&st.before), needs(&st.after)
	for name := range after {
		took := name == took(st.move) && !refusedTurn(st)
		cancelled := slices.ContainsFunc(st.c.Cancel, func(d approvals.Due) bool { return wakeName(d.Kind, d.Key) == name })
		if before[name] && !took && !cancelled {
			continue
		}
		emitted := slices.ContainsFunc(st.c.Due, func(d approvals.Due) bool { return wakeName(oneLine(d.Kind), d.Key) == name })
		if !emitted && (!took || st.c.Next.IsZero()) {
			return fmt.Errorf("%s is needed and not due", name)
		}
	}
	return nil
}

// refusedTurn: a turn that was not opened, since there is no place for it, or that
// was given no more, since its budget is used up, leaves its work due
// (Runner.Handle).
func refusedTurn(st *step) bool {
	t := st.after.Tickets[st.move.ticket]
	return st.move.kind == mvTurn && (!t.Turn || t.Parked > 0 && t.Parked == t.Delivered)
}

// oneLine takes the three lines of due Evals for one (EV-1).
func oneLine(kind approvals.DueKind) approvals.DueKind {
	if slices.Contains(orchestrator.EvalLines(), kind) {
		return orchestrator.DueEval
	}
	return kind
}

func wakeName(kind approvals.DueKind, key string) string { return string(kind) + " " + key }

func took(mv move) string {
	switch mv.kind {
	case mvForm:
		return wakeName(orchestrator.DueEval, string(mv.thread))
	case mvTurn:
		return wakeName(orchestrator.DueTurn, string(mv.ticket))
	case mvResume:
		return wakeName(orchestrator.DueResume, string(mv.ticket))
	case mvExpire:
		return ""
	default:
	}
	return ""
}

// needs names the due work that must be scheduled.
func needs(s *orchestrator.State) map[string]bool {
	n := map[string]bool{}
	for id, th := range s.Threads {
		if len(th.Queue) > 0 && th.Eval == "" {
			n[wakeName(orchestrator.DueEval, string(id))] = true
		}
		if th.Eval != "" {
			n[wakeName(orchestrator.DueEvalDeadline, string(th.Eval))] = true
		}
	}
	for id, t := range s.Tickets {
		if t.Active() && t.Delivered < t.Seq {
			n[wakeName(orchestrator.DueTurn, string(id))] = true
		}
		if len(t.Waiting) > 0 {
			n[wakeName(orchestrator.DueResume, string(id))] = true
		}
	}
	return n
}
