package orchestrator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

// mortal is a store as one process sees it: at its n-th write the process
// dies, just before or just after, and nothing of it reaches the store again.
type mortal struct {
	orchestrator.Store
	mu    sync.Mutex
	n, at int
	after bool
	died  chan struct{}
	once  sync.Once
}

var errDead = fmt.Errorf("the process is dead: %w", orchestrator.ErrUnavailable)

func (m *mortal) dead() bool {
	select {
	case <-m.died:
		return true
	default:
		return false
	}
}

func (m *mortal) write(do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead() {
		return errDead
	}
	m.n++
	if m.n != m.at {
		return do()
	}
	if m.after {
		_ = do()
	}
	m.once.Do(func() { close(m.died) })
	return errDead
}

func (m *mortal) Receive(ctx context.Context, a gate.Arrival) (r orchestrator.Receipt, err error) {
	err = m.write(func() error { r, err = m.Store.Receive(ctx, a); return err })
	return r, err
}

func (m *mortal) Commit(ctx context.Context, c orchestrator.Changes) error {
	return m.write(func() error { return m.Store.Commit(ctx, c) })
}

func (m *mortal) CommitQuestions(ctx context.Context, c approvals.Change) error {
	return m.write(func() error { return m.Store.CommitQuestions(ctx, c) })
}

func (m *mortal) Claim(ctx context.Context, kinds []approvals.DueKind, now time.Time, lease time.Duration, limit int) ([]orchestrator.Claim, error) {
	if m.dead() {
		return nil, errDead
	}
	return m.Store.Claim(ctx, kinds, now, lease, limit)
}

func (m *mortal) Extend(ctx context.Context, c orchestrator.Claim, until time.Time) error {
	if m.dead() {
		return errDead
	}
	return m.Store.Extend(ctx, c, until)
}

// tale is a story that is played over a process that dies.
type tale struct {
	name   string
	script []orchestrator.ScriptStep
	// bounds are the executor's; one that is remote works from outside.
	bounds orchestrator.Bounds
	// arrange, if set, prepares each process.
	arrange func(*house)
	play    func(*mortals)
	// said is what must have been said, each once; %[1]s is the Ticket's short
	// id, %[2]s that of the one before it. What begins with ? may have been.
	said []string
	// check looks at the store at the end.
	check func(t *testing.T, s orchestrator.Store)
	// writes is the least number of writes that the search must find.
	writes int
}

