package redisstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// Receive implements orchestrator.Intake: one round trip (RS-2), for a big
// body some before it that only carry bytes (RS-8a).
func (s *Store) Receive(ctx context.Context, a gate.Arrival) (orchestrator.Receipt, error) {
	id := a.Trigger.ID
	record, body, err := s.prepare(&a)
	if err != nil {
		return "", fmt.Errorf("receive %s: %w", id, err)
	}
	big := len(body) > inScript
	if big {
		if err := s.storeChunks(ctx, id, body); err != nil {
			return "", fmt.Errorf("receive %s: %w", id, err)
		}
		body = nil
	}
	keys, args := s.arrival(&a, record, body)
	v, err := s.run(ctx, s.scripts.receive, keys, args)
	if err != nil {
		return "", fmt.Errorf("receive %s: %w", id, err)
	}
	receipt := orchestrator.Receipt(fmt.Sprint(v))
	if receipt == orchestrator.Stored {
		s.wake.all()
	} else if big {
		s.client.Unlink(ctx, s.keys.raw(id))
	}
	return receipt, nil
}

// prepare gives the message's stored form and its compressed body.
func (s *Store) prepare(a *gate.Arrival) (record string, body []byte, err error) {
	m := orchestrator.Message{Trigger: a.Trigger, State: orchestrator.StateReceived, Change: a.Change}
	m.Raw = ""
	if len(a.Raw) > 0 {
		m.Raw = string(a.Trigger.ID)
	}
	if record, err = encode(1, m); err != nil {
		return "", nil, err
	}
	return record, s.press.squeeze(a.Raw), nil
}

// arrival is the call of receive.lua, which says what stands where.
func (s *Store) arrival(a *gate.Arrival, record string, body []byte) (keys []string, args []any) {
	t, k, part := &a.Trigger, s.keys, partition(a.Lane)
	keys = append(make([]string, 0, 9+len(a.Keys)),
		k.message(t.ID), k.raw(t.ID), k.live(), k.inbox(part), k.due(orchestrator.DueInbox),
		k.claims(), k.index(triggers), k.indexBy(triggers, "source", string(t.Source)),
		k.indexBy(triggers, "thread", string(t.Thread)))
	for _, key := range a.Keys {
		keys = append(keys, k.dedupe(key))
	}
	mustLive, confirm := "", ""
	if a.OnlyIfLive {
		mustLive = string(t.Thread)
	}
	if s.replicas > 0 {
		confirm = "1"
	}
	listed := fmt.Sprint(t.ReceivedAt.UnixMilli())
	if a.Change.Kind != gate.NoChange {
		listed = ""
	}
	return keys, []any{
		string(t.ID), record, s.retention.Records.Milliseconds(), body, s.retention.Raw.Milliseconds(),
		s.retention.Dedupe.Milliseconds(), mustLive, part, claimField(orchestrator.DueInbox, part),
		millisUp(t.ReceivedAt), listed, k.wake(), confirm,
		t.ReceivedAt.Add(-orchestrator.FreshThread).UnixMilli(),
	}
}

// Known implements orchestrator.Intake.
func (s *Store) Known(ctx context.Context, key string) (gate.TriggerID, error) {
	id, err := s.client.Get(ctx, s.keys.dedupe(key)).Result()
	if errors.Is(err, redis.Nil) {
		return "", fmt.Errorf("dedupe key %s: %w", key, orchestrator.ErrNotFound)
	}
	if err != nil {
		return "", fmt.Errorf("dedupe key %s: %w", key, plain(err))
	}
	return gate.TriggerID(id), nil
}
