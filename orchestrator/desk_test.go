package orchestrator_test

import (
	"fmt"
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

// desk plays a script of moves, a line or a ";" each, and looks at what came
// of them. Messages are m1, m2, …; Threads A and B are in one chat, C is in
// another, G is of another Source, D is a DM. Tickets, Evals and Decisions
// count up as they are made: t1, e1, d1.
//
//	say m1 A lin@ [stop|/new|text] [root=m2] [b=r1: of a review] [b=c1: of CI] [by=op: replayed] [ago=3h]   lin is listed, wang is not, bot is, ci has no sender
//	eval A [B …] · expire A · fail A · return A · again A m1 m2 · dismiss A · toeval m1
//	notices A m1 · resume t1 · halt t1
//	accept m1 [x=codex] · attach m1 t1 · stop m1 t1 · ignore m1 · requeue m1
//	        note t1 · [judged|missing|doubled|unknown|silently|unmatched] [silent] [v=2] [e=e1] [public=sorry]
//	turn t1 · ack t1 m1 · reply t1 [m1] · back t1 m1 · report t1 done [final] [upto=2] [tokens=9] · idle t1 [upto=2] [tokens=9]
//	ask t1 q1 [clarification] · answer t1 q1
//	edit m1 m9 lin@ [text] [adds] [at=1h] · recall m1 m9   m9 is the row that brings the news
//	red m1 A [w=lint] [head=h2] [top=h3] [ago=1m] [by=op] · green m1 A … · swept A [w=lint] [ago=1m]   runs of build on h1
//	lost A [ago=1m] · found A [ago=1m] · look t1
//	list lin yes|no|unknown · source on|off|gone · receive all|mentions|off · mode auto · policy · follow-ups listed
//	cell explicit|inferred · refusal none|reply · late-after 2h · later 11m · follow t1 B · forget m1 · bound
type desk struct {
	t    *testing.T
	s    orchestrator.State
	f    orchestrator.Facts
	n    map[string]int
	did  string
	c    orchestrator.Changes
	a    answer
	decs []orchestrator.Decision
	ins  []orchestrator.Input
	out  []gate.Outgoing
	// lenient: records are missing, so that the invariants do not hold.
	lenient bool
	// st is the last step.
	st step
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, s: emptyState(), f: smallFacts(epoch), n: map[string]int{}}
	d.f.NewID = func(prefix string) string {
		d.n[prefix]++
		return map[string]string{"tkt_": "t", "evl_": "e", "dec_": "d"}[prefix] + strconv.Itoa(d.n[prefix])
	}
	return d
}

func (d *desk) play(script string) {
	d.t.Helper()
	for _, line := range strings.FieldsFunc(script, func(r rune) bool { return r == ';' || r == '\n' }) {
		if w := strings.Fields(line); len(w) > 0 {
			d.f.Now = d.f.Now.Add(time.Second)
			d.line(w)
		}
	}
}

func (d *desk) line(w []string) {
	d.t.Helper()
	opt := map[string]string{}
	var arg []string
	for _, x := range w[1:] {
		if k, v, ok := strings.Cut(x, "="); ok {
			opt[k] = v
			continue
		}
		arg = append(arg, x)
	}
	arg = append(arg, "", "", "", "")
	id, tk := gate.TriggerID(arg[0]), gate.TicketID(arg[0])
	switch w[0] {
	case "say":
		m := d.message(arg, opt)
		d.s.Messages[m.ID] = m
		d.move(move{kind: mvArrive, message: m.ID})
	case "arrive":
		d.move(move{kind: mvArrive, message: id})
	case "eval":
		mv := move{kind: mvForm, thread: gate.ThreadID(arg[0])}
		for _, id := range arg[1:] {
			if id != "" {
				mv.beside = append(mv.beside, gate.ThreadID(id))
			}
		}
		d.move(mv)
	case "expire", "fail", "return", "again", "dismiss", "toeval":
		d.considered(w[0], arg)
	case "notices":
		d.move(move{kind: mvAckNote, thread: gate.ThreadID(arg[0]), seen: []gate.TriggerID{gate.TriggerID(arg[1])}})
	case "accept", "attach", "stop", "ignore", "requeue", "dance", "note":
		d.route(w[0], arg, opt)
	case "turn":
		d.move(move{kind: mvTurn, ticket: tk})
	case "ack", "reply", "back", "report", "idle", "sing":
		d.perform(w[0], tk, arg[1:], opt)
	case "ask":
		d.ask(tk, approvals.ID(arg[1]), approvals.Kind(arg[2]))
	case "answer":
		d.move(move{kind: mvAnswer, ticket: tk, question: d.s.Questions[approvals.ID(arg[1])]})
	case "resume":
		d.move(move{kind: mvResume, ticket: tk})
	case "edit", "recall":
		d.news(w[0], arg, opt)
	case "bound":
		bound(&d.f, 1)
	case "lost", "found":
		d.reached(w[0] == "lost", arg[0], opt)
	case "red", "green", "swept":
		d.ci(w[0], arg, opt)
	case "look":
		d.move(move{kind: mvLook, ticket: tk})
	case "halt":
		d.move(move{kind: mvStop, ticket: tk})
	default:
		d.arrange(w[0], arg)
	}
}

