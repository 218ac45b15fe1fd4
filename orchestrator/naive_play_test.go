package orchestrator_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

var naiveThreads = []string{"A", "B", "C", "G", "H"}

// naiveSteps are how long it takes until something happens, most often.
var naiveSteps = []time.Duration{
	time.Second, time.Second, time.Second, 7 * time.Second, 7 * time.Second, 7 * time.Second, 7 * time.Second, 61 * time.Second, 61 * time.Second,
	61 * time.Second, 5 * time.Minute, 11 * time.Minute, 65 * time.Minute, 25 * time.Hour,
}

// TestNaiveModel plays random stories to a Service over a store and to the
// naive model, and compares after every step (pages 01 to 05). The usual run
// plays the same stories each time; with GATEHOUSE_LONG=1 it plays others, for
// most of a minute. -rapid.steps=80 makes them longer.
func TestNaiveModel(t *testing.T) {
	seedNaive()
	t.Parallel()
	for begin := time.Now(); ; {
		rapid.Check(t, func(t *rapid.T) { playNaive(t, storetest.NewMem()) })
		if t.Failed() || !naiveLong() || time.Since(begin) > 50*time.Second {
			return
		}
	}
}

func naiveLong() bool { return os.Getenv("GATEHOUSE_LONG") != "" }

// seedNaive makes the usual run play the same stories each time. A seed of the
// command line stands. It is called before a
// test is parallel: the package's other properties read the flags too.
var seedNaive = sync.OnceFunc(func() {
	usual := func(name, value, otherwise string) {
		if f := flag.Lookup(name); f.Value.String() == otherwise {
			_ = f.Value.Set(value)
		}
	}
	if !naiveLong() {
		usual("rapid.seed", "20261130", "0")
	}
})

// naivePlaces are where a story may happen: in few Threads more happens that
// has to do with each other.
var naivePlaces = [][]string{naiveThreads, naiveThreads, {"A", "B"}, {"C"}, {"G"}, {"A", "G"}, {"C", "H"}}

func playNaive(t *rapid.T, store orchestrator.Store) {
	w := newNaiveWorld(t, store)
	w.places = rapid.SampledFrom(naivePlaces).Draw(t, "places")
	// Where there is nothing to do it to, something is said instead: rapid ends
	// a story in which much is skipped.
	step := func(do func()) func(*rapid.T) {
		return func(t *rapid.T) {
			w.t = t
			w.pass(rapid.SampledFrom(naiveSteps).Draw(t, "later"))
			do()
			w.compare()
		}
	}
	ifMessages := func(do func()) func() {
		return func() { w.orSay(w.hasMessages(), do) }
	}
	ifTickets := func(do func()) func() {
		return func() { w.orSay(len(w.tickets) > 0, do) }
	}
	t.Repeat(map[string]func(*rapid.T){
		"say":     step(w.doSay),
		"say2":    step(w.doSay),
		"say3":    step(w.doSay),
		"begin":   step(w.doBegin),
		"begin2":  step(w.doBegin),
		"next":    step(w.doNext),
		"next2":   step(w.doNext),
		"route":   step(ifMessages(w.doRoute)),
		"route2":  step(ifMessages(w.doRoute)),
		"judge":   step(ifMessages(w.doJudge)),
		"read":    step(ifTickets(w.doRead)),
		"act":     step(ifTickets(w.doAct)),
		"act2":    step(ifTickets(w.doAct)),
		"policy":  step(w.doPolicy),
		"person":  step(ifTickets(w.doPerson)),
		"fail":    step(w.doFail),
		"pause":   step(w.doPause),
		"sources": step(w.doSources),
	})
}

// orSay does something, or says something where it cannot be done.
func (w *naiveWorld) orSay(can bool, do func()) {
	if !can {
		do = w.doSay
	}
	do()
}

func (w *naiveWorld) hasMessages() bool {
	return slices.ContainsFunc(w.messages, func(m *naiveMessage) bool { return m.state != orchestrator.StateDropped })
}

// pick draws one of the numbers, the oldest first so that stories shrink.
func (w *naiveWorld) pick(what string, from []int) int {
	if len(from) == 0 {
		w.t.Skip("nothing to pick")
	}
	return rapid.SampledFrom(from).Draw(w.t, what)
}