var tales = []tale{
	{
		name: "the main job", script: approvalScript(), writes: 20,
		play: func(m *mortals) {
			m.say(words{from: listed, text: "1.4.2", mention: true, id: "om_1"})
			m.until("the click is taken", func() bool { return m.next().click() == nil })
			m.ended()
			m.say(words{from: listed, text: "1.4.2", mention: true, id: "om_1"})
		},
		said:  []string{"react received", "reply Accepted `%[1]s`: 1.4.2", "card", "card_update", "reply done: 1.4.2"},
		check: once(1, 1, orchestrator.EndCompleted, gate.MandateActive),
	},
	{
		name: "stop while an approval is open", script: approvalScript(), writes: 20,
		play: func(m *mortals) {
			m.say(words{from: listed, text: "1.4.2", mention: true, id: "om_1"})
			m.until("the card is shown", func() bool { return m.next().asked() })
			m.say(words{from: listed, text: "stop", root: "om_1", id: "om_2"})
			m.ended()
		},
		said:  []string{"react received", "reply Accepted `%[1]s`: 1.4.2", "card", "card_update", "reply Stopped `%[1]s`: 1.4.2", "?reply stop"},
		check: once(2, 2, orchestrator.EndStopped, gate.MandateWithdrawn),
	},
	{
		name: "an approval that nobody answers", script: approvalScript(), writes: 15,
		play: func(m *mortals) {
			m.say(words{from: listed, text: "1.4.2", mention: true, id: "om_1"})
			m.until("the card is shown", func() bool { return m.next().asked() })
			time.Sleep(6 * time.Minute)
			m.ended()
		},
		said:  []string{"react received", "reply Accepted `%[1]s`: 1.4.2", "card", "card_update", "reply not approved"},
		check: once(1, 1, orchestrator.EndCompleted, gate.MandateActive),
	},
	{
		name: "a follow-up that resumes the work", writes: 20,
		play: func(m *mortals) {
			m.say(words{from: listed, text: "one", mention: true, id: "om_1"})
			m.ended()
			m.say(words{from: stranger, text: "two", root: "om_1", id: "om_2"})
			m.until("the reply comes", func() bool { m.next(); return len(m.out.all()) == 4 })
			m.ended()
		},
		said:  []string{"react received", "reply Accepted `%[1]s`: one", "reply one", "reply two"},
		check: once(2, 1, orchestrator.EndCompleted, gate.MandateActive),
	},
	{
		name: "a message that is handed back and comes again", script: approvalScript(), writes: 25,
		play: func(m *mortals) {
			m.say(words{from: listed, text: "one", mention: true, id: "om_1"})
			m.until("the card is shown", func() bool { return m.next().asked() })
			m.say(words{from: listed, text: "two", root: "om_1", id: "om_2"})
			m.until("it is handed back", func() bool { return m.next().handBack(2) })
			m.until("it is attached again", func() bool { m.next(); return m.decisions() == 2 })
			m.until("the click is taken", func() bool { return m.next().click() == nil })
			m.ended()
		},
		said: []string{
			"react received", "react received", "reply Accepted `%[1]s`: one", "card", "reply two", "reply two", "card_update", "reply done: one",
		},
		check: once(2, 2, orchestrator.EndCompleted, gate.MandateActive),
	},
	{
		name: "a policy edit while an approval is open", script: approvalScript(), writes: 22,
		play: func(m *mortals) {
			m.say(words{from: listed, text: "1.4.2", mention: true, id: "om_1"})
			m.until("the card is shown", func() bool { return m.next().asked() })
			m.edit(1, edited(unlisted))
			m.until("the ticket is told", func() bool { m.next(); return m.told() == 1 })
			m.edit(2, testPolicy())
			m.until("the click is taken", func() bool { return m.next().click() == nil })
			m.ended()
		},
		said: []string{"react received", "reply Accepted `%[1]s`: 1.4.2", "card", "card_update", "reply done: 1.4.2"},
		check: func(t *testing.T, s orchestrator.Store) {
			t.Helper()
			once(1, 1, orchestrator.EndCompleted, gate.MandateActive)(t, s)
			if got := policyInputs(t, s); got != 1 {
				t.Errorf("PV-4: the ticket was told %d times, want once", got)
			}
		},
	},
	{
		name: "a stop word that has nothing to stop", writes: 6,
		play: func(m *mortals) {
			m.say(words{from: listed, text: "stop", mention: true, id: "om_1"})
			m.until("it is decided", func() bool { m.next(); return m.decisions() == 1 })
			m.ended()
		},
		said:  []string{"react received", "reply There is no task under way here."},
		check: once(1, 1, "", gate.NoMandate),
	},
	{
		name: "a Ticket that is stopped by command", script: approvalScript(), writes: 12,
		play: func(m *mortals) {
			m.say(words{from: listed, text: "1.4.2", mention: true, id: "om_1"})
			m.until("the card is shown", func() bool { return m.next().asked() })
			m.until("it is stopped", func() bool { return m.next().stopped() })
			m.ended()
		},
		said:  []string{"react received", "reply Accepted `%[1]s`: 1.4.2", "card", "card_update", "reply Stopped `%[1]s`: 1.4.2"},
		check: once(1, 1, orchestrator.EndManualStop, gate.MandateWithdrawn),
	},
	{
		name: "a click that is refused, and one that is too late", script: approvalScript(), writes: 18,
		play: func(m *mortals) {
			m.say(words{from: listed, text: "1.4.2", mention: true, id: "om_1"})
			m.until("the card is shown", func() bool { return m.next().asked() })
			m.until("a stranger is refused", func() bool { return errors.Is(m.next().clickBy(stranger), approvals.ErrNotAllowed) })
			time.Sleep(6 * time.Minute)
			m.ended()
			m.until("the late click is refused", func() bool { return errors.Is(m.next().click(), approvals.ErrClosed) })
			m.ended()
		},
		said:  []string{"react received", "reply Accepted `%[1]s`: 1.4.2", "card", "card_update", "reply not approved"},
		check: once(1, 1, orchestrator.EndCompleted, gate.MandateActive),
	},
	{
		name: "a word that waits with a request", script: approvalScript(), writes: 18,
		play: func(m *mortals) {
			m.say(words{from: listed, text: "one", mention: true, id: "om_1"})
			m.say(words{from: listed, text: "and two", root: "om_1", id: "om_2"})
			m.until("it is answered", func() bool { m.next().settle(); return m.said("reply and two") > 0 })
			m.until("the click is taken", func() bool { return m.next().click() == nil })
			m.ended()
		},
		said:  []string{"react received", "reply Accepted `%[1]s`: one", "card", "reply and two", "card_update", "reply done: one"},
		check: once(2, 1, orchestrator.EndCompleted, gate.MandateActive),
	},
	{
		name: "a review of three comments", writes: 15,
		play: func(m *mortals) {
			m.say(words{from: listed, text: "one", mention: true, review: "review:1", id: "om_1"})
			m.say(words{from: listed, text: "two", root: "om_1", review: "review:1", id: "om_2"})
			m.say(words{from: listed, text: "three", root: "om_1", review: "review:1", id: "om_3"})
			m.until("it is answered", func() bool { m.next().settle(); return m.said("reply three") > 0 })
			m.ended()
		},
		said:  []string{"react received", "reply Accepted `%[1]s`: one", "reply one", "reply two", "reply three"},
		check: once(3, 1, orchestrator.EndCompleted, gate.MandateActive),
	},
	{
		name: "a question that reaches nobody", script: approvalScript(), writes: 12,
		play: func(m *mortals) {
			m.out.fail = func(o gate.Outgoing) error {
				if o.Kind == gate.OutCard {
					return &gate.SendError{Class: gate.SendDropped, Reason: "the chat is gone"}
				}
				return nil
			}
			m.say(words{from: listed, text: "1.4.2", mention: true, id: "om_1"})
			m.ended()
		},
		said:  []string{"react received", "reply Accepted `%[1]s`: 1.4.2", "reply not approved"},
		check: once(1, 1, orchestrator.EndCompleted, gate.MandateActive),
	},
	{
		name: "an edit adds the mention, and the request is taken back while an approval is open", script: approvalScript(), writes: 20,
		play: func(m *mortals) {
			m.tell(gate.ChangeEdit, "om_1", "1.4.2", true)
			m.until("the card is shown", func() bool { return m.next().asked() })
			m.tell(gate.ChangeRecall, "om_1", "", false)
			m.until("the ticket is told", func() bool { m.next(); return recallInputs(m.t, m.mem) == 1 })
			m.until("the click is taken", func() bool { return m.next().click() == nil })
			m.ended()
		},
		said: []string{"react received", "reply Accepted `%[1]s`: 1.4.2", "card", "card_update", "reply done:"},
		check: func(t *testing.T, s orchestrator.Store) {
			t.Helper()
			once(1, 1, orchestrator.EndCompleted, gate.MandateActive)(t, s)
			if m := messageOf(t, s, "om_1"); !m.Recalled || m.Text != "" || recallInputs(t, s) != 1 {
				t.Errorf("TR-4a: recalled %v, says %q, told %d times; want it forgotten and told once", m.Recalled, m.Text, recallInputs(t, s))
			}
		},
	},
	{
		name: "a recall that overtakes its message", writes: 2,
		play: func(m *mortals) {
			m.tell(gate.ChangeRecall, "om_1", "", false)
			m.ended()
			m.say(words{from: listed, text: "one", mention: true, id: "om_1"})
			m.ended()
		},
		check: once(0, 0, "", gate.NoMandate),
	},
	{
		name: "a follow-up that waits for a pause to end", writes: 20,
		play: func(m *mortals) {
			m.say(words{from: listed, text: "one", mention: true, id: "om_1"})
			m.ended()
			m.until("it is paused", func() bool { _, err := m.next().svc.Pause(m.t.Context(), "", "an operator"); return err == nil })
			m.say(words{from: listed, text: "two", root: "om_1", id: "om_2"})
			m.next().settle()
			m.until("it goes on", func() bool { _, err := m.next().svc.Resume(m.t.Context(), "", "an operator"); return err == nil })
			m.until("the reply comes", func() bool { m.next().settle(); return m.said("reply two") == 1 })
			m.ended()
		},
		said:  []string{"react received", "reply Accepted `%[1]s`: one", "reply one", "reply two"},
		check: once(2, 1, orchestrator.EndCompleted, gate.MandateActive),
	},
	{
		name: "the bot leaves the chat while an approval is open, and comes back", script: approvalScript(), writes: 20,
		play: func(m *mortals) {
			m.say(words{from: listed, text: "1.4.2", mention: true, id: "om_1"})
			m.until("the card is shown", func() bool { return m.next().asked() })
			m.until("the news is taken", func() bool { return m.next().reach("e1", "the bot was removed", opsChat) == nil })
			m.until("the ticket is told", func() bool { m.next().settle(); return notes(m.t, m.mem, "the bot was removed") == 1 })
			m.ended()
			m.until("the other news is taken", func() bool { return m.next().reach("e2", "", opsChat) == nil })
			m.ended()
		},
		said: []string{"react received", "reply Accepted `%[1]s`: 1.4.2", "card"},
		check: func(t *testing.T, s orchestrator.Store) {
			t.Helper()
			once(1, 1, orchestrator.EndCompleted, gate.MandateActive)(t, s)
			st, err := s.Load(t.Context(), orchestrator.Want{Reaches: []gate.PlaceID{opsChat, "feishu"}})
			if err != nil || st.Reaches[opsChat].Lost != "" || st.Reaches["feishu"].Changes != 2 || notes(t, s, "the bot was removed") != 1 {
				t.Errorf("EN-5: %+v, %d notes, %v; want it found, two changes and one note", st.Reaches, notes(t, s, "the bot was removed"), err)
			}
		},
	},
	{
		name: "CI fails twice, and is green", writes: 12, arrange: watchesCI,
		script: []orchestrator.ScriptStep{{Done: "fixed"}},
		play: func(m *mortals) {
			for i, run := range []gate.Run{red("h1"), red("h2"), {Workflow: "build", Name: "Build", Head: "h2", Branch: "main"}} {
				m.until("the run is taken", func() bool { return m.next().ciTold(fmt.Sprint("run-", i), run) == nil })
				m.until("the run is looked at", func() bool { m.next().settle(); return !strings.Contains(m.next().states(), "received") })
				m.ended()
			}
			m.until("it is green", func() bool { m.next().settle(); return redOf(m.t, m.mem) == "" })
		},
		said: []string{"reply Accepted `%[1]s`: the build failed at h1", "reply fixed"},
		check: func(t *testing.T, s orchestrator.Store) {
			t.Helper()
			once(2, 1, orchestrator.EndCompleted, gate.MandateActive)(t, s)
			if r := redOf(t, s); r != "" {
				t.Errorf("GH-3: %s is red; want the incident closed", r)
			}
		},
	},
	{
		name: "a stranger who is refused", writes: 4,
		play: func(m *mortals) {
			m.say(words{from: stranger, text: "one", mention: true, id: "om_1"})
			m.ended()
		},
		said:  []string{"react refused"},
		check: once(1, 0, "", gate.NoMandate),
	},
}

