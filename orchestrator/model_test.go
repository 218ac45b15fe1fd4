package orchestrator_test

import (
	"cmp"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// epoch is when the tests' worlds begin.
var epoch = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// env is what changes around the transitions.
type env struct {
	// lin is whether the person "lin" is on the allow list.
	lin gate.Membership
	off bool
}

// universe is a small world that is searched to its end: what is said in it,
// and which moves are looked at besides Arrive, FormEval, OpenTurn and Route.
type universe struct {
	name    string
	says    string // a message a word: thread, sender, @ when it addresses the agent, ! for a stop word, # when it is of one bundle
	moves   string // letters, see moves
	lists   []gate.Membership
	off     bool   // the source can be switched off
	all     bool   // receive all messages, and the table infers
	strict  bool   // follow_ups: listed
	start   string // messages that were accepted before, as in says
	tickets int    // at most, by default 2
	bound   int    // of turns that are open at once
}

var (
	knownOrNot = []gate.Membership{gate.Yes, gate.No, gate.Unknown}
	universes  = []universe{
		{name: "handed back, stopped and accepted again", says: "Alin@ Alin", moves: "h s n"},
		{name: "a stop word that is put back", says: "Alin@ Alin!", moves: "h r"},
		{name: "two threads", says: "Alin@ Blin@ Blin", moves: "s"},
		{name: "two threads and a source that is switched off", says: "Alin@ Blin@", moves: "d s", off: true},
		{name: "a request, a follow-up and a stop", says: "Alin@ Alin Alin!", moves: "s d", tickets: 1},
		{name: "a requester who leaves the list and comes back", says: "Alin@ Awang Alin!", moves: "d", tickets: 1, lists: knownOrNot},
		{name: "a stranger who waits with a request that falls", says: "Alin@ Awang Alin", moves: "h", tickets: 1, lists: knownOrNot[:2]},
		{name: "strangers and bots", says: "Alin@ Awang Abot@", moves: "h", tickets: 1, all: true},
		{name: "strangers whose follow-ups are context", says: "Alin@ Awang Abot@", moves: "d", tickets: 1, all: true, strict: true},
		{name: "two owners of a stop", start: "Alin@ Alin@", says: "Alin!", moves: "s d"},
		{name: "two owners that end", start: "Alin@ Alin@", says: "Alin Alin!", moves: "d"},
		{name: "an executor and what it covers", start: "Alin@", says: "Alin Awang", moves: "a d f t u", tickets: 1},
		{name: "inferred threads of one chat", says: "Abot@ Bbot@ Blin@", moves: "b e", tickets: 1, all: true},
		{name: "inferred threads of one chat that are put back", says: "Abot@ Bbot@ Bbot@", moves: "b r", tickets: 1, all: true},
		{name: "two that wait for one place", start: "Alin@ Alin@", says: "Alin", moves: "t s", bound: 1},
		{name: "two that share one place and end", start: "Alin@ Alin@", says: "Blin@", moves: "d t", bound: 1},
		{name: "one candidate of several messages", says: "Abot@# Alin# Alin@#", moves: "r", tickets: 1, all: true},
		{name: "an executor that asks", start: "Alin@", says: "Alin", moves: "h t q s", tickets: 1},

		{name: "long: a stop word that is put back", says: "Alin@ Alin!", moves: "h s r"},
		{name: "long: a stop word and notices", says: "Alin@ Alin!", moves: "h s r n d"},
		{name: "long: two owners of a stop", start: "Alin@ Alin@", says: "Alin!", moves: "s h"},
		{name: "long: an executor that does everything", start: "Alin@", says: "Alin", moves: "a d f t q r s u h", tickets: 1},
		{name: "long: a requester who comes and goes", says: "Alin@ Alin Awang", moves: "d s", lists: knownOrNot},
		{name: "long: strangers and bots", says: "Alin@ Awang Abot@", moves: "h", all: true},
		{name: "long: strangers and bots whose follow-ups are context", says: "Alin@ Awang Abot@", moves: "d", all: true, strict: true},
		{name: "long: one candidate of several messages, handed back", says: "Abot@# Alin# Alin@#", moves: "h r", tickets: 1, all: true},
		{name: "long: one candidate of people's messages", says: "Alin@# Alin@# Awang#", moves: "h", tickets: 1, lists: knownOrNot[:2]},
		{name: "long: companions on two threads", says: "Alin@ Awang Blin@", moves: "h", lists: knownOrNot[:2]},
	}
)

// maxTickets bounds a world.
const maxTickets = 2

// maxStates says that a world is too large, or not finite.
const maxStates = 200_000

// node is a state of the world with what is around it.
type node struct {
	s      orchestrator.State
	env    env
	parent int
	by     fmt.Stringer
}

// told is something that happened to a node and is no move.
type told string

func (s told) String() string { return string(s) }

type search struct {
	t     *testing.T
	u     universe
	names []gate.TriggerID
	nodes []node
	seen  map[string]bool
	made  int // transitions
}

func TestEveryReachableState(t *testing.T) {
	t.Parallel()
	for _, u := range universes {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(u.name, "long:") && os.Getenv("GATEHOUSE_LONG") == "" {
				t.Skip("set GATEHOUSE_LONG to search it")
			}
			s := search{t: t, u: u, seen: map[string]bool{}}
			began := time.Now()
			s.run()
			t.Logf("%d states, %d transitions, %v", len(s.nodes), s.made, time.Since(began).Round(time.Millisecond))
		})
	}
}

