package storetest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// kindDecision is no Guard's kind: Decisions have no versions.
const kindDecision = "decision"

// versioned are the records that carry the version they were read at.
type versioned interface {
	orchestrator.Thread | orchestrator.Ticket | orchestrator.Message | orchestrator.Eval |
		orchestrator.Chat | orchestrator.Reach | orchestrator.Decision | orchestrator.PolicyRecord | orchestrator.PolicyVersion | approvals.Question
}

func read[T versioned](m *Mem, kind, id string) (T, error) {
	var v T
	r, ok := m.records[name{kind, id}]
	if !ok {
		return v, fmt.Errorf("%s %s: %w", kind, id, orchestrator.ErrNotFound)
	}
	if err := json.Unmarshal(r.json, &v); err != nil {
		return v, fmt.Errorf("%s %s: %w", kind, id, err)
	}
	setVersion(&v, r.version)
	return v, nil
}

func setVersion(v any, version int64) {
	switch v := v.(type) {
	case *orchestrator.Thread:
		v.Version = version
	case *orchestrator.Ticket:
		v.Version = version
	case *orchestrator.Message:
		v.Version = version
	case *orchestrator.Eval:
		v.Version = version
	case *orchestrator.Chat:
		v.Version = version
	case *orchestrator.Reach:
		v.Version = version
	case *orchestrator.PolicyRecord:
		v.Version = version
	case *approvals.Question:
		v.Version = version
	}
}

// collect reads the records that exist of those named.
func collect[K ~string, T versioned](m *Mem, kind string, ids []K) map[K]T {
	out := make(map[K]T, len(ids))
	for _, id := range ids {
		if v, err := read[T](m, kind, string(id)); err == nil {
			out[id] = v
		}
	}
	return out
}

// Load implements orchestrator.States.
func (m *Mem) Load(ctx context.Context, w orchestrator.Want) (orchestrator.State, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return orchestrator.State{}, fmt.Errorf("load: %w", err)
	}
	defer leave()
	s := orchestrator.State{
		Threads:   collect[gate.ThreadID, orchestrator.Thread](m, orchestrator.KindThread, w.Threads),
		Tickets:   collect[gate.TicketID, orchestrator.Ticket](m, orchestrator.KindTicket, w.Tickets),
		Messages:  collect[gate.TriggerID, orchestrator.Message](m, orchestrator.KindMessage, w.Messages),
		Evals:     collect[gate.EvalID, orchestrator.Eval](m, orchestrator.KindEval, w.Evals),
		Chats:     collect[string, orchestrator.Chat](m, orchestrator.KindChat, w.Chats),
		Reaches:   collect[gate.PlaceID, orchestrator.Reach](m, orchestrator.KindReach, w.Reaches),
		Questions: map[approvals.ID]approvals.Question{},
	}
	if !w.Questions {
		return s, nil
	}
	for _, t := range w.Tickets {
		for _, q := range m.open(approvals.SessionID(t)) {
			s.Questions[q.ID] = q
		}
	}
	return s, nil
}

// Inputs implements orchestrator.States.
func (m *Mem) Inputs(ctx context.Context, t gate.TicketID, after int) ([]orchestrator.Input, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("inputs of %s: %w", t, err)
	}
	defer leave()
	var out []orchestrator.Input
	for _, seq := range slices.Sorted(maps.Keys(m.inputs[t])) {
		if seq <= after {
			continue
		}
		var in orchestrator.Input
		if err := json.Unmarshal(m.inputs[t][seq], &in); err != nil {
			return nil, fmt.Errorf("inputs of %s: %w", t, err)
		}
		out = append(out, in)
	}
	return out, nil
}

// Acted implements orchestrator.States.
func (m *Mem) Acted(ctx context.Context, t gate.TicketID, key string) ([]byte, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("act of %s: %w", t, err)
	}
	defer leave()
	result, ok := m.acts[name{string(t), key}]
	if !ok {
		return nil, fmt.Errorf("act %s of %s: %w", key, t, orchestrator.ErrNotFound)
	}
	return slices.Clone(result), nil
}

// PolicyInForce implements orchestrator.States.
func (m *Mem) PolicyInForce(ctx context.Context) (orchestrator.PolicyRecord, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return orchestrator.PolicyRecord{}, fmt.Errorf("policy in force: %w", err)
	}
	defer leave()
	return read[orchestrator.PolicyRecord](m, orchestrator.KindPolicy, "")
}

// Question implements approvals.Store.
func (m *Mem) Question(ctx context.Context, id approvals.ID) (approvals.Question, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return approvals.Question{}, fmt.Errorf("load question: %w", err)
	}
	defer leave()
	if _, ok := m.records[name{orchestrator.KindQuestion, string(id)}]; !ok {
		return approvals.Question{}, fmt.Errorf("question %s: %w", id, approvals.ErrNotFound)
	}
	return read[approvals.Question](m, orchestrator.KindQuestion, string(id))
}

// OpenQuestions implements approvals.Store.
func (m *Mem) OpenQuestions(ctx context.Context, session approvals.SessionID) ([]approvals.Question, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("open questions: %w", err)
	}
	defer leave()
	return m.open(session), nil
}

func (m *Mem) open(session approvals.SessionID) []approvals.Question {
	qs := all(m, orchestrator.KindQuestion, func(q *approvals.Question) bool {
		return q.Session.ID == session && q.Status == approvals.StatusOpen
	})
	slices.SortFunc(qs, func(a, b approvals.Question) int {
		return cmp.Or(cmp.Compare(a.CreatedAt.UnixMilli(), b.CreatedAt.UnixMilli()), cmp.Compare(a.ID, b.ID))
	})
	return qs
}

// all returns the records of a kind that keep says yes to, in no order.
func all[T versioned](m *Mem, kind string, keep func(*T) bool) []T {
	var out []T
	for n := range m.records {
		if n.kind != kind {
			continue
		}
		if v, err := read[T](m, kind, n.id); err == nil && keep(&v) {
			out = append(out, v)
		}
	}
	return out
}

// place is where a record stands in a list: its time in ms, then its id.
type place struct {
	at int64
	id string
}

func (p place) String() string { return fmt.Sprintf("%d,%s", p.at, p.id) }

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.at, o.at), cmp.Compare(p.id, o.id))
}

func parsePlace(cursor string) (place, error) {
	at, id, ok := strings.Cut(cursor, ",")
	ms, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil {
		return place{}, fmt.Errorf("cursor %q: %w", cursor, approvals.ErrInvalid)
	}
	return place{ms, id}, nil
}

// defaultPage is the length of a page whose Limit is not set.
const defaultPage = 50

// page cuts one page out of the records, newest first.
func page[T any](list []T, p orchestrator.Page, at func(*T) place) ([]T, string, error) {
	slices.SortFunc(list, func(a, b T) int { return at(&b).compare(at(&a)) })
	if p.Cursor != "" {
		from, err := parsePlace(p.Cursor)
		if err != nil {
			return nil, "", err
		}
		list = slices.DeleteFunc(list, func(v T) bool { return at(&v).compare(from) >= 0 })
	}
	limit := p.Limit
	if limit <= 0 {
		limit = defaultPage
	}
	if len(list) <= limit {
		return list, "", nil
	}
	return list[:limit], at(&list[limit-1]).String(), nil
}