// reached brings news of a place, as of a while ago.
func (d *desk) reached(lost bool, place string, opt map[string]string) {
	mv := move{kind: mvReached, reach: gate.Reached{Place: gate.PlaceID(place)}, at: d.f.Now}
	if lost {
		mv.reach.Lost = "gone"
	}
	if ago, err := time.ParseDuration(opt["ago"]); err == nil {
		mv.at = mv.at.Add(-ago)
	}
	d.move(mv)
}

func (d *desk) message(arg []string, opt map[string]string) orchestrator.Message {
	d.t.Helper()
	m := said(gate.TriggerID(arg[0]), arg[1]+arg[2])
	if strings.HasPrefix(arg[2], "ci") {
		m.Sender = gate.Sender{Kind: gate.NoSender}
	}
	if arg[3] != "" {
		m.Text = strings.ReplaceAll(arg[3], "_", " ")
		m.Plain = m.Text
	}
	switch m.Thread {
	case "C":
		m.Scope, m.Place.Chat = gate.ChatScope("oc_2"), "oc_2"
	case "G":
		m.Source, m.Scope, m.Place.Chat, m.Kind = "gh", gate.Issues, "o/r", gate.KindIssue
	case "D":
		m.Thread, m.Scope, m.Place.Chat, m.Addressing = "", gate.DirectChat, "oc_dm", gate.Direct
	case "N":
		m.Source = "none"
	}
	m.ReplayedBy = opt["by"]
	if ago, err := time.ParseDuration(opt["ago"]); err == nil {
		m.OccurredAt, m.ReceivedAt = d.f.Now.Add(-ago), d.f.Now
	}
	if m.ReceivedAt.IsZero() {
		m.ReceivedAt = d.f.Now
	}
	if m.Bundle = opt["b"]; strings.HasPrefix(m.Bundle, "r") {
		m.Kind = gate.KindReviewComment
	} else if m.Bundle != "" {
		m.Kind = gate.KindCI
	}
	if root := opt["root"]; root != "" {
		m.Place.Root = "om_" + root
	}
	return m
}

func (d *desk) route(action string, arg []string, opt map[string]string) {
	d.t.Helper()
	it := item(gate.TriggerID(arg[0]), orchestrator.Action(action), "")
	if action == "note" {
		it = orchestrator.Item{Action: orchestrator.ActNote, Ticket: gate.TicketID(arg[0]), Text: opt["text"]}
	}
	r := ruling(false)
	for _, x := range arg[1:] {
		switch x {
		case "":
		case "judged":
			r = ruling(true)
		case "missing", "doubled", "unknown", "silently", "unmatched":
			r = badRuling(x)
		case "silent":
			r = ruling(true)
			d.f.Policy.Rules[0].Acknowledge = false
		default:
			it.Ticket = gate.TicketID(x)
		}
	}
	r.PolicyVersion = d.f.Policy.Version
	it.Executor, it.PublicReason = opt["x"], opt["public"]
	if v, ok := opt["v"]; ok {
		r.PolicyVersion, _ = strconv.Atoi(v)
	}
	r.Eval = gate.EvalID(opt["e"])
	d.move(move{kind: mvRoute, item: it, ruling: r})
}