func (x *search) run() {
	s := emptyState()
	for i, word := range append(strings.Fields(x.u.start), strings.Fields(x.u.says)...) {
		m := said(gate.TriggerID("m"+strconv.Itoa(i+1)), word)
		s.Messages[m.ID] = m
		x.names = append(x.names, m.ID)
	}
	first := node{s: s, env: env{lin: gate.Yes}, parent: -1}
	for i := range strings.Fields(x.u.start) {
		id := x.names[i]
		for _, mv := range []move{
			{kind: mvArrive, message: id},
			{kind: mvForm, thread: s.Messages[id].Thread},
			{kind: mvRoute, item: item(id, orchestrator.ActAccept, ""), ruling: ruling(false)},
		} {
			// Each on a Thread of its own until it is accepted, so that each
			// gets a Ticket; then the first Ticket reads all.
			first = x.beforehand(first, mv)
		}
	}
	x.add(first)
	for i := 0; i < len(x.nodes) && !x.t.Failed(); i++ {
		x.expand(i)
		x.nodes[i].s = orchestrator.State{}
		if len(x.nodes) > maxStates {
			x.t.Fatalf("more than %d states: %s", maxStates, x.nodes[len(x.nodes)-1].key())
		}
	}
}

// beforehand makes a move of the world's history. A follow-up that the first
// Ticket owns is handed back, so that it can be accepted.
func (x *search) beforehand(n node, mv move) node {
	if mv.kind == mvForm {
		for id, t := range n.s.Tickets {
			for _, h := range t.Held {
				if !h.Root {
					n = x.beforehand(n, move{kind: mvPerform, ticket: id, cmd: orchestrator.Command{
						Verb: orchestrator.VerbHandBack, Reason: "not mine", Inputs: []orchestrator.Input{{Ticket: id, Trigger: h.Trigger, Seq: h.Seq}},
					}})
				}
			}
		}
	}
	c, a := mv.run(n.s, x.facts(&n, mv))
	if a.result.Error != nil || a.performed.Error != nil {
		x.t.Fatalf("%s = %+v, %+v", mv, a.result.Error, a.performed.Error)
	}
	return node{s: apply(n.s, c), env: n.env, parent: -1}
}

func (x *search) add(n node) {
	key := x.key(&n)
	if !x.seen[key] {
		x.seen[key] = true
		x.nodes = append(x.nodes, n)
	}
}