func (w *naiveWorld) anyMessage() int {
	var all, open []int
	for _, m := range w.messages {
		if m.state != orchestrator.StateDropped {
			all = append(all, m.n)
		}
		if m.state == orchestrator.StateEvaluating {
			open = append(open, m.n)
		}
	}
	if len(open) > 0 && rapid.IntRange(0, 3).Draw(w.t, "any") > 0 {
		return w.pick("message", open)
	}
	return w.pick("message", all)
}

func (w *naiveWorld) anyTicket() int {
	var all, open []int
	for _, t := range w.tickets {
		all = append(all, t.n)
		if !t.ended {
			open = append(open, t.n)
		}
	}
	if len(open) > 0 && rapid.IntRange(0, 3).Draw(w.t, "any") > 0 {
		return w.pick("ticket", open)
	}
	return w.pick("ticket", all)
}

// doBegin has a request said, given out and accepted at once, if nothing stands
// in its way, so that most stories have Tickets.
func (w *naiveWorld) doBegin() {
	m := &naiveMessage{
		n: len(w.messages) + 1, thread: rapid.SampledFrom(w.places).Draw(w.t, "thread"), kind: gate.Person, from: "lin",
		addressed: true, state: orchestrator.StateReceived,
	}
	m.scope = gate.ChatScope(roomOf(m.thread))
	if sourceOf(m.thread) == "gh" {
		m.scope = gate.Issues
	}
	w.receive(m)
	w.doNext()
	if m.state == orchestrator.StateEvaluating {
		w.giveItem(naiveItem{message: m.n, action: orchestrator.ActAccept, version: w.version, executor: gate.DefaultExecutor})
	}
}

func (w *naiveWorld) doSay() {
	m := &naiveMessage{n: len(w.messages) + 1, thread: rapid.SampledFrom(w.places).Draw(w.t, "thread"), kind: gate.Person, state: orchestrator.StateReceived}
	m.from = rapid.SampledFrom([]string{"lin", "lin", "lin", "wang", "wang", "zhou", "good", "bad", "ci"}).Draw(w.t, "from")
	m.addressed = rapid.Bool().Draw(w.t, "addressed")
	m.stopWord = rapid.IntRange(0, 6).Draw(w.t, "stop") == 6
	m.late = rapid.IntRange(0, 9).Draw(w.t, "late") == 9
	m.scope = gate.ChatScope(roomOf(m.thread))
	if sourceOf(m.thread) == "gh" {
		m.scope = rapid.SampledFrom([]gate.Scope{gate.Issues, gate.Comments}).Draw(w.t, "scope")
	}
	switch {
	case m.from == "good" || m.from == "bad":
		m.kind = gate.Bot
	case m.from == "ci" && sourceOf(m.thread) == "gh":
		m.kind, m.scope, m.from, m.addressed, m.stopWord = gate.NoSender, gate.CI, "", false, false
	case m.from == "ci":
		m.from = "wang"
	}
	w.receive(m)
}

// receive has a message received.
func (w *naiveWorld) receive(m *naiveMessage) {
	w.messages = append(w.messages, m)
	w.tell("say m%d %s %s/%s addressed=%t stop=%t late=%t scope=%s", m.n, m.thread, m.kind, m.from, m.addressed, m.stopWord, m.late, m.scope)
	a := w.arrival(m)
	if err := w.svc.Receive(w.ctx(), a); err != nil {
		w.fatalf("Receive: %v", err)
	}
	if rapid.IntRange(0, 4).Draw(w.t, "twice") == 4 {
		w.no(w.svc.Receive(w.ctx(), a)) // TR-1
	}
	w.mayDie()
	w.settle()
	w.store.die = ""
	if !w.takes(m) {
		m.state = orchestrator.StateDropped
		return
	}
	w.arrive(m)
	w.look()
	// Where several candidates wait, it may wait with any of them.
	if with := w.seen.numbers[w.seen.messages[m.n].With]; m.with != 0 && with != 0 && w.msg(with).thread == m.thread &&
		w.msg(with).undecided() && w.msg(with).verdict.strength == gate.Explicit {
		m.with = with
	}
}