// badRuling is an evaluation with a fault (RU-1), or without a match.
func badRuling(fault string) orchestrator.Ruling {
	r := ruling(true)
	switch fault {
	case "missing":
		r.Verdicts = nil
	case "doubled":
		r.Verdicts = append(r.Verdicts, r.Verdicts[0])
	case "unknown":
		r.Verdicts = append(r.Verdicts, orchestrator.RuleVerdict{Rule: "nosuch", Reason: "x"})
	case "silently":
		r.Verdicts[0].Reason = " "
	case "unmatched":
		r.Verdicts[0].Match = false
	}
	return r
}

func (d *desk) considered(verb string, arg []string) {
	kind := map[string]moveKind{"expire": mvExpire, "fail": mvFail, "return": mvReturn, "again": mvAgain, "dismiss": mvDismiss, "toeval": mvToEval}[verb]
	mv := move{kind: kind, thread: gate.ThreadID(arg[0]), message: gate.TriggerID(arg[0]), decided: d.decs}
	for _, id := range arg[1:] {
		if id != "" {
			mv.seen = append(mv.seen, gate.TriggerID(id))
		}
	}
	d.move(mv)
}

func (d *desk) perform(verb string, id gate.TicketID, arg []string, opt map[string]string) {
	d.t.Helper()
	cmd := orchestrator.Command{Verb: orchestrator.Verb(verb), Key: opt["key"], Text: "text", Reason: "why"}
	cmd.Upto, _ = strconv.Atoi(opt["upto"])
	cmd.Tokens, _ = strconv.ParseInt(opt["tokens"], 10, 64)
	if text, ok := opt["text"]; ok {
		cmd.Text = text
	}
	if reason, ok := opt["reason"]; ok {
		cmd.Reason = reason
	}
	for _, x := range arg {
		if strings.HasPrefix(x, "m") {
			cmd.Inputs = append(cmd.Inputs, d.input(id, gate.TriggerID(x)))
		}
	}
	switch verb {
	case "back":
		cmd.Verb = orchestrator.VerbHandBack
	case "idle":
		cmd.Verb = orchestrator.VerbTurnEnd
	case "report":
		cmd.Kind, cmd.Final = orchestrator.ReportKind(arg[0]), slices.Contains(arg, "final")
		if cmd.Text == "text" {
			cmd.Text = ""
		}
	}
	d.move(move{kind: mvPerform, ticket: id, cmd: cmd})
}

// input is the latest Input of the Ticket that carries the message.
func (d *desk) input(id gate.TicketID, m gate.TriggerID) orchestrator.Input {
	for _, in := range slices.Backward(d.ins) {
		if in.Ticket == id && in.Trigger == m {
			return in
		}
	}
	return orchestrator.Input{Ticket: id, Trigger: m}
}

func (d *desk) ask(id gate.TicketID, q approvals.ID, kind approvals.Kind) {
	if kind == "" {
		kind = approvals.Approval
	}
	d.s.Questions[q] = approvals.Question{
		ID: q, Kind: kind, Status: approvals.StatusOpen, Deadline: epoch.AddDate(1, 0, 0),
		Session: approvals.Session{ID: approvals.SessionID(id), Thread: d.s.Tickets[id].Mandate.Thread},
	}
}