func (x *search) expand(i int) {
	n := x.nodes[i]
	kept := deepCopy(n.s)
	for _, mv := range x.moves(&n) {
		x.try(i, n, mv)
		if x.t.Failed() {
			return
		}
	}
	for _, e := range x.around(n.env) {
		next := node{s: n.s, env: e, parent: i, by: told(fmt.Sprintf("list %v, off %v", e.lin, e.off))}
		x.add(next)
	}
	for _, q := range x.asked(&n) {
		x.add(node{s: apply(n.s, orchestrator.Changes{Questions: []approvals.Question{q}}), env: n.env, parent: i, by: told("ask " + q.ID)})
	}
	if !reflect.DeepEqual(n.s, kept) {
		x.fail(i, move{}, "no transition mutates its input", fmt.Errorf("one of them did"))
	}
}

// try makes a move and checks all that must hold.
func (x *search) try(i int, n node, mv move) {
	x.made++
	f := x.facts(&n, mv)
	c, a := mv.run(n.s, f)
	if x.made%16 == 0 {
		if again, b := mv.run(n.s, x.facts(&n, mv)); !reflect.DeepEqual(c, again) || !reflect.DeepEqual(a, b) {
			x.fail(i, mv, "the same input gives the same output", fmt.Errorf("%+v, then %+v", c, again))
		}
	}
	st := step{before: n.s, after: apply(n.s, c), move: mv, c: c, a: a, f: f}
	next := node{s: st.after, env: n.env, parent: i, by: mv}
	key := x.key(&next)
	for _, r := range stepRules {
		if err := r.check(&st); err != nil {
			x.fail(i, mv, r.name, err)
		}
	}
	x.twice(i, &st)
	if x.seen[key] {
		return
	}
	x.seen[key] = true
	x.nodes = append(x.nodes, next)
	for _, r := range stateRules {
		if err := r.check(&st.after); err != nil {
			x.fail(i, mv, r.name, err)
		}
	}
}

// twice makes the move again where a repeat must not matter.
func (x *search) twice(i int, st *step) {
	mv := st.move
	n := node{s: st.after, env: env{lin: gate.Yes}}
	switch {
	case mv.kind == mvRoute && st.a.result.OK && mv.item.Action != orchestrator.ActRequeue:
		c, a := mv.run(st.after, st.f)
		if !a.result.OK || !a.result.Deduped || !unchanged(c) || a.result.Ticket != st.a.result.Ticket || a.result.Decision != st.a.result.Decision {
			x.fail(i, mv, "RO-8 a repeat answers the same", fmt.Errorf("%+v, then %+v", st.a.result, a.result))
		}
	case mv.kind == mvPerform && mv.cmd.Verb == orchestrator.VerbHandBack && st.a.performed.OK:
		if c, a := mv.run(st.after, st.f); !unchanged(c) || a.performed.Note == "" {
			x.fail(i, mv, "HB-1 a message is handed back once", fmt.Errorf("%+v", a.performed))
		}
	case mv.kind == mvArrive, mv.kind == mvStop, mv.kind == mvAckNote, mv.kind == mvForm && st.after.Threads[mv.thread].Eval != "":
		if c, _ := mv.run(st.after, x.facts(&n, mv)); !unchanged(c) {
			x.fail(i, mv, "a repeat changes nothing", fmt.Errorf("%+v", c))
		}
	}
}

func (x *search) fail(i int, mv move, rule string, err error) {
	x.t.Helper()
	var path []string
	for j := i; x.nodes[j].parent >= 0; j = x.nodes[j].parent {
		path = append(path, x.nodes[j].by.String())
	}
	slices.Reverse(path)
	x.t.Errorf("%s\n  breaks: %s\n  with: %v\n  after: %s", mv, rule, err, strings.Join(path, "\n         "))
}