// doNext lets a session take the next Eval. Among Threads of one rank the
// Service may choose.
func (w *naiveWorld) doNext() {
	session := rapid.SampledFrom([]string{"s1", "s2"}).Draw(w.t, "session")
	best := 3
	for _, name := range naiveThreads {
		best = min(best, w.rank(name))
	}
	h, ok, err := w.svc.Next(w.ctx(), session, false, 0)
	w.no(err)
	w.tell("next %s: %t %s", session, ok, h.Thread.ID)
	w.look()
	for _, name := range naiveThreads {
		// What falls to none is taken out before anything behind it is given.
		if th := w.thread(name); name != string(h.Thread.ID) && w.rank(name) < 3 && th.eval == nil && w.seen.evals[name].ID == "" && len(w.seen.threads[name].Queue) < len(th.queue) {
			if w.form(name, session) {
				w.fatalf("an Eval of %s was formed and not given", name)
			}
		}
	}
	if !ok {
		for _, name := range naiveThreads {
			if w.rank(name) < 3 {
				w.fatalf("nothing was given, and %s waits (EV-1)", name)
			}
		}
		return
	}
	name := string(h.Thread.ID)
	if r := w.rank(name); r != best && w.rank(name) == 3 {
		w.fatalf("Thread %s of rank %d was given, and rank %d waits (EV-1)", name, r, best)
	}
	other := map[string]string{"A": "B", "B": "A"}[name]
	mayBundle := other != "" && w.onlyInferred(name) && w.onlyInferred(other)
	// EV-1 says "up to": a Thread that stood in another line may come alone.
	mustBundle := mayBundle && !w.thread(name).ahead && !w.thread(other).ahead && len(w.thread(other).notices) == 0
	w.thread(name).ahead = len(h.Notices) > 0
	formed := w.form(name, session)
	var want []int
	if formed {
		want = slices.Clone(w.thread(name).eval.undecided)
	}
	var got []int
	for _, m := range h.Candidates {
		got = append(got, w.seen.numbers[m.ID])
	}
	together := slices.ContainsFunc(got, func(n int) bool { return w.msg(n).thread == other })
	if together && !mayBundle {
		w.fatalf("%s was given together with %s (EV-1)", name, other)
	}
	if formed && (mustBundle || together) && w.bundle(name, other) {
		want = append(want, w.thread(other).eval.undecided...)
	}
	rank := func(a, b int) int { return w.msg(a).rank() - w.msg(b).rank() }
	if !slices.IsSortedFunc(got, rank) || !slices.Equal(inOrder(got), inOrder(want)) {
		w.fatalf("%s was given with candidates %v, want %v (EV-1)", name, got, want)
	}
	if rapid.Bool().Draw(w.t, "acknowledged") && len(h.Notices) > 0 {
		var ids []gate.TriggerID
		for _, m := range h.Notices {
			ids = append(ids, m.ID)
		}
		w.tell("its notices are acknowledged")
		w.no(w.svc.AckNoticesOf(w.ctx(), ids))
		w.thread(name).notices = nil
	}
}

func inOrder(ns []int) []int { return slices.Sorted(slices.Values(ns)) }

func (w *naiveWorld) doRoute() { w.item(false) }
func (w *naiveWorld) doJudge() { w.item(true) }

func (w *naiveWorld) item(evaluated bool) {
	it := naiveItem{message: w.anyMessage(), evaluated: evaluated, version: w.version, executor: gate.DefaultExecutor}
	actions := []orchestrator.Action{orchestrator.ActAccept, orchestrator.ActAccept, orchestrator.ActIgnore, orchestrator.ActRequeue}
	if len(w.tickets) > 0 {
		actions = append(actions, orchestrator.ActAttach, orchestrator.ActStop)
	}
	it.action = rapid.SampledFrom(actions).Draw(w.t, "action")
	if it.action == orchestrator.ActAttach || it.action == orchestrator.ActStop {
		it.ticket = w.anyTicket()
	}
	if it.action == orchestrator.ActAccept && rapid.IntRange(0, 3).Draw(w.t, "codex") == 3 {
		it.executor = "codex"
	}
	if rapid.IntRange(0, 9).Draw(w.t, "stale") == 9 {
		it.version--
	}
	if evaluated {
		it.badVerdicts = rapid.IntRange(0, 9).Draw(w.t, "bad") == 9
		for _, r := range []string{"r1", "r2"} {
			if w.policy.rules[r].enabled && rapid.Bool().Draw(w.t, r) {
				it.matched = append(it.matched, r)
			}
		}
	}
	w.giveItem(it)
}