// arrange changes what is around the transitions.
func (d *desk) arrange(verb string, arg []string) {
	d.t.Helper()
	fs := d.f.Sources["fs"]
	switch verb {
	case "list":
		var m gate.Membership
		if err := m.UnmarshalText([]byte(arg[1])); err != nil {
			d.t.Fatal(err)
		}
		who := orchestrator.Who{Source: "fs", Kind: gate.Person, ID: arg[0]}
		d.f.Lists[who] = gate.Lists{Allow: m}
	case "source":
		fs.Enabled = arg[0] == "on"
		if arg[0] == "gone" {
			delete(d.f.Sources, "fs")
		}
	case "receive":
		var r gate.Receive
		if err := r.UnmarshalText([]byte(arg[0])); err != nil {
			d.t.Fatal(err)
		}
		fs.Scopes[gate.ChatScope("oc_1")] = r
	case "mode":
		if err := d.f.Policy.Mode.UnmarshalText([]byte(arg[0])); err != nil {
			d.t.Fatal(err)
		}
	case "follow-ups":
		fs.ListedFollowUps = arg[0] == "listed"
	case "cell":
		var s gate.Strength
		if err := s.UnmarshalText([]byte(arg[0])); err != nil {
			d.t.Fatal(err)
		}
		row := gate.Row{UnlistedAddressed: s, UnlistedUnaddressed: min(s, gate.Inferred)}
		d.f.Policy.Sources["fs"] = gate.SourcePolicy{Table: gate.Table{gate.ChatScope("oc_1"): row}}
	case "refusal":
		fs.Refusal = gate.Refusal(arg[0])
	case "policy":
		d.f.Policy.Version++
	case "language":
		d.f.Settings.Language = arg[0]
	case "later":
		by, err := time.ParseDuration(arg[0])
		if err != nil {
			d.t.Fatal(err)
		}
		d.f.Now = d.f.Now.Add(by)
	case "late-after":
		d.f.Settings.LateAfter, _ = time.ParseDuration(arg[0])
	case "approvals-chat":
		d.f.Settings.Rooms = approvals.Rooms{Source: gate.SourceID(arg[0]), Chat: arg[1]}
	case "answerers":
		q := d.s.Questions[approvals.ID(arg[0])]
		q.Answerers = []string{arg[1]}
		d.s.Questions[q.ID] = q
	case "follow":
		d.follow(gate.TicketID(arg[0]), gate.ThreadID(arg[1]))
	case "forget":
		delete(d.s.Tickets, gate.TicketID(arg[0]))
		delete(d.s.Messages, gate.TriggerID(arg[0]))
		delete(d.s.Threads, gate.ThreadID(arg[0]))
	default:
		d.t.Fatalf("no such move: %s", verb)
	}
}

// follow makes a context Subscription, as the Service does for an Executor.
func (d *desk) follow(id gate.TicketID, on gate.ThreadID) {
	t, th := d.s.Tickets[id], d.s.Threads[on]
	if th.ID == "" {
		th = orchestrator.Thread{ID: on, Source: "fs", Scope: gate.ChatScope("oc_1"), Place: gate.Place{Chat: "oc_1"}}
	}
	t.Subs = append(slices.Clone(t.Subs), orchestrator.Subscription{Thread: on, Kind: orchestrator.SubContext})
	th.Tickets = append(slices.Clone(th.Tickets), orchestrator.ThreadTicket{Ticket: id, Kind: orchestrator.SubContext})
	d.s.Tickets[id], d.s.Threads[on] = t, th
}

// move makes a move and checks every invariant on the way.
func (d *desk) move(mv move) {
	d.t.Helper()
	kept := deepCopy(d.s)
	before := d.s
	d.did = mv.String()
	d.f.Lines = lineOf(&before)
	d.c, d.a = mv.run(d.s, d.f)
	if !reflect.DeepEqual(kept, before) {
		d.t.Errorf("%s changed its input", mv)
	}
	d.s = apply(before, d.c)
	d.decs, d.ins, d.out = append(d.decs, d.c.Decisions...), append(d.ins, d.c.Inputs...), append(d.out, d.c.Out...)
	if d.lenient {
		return
	}
	st := step{before: before, after: d.s, move: mv, c: d.c, a: d.a, f: d.f}
	d.st = st
	for _, r := range stepRules {
		if err := r.check(&st); err != nil {
			d.t.Errorf("%s breaks %s: %v", mv, r.name, err)
		}
	}
	for _, r := range stateRules {
		if err := r.check(&d.s); err != nil {
			d.t.Errorf("%s breaks %s: %v", mv, r.name, err)
		}
	}
}

// want compares "key=value" words with what there is.
func (d *desk) want(words string) {
	d.t.Helper()
	for _, w := range strings.Fields(words) {
		key, want, _ := strings.Cut(w, "=")
		if got := d.look(key); got != want {
			d.t.Errorf("%s: %s = %s, want %s", d.did, key, got, want)
		}
	}
}