// facts are the same for the same node and move: ids come from what is there.
func (x *search) facts(n *node, mv move) orchestrator.Facts {
	now := epoch
	for _, t := range n.s.Tickets {
		if !t.ActiveAt.Before(now) {
			now = t.ActiveAt.Add(time.Second)
		}
	}
	if mv.kind == mvExpire {
		now = now.Add(time.Hour)
	}
	f := smallFacts(now)
	if x.u.bound > 0 {
		bound(&f, x.u.bound)
		f.Lines = lineOf(&n.s)
	}
	src := *f.Sources["fs"]
	src.Enabled, src.ListedFollowUps = !n.env.off, x.u.strict
	if x.u.all {
		src.Scopes = map[gate.Scope]gate.Receive{gate.ChatScope("oc_1"): gate.ReceiveAll}
		p := *f.Policy
		p.Mode = gate.Auto
		p.Sources = map[gate.SourceID]gate.SourcePolicy{"fs": {Table: gate.Table{gate.ChatScope("oc_1"): {
			UnlistedAddressed: gate.Explicit, UnlistedUnaddressed: gate.Inferred,
		}}}}
		f.Policy = &p
	}
	f.Sources = map[gate.SourceID]*gate.Source{"fs": &src}
	lin := f.Lists[orchestrator.Who{Source: "fs", Kind: gate.Person, ID: "lin"}]
	lin.Allow = n.env.lin
	f.Lists = map[orchestrator.Who]gate.Lists{}
	f.Lists[orchestrator.Who{Source: "fs", Kind: gate.Person, ID: "lin"}] = lin
	f.Lists[orchestrator.Who{Source: "fs", Kind: gate.Bot, ID: "bot"}] = gate.Lists{Bots: gate.Yes}
	tickets, about := len(n.s.Tickets), string(mv.item.Trigger)
	if m, ok := n.s.Messages[mv.item.Trigger]; ok {
		about += strconv.Itoa(len(m.Decided))
	}
	f.NewID = func(prefix string) string {
		switch prefix {
		case "tkt_":
			return "t" + strconv.Itoa(tickets+1)
		case "evl_":
			return "e" + string(mv.thread)
		}
		return prefix + about
	}
	return f
}

// around are the environments next to this one.
func (x *search) around(e env) []env {
	var list []env
	for _, l := range x.u.lists {
		if l != e.lin {
			list = append(list, env{l, e.off})
		}
	}
	if x.u.off {
		list = append(list, env{e.lin, !e.off})
	}
	return list
}

// asked are questions that Executors can open.
func (x *search) asked(n *node) []approvals.Question {
	var list []approvals.Question
	for _, id := range x.ticketIDs(&n.s) {
		t := n.s.Tickets[id]
		qid := approvals.ID("q_" + id)
		if _, open := n.s.Questions[qid]; x.does("q") && t.Active() && t.Turn && !open {
			list = append(list, approvals.Question{
				ID: qid, Kind: approvals.Approval, Status: approvals.StatusOpen, Deadline: epoch.AddDate(10, 0, 0),
				Session: approvals.Session{ID: approvals.SessionID(id)},
			})
		}
	}
	return list
}

// does reports whether the world has the moves of a letter:
//
//	a  ack and reply          b  Threads in one Eval   d  report done
//	e  expire, return         f  failed, final         h  hand back
//	q  questions              r  requeue               s  StopByCommand
//	t  turn_end               u  every upto
func (x *search) does(letter string) bool { return strings.Contains(x.u.moves, letter) }