// giveItem routes an item, and gives it to the model.
func (w *naiveWorld) giveItem(it naiveItem) {
	after := w.mayDie()
	w.tell("item %+v", it)
	var res orchestrator.Result
	do := func() (err error) {
		res, err = w.svc.Route(w.ctx(), w.realItem(it), w.ruling(it))
		return err
	}
	landed := false
	w.no(w.try(do, func() { landed = after }))
	if landed {
		w.tell("  the write had landed: it is the second time")
		w.applyItem(it, nil)
	}
	w.applyItem(it, &res)
}

func (w *naiveWorld) realItem(it naiveItem) orchestrator.Item {
	real := orchestrator.Item{
		Trigger: w.seen.messages[it.message].ID, Action: it.action, Title: "title", Brief: "brief", Executor: it.executor, Reason: "reason",
	}
	if it.ticket > 0 {
		real.Ticket = w.seen.tickets[it.ticket-1].ID
	}
	return real
}

func (w *naiveWorld) ruling(it naiveItem) orchestrator.Ruling {
	r := orchestrator.Ruling{PolicyVersion: it.version, By: orchestrator.ByMainSession, Evaluated: it.evaluated}
	if !it.evaluated {
		return r
	}
	for _, id := range []string{"r1", "r2"} {
		if w.policy.rules[id].enabled {
			r.Verdicts = append(r.Verdicts, orchestrator.RuleVerdict{Rule: id, Match: slices.Contains(it.matched, id), Reason: "because"})
		}
	}
	if it.badVerdicts {
		r.Verdicts = append(r.Verdicts, orchestrator.RuleVerdict{Rule: "nosuch", Reason: "because"})
	}
	return r
}

// applyItem gives an item to the model, and compares the answer if there is
// one to compare.
func (w *naiveWorld) applyItem(it naiveItem, res *orchestrator.Result) {
	m := w.msg(it.message)
	if w.repeat(it) {
		if res != nil && (!res.OK || !res.Deduped) {
			w.fatalf("a repeat answered %+v %+v, want deduped (RO-8)", *res, res.Error)
		}
		return
	}
	faults := w.faults(it)
	if it.action == orchestrator.ActStop && m.state == orchestrator.StateOwned && !w.held(m) {
		// Its owner ended meanwhile. Pages 03 and 04 do not say how long it may
		// still stop: while its notice stands it must, later it need not.
		w.look()
		if w.seen.stoppedBy(m.n, it.ticket) == 0 {
			faults = append(faults, orchestrator.CodeNotQueued)
		}
	}
	if len(faults) == 0 {
		if res != nil && (!res.OK || res.Deduped) {
			w.fatalf("the item was refused: %+v %+v", *res, res.Error)
		}
		w.route(it)
		return
	}
	var code orchestrator.Code
	if res != nil {
		if res.Error == nil || !slices.Contains(faults, res.Error.Code) {
			w.fatalf("the item answered %+v %+v, want one of %v", *res, res.Error, faults)
		}
		code = res.Error.Code
		w.tell("  refused: %s", code)
	}
	w.look()
	if res == nil && slices.Contains(faults, orchestrator.CodeNotAdmitted) && w.seen.messages[m.n].State == orchestrator.StateNotAdmitted {
		code = orchestrator.CodeNotAdmitted
	}
	if res == nil && slices.Contains(faults, orchestrator.CodeNeedsNewAccept) && w.seen.tickets[it.ticket-1].Mandate.State == gate.MandateRevoked {
		code = orchestrator.CodeNeedsNewAccept
	}
	if v := w.judge(m); basisWord(w.seen.messages[m.n].Admission.Basis) == v.basis &&
		(m.state == orchestrator.StateOwned || m.state == orchestrator.StateWaiting) {
		m.verdict = v // what was computed may show (AD-14)
	}
	switch code {
	case orchestrator.CodeNotAdmitted: // AD-14
		if m.undecided() {
			w.leave(m)
			if w.admit(m); m.verdict.strength != gate.None {
				m.verdict = naiveVerdict{} // AD-13: one Ticket too many
			}
			w.notAdmitted(m)
			w.parted(m.n)
		}
	case orchestrator.CodeNeedsNewAccept: // RE-2
		if t := w.ticket(it.ticket); t.stands() && t.ended && w.revalidate(t) == "fails" {
			w.revoke(t)
		}
	}
}

