package approvals_test

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/gatehouse-bot/gatehouse/approvals"
)

// memStore is an approvals.Store with real behaviour: rows go through their
// stored form, a commit is all or nothing, versions and guards are compared.
type memStore struct {
	mu     sync.Mutex
	rows   map[approvals.ID]memRow
	order  []approvals.ID
	guards map[string]int64
	due    map[approvals.DueKind]map[string]approvals.Due
	out    []string // the ids of all Outgoings
	log    []approvals.Record
	// commits counts those that were stored. before runs, once, in front of
	// the next commit; fail refuses all commits, failReads all reads.
	commits   int
	before    func()
	fail      error
	failReads error
}

type memRow struct {
	data    []byte
	version int64
}

var _ approvals.Store = (*memStore)(nil)

func newMemStore() *memStore {
	return &memStore{
		rows:   map[approvals.ID]memRow{},
		guards: map[string]int64{},
		due:    map[approvals.DueKind]map[string]approvals.Due{},
	}
}

func (m *memStore) Question(ctx context.Context, id approvals.ID) (approvals.Question, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read(id)
}

func (m *memStore) read(id approvals.ID) (q approvals.Question, err error) {
	if m.failReads != nil {
		return q, m.failReads
	}
	r, ok := m.rows[id]
	if !ok {
		return q, approvals.ErrNotFound
	}
	err = json.Unmarshal(r.data, &q)
	q.Version = r.version
	return q, err
}

func (m *memStore) OpenQuestions(ctx context.Context, s approvals.SessionID) (open []approvals.Question, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failReads != nil {
		return nil, m.failReads
	}
	for _, id := range m.order {
		q, err := m.read(id)
		if err != nil {
			return nil, err
		}
		if q.Session.ID == s && q.Status == approvals.StatusOpen {
			open = append(open, q)
		}
	}
	return open, nil
}

func (m *memStore) CommitQuestions(ctx context.Context, c approvals.Change) error {
	if f := m.takeBefore(); f != nil {
		f()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	if c.Guard != (approvals.Guard{}) && m.guards[c.Guard.Kind+c.Guard.ID] != c.Guard.Version {
		return approvals.ErrConflict
	}
	for _, q := range c.Questions {
		if m.rows[q.ID].version != q.Version {
			return approvals.ErrConflict
		}
	}
	m.commits++
	for _, q := range c.Questions {
		m.write(q)
	}
	m.apply(c.Effects)
	return nil
}

func (m *memStore) takeBefore() func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.before
	m.before = nil
	return f
}

func (m *memStore) write(q approvals.Question) {
	if _, ok := m.rows[q.ID]; !ok {
		m.order = append(m.order, q.ID)
	}
	data, err := json.Marshal(q)
	if err != nil {
		panic(err)
	}
	m.rows[q.ID] = memRow{data: data, version: q.Version + 1}
}

func (m *memStore) apply(e approvals.Effects) {
	for _, d := range e.Cancel {
		delete(m.due[d.Kind], d.Key)
	}
	for _, d := range e.Due {
		if m.due[d.Kind] == nil {
			m.due[d.Kind] = map[string]approvals.Due{}
		}
		m.due[d.Kind][d.Key] = d
	}
	for _, o := range e.Out {
		m.out = append(m.out, o.ID)
	}
	m.log = append(m.log, e.Log...)
}

// lines counts the lines of the log by type.
func (m *memStore) lines() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return lines(m.log)
}

func lines(log []approvals.Record) map[string]int {
	n := map[string]int{}
	for _, r := range log {
		n[r.Type]++
	}
	return n
}
