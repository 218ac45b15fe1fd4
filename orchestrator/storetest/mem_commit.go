package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// write is a record that a commit changes.
type write struct {
	name    name
	version int64
	value   any
}

func writes(c *orchestrator.Changes) []write {
	var ws []write
	add := func(kind, id string, version int64, v any) {
		ws = append(ws, write{name{kind, id}, version, v})
	}
	for _, r := range c.Threads {
		add(orchestrator.KindThread, string(r.ID), r.Version, r)
	}
	for _, r := range c.Tickets {
		add(orchestrator.KindTicket, string(r.ID), r.Version, r)
	}
	for _, r := range c.Messages {
		add(orchestrator.KindMessage, string(r.ID), r.Version, r)
	}
	for _, r := range c.Evals {
		add(orchestrator.KindEval, string(r.ID), r.Version, r)
	}
	for _, r := range c.Chats {
		add(orchestrator.KindChat, r.Key, r.Version, r)
	}
	for _, r := range c.Reaches {
		add(orchestrator.KindReach, string(r.Place), r.Version, r)
	}
	for _, r := range c.Questions {
		add(orchestrator.KindQuestion, string(r.ID), r.Version, r)
	}
	if c.Policy != nil {
		add(orchestrator.KindPolicy, "", c.Policy.Version, *c.Policy)
	}
	return ws
}

// Commit implements orchestrator.States.
func (m *Mem) Commit(ctx context.Context, c orchestrator.Changes) error {
	if err := sound(&c); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	ws := writes(&c)
	stored, err := encode(ws)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	rows, err := encodeRows(&c)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	leave, err := m.enter(ctx)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	defer leave()
	if err := m.check(&c, ws); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	for i, w := range ws {
		m.records[w.name] = record{w.version + 1, stored[i]}
	}
	m.append(&c, rows)
	m.effects(&c)
	if len(ws) > 0 || c.Claim != nil || len(c.Out)+len(c.Due)+len(c.Cancel) > 0 {
		m.wake.all() // who only looked makes nothing due
	}
	return nil
}

// CommitQuestions implements approvals.Store.
func (m *Mem) CommitQuestions(ctx context.Context, c approvals.Change) error {
	changes := orchestrator.Changes{Questions: c.Questions, Effects: c.Effects}
	if c.Guard.Kind != "" {
		changes.Read = []approvals.Guard{c.Guard}
	}
	return m.Commit(ctx, changes)
}

// sound refuses Changes that no store could keep.
func sound(c *orchestrator.Changes) error {
	lane := c.Claim != nil && c.Claim.Kind == orchestrator.DueOutbox
	if len(c.SentIDs)+len(c.Retried) > 0 && !lane {
		return errors.New("sent rows without a claimed lane")
	}
	if len(c.Took) > 0 && (c.Claim == nil || c.Claim.Kind != orchestrator.DueInbox) {
		return errors.New("taken arrivals without a claimed partition")
	}
	for _, o := range c.Out {
		if o.ID == "" || o.Lane == "" {
			return errors.New("outgoing without id or lane")
		}
	}
	for _, g := range c.Read {
		if !slices.Contains(guardKinds(), g.Kind) {
			return fmt.Errorf("no records of kind %q", g.Kind)
		}
	}
	seen := map[name]bool{}
	for _, w := range writes(c) {
		if seen[w.name] {
			return fmt.Errorf("%s %s is written twice", w.name.kind, w.name.id)
		}
		seen[w.name] = true
	}
	return nil
}

func guardKinds() []string {
	return []string{
		orchestrator.KindThread, orchestrator.KindTicket, orchestrator.KindMessage, orchestrator.KindEval,
		orchestrator.KindChat, orchestrator.KindReach, orchestrator.KindQuestion, orchestrator.KindPolicy,
	}
}

func encode(ws []write) ([][]byte, error) {
	out := make([][]byte, len(ws))
	for i, w := range ws {
		text, err := json.Marshal(w.value)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", w.name.kind, w.name.id, err)
		}
		out[i] = text
	}
	return out, nil
}

// encodedRows are the appended rows of a commit in their stored form.
type encodedRows struct{ decisions, versions, inputs, log [][]byte }

func encodeRows(c *orchestrator.Changes) (rows encodedRows, err error) {
	if rows.decisions, err = encodeAll(c.Decisions); err != nil {
		return rows, err
	}
	if rows.versions, err = encodeAll(c.Versions); err != nil {
		return rows, err
	}
	if rows.inputs, err = encodeAll(c.Inputs); err != nil {
		return rows, err
	}
	rows.log, err = encodeAll(c.Log)
	return rows, err
}

func encodeAll[T any](in []T) ([][]byte, error) {
	out := make([][]byte, len(in))
	for i := range in {
		text, err := json.Marshal(in[i])
		if err != nil {
			return nil, err
		}
		out[i] = text
	}
	return out, nil
}