// stoppedBy counts the Decisions by which a message stopped a Ticket.
func (s *snapshot) stoppedBy(message, ticket int) (n int) {
	for _, d := range s.decisions {
		if s.numbers[d.Trigger] == message && s.ticketNo[d.Ticket] == ticket && d.Outcome == orchestrator.Stopped {
			n++
		}
	}
	return n
}

func (w *naiveWorld) doRead() {
	n := w.anyTicket()
	w.tell("read t%d", n)
	id := w.seen.tickets[n-1].ID
	_, err := w.svc.Read(w.ctx(), id, orchestrator.Reading{})
	w.no(err)
	w.openTurn(w.ticket(n))
}

func (w *naiveWorld) doAct() {
	t := w.ticket(w.anyTicket())
	a := naiveAct{}
	a.verb = rapid.SampledFrom([]orchestrator.Verb{
		orchestrator.VerbAck, orchestrator.VerbReply, orchestrator.VerbHandBack, orchestrator.VerbHandBack, orchestrator.VerbReport, orchestrator.VerbReport,
		orchestrator.VerbTurnEnd, orchestrator.VerbFollow, orchestrator.VerbUnfollow,
	}).Draw(w.t, "verb")
	switch a.verb {
	case orchestrator.VerbAck, orchestrator.VerbReply, orchestrator.VerbHandBack:
		if len(t.inputs) == 0 {
			w.t.Skip("no inputs")
		}
		a.inputs = []int{rapid.IntRange(1, len(t.inputs)).Draw(w.t, "input")}
	case orchestrator.VerbReport:
		a.kind = rapid.SampledFrom([]orchestrator.ReportKind{
			orchestrator.ReportProgress, orchestrator.ReportWaiting, orchestrator.ReportReady, orchestrator.ReportBlocked, orchestrator.ReportFailed,
			orchestrator.ReportDone, orchestrator.ReportDone, orchestrator.ReportDone,
		}).Draw(w.t, "kind")
		a.final = a.kind == orchestrator.ReportFailed && rapid.Bool().Draw(w.t, "final")
	case orchestrator.VerbFollow, orchestrator.VerbUnfollow:
		a.thread = rapid.SampledFrom(w.places).Draw(w.t, "thread")
	}
	if (a.verb == orchestrator.VerbReport || a.verb == orchestrator.VerbTurnEnd) && rapid.Bool().Draw(w.t, "covers") {
		a.upto = rapid.IntRange(1, max(1, len(t.inputs))).Draw(w.t, "upto")
	}
	a.key = fmt.Sprintf("k%d", len(w.story))
	w.mayDie()
	w.tell("t%d does %+v", t.n, a)
	var p orchestrator.Performed
	id := w.seen.tickets[t.n-1].ID
	cmd := orchestrator.Command{Verb: a.verb, Key: a.key, Thread: gate.ThreadID(a.thread), Text: naiveWords, Reason: "why", Kind: a.kind, Final: a.final, Upto: a.upto}
	for _, seq := range a.inputs {
		cmd.Named = append(cmd.Named, w.seen.inputs[t.n-1][seq-1].ID)
	}
	w.no(w.try(func() (err error) { p, err = w.svc.Act(w.ctx(), id, cmd); return err }, func() {}))
	faults := w.actFaults(t, a)
	switch {
	case p.Error != nil && !slices.Contains(faults, p.Error.Code):
		w.fatalf("the action was refused: %+v, want one of %v", p.Error, faults)
	case p.Error == nil && len(faults) > 0 && !slices.Contains(faults, ""):
		w.fatalf("the action was done, want one of %v", faults)
	case p.Error == nil:
		w.act(t, a)
	}
}