func (x *search) ticketIDs(s *orchestrator.State) []gate.TicketID {
	ids := make([]gate.TicketID, 0, maxTickets)
	for id := range s.Tickets {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (x *search) moves(n *node) []move {
	var list []move
	tickets := x.ticketIDs(&n.s)
	for _, th := range []gate.ThreadID{"A", "B"} {
		rec := n.s.Threads[th]
		if len(rec.Queue) > 0 {
			list = append(list, move{kind: mvForm, thread: th})
		}
		if other := map[gate.ThreadID]gate.ThreadID{"A": "B", "B": "A"}[th]; x.does("b") && len(rec.Queue) > 0 {
			list = append(list, move{kind: mvForm, thread: th, beside: []gate.ThreadID{other}})
		}
		if e := n.s.Evals[rec.Eval]; x.does("e") && e.Thread == th {
			list = append(list, move{kind: mvExpire, thread: th}, move{kind: mvReturn, thread: th})
		}
		if len(rec.Notices) > 0 && x.does("n") {
			list = append(list, move{kind: mvAckNote, thread: th, seen: slices.Clone(rec.Notices)})
		}
	}
	for _, id := range x.names {
		m := n.s.Messages[id]
		if m.State == orchestrator.StateReceived {
			list = append(list, move{kind: mvArrive, message: id})
			continue
		}
		list = append(list, x.routes(&m, tickets)...)
	}
	for _, id := range tickets {
		t := n.s.Tickets[id]
		list = append(list, x.executor(n, &t)...)
	}
	return list
}

func item(id gate.TriggerID, a orchestrator.Action, t gate.TicketID) orchestrator.Item {
	return orchestrator.Item{Trigger: id, Action: a, Ticket: t, Title: "work", Reason: "because"}
}

func ruling(evaluated bool) orchestrator.Ruling {
	r := orchestrator.Ruling{PolicyVersion: 1, By: orchestrator.ByMainSession, Evaluated: evaluated}
	if evaluated {
		r.Verdicts = []orchestrator.RuleVerdict{{Rule: "triage", Match: true, Reason: "it fits"}}
	}
	return r
}

func (x *search) routes(m *orchestrator.Message, tickets []gate.TicketID) []move {
	var list []move
	route := func(it orchestrator.Item) {
		evaluated := m.State == orchestrator.StateEvaluating && m.Admission.Strength == gate.Inferred
		list = append(list, move{kind: mvRoute, item: it, ruling: ruling(false)})
		if evaluated {
			list = append(list, move{kind: mvRoute, item: it, ruling: ruling(true)})
		}
	}
	if len(tickets) < cmp.Or(x.u.tickets, maxTickets) {
		route(item(m.ID, orchestrator.ActAccept, ""))
	}
	switch m.State {
	case orchestrator.StateEvaluating, orchestrator.StateOwned, orchestrator.StateDecided, orchestrator.StateWaiting:
	default:
		return list // the rest is refused alike
	}
	for _, t := range tickets {
		route(item(m.ID, orchestrator.ActAttach, t))
		route(item(m.ID, orchestrator.ActStop, t))
	}
	route(item(m.ID, orchestrator.ActIgnore, ""))
	if x.does("r") {
		route(item(m.ID, orchestrator.ActRequeue, ""))
	}
	return list
}

func (x *search) executor(n *node, t *orchestrator.Ticket) []move {
	var list []move
	do := func(cmd orchestrator.Command) {
		list = append(list, move{kind: mvPerform, ticket: t.ID, cmd: cmd})
	}
	if x.does("s") {
		list = append(list, move{kind: mvStop, ticket: t.ID})
	}
	if len(t.Waiting) > 0 {
		list = append(list, move{kind: mvResume, ticket: t.ID})
	}
	if !t.Active() {
		if x.does("q") { // the answer comes too late
			list = append(list, move{kind: mvAnswer, ticket: t.ID, question: approvals.Question{ID: "late"}})
		}
		return list
	}
	if reads := strings.ContainsAny(x.u.moves, "adfqtu"); reads && (!t.Turn || t.Delivered < t.Seq) {
		list = append(list, move{kind: mvTurn, ticket: t.ID})
	}
	if x.does("h") {
		for _, id := range x.names {
			if m := n.s.Messages[id]; m.State == orchestrator.StateOwned || m.State == orchestrator.StateEvaluating {
				do(orchestrator.Command{Verb: orchestrator.VerbHandBack, Reason: "no", Inputs: []orchestrator.Input{{Ticket: t.ID, Trigger: id}}})
			}
		}
	}
	uptos := []int{0}
	for _, h := range t.Held {
		if x.does("a") && h.Seq <= t.Delivered {
			do(orchestrator.Command{Verb: orchestrator.VerbAck, Inputs: []orchestrator.Input{{Ticket: t.ID, Trigger: h.Trigger, Seq: h.Seq}}})
			do(orchestrator.Command{Verb: orchestrator.VerbReply, Text: "hi", Inputs: []orchestrator.Input{{Ticket: t.ID, Trigger: h.Trigger, Seq: h.Seq}}})
		}
		if x.does("u") {
			uptos = append(uptos, h.Seq-1, h.Seq)
		}
	}
	slices.Sort(uptos)
	for _, upto := range slices.Compact(uptos) {
		if upto < 0 {
			continue
		}
		if x.does("d") {
			do(orchestrator.Command{Verb: orchestrator.VerbReport, Kind: orchestrator.ReportDone, Text: "did it", Upto: upto})
		}
		if x.does("f") {
			do(orchestrator.Command{Verb: orchestrator.VerbReport, Kind: orchestrator.ReportFailed, Final: true, Upto: upto})
		}
		if x.does("t") && t.Turn {
			do(orchestrator.Command{Verb: orchestrator.VerbTurnEnd, Upto: upto})
		}
		if x.does("u") {
			do(orchestrator.Command{Verb: orchestrator.VerbReport, Kind: orchestrator.ReportProgress, Upto: upto})
		}
	}
	if q, ok := n.s.Questions[approvals.ID("q_"+t.ID)]; ok && x.does("q") {
		q.Status = approvals.StatusAnswered
		list = append(list, move{kind: mvAnswer, ticket: t.ID, question: q})
	}
	return list
}

// key names a state up to what the transitions after it do not look at. Of
// times and of the numbers of Inputs only these matter: which Inputs were
// delivered, which a Report covers by default, and which of two ended Tickets
// was active last.
func (x *search) key(n *node) string {
	if x.u.bound > 0 {
		return n.key() + lineKey(&n.s)
	}
	return n.key()
}

func (n *node) key() string {
	var b strings.Builder
	b.Grow(256)
	for _, id := range sortedIDs(n.s.Messages) {
		m := n.s.Messages[id]
		b.WriteString("|" + string(id) + string(m.State) + string(m.With) + m.Standing.String() + strconv.Itoa(m.Requeues*10+m.Expiries))
		if m.State == orchestrator.StateQueued || m.State == orchestrator.StateEvaluating {
			b.WriteString(m.Admission.Strength.String())
		}
		b.WriteString(join(sorted(m.Owners)))
		var decided []string
		for _, d := range m.Decided {
			decided = append(decided, string(d.Action)+string(d.Ticket))
		}
		b.WriteString(join(sorted(decided)))
	}
	for _, id := range sortedIDs(n.s.Threads) {
		th := n.s.Threads[id]
		b.WriteString("|" + string(id) + join(th.Queue) + join(th.Companions) + join(sorted(th.Notices)))
		if e, ok := n.s.Evals[th.Eval]; ok {
			b.WriteString(join(e.Threads()) + join(e.Undecided))
		}
	}
	ids := sortedIDs(n.s.Tickets)
	for _, id := range ids {
		t := n.s.Tickets[id]
		b.WriteString("|" + string(id) + string(t.State) + t.Mandate.State.String() + join(t.Waiting) + flags(t.End.ByPerson(), t.Turn, t.Former != nil, t.Active() && t.Delivered < t.Seq, t.Upto == 0))
		for _, sub := range t.Subs {
			b.WriteString(string(sub.Thread) + string(sub.Kind))
		}
		for _, h := range t.Held {
			b.WriteString(string(h.Trigger) + flags(h.Root, h.Seq <= t.Delivered, h.Seq <= t.Upto))
		}
		for _, o := range ids {
			if u := n.s.Tickets[o]; !u.Active() && !t.Active() && u.Mandate.Stands() && t.Mandate.Stands() {
				b.WriteString(flags(t.ActiveAt.Before(u.ActiveAt)))
			}
		}
	}
	b.WriteString(join(sortedIDs(n.s.Questions)) + n.env.lin.String() + flags(n.env.off))
	return b.String()
}

func join[T ~string](list []T) string {
	s := "["
	for _, x := range list {
		s += string(x) + ","
	}
	return s + "]"
}

func sorted[T ~string](list []T) []T { return slices.Sorted(slices.Values(list)) }

func flags(bits ...bool) string {
	b := make([]byte, len(bits))
	for i, on := range bits {
		b[i] = '0'
		if on {
			b[i] = '1'
		}
	}
	return string(b)
}

func sortedIDs[K ~string, V any](m map[K]V) []K {
	ids := make([]K, 0, len(m))
	for k := range m {
		ids = append(ids, k)
	}
	slices.Sort(ids)
	return ids
}

// said makes a received message of a word of a universe: "Alin@", "Bwang",
// "Abot@", "Alin!".
func said(id gate.TriggerID, word string) orchestrator.Message {
	m := orchestrator.Message{State: orchestrator.StateReceived}
	who := strings.TrimRight(word[1:], "@!#")
	m.ID, m.Source, m.Scope, m.Thread = id, "fs", gate.ChatScope("oc_1"), gate.ThreadID(word[:1])
	m.Place, m.Kind, m.Text = gate.Place{Chat: "oc_1"}, gate.KindMessage, "please"
	m.Sender, m.IDs.Message = gate.Sender{Kind: gate.Person, ID: who, Name: who}, "om_"+string(id)
	if who == "bot" {
		m.Sender.Kind = gate.Bot
	}
	if strings.Contains(word, "@") {
		m.Addressing = gate.Mention
	}
	if strings.Contains(word, "!") {
		m.Text = "stop"
	}
	if strings.Contains(word, "#") {
		m.Bundle = "c1"
	}
	m.Plain = m.Text
	return m
}

// smallFacts are the Facts of the tests' world at a time.
func smallFacts(now time.Time) orchestrator.Facts {
	chats := map[gate.Scope]gate.Receive{
		gate.ChatScope("oc_1"): gate.ReceiveMentions, gate.ChatScope("oc_2"): gate.ReceiveMentions, gate.DirectChat: gate.ReceiveAll,
	}
	return orchestrator.Facts{
		Now: now,
		Policy: &gate.Policy{
			Version: 1, Mode: gate.Observe, Rules: []gate.Rule{{ID: "triage", Enabled: true, Acknowledge: true}},
			Sources: map[gate.SourceID]gate.SourcePolicy{},
		},
		Sources: map[gate.SourceID]*gate.Source{
			"fs": {ID: "fs", Platform: gate.Feishu, Enabled: true, Refusal: gate.RefuseByReaction, Scopes: chats},
			"gh": {ID: "gh", Platform: gate.GitHub, Enabled: true, Refusal: gate.RefuseByReaction,
				Scopes: map[gate.Scope]gate.Receive{gate.Issues: gate.ReceiveMentions}},
		},
		Lists: map[orchestrator.Who]gate.Lists{
			{Source: "fs", Kind: gate.Person, ID: "lin"}: {Allow: gate.Yes},
			{Source: "gh", Kind: gate.Person, ID: "lin"}: {Allow: gate.Yes},
			{Source: "fs", Kind: gate.Bot, ID: "bot"}:    {Bots: gate.Yes},
		},
		Settings: orchestrator.Settings{
			Workspace: "default", Language: "en", StopWords: []string{"stop"},
			EvalTimeout: 10 * time.Minute, MaxRequeues: 1, DirectQuiet: 30 * time.Minute,
		},
		NewID: func(prefix string) string { return prefix },
	}
}