func (d *desk) look(key string) string {
	d.t.Helper()
	name, field, _ := strings.Cut(key, ".")
	switch {
	case key == "res":
		return d.result()
	case key == "did":
		return d.performed()
	case key == "out":
		return d.says(d.out)
	case key == "last":
		return d.says(d.c.Out)
	case key == "lasttext":
		if len(d.c.Out) == 0 {
			return ""
		}
		return strings.NewReplacer(" ", "_", "\n", "|").Replace(d.c.Out[0].Text)
	case key == "decs":
		return list(d.decs, func(x orchestrator.Decision) string {
			return string(x.Trigger) + ":" + string(x.Outcome) + tail(":", string(x.Ticket))
		})
	case key == "due":
		return list(d.c.Due, func(x approvals.Due) string { return wakeWord(x) })
	case key == "cancel":
		return list(d.c.Cancel, func(x approvals.Due) string { return wakeWord(x) })
	case key == "in":
		return list(d.c.Due, func(x approvals.Due) string { return x.At.Sub(d.f.Now).String() })
	case key == "next":
		return d.c.Next.Sub(d.f.Now).String()
	case key == "tallies":
		return strconv.Itoa(len(d.c.Tallies))
	case key == "err":
		return first(strings.ReplaceAll(fmt.Sprint(d.a.err), ":", " "))
	case key == "would":
		return list(d.decs, func(x orchestrator.Decision) string { return string(x.Trigger) + ":" + string(x.Would) })
	case key == "message":
		return strings.ReplaceAll(d.a.result.Error.Message, " ", "_")
	case key == "changes":
		return strconv.FormatBool(!unchanged(d.c))
	case key == "questions":
		return list(d.c.Questions, func(q approvals.Question) string { return string(q.ID) + ":" + string(q.Status) })
	case strings.HasPrefix(name, "m"):
		return d.lookMessage(gate.TriggerID(name), field)
	case strings.HasPrefix(name, "t"):
		return d.lookTicket(gate.TicketID(name), field)
	}
	return d.lookThread(gate.ThreadID(name), field)
}

func wakeWord(x approvals.Due) string { return string(x.Kind) + ":" + x.Key }

func (d *desk) result() string {
	r := d.a.result
	switch {
	case r.Error != nil:
		return string(r.Error.Code)
	case r.Deduped:
		return "deduped" + tail(":", string(r.Ticket))
	case r.OK:
		return "ok" + tail(":", string(r.Ticket))
	}
	return "?"
}

func (d *desk) performed() string {
	p := d.a.performed
	switch {
	case p.Error != nil:
		return p.Error.Code
	case p.Note != "":
		return "noted"
	case p.OK:
		return "ok"
	}
	return strings.ReplaceAll(fmt.Sprint(d.a.err), " ", "_")
}

// says names what is said: the Thread, and the first word or the reaction.
func (d *desk) says(out []gate.Outgoing) string {
	return list(out, func(o gate.Outgoing) string {
		first, _, _ := strings.Cut(o.Text+string(o.Reaction), " ")
		return string(o.Thread) + ":" + first
	})
}

func (d *desk) lookMessage(id gate.TriggerID, field string) string {
	m := d.s.Messages[id]
	switch field {
	case "":
		with := tail("/", string(m.With))
		if m.State == orchestrator.StateOwned || m.State == orchestrator.StateWaiting {
			with += tail(":", join2(m.Owners))
		}
		return string(m.State) + with
	case "strength":
		return m.Admission.Strength.String()
	case "basis":
		return m.Admission.Basis.String()
	case "standing":
		return m.Standing.String()
	case "thread":
		return string(m.Thread)
	case "text":
		return m.Text
	case "edited":
		return strconv.FormatBool(m.Edited)
	case "recalled":
		return strconv.FormatBool(m.Recalled)
	case "why":
		return first(m.Why)
	case "live":
		return join2(liveOwners(&d.s, &m))
	case "back":
		return list(m.HandBacks, func(b orchestrator.HandBack) string { return string(b.Ticket) + ":" + b.Reason })
	case "decided":
		return list(m.Decided, func(x orchestrator.Decided) string { return string(x.Action) + tail(":", string(x.Ticket)) })
	}
	return "no field " + field
}