// once checks that there is one Ticket, in that state, and that many messages
// and decisions.
func once(messages, decisions int, end orchestrator.EndReason, mandate gate.MandateState) func(*testing.T, orchestrator.Store) {
	return func(t *testing.T, s orchestrator.Store) {
		t.Helper()
		ctx, page := t.Context(), orchestrator.Page{Limit: 10}
		ts, _, _ := s.ListTickets(ctx, orchestrator.TicketFilter{}, page)
		ds, _, _ := s.ListDecisions(ctx, orchestrator.DecisionFilter{}, page)
		ms, _, _ := s.ListMessages(ctx, orchestrator.MessageFilter{}, page)
		if len(ms) != messages || len(ds) != decisions {
			t.Errorf("%d messages, %d decisions; want %d, %d", len(ms), len(ds), messages, decisions)
		}
		switch {
		case end == "" && len(ts) == 0:
		case len(ts) != 1:
			t.Errorf("%d tickets; want one", len(ts))
		case ts[0].End == nil || ts[0].End.Reason != end || ts[0].Mandate.State != mandate:
			t.Errorf("the ticket ended as %+v with mandate %s; want %s, %s", ts[0].End, ts[0].Mandate.State, end, mandate)
		}
	}
}

// TestCrashPoints kills the process before and after each of its writes, and
// starts another: every tale ends the same, nothing is lost and nothing is
// twice (EV-7, RS-4, OUT-1, DE-10).
func TestCrashPoints(t *testing.T) {
	t.Parallel()
	for _, tl := range slices.Concat(tales, boundTales) {
		t.Run(tl.name, func(t *testing.T) {
			t.Parallel()
			for _, after := range []bool{false, true} {
				searchWrites(t, tl, after)
			}
		})
	}
}