func (w *naiveWorld) doPolicy() {
	p := w.policy.clone()
	source := rapid.SampledFrom([]gate.SourceID{"feishu", "gh"}).Draw(w.t, "source")
	switch what := rapid.SampledFrom([]string{"mode", "mode", "cell", "cell", "cell", "allow", "bots", "rule", "limits", "executors"}).Draw(w.t, "what"); what {
	case "mode":
		p.mode = rapid.SampledFrom([]gate.Mode{gate.Auto, gate.Observe, gate.Off}).Draw(w.t, "mode")
	case "allow":
		who := rapid.SampledFrom([]string{"lin", "wang"}).Draw(w.t, "who")
		if p.allow[source][who] {
			delete(p.allow[source], who)
		} else {
			p.allow[source][who] = true
		}
	case "bots":
		p.bots[source]["good"] = !p.bots[source]["good"]
	case "executors":
		p.unlistedAny[source] = !p.unlistedAny[source]
	case "limits":
		p.limits = rapid.SampledFrom([]gate.Limits{{}, {SenderPerHour: 2, ScopePerHour: 3, ActivePerRequester: 1, WaitingPerScope: 2}}).Draw(w.t, "limits")
	case "rule":
		id := rapid.SampledFrom([]string{"r1", "r2"}).Draw(w.t, "rule")
		r := p.rules[id]
		switch rapid.SampledFrom([]string{"enabled", "silent", "codex", "text"}).Draw(w.t, "part") {
		case "enabled":
			r.enabled = !r.enabled
		case "silent":
			r.silent = !r.silent
		case "codex":
			r.codex = !r.codex
		case "text":
			r.text++
		}
		p.rules[id] = r
	case "cell":
		scopes := []gate.Scope{gate.ChatScope("oc_ops"), gate.ChatScope("oc_all")}
		if source == "gh" {
			scopes = []gate.Scope{gate.Issues, gate.Comments, gate.CI}
		}
		scope := rapid.SampledFrom(scopes).Draw(w.t, "scope")
		row := p.cells[source][scope]
		strength := rapid.SampledFrom([]gate.Strength{gate.Explicit, gate.Inferred, gate.None}).Draw(w.t, "strength")
		all := w.sources[source].receive[scope] == gate.ReceiveAll
		switch which := rapid.IntRange(0, 2).Draw(w.t, "cell"); {
		case scope == gate.CI:
			row.UnlistedUnaddressed = min(strength, gate.Inferred)
		case which == 0 || !all:
			row.UnlistedAddressed = strength
		case which == 1:
			row.ListedUnaddressed = strength
		default:
			row.UnlistedUnaddressed = strength
		}
		p.cells[source][scope] = row
	}
	before, after := w.policy.real(), p.real()
	if len(orchestrator.DiffPolicies(&before, &after)) == 0 {
		w.t.Skip("no change")
	}
	w.tell("policy: %s", diffWords(before, after))
	w.mayDie()
	w.setPolicy(p)
}

func diffWords(before, after gate.Policy) string {
	var s []string
	for _, e := range orchestrator.DiffPolicies(&before, &after) {
		s = append(s, fmt.Sprintf("%s %q to %q", e.Path, e.Before, e.After))
	}
	return strings.Join(s, ", ")
}

// doPerson is what people do in the panel (ST-2, EV-9, PA-1).
func (w *naiveWorld) doPerson() {
	var refused *orchestrator.Refused
	switch rapid.SampledFrom([]string{"again", "toeval", "toeval", "halt", "dismiss"}).Draw(w.t, "command") {
	case "halt":
		n := w.anyTicket()
		w.tell("somebody stops t%d by command", n)
		err := w.svc.StopByCommand(w.ctx(), w.seen.tickets[n-1].ID, "somebody")
		t := w.ticket(n)
		if err != nil {
			w.fatalf("StopByCommand: %v", err)
		}
		if !t.ended {
			w.answer(w.msg(t.message)) // OUT-6: a stop is confirmed
		}
		if !t.byPerson() {
			w.stop(t, orchestrator.EndManualStop)
		}
	case "again":
		name := rapid.SampledFrom(w.places).Draw(w.t, "thread")
		w.tell("somebody has %s evaluated again", name)
		err := w.svc.EvaluateAgain(w.ctx(), gate.ThreadID(name), "somebody")
		th := w.thread(name)
		busy := len(th.queue) > 0 || th.eval != nil // then it is not asked for nothing
		if asked, some := w.again(name); asked && !busy && some != (err == nil) {
			w.fatalf("EvaluateAgain = %v, and the gate admits something: %t", err, some)
		}
	case "dismiss":
		name := rapid.SampledFrom(w.places).Draw(w.t, "thread")
		w.tell("somebody dismisses what %s asks", name)
		err := w.svc.Dismiss(w.ctx(), gate.ThreadID(name), "somebody")
		if err != nil && !errors.As(err, &refused) && !errors.Is(err, orchestrator.ErrNotFound) {
			w.fatalf("Dismiss: %v", err)
		}
		w.dismiss(name)
	case "toeval": // there are messages, since there are Tickets
		n := w.anyMessage()
		w.tell("somebody sends m%d to Eval", n)
		err := w.svc.SendToEval(w.ctx(), w.seen.messages[n].ID, "somebody")
		if did := w.toEval(w.msg(n)); did != (err == nil) || (err != nil && !errors.As(err, &refused)) {
			w.fatalf("SendToEval = %v, and the model did %t", err, did)
		}
	}
}