func (d *desk) lookTicket(id gate.TicketID, field string) string {
	t := d.s.Tickets[id]
	switch field {
	case "":
		if t.End != nil {
			return string(t.State) + ":" + string(t.End.Reason)
		}
		return string(t.State)
	case "mandate":
		return t.Mandate.State.String()
	case "rules":
		return strings.Join(t.Mandate.Rules, ",")
	case "executor":
		return t.Executor
	case "lost":
		return list(t.Lost, func(l orchestrator.LostThread) string { return string(l.Thread) + ":" + l.Why })
	case "stage":
		open := false
		for _, q := range d.s.Questions {
			open = open || q.Session.ID == approvals.SessionID(id)
		}
		return string(orchestrator.Stage(t, open, 0, d.f.Now, 0))
	case "muted":
		return strconv.FormatBool(t.Muted)
	case "by":
		return t.End.By
	case "held":
		return list(t.Held, func(h orchestrator.Held) string { return string(h.Trigger) + mark(h.Root, "*") })
	case "waiting":
		return join2(t.Waiting)
	case "subs":
		return list(t.Subs, func(s orchestrator.Subscription) string { return string(s.Thread) + ":" + string(s.Kind) })
	case "report":
		if t.Report == nil {
			return ""
		}
		return string(t.Report.Kind)
	case "seq":
		return fmt.Sprintf("%d/%d/%d", t.Covered, t.Delivered, t.Seq)
	case "notes":
		var notes []string
		for _, in := range d.ins {
			if in.Ticket == id && in.Note != "" {
				notes = append(notes, string(in.Kind)+":"+string(in.Trigger))
			}
		}
		return strings.Join(notes, ",")
	case "in":
		var ins []orchestrator.Input
		for _, in := range d.ins {
			if in.Ticket == id {
				ins = append(ins, in)
			}
		}
		return list(ins, func(in orchestrator.Input) string {
			return string(in.Kind) + tail(":", string(in.Trigger)+string(in.Question))
		})
	case "turn":
		return strconv.FormatBool(t.Turn)
	case "former":
		return strconv.FormatBool(t.Former != nil)
	}
	return "no field " + field
}

func (d *desk) lookThread(id gate.ThreadID, field string) string {
	th, ok := d.s.Threads[id]
	switch field {
	case "":
		return strconv.FormatBool(ok)
	case "queue":
		return join2(th.Queue)
	case "with":
		return join2(th.Companions)
	case "notices":
		return join2(th.Notices)
	case "eval":
		return join2(d.s.Evals[th.Eval].Undecided)
	case "bundle":
		e, ok := d.s.Evals[th.Eval]
		if !ok {
			return ""
		}
		return join2(e.Threads())
	case "tickets":
		return list(th.Tickets, func(k orchestrator.ThreadTicket) string { return string(k.Ticket) + ":" + string(k.Kind) })
	case "latest":
		return string(th.Latest.Outcome)
	case "red":
		return list(th.Red(d.f.Now), func(r gate.Run) string { return r.Workflow + "/" + r.Head })
	case "incidents":
		return list(th.Incidents, func(in orchestrator.Incident) string { return in.Run.Workflow + "/" + join2(in.Triggers) })
	case "attention":
		return strconv.FormatBool(th.Attention(d.f.Now))
	}
	return "no field " + field
}

func list[T any](all []T, word func(T) string) string {
	words := make([]string, len(all))
	for i, x := range all {
		words[i] = word(x)
	}
	return strings.Join(words, ",")
}

func join2[T ~string](all []T) string { return list(all, func(x T) string { return string(x) }) }

func tail(sep, s string) string {
	if s == "" {
		return ""
	}
	return sep + s
}

func mark(on bool, s string) string {
	if on {
		return s
	}
	return ""
}

func first(s string) string {
	w, _, _ := strings.Cut(s, " ")
	return w
}

// row is a script and what is wanted after it.
type row struct{ rule, script, want string }

func playRows(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.rule, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.play(r.script)
			d.want(r.want)
		})
	}
}
