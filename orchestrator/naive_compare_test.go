package orchestrator_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// compare looks at the store, and fails where it is not as the model says.
func (w *naiveWorld) compare() {
	w.t.Helper()
	w.look()
	want, got := w.modelLines(), w.storeLines()
	slices.Sort(want)
	slices.Sort(got)
	if slices.Equal(want, got) {
		return
	}
	var diff []string
	for _, l := range want {
		if !slices.Contains(got, l) {
			diff = append(diff, "model "+l)
		}
	}
	for _, l := range got {
		if !slices.Contains(want, l) {
			diff = append(diff, "store "+l)
		}
	}
	slices.SortStableFunc(diff, func(a, b string) int { return strings.Compare(a[6:min(12, len(a))], b[6:min(12, len(b))]) })
	w.fatalf("they differ:\n  %s", strings.Join(diff, "\n  "))
}

func messageLine(n int, state orchestrator.MessageState, owners []int, v naiveVerdict, with int, decided []string, marks string) string {
	slices.Sort(owners)
	return fmt.Sprintf("m%-3d %s owners=%v %s/%s with=%d decided=%v %s", n, state, owners, v.strength, v.basis, with, decided, marks)
}

func ticketLine(n int, state string, mandate gate.MandateState, own, context []string, inputs []string, stage orchestrator.TicketStage, waiting []int) string {
	slices.Sort(own)
	slices.Sort(context)
	return fmt.Sprintf("t%-3d %s mandate=%s own=%v context=%v inputs=%v stage=%s waiting=%v", n, state, mandate, own, context, inputs, stage, waiting)
}

func inputLine(kind orchestrator.InputKind, owned bool, message int) string {
	s := string(kind)
	if message != 0 {
		s += fmt.Sprintf(" m%d", message)
	}
	if owned {
		s += " owned"
	}
	return s
}

func threadLine(name string, queue, undecided []int, notices []int, attention bool) string {
	slices.Sort(queue)
	slices.Sort(undecided)
	slices.Sort(notices)
	return fmt.Sprintf("%-4s queue=%v eval=%v notices=%v attention=%t", name, queue, undecided, notices, attention)
}

func decisionLine(nth map[int]int, message int, outcome orchestrator.Outcome, would orchestrator.Action, ticket int, v naiveVerdict, version int, matched []string, fromCard, dismissed bool) string {
	nth[message]++
	return fmt.Sprintf("m%-3d decision %d: %s would=%s t%d %s/%s v%d rules=%v card=%t dismissed=%t",
		message, nth[message], outcome, would, ticket, v.strength, v.basis, version, matched, fromCard, dismissed)
}

const naiveTurnTimeout = 30 * time.Minute

func (w *naiveWorld) modelLines() []string {
	var lines []string
	for _, m := range w.messages {
		if m.state == orchestrator.StateDropped {
			continue
		}
		lines = append(lines, messageLine(m.n, m.state, w.ownedBy(m), m.verdict, m.with, m.decidedWords(), m.marks()))
	}
	for _, t := range w.tickets {
		state := "active"
		if t.ended {
			state = "ended " + string(t.end)
		}
		var inputs []string
		for _, in := range t.inputs {
			inputs = append(inputs, inputLine(in.kind, in.owned, in.message))
		}
		lines = append(lines, ticketLine(t.n, state, t.mandate, slices.Clone(t.own), slices.Clone(t.context), inputs,
			w.stage(t, naiveTurnTimeout), t.waiting))
	}
	for _, name := range naiveThreads {
		th := w.thread(name)
		var undecided []int
		if th.eval != nil {
			undecided = slices.Clone(th.eval.undecided)
		}
		lines = append(lines, threadLine(name, slices.Clone(th.queue), undecided, slices.Clone(th.notices), w.attention(name)))
	}
	nth := map[int]int{}
	for _, d := range w.decisions {
		lines = append(lines, decisionLine(nth, d.message, d.outcome, d.would, d.ticket, d.verdict, d.version, d.matched, d.fromCard, d.dismissed))
	}
	said := slices.Clone(w.said)
	slices.Sort(said)
	return append(lines, "says "+strings.Join(said, ", "))
}

func (m *naiveMessage) decidedWords() []string {
	var s []string
	for _, d := range m.decided {
		s = append(s, decidedWord(d.action, d.ticket, d.observed))
	}
	return s
}

func decidedWord(a orchestrator.Action, ticket int, observed bool) string {
	s := fmt.Sprintf("%s t%d", a, ticket)
	if observed {
		s = "would " + s
	}
	return s
}

