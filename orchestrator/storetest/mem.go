package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// partitions is how many lists the inbox has (RS-3).
const partitions = 16

// record is one stored aggregate. The JSON is never written to again, so that
// clones share it.
type record struct {
	version int64
	json    []byte
}

// name is what a record or a piece of work is known by.
type name struct{ kind, id string }

// work is one piece of due work; claimed it is due when the lease runs out.
type work struct {
	at, claimedAt int64
	token         int64 // 0: nobody has it
}

// Mem is an orchestrator.Store in memory with the real semantics: what goes in
// and what comes out are deep copies, through the stored form. It forgets
// nothing by age. The zero value is not usable; see NewMem.
type Mem struct {
	mu   sync.Mutex
	away error
	wake broadcast

	records map[name]record
	due     map[name]work
	token   int64

	keys   map[string]gate.TriggerID
	raw    map[gate.TriggerID][]byte
	inbox  map[string][]gate.TriggerID
	lanes  map[string][]string
	rows   map[string]gate.Outgoing
	marks  map[string]bool
	inputs map[gate.TicketID]map[int][]byte
	acts   map[name][]byte
	tally  map[string]map[string]int64
	logins map[gate.SourceID]map[string]string
	log    [][]byte
}

var _ orchestrator.Store = (*Mem)(nil)

// NewMem returns an empty store.
func NewMem() *Mem {
	return &Mem{
		records: map[name]record{},
		due:     map[name]work{},
		keys:    map[string]gate.TriggerID{},
		raw:     map[gate.TriggerID][]byte{},
		inbox:   map[string][]gate.TriggerID{},
		lanes:   map[string][]string{},
		rows:    map[string]gate.Outgoing{},
		marks:   map[string]bool{},
		inputs:  map[gate.TicketID]map[int][]byte{},
		acts:    map[name][]byte{},
		tally:   map[string]map[string]int64{},
		logins:  map[gate.SourceID]map[string]string{},
	}
}

// Clone returns a store with the same content that goes its own way from here.
func (m *Mem) Clone() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &Mem{
		records: maps.Clone(m.records), due: maps.Clone(m.due), token: m.token,
		keys: maps.Clone(m.keys), raw: maps.Clone(m.raw), inbox: cloneLists(m.inbox),
		lanes: cloneLists(m.lanes), rows: maps.Clone(m.rows), marks: maps.Clone(m.marks),
		inputs: make(map[gate.TicketID]map[int][]byte, len(m.inputs)),
		acts:   maps.Clone(m.acts), log: slices.Clone(m.log),
		tally:  make(map[string]map[string]int64, len(m.tally)),
		logins: make(map[gate.SourceID]map[string]string, len(m.logins)),
	}
	for source, logins := range m.logins {
		c.logins[source] = maps.Clone(logins)
	}
	for set, members := range m.tally {
		c.tally[set] = maps.Clone(members)
	}
	for t, in := range m.inputs {
		c.inputs[t] = maps.Clone(in)
	}
	return c
}

func cloneLists[K comparable, V any](in map[K][]V) map[K][]V {
	out := make(map[K][]V, len(in))
	for k, v := range in {
		out[k] = slices.Clone(v)
	}
	return out
}

// Away makes every call fail with err, as a store that cannot be reached does
// with orchestrator.ErrUnavailable; nil brings it back (RS-9).
func (m *Mem) Away(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.away = err
}

// enter locks the store, unless ctx has ended or the store is away.
func (m *Mem) enter(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", orchestrator.ErrUnavailable, err)
	}
	m.mu.Lock()
	if m.away != nil {
		defer m.mu.Unlock()
		return nil, m.away
	}
	return m.mu.Unlock, nil
}

