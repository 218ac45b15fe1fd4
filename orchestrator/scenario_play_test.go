package orchestrator_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

// play is a scenario under way: one store, two platforms, and the gateway's
// process that lives now.
type play struct {
	t     *testing.T
	verbs []sentence
	store *storetest.Mem
	ids   func(string) string
	on    map[gate.SourceID]*platform
	set   setting
	house *house
	life  *mortal
	stop  func()

	said      map[string]utterance
	tickets   map[string]gate.TicketID
	questions map[string]approvals.ID
	// given is what the main Session holds of a message, news what it was
	// given and no line has asked about.
	given map[string]gate.EvalID
	news  []string
	under int // the Policy version that it works under
	// heard counts, by Source, what lines have asked about.
	heard map[string]bool
	opens map[string]orchestrator.Opened
	told  []string
}

// utterance is a message as the platform has it: its arrival, to deliver it
// again. A replay that was forced has the id of a Trigger of its own.
type utterance struct {
	gate.Arrival
	id gate.TriggerID
}

func newPlay(t *testing.T) *play {
	t.Helper()
	return &play{
		t: t, verbs: sentences(), store: storetest.NewMem(), ids: counter(), set: usual(),
		on:   map[gate.SourceID]*platform{"feishu": newPlatform(), "github": newPlatform()},
		said: map[string]utterance{}, tickets: map[string]gate.TicketID{}, questions: map[string]approvals.ID{},
		given: map[string]gate.EvalID{}, heard: map[string]bool{}, opens: map[string]orchestrator.Opened{},
	}
}

// open starts the gateway, unless it runs or was killed.
func (p *play) open() {
	if p.house == nil {
		p.start()
	}
}

// start starts a process over the store, as the setting has it.
func (p *play) start() {
	p.life = &mortal{Store: p.store, died: make(chan struct{})}
	h := newHouseOver(p.t, p.life, p.on["feishu"], p.ids)
	h.policy, h.dying = p.set.policy, true
	p.set.furnish(h, p)
	p.house, p.stop = h, h.run()
}

// restart ends the process as SIGTERM does and starts another.
func (p *play) restart() {
	if p.house != nil {
		p.stop()
		p.start()
	}
}

// settle lets everything that is due happen.
func (p *play) settle() {
	if p.house != nil {
		time.Sleep(500 * time.Millisecond) // fake time
		synctest.Wait()
	}
}

func (p *play) ctx() context.Context { return p.t.Context() }

func (p *play) svc() *orchestrator.Service { return p.house.svc }

// message is the Trigger that a platform message has come to.
func (p *play) message(name string) (orchestrator.Message, error) {
	u, ok := p.said[name]
	if !ok {
		return orchestrator.Message{}, fmt.Errorf("nobody said %s", name)
	}
	id := u.id
	if id == "" {
		var err error
		if id, err = p.store.Known(p.ctx(), gate.MessageKey(u.Trigger.Source, name)); err != nil {
			return orchestrator.Message{}, fmt.Errorf("%s is not stored: %w", name, err)
		}
	}
	st, err := p.store.Load(p.ctx(), orchestrator.Want{Messages: []gate.TriggerID{id}})
	if m, ok := st.Messages[id]; ok && err == nil {
		return m, nil
	}
	return orchestrator.Message{}, fmt.Errorf("%s is not stored: %w", name, errors.Join(err, orchestrator.ErrNotFound))
}

// thread is the Thread of a message.
func (p *play) thread(name string) (orchestrator.Thread, error) {
	m, err := p.message(name)
	if err != nil {
		return orchestrator.Thread{}, err
	}
	st, err := p.store.Load(p.ctx(), orchestrator.Want{Threads: []gate.ThreadID{m.Thread}})
	return st.Threads[m.Thread], err
}

func (p *play) ticket(name string) (orchestrator.Ticket, error) {
	id, ok := p.tickets[name]
	if !ok {
		return orchestrator.Ticket{}, fmt.Errorf("no ticket is called %s", name)
	}
	st, err := p.store.Load(p.ctx(), orchestrator.Want{Tickets: []gate.TicketID{id}})
	return st.Tickets[id], err
}

func (p *play) question(name string) (approvals.Question, error) {
	id, ok := p.questions[name]
	if !ok {
		return approvals.Question{}, fmt.Errorf("no question is called %s", name)
	}
	return p.house.broker.Question(p.ctx(), id)
}

// decisions are those of a message, oldest first.
func (p *play) decisions(name string) ([]orchestrator.Decision, error) {
	m, err := p.message(name)
	if err != nil {
		return nil, err
	}
	all, _, err := p.store.ListDecisions(p.ctx(), orchestrator.DecisionFilter{}, orchestrator.Page{Limit: 100})
	all = slices.DeleteFunc(all, func(d orchestrator.Decision) bool { return d.Trigger != m.ID })
	slices.Reverse(all)
	return all, err
}

// nameOf is what the story calls a Ticket.
func (p *play) nameOf(id gate.TicketID) string {
	for name, is := range p.tickets {
		if is == id {
			return name
		}
	}
	return string(id)
}

func (p *play) nameAll(ids []gate.TicketID) string {
	var list []string
	for _, id := range ids {
		list = append(list, p.nameOf(id))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// messageName is what the story calls a Trigger.
func (p *play) messageName(id gate.TriggerID) string {
	st, err := p.store.Load(p.ctx(), orchestrator.Want{Messages: []gate.TriggerID{id}})
	if m, ok := st.Messages[id]; ok && err == nil {
		return m.IDs.Message
	}
	return string(id)
}

var (
	ticketWord   = regexp.MustCompile(`\bt\d+\b`)
	questionWord = regexp.MustCompile(`\bq\d+\b`)
)

// fill puts the short ids of Tickets and questions into a text.
func (p *play) fill(text string) string {
	text = ticketWord.ReplaceAllStringFunc(text, func(name string) string {
		t, err := p.ticket(name)
		if err != nil {
			return name
		}
		return t.Short()
	})
	return questionWord.ReplaceAllStringFunc(text, func(name string) string {
		id, ok := p.questions[name]
		if !ok {
			return name
		}
		return id.Short()
	})
}

// soFar is the story up to the line that failed, and what is.
func (p *play) soFar() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n\nthe story so far:\n%s\n\nwhat is:\n", strings.Join(p.told, "\n"))
	for _, name := range slices.SortedFunc(maps.Keys(p.said), byNumber) {
		if m, err := p.message(name); err == nil {
			fmt.Fprintf(&b, "  %s is %s (%s), %s by %s, owners %s: %s\n", name, m.State, m.Why, m.Admission.Strength, m.Admission.Basis, p.nameAll(m.Owners), m.Admission.Reason)
		} else {
			fmt.Fprintf(&b, "  %v\n", err)
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(p.tickets), byNumber) {
		t, err := p.ticket(name)
		fmt.Fprintf(&b, "  %s is %s, %+v, mandate %s (%s), seq %d delivered %d covered %d %v\n", name, t.State, t.End, t.Mandate.State, t.Mandate.RevokedReason, t.Seq, t.Delivered, t.Covered, err)
	}
	for _, source := range slices.Sorted(maps.Keys(p.on)) {
		for _, o := range p.on[source].all() {
			fmt.Fprintf(&b, "  %s heard %s %s%s on %s\n", source, o.Kind, o.Text, o.Reaction, o.Message)
		}
	}
	return b.String()
}

// byNumber orders m2 before m10.
func byNumber(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