func (w *naiveWorld) doFail() {
	var busy []string
	for _, name := range w.places {
		if w.thread(name).eval != nil {
			busy = append(busy, name)
		}
	}
	if len(busy) == 0 {
		w.doSay()
		return
	}
	name := rapid.SampledFrom(busy).Draw(w.t, "thread")
	th := w.thread(name)
	w.tell("the evaluation of %s fails", name)
	w.no(w.svc.FailEval(w.ctx(), w.seen.evals[name].ID, "no valid answer"))
	w.fail(th.eval.n)
}

// doPause pauses a Source or all, or lets them go on (RE-3).
func (w *naiveWorld) doPause() {
	source := rapid.SampledFrom([]gate.SourceID{"feishu", "gh", ""}).Draw(w.t, "source")
	paused := w.pausedAll
	if source != "" {
		paused = w.sources[source].paused
	}
	if !paused {
		w.tell("pause %q", source)
		_, err := w.svc.Pause(w.ctx(), source, "ops")
		w.no(err)
		w.setPause(source, true)
		return
	}
	w.tell("go on %q", source)
	_, err := w.svc.Resume(w.ctx(), source, "ops")
	w.no(err)
	w.setPause(source, false)
	for _, t := range w.tickets {
		if !t.ended && (source == "" || t.source == source) {
			t.recheck = true
		}
	}
	w.goOn()
}

func (w *naiveWorld) setPause(source gate.SourceID, on bool) {
	if source == "" {
		w.pausedAll = on
		for _, src := range w.sources {
			src.paused = src.paused && on // going on, everything does
		}
		return
	}
	w.sources[source].paused = on
}

// goOn gives what waited for a Source the time to be looked at again.
func (w *naiveWorld) goOn() {
	for range 6 {
		w.pass(30 * time.Second)
		w.look()
		for i, t := range w.tickets {
			if len(t.waiting) > 0 && len(w.seen.tickets[i].Waiting) == 0 {
				w.lookAgain(t) // it was looked at just now
			}
		}
	}
	for _, t := range w.tickets {
		w.lookAgain(t)
	}
}

// doSources changes the configuration, which takes a restart (PV-7).
func (w *naiveWorld) doSources() {
	source := rapid.SampledFrom([]gate.SourceID{"feishu", "gh"}).Draw(w.t, "source")
	src := w.sources[source]
	switch rapid.SampledFrom([]string{"off", "listed", "receive"}).Draw(w.t, "what") {
	case "off":
		src.on = !src.on
	case "listed":
		src.listed = !src.listed
	case "receive":
		scope := gate.ChatScope("oc_all")
		if source == "gh" {
			scope = gate.Issues
		}
		next := map[gate.Receive]gate.Receive{gate.ReceiveAll: gate.ReceiveMentions, gate.ReceiveMentions: gate.ReceiveOff, gate.ReceiveOff: gate.ReceiveAll}
		receive := map[gate.Scope]gate.Receive{}
		for k, v := range src.receive {
			receive[k] = v
		}
		receive[scope] = next[receive[scope]]
		src.receive = receive
	}
	w.tell("source %s: on=%t listed=%t receive=%v", source, src.on, src.listed, src.receive)
	w.restart()
	w.goOn()
}