func (m *naiveMessage) marks() string {
	var s []string
	if m.edited {
		s = append(s, "edited")
	}
	if m.recalled {
		s = append(s, "recalled")
	}
	return strings.Join(s, " ")
}

func (w *naiveWorld) storeLines() []string {
	var lines []string
	s := &w.seen
	for n := 1; n <= len(w.messages); n++ {
		m, ok := s.messages[n]
		if !ok || m.State == orchestrator.StateDropped {
			continue
		}
		lines = append(lines, s.messageLine(n, &m))
	}
	for i := range s.tickets {
		lines = append(lines, s.ticketLine(i, w.now))
	}
	for _, name := range naiveThreads {
		th := s.threads[name]
		var undecided []int
		if e, ok := s.evals[name]; ok {
			for _, n := range s.numbersOf(e.Undecided) {
				if w.msg(n).thread == name {
					undecided = append(undecided, n)
				}
			}
		}
		lines = append(lines, threadLine(name, s.numbersOf(th.Queue), undecided, s.numbersOf(th.Notices), th.Attention(w.now)))
	}
	nth := map[int]int{}
	for _, d := range s.decisions {
		var matched []string
		for _, v := range d.Verdicts {
			if v.Match {
				matched = append(matched, v.Rule)
			}
		}
		lines = append(lines, decisionLine(nth, s.numbers[d.Trigger], d.Outcome, d.Would, s.ticketNo[d.Ticket],
			naiveVerdict{d.Strength, basisWord(d.Basis)}, d.PolicyVersion, matched, d.IgnoredFromCard, d.Dismissed))
	}
	return append(lines, "says "+strings.Join(w.sayings(), ", "))
}

func basisWord(b gate.Basis) string {
	if b.Kind == gate.NoBasis {
		return ""
	}
	return b.String()
}

func (s *snapshot) numbersOf(ids []gate.TriggerID) []int {
	var ns []int
	for _, id := range ids {
		ns = append(ns, s.numbers[id])
	}
	return ns
}

func (s *snapshot) messageLine(n int, m *orchestrator.Message) string {
	var owners []int
	for _, id := range m.Owners {
		i := s.ticketNo[id]
		t := s.tickets[i-1]
		if t.Active() || slices.Contains(t.Waiting, m.ID) {
			owners = append(owners, i)
		}
	}
	v := naiveVerdict{m.Admission.Strength, basisWord(m.Admission.Basis)}
	if v.strength == gate.None {
		v.basis = ""
	}
	var decided, marks []string
	for _, d := range m.Decided {
		if d.Action != "" {
			decided = append(decided, decidedWord(d.Action, s.ticketNo[d.Ticket], d.Observed))
		}
	}
	if m.Edited {
		marks = append(marks, "edited")
	}
	if m.Recalled {
		marks = append(marks, "recalled")
	}
	return messageLine(n, m.State, owners, v, s.numbers[m.With], decided, strings.Join(marks, " "))
}

func (s *snapshot) ticketLine(i int, now time.Time) string {
	t := s.tickets[i]
	state := "active"
	if !t.Active() {
		state = "ended " + string(t.End.Reason)
	}
	var own, context, inputs []string
	for _, sub := range t.Subs {
		if sub.Kind == orchestrator.SubOwn {
			own = append(own, string(sub.Thread))
		} else {
			context = append(context, string(sub.Thread))
		}
	}
	for _, in := range s.inputs[i] {
		inputs = append(inputs, inputLine(in.Kind, in.Owned, s.numbers[in.Trigger]))
	}
	return ticketLine(i+1, state, t.Mandate.State, own, context, inputs,
		orchestrator.Stage(t, false, 0, now, naiveTurnTimeout), s.numbersOf(t.Waiting))
}

// naiveWords are what Executors say.
const naiveWords = "words of an executor"

// sayings are what the gateway said by itself, each once.
func (w *naiveWorld) sayings() []string {
	var said []string
	ids := map[string]bool{}
	for _, o := range w.store.said {
		if ids[o.ID] {
			continue
		}
		ids[o.ID] = true
		if o.Text == naiveWords {
			continue
		}
		words := []string{string(o.Kind)}
		if o.Reaction != "" {
			words = append(words, string(o.Reaction))
		}
		to := strings.Replace(o.Message, "om_", "m", 1)
		if o.Reaction == gate.ReactRefused {
			n, _ := strconv.Atoi(to[1:])
			to = w.msg(n).from
		}
		words = append(words, to)
		said = append(said, strings.Join(words, " "))
	}
	slices.Sort(said)
	return said
}