func searchWrites(t *testing.T, tl tale, after bool) {
	for at := 1; ; at++ {
		died := false
		ok := t.Run(fmt.Sprintf("write %d, after=%t", at, after), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { died = tl.over(t, at, after) })
		})
		if !ok {
			return
		}
		if !died {
			if at <= tl.writes {
				t.Errorf("the tale has only %d writes; the search looks at too little", at-1)
			}
			return
		}
	}
}

// over plays the tale over a process that dies at a write, and a second one.
func (tl tale) over(t *testing.T, at int, after bool) (died bool) {
	m := &mortals{t: t, mem: storetest.NewMem(), out: newPlatform(), ids: counter(), tale: tl}
	m.store = &mortal{Store: m.mem, at: at, after: after, died: make(chan struct{})}
	m.house = m.newHouse(m.store)
	m.house.mayDie()
	m.stop = m.house.run()
	tl.play(m)
	m.next().settle()
	tl.check(t, m.mem)
	short, second := "", ""
	list, _, _ := m.mem.ListTickets(t.Context(), orchestrator.TicketFilter{}, orchestrator.Page{Limit: 2})
	for i, to := range []*string{&short, &second} {
		if i < len(list) {
			*to = list[i].Short()
		}
	}
	got := m.out.lines()
	var want []string
	for _, line := range tl.said {
		line = strings.ReplaceAll(strings.ReplaceAll(line, "%[1]s", short), "%[2]s", second)
		if may, ok := strings.CutPrefix(line, "?"); !ok || slices.Contains(got, may) {
			want = append(want, strings.TrimPrefix(line, "?"))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("said:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return m.store.dead()
}

// mortals are the processes of a tale, one after the other, over one store.
type mortals struct {
	t      *testing.T
	mem    *storetest.Mem
	out    *platform
	ids    func(string) string
	tale   tale
	store  *mortal
	house  *house
	stop   func()
	second bool
}

// next is the process that lives now.
func (m *mortals) next() *house {
	if m.store.dead() && !m.second {
		m.second = true
		m.stop()
		m.house = m.newHouse(m.mem)
		m.house.run()
	}
	return m.house
}

func (m *mortals) newHouse(store orchestrator.Store) *house {
	h := newHouseOver(m.t, store, m.out, m.ids, m.tale.script...).bounded(m.tale.bounds)
	h.svc.Opener = ourIssue{}
	if m.tale.arrange != nil {
		m.tale.arrange(h)
	}
	if m.tale.bounds.Remote {
		delete(h.runner.Executors, "default")
	}
	return h
}

func (m *mortals) say(s words) {
	m.t.Helper()
	m.until("the message is taken", func() bool { _, err := m.next().trySay(s); return err == nil })
}

func (m *mortals) tell(kind gate.ChangeKind, of, text string, adds bool) {
	m.t.Helper()
	m.until("the news is taken", func() bool { return m.next().tellOf(kind, of, listed, text, adds) == nil })
}

// recallInputs counts how often the only Ticket was told of a recall.
func recallInputs(t *testing.T, s orchestrator.Store) (n int) {
	t.Helper()
	list, _, _ := s.ListTickets(t.Context(), orchestrator.TicketFilter{}, orchestrator.Page{Limit: 5})
	for _, tk := range list {
		inputs, _ := s.Inputs(t.Context(), tk.ID, 0)
		for _, in := range inputs {
			if in.Note == orchestrator.NoteRecalled {
				n++
			}
		}
	}
	return n
}

func (m *mortals) until(what string, holds func() bool) {
	m.t.Helper()
	until(m.t, what, holds)
}

// ended waits until nothing is left to do.
func (m *mortals) ended() {
	m.t.Helper()
	m.until("the queues are empty", func() bool {
		m.next().settle()
		d, err := m.mem.Depths(m.t.Context())
		active, _, _ := m.mem.ListTickets(m.t.Context(), orchestrator.TicketFilter{State: orchestrator.TicketActive}, orchestrator.Page{Limit: 1})
		return err == nil && d == orchestrator.Depths{} && len(active) == 0
	})
}

// edit brings a Policy into force, once however often it is tried.
func (m *mortals) edit(started int, p gate.Policy) {
	m.t.Helper()
	m.until("the policy is edited", func() bool {
		_, err := m.next().svc.SetPolicy(m.t.Context(), p, started, "api:ops")
		return err == nil || errors.Is(err, orchestrator.ErrOutdated)
	})
}

func (m *mortals) told() int { return policyInputs(m.t, m.mem) }

// policyInputs counts how often the only Ticket was told of a Policy.
func policyInputs(t *testing.T, s orchestrator.Store) (n int) {
	t.Helper()
	list, _, _ := s.ListTickets(t.Context(), orchestrator.TicketFilter{}, orchestrator.Page{Limit: 5})
	for _, tk := range list {
		inputs, _ := s.Inputs(t.Context(), tk.ID, 0)
		for _, in := range inputs {
			if in.Kind == orchestrator.InputPolicyChanged {
				n++
			}
		}
	}
	return n
}

// said counts how often a line was said.
func (m *mortals) said(line string) (n int) {
	for _, l := range m.out.lines() {
		if l == line {
			n++
		}
	}
	return n
}

func (m *mortals) decisions() int {
	list, _, _ := m.mem.ListDecisions(m.t.Context(), orchestrator.DecisionFilter{}, orchestrator.Page{Limit: 10})
	return len(list)
}

// asked reports whether the question of the only Ticket is shown.
func (h *house) asked() bool {
	list, _, _ := h.store.ListTickets(h.t.Context(), orchestrator.TicketFilter{}, orchestrator.Page{Limit: 5})
	if len(list) == 0 {
		return false
	}
	q, err := h.broker.Question(h.t.Context(), approvals.IDFor("default", approvals.SessionID(list[0].ID), "1/step-0"))
	return err == nil && len(q.Messages) > 0
}

// handBack gives the message of an Input back, once however often it is called.
func (h *house) handBack(seq int) bool {
	list, _, _ := h.store.ListTickets(h.t.Context(), orchestrator.TicketFilter{}, orchestrator.Page{Limit: 5})
	inputs, err := h.store.Inputs(h.t.Context(), list[0].ID, seq-1)
	if err != nil || len(inputs) == 0 {
		return false
	}
	p, err := h.svc.Act(h.t.Context(), list[0].ID, orchestrator.Command{
		Verb: orchestrator.VerbHandBack, Key: "back", Inputs: inputs[:1], Reason: "not mine",
	})
	return err == nil && p.OK
}

// mayDie: a store that dies is not a failure of the test's own set-up.
func (h *house) mayDie() { h.dying = true }

// click approves the question of the only Ticket on its card.
func (h *house) click() error { return h.clickBy(listed) }

func (h *house) clickBy(who string) error {
	list, _, err := h.store.ListTickets(h.t.Context(), orchestrator.TicketFilter{}, orchestrator.Page{Limit: 5})
	if err != nil || len(list) == 0 {
		return errors.Join(err, orchestrator.ErrNotFound)
	}
	id := approvals.IDFor("default", approvals.SessionID(list[0].ID), "1/step-0")
	q, err := h.broker.Question(h.t.Context(), id)
	if err != nil || len(q.Messages) == 0 {
		return errors.Join(err, approvals.ErrWrongCard)
	}
	_, err = h.broker.Answer(h.t.Context(), approvals.AnswerRequest{
		ID: id, OptionID: approvals.OptionApprove, Via: approvals.ViaCard, Source: "feishu",
		Who: gate.Sender{Kind: gate.Person, ID: who}, Message: &q.Messages[0],
	})
	return err
}

// stopped stops the only Ticket by command.
func (h *house) stopped() bool {
	list, _, _ := h.store.ListTickets(h.t.Context(), orchestrator.TicketFilter{}, orchestrator.Page{Limit: 5})
	return len(list) == 1 && h.svc.StopByCommand(h.t.Context(), list[0].ID, "an operator") == nil
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 600 {
		if holds() {
			return
		}
		time.Sleep(200 * time.Millisecond) // fake time
	}
	t.Fatalf("never: %s", what)
}
