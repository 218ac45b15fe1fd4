package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// Load implements orchestrator.States: one round trip, with Questions two.
func (s *Store) Load(ctx context.Context, w orchestrator.Want) (orchestrator.State, error) {
	st := orchestrator.State{
		Threads: map[gate.ThreadID]orchestrator.Thread{}, Tickets: map[gate.TicketID]orchestrator.Ticket{},
		Messages: map[gate.TriggerID]orchestrator.Message{}, Evals: map[gate.EvalID]orchestrator.Eval{},
		Chats: map[string]orchestrator.Chat{}, Reaches: map[gate.PlaceID]orchestrator.Reach{}, Questions: map[approvals.ID]approvals.Question{},
	}
	var b batch
	want(&b, s.keys, orchestrator.KindThread, w.Threads, st.Threads)
	want(&b, s.keys, orchestrator.KindTicket, w.Tickets, st.Tickets)
	want(&b, s.keys, orchestrator.KindMessage, w.Messages, st.Messages)
	want(&b, s.keys, orchestrator.KindEval, w.Evals, st.Evals)
	want(&b, s.keys, orchestrator.KindChat, w.Chats, st.Chats)
	want(&b, s.keys, orchestrator.KindReach, w.Reaches, st.Reaches)
	if err := b.load(ctx, s.client); err != nil {
		return orchestrator.State{}, fmt.Errorf("load: %w", err)
	}
	if !w.Questions {
		return st, nil
	}
	for _, t := range w.Tickets {
		open, err := s.OpenQuestions(ctx, approvals.SessionID(t))
		if err != nil {
			return orchestrator.State{}, fmt.Errorf("load: %w", err)
		}
		for _, q := range open {
			st.Questions[q.ID] = q
		}
	}
	return st, nil
}

// batch reads many records in one command.
type batch struct {
	keys []string
	keep []func(row string) error
}

// want adds records to a batch; those that exist come into the map.
func want[K ~string, T stored](b *batch, k keys, kind string, ids []K, into map[K]T) {
	for _, id := range ids {
		key := k.record(kind, string(id))
		b.keys = append(b.keys, key)
		b.keep = append(b.keep, func(row string) error {
			v, err := decodeRecord[T](key, row)
			if err == nil {
				into[id] = v
			}
			return err
		})
	}
}

func (b *batch) load(ctx context.Context, c redis.UniversalClient) error {
	if len(b.keys) == 0 {
		return nil
	}
	rows, err := c.MGet(ctx, b.keys...).Result()
	if err != nil {
		return plain(err)
	}
	for i, row := range rows {
		text, ok := row.(string)
		if !ok {
			continue
		}
		if err := b.keep[i](text); err != nil {
			return err
		}
	}
	return nil
}

// get reads one record; absent is the error when there is none.
func get[T stored](ctx context.Context, s *Store, key string, absent error) (T, error) {
	row, err := s.client.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		err = absent
	}
	if err != nil {
		var none T
		return none, plain(err)
	}
	return decodeRecord[T](key, row)
}

// PolicyInForce implements orchestrator.States.
func (s *Store) PolicyInForce(ctx context.Context) (orchestrator.PolicyRecord, error) {
	p, err := get[orchestrator.PolicyRecord](ctx, s, s.keys.record(orchestrator.KindPolicy, ""), orchestrator.ErrNotFound)
	if err != nil {
		return p, fmt.Errorf("policy in force: %w", err)
	}
	return p, nil
}

// Question implements approvals.Store.
func (s *Store) Question(ctx context.Context, id approvals.ID) (approvals.Question, error) {
	q, err := get[approvals.Question](ctx, s, s.keys.record(orchestrator.KindQuestion, string(id)), approvals.ErrNotFound)
	if err != nil {
		return q, fmt.Errorf("question %s: %w", id, err)
	}
	return q, nil
}

// OpenQuestions implements approvals.Store.
func (s *Store) OpenQuestions(ctx context.Context, session approvals.SessionID) ([]approvals.Question, error) {
	index := s.keys.indexBy(questions, "session", string(session))
	ids, err := s.client.ZRange(ctx, index, 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("open questions of %s: %w", session, plain(err))
	}
	found, b := make(map[string]approvals.Question, len(ids)), batch{}
	want(&b, s.keys, orchestrator.KindQuestion, ids, found)
	if err := b.load(ctx, s.client); err != nil {
		return nil, fmt.Errorf("open questions of %s: %w", session, err)
	}
	var out []approvals.Question
	for _, id := range ids {
		if q, ok := found[id]; ok && q.Status == approvals.StatusOpen {
			out = append(out, q)
		}
	}
	return out, nil
}

// Inputs implements orchestrator.States.
func (s *Store) Inputs(ctx context.Context, t gate.TicketID, after int) ([]orchestrator.Input, error) {
	key := s.keys.inputs(t)
	by := &redis.ZRangeBy{Min: "(" + strconv.Itoa(after), Max: "+inf"}
	rows, err := s.client.ZRangeByScore(ctx, key, by).Result()
	if err != nil {
		return nil, fmt.Errorf("inputs of %s: %w", t, plain(err))
	}
	out := make([]orchestrator.Input, len(rows))
	for i, row := range rows {
		if out[i], err = decodeRecord[orchestrator.Input](key, row); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Acted implements orchestrator.States.
func (s *Store) Acted(ctx context.Context, t gate.TicketID, key string) ([]byte, error) {
	result, err := s.client.HGet(ctx, s.keys.acts(t), key).Bytes()
	if errors.Is(err, redis.Nil) {
		err = orchestrator.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("act %s of %s: %w", key, t, plain(err))
	}
	return result, nil
}