// check compares everything before anything is written.
func (m *Mem) check(c *orchestrator.Changes, ws []write) error {
	if c.Claim != nil && !m.holds(*c.Claim) {
		return fmt.Errorf("%s %s: %w", c.Claim.Kind, c.Claim.Key, orchestrator.ErrLostClaim)
	}
	for _, w := range ws {
		if m.records[w.name].version != w.version {
			return fmt.Errorf("%s %s: %w", w.name.kind, w.name.id, orchestrator.ErrConflict)
		}
	}
	for _, g := range c.Read {
		if m.records[guarded(g)].version != g.Version {
			return fmt.Errorf("%s %s: %w", g.Kind, g.ID, orchestrator.ErrConflict)
		}
	}
	for _, t := range c.Tallies {
		if !m.room(t) {
			return fmt.Errorf("tally %s is full: %w", t.Set, orchestrator.ErrConflict)
		}
	}
	seen := map[name]bool{}
	for _, a := range c.Acts {
		n := name{string(a.Ticket), a.Key}
		if _, ok := m.acts[n]; ok || seen[n] {
			return fmt.Errorf("act %s of %s: %w", a.Key, a.Ticket, orchestrator.ErrConflict)
		}
		seen[n] = true
	}
	return nil
}

// guarded is the record of a Guard; the Policy has one record whatever the ID.
func guarded(g approvals.Guard) name {
	if g.Kind == orchestrator.KindPolicy {
		return name{g.Kind, ""}
	}
	return name{g.Kind, g.ID}
}

func (m *Mem) append(c *orchestrator.Changes, rows encodedRows) {
	for i, d := range c.Decisions {
		m.records[name{kindDecision, string(d.ID)}] = record{1, rows.decisions[i]}
	}
	for i, v := range c.Versions {
		m.records[versionName(v.Number)] = record{1, rows.versions[i]}
	}
	for i, in := range c.Inputs {
		if m.inputs[in.Ticket] == nil {
			m.inputs[in.Ticket] = map[int][]byte{}
		}
		m.inputs[in.Ticket][in.Seq] = rows.inputs[i]
	}
	for _, a := range c.Acts {
		m.acts[name{string(a.Ticket), a.Key}] = slices.Clone(a.Result)
	}
	for _, k := range c.Seen {
		if _, ok := m.keys[k]; !ok {
			m.keys[k] = ""
		}
	}
	for _, n := range c.Names {
		if _, ok := m.keys[n.Key]; !ok || n.Trigger != "" {
			m.keys[n.Key] = n.Trigger
		}
	}
	for _, msg := range c.Messages {
		if msg.Raw == "" {
			delete(m.raw, msg.ID)
		}
	}
	for _, l := range c.Logins {
		m.bind(l)
	}
	for _, t := range c.Tallies {
		m.count(t)
	}
	m.log = append(m.log, rows.log...)
}

// effects gives the claim back, then cancels, then schedules.
func (m *Mem) effects(c *orchestrator.Changes) {
	if c.Claim != nil {
		m.take(c)
		m.giveBack(c)
	}
	for _, d := range c.Cancel {
		delete(m.due, name{string(d.Kind), d.Key})
	}
	for _, o := range c.Out {
		m.enqueue(o)
	}
	for _, d := range c.Due {
		m.schedule(name{string(d.Kind), d.Key}, millisUp(d.At))
	}
}

// take removes and updates rows of the claimed list.
func (m *Mem) take(c *orchestrator.Changes) {
	key := c.Claim.Key
	for _, id := range c.Took {
		m.inbox[key] = without(m.inbox[key], id)
	}
	for _, id := range c.SentIDs {
		m.lanes[key] = without(m.lanes[key], id)
		delete(m.rows, id)
	}
	for _, o := range c.Retried {
		if _, ok := m.rows[o.ID]; ok {
			m.rows[o.ID] = cloneOutgoing(o)
		}
	}
}

func without[T comparable](list []T, v T) []T {
	if i := slices.Index(list, v); i >= 0 {
		return slices.Delete(slices.Clone(list), i, i+1)
	}
	return list
}

// enqueue appends a row to its lane, once for each ID (OUT-1).
func (m *Mem) enqueue(o gate.Outgoing) {
	if m.marks[o.ID] {
		return
	}
	m.marks[o.ID] = true
	m.lanes[o.Lane] = append(m.lanes[o.Lane], o.ID)
	m.rows[o.ID] = cloneOutgoing(o)
	n := name{string(orchestrator.DueOutbox), o.Lane}
	if _, scheduled := m.due[n]; !scheduled || len(m.lanes[o.Lane]) == 1 {
		m.schedule(n, max(millisUp(o.NotBefore), millisUp(o.CreatedAt)))
	}
}

func cloneOutgoing(o gate.Outgoing) gate.Outgoing {
	o.Mention.Aliases = slices.Clone(o.Mention.Aliases)
	o.Requester.Aliases = slices.Clone(o.Requester.Aliases)
	return o
}