// Receive implements orchestrator.Intake.
func (m *Mem) Receive(ctx context.Context, a gate.Arrival) (orchestrator.Receipt, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return "", fmt.Errorf("receive: %w", err)
	}
	defer leave()
	id := a.Trigger.ID
	if r := m.known(a); r != "" {
		return r, nil
	}
	if a.OnlyIfLive && !m.live(a.Trigger.Thread) && !m.fresh(&a.Trigger) {
		return orchestrator.NotLive, nil
	}
	msg := orchestrator.Message{Trigger: a.Trigger, State: orchestrator.StateReceived, Change: a.Change}
	msg.Raw = ""
	if len(a.Raw) > 0 {
		msg.Raw = string(id)
		m.raw[id] = slices.Clone(a.Raw)
	}
	text, err := json.Marshal(msg)
	if err != nil {
		return "", fmt.Errorf("receive %s: %w", id, err)
	}
	for _, k := range a.Keys {
		m.keys[k] = id
	}
	m.records[name{orchestrator.KindMessage, string(id)}] = record{1, text}
	part := partition(a.Lane)
	m.inbox[part] = append(m.inbox[part], id)
	m.schedule(name{string(orchestrator.DueInbox), part}, millisUp(a.Trigger.ReceivedAt))
	m.wake.all()
	return orchestrator.Stored, nil
}

// known tells what the dedupe keys and the id say about an arrival, or "".
func (m *Mem) known(a gate.Arrival) orchestrator.Receipt {
	_, mine := m.records[name{orchestrator.KindMessage, string(a.Trigger.ID)}]
	for _, k := range a.Keys {
		id, ok := m.keys[k]
		if ok && id != a.Trigger.ID {
			return orchestrator.Duplicate
		}
		mine = mine || ok
	}
	if mine {
		return orchestrator.Stored
	}
	return ""
}

// fresh reports whether a message of the Thread was stored a moment ago.
func (m *Mem) fresh(t *gate.Trigger) bool {
	after := t.ReceivedAt.Add(-orchestrator.FreshThread)
	return len(all(m, orchestrator.KindMessage, func(v *orchestrator.Message) bool {
		return v.Thread == t.Thread && v.ReceivedAt.After(after)
	})) > 0
}

func (m *Mem) live(id gate.ThreadID) bool {
	t, err := read[orchestrator.Thread](m, orchestrator.KindThread, string(id))
	return err == nil && t.Live()
}

// Known implements orchestrator.Intake.
func (m *Mem) Known(ctx context.Context, key string) (gate.TriggerID, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return "", fmt.Errorf("look up key: %w", err)
	}
	defer leave()
	id, ok := m.keys[key]
	if !ok {
		return "", fmt.Errorf("dedupe key %s: %w", key, orchestrator.ErrNotFound)
	}
	return id, nil
}

// Raw returns the raw payload of a message; ErrNotFound.
func (m *Mem) Raw(ctx context.Context, id gate.TriggerID) ([]byte, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("read raw payload: %w", err)
	}
	defer leave()
	raw, ok := m.raw[id]
	if !ok {
		return nil, fmt.Errorf("raw payload of %s: %w", id, orchestrator.ErrNotFound)
	}
	return slices.Clone(raw), nil
}

// Log returns up to limit lines of the event log after a cursor ("" is the
// beginning), oldest first, and the cursor of the last one.
func (m *Mem) Log(ctx context.Context, after string, limit int) ([]approvals.Record, string, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, after, fmt.Errorf("read log: %w", err)
	}
	defer leave()
	from, _ := strconv.Atoi(after)
	var out []approvals.Record
	for ; from < len(m.log) && len(out) < limit; from++ {
		var r approvals.Record
		if err := json.Unmarshal(m.log[from], &r); err != nil {
			return nil, after, fmt.Errorf("read log: %w", err)
		}
		out = append(out, r)
	}
	return out, strconv.Itoa(from), nil
}

func partition(lane string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(lane))
	return strconv.Itoa(int(h.Sum32() % partitions))
}

// millisUp rounds a time up, so that nothing is due before its time.
func millisUp(t time.Time) int64 {
	return max(0, t.Add(time.Millisecond-time.Nanosecond).UnixMilli())
}
