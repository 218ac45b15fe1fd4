package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// Claim implements orchestrator.Queue. What is due first comes first; what is
// due together, in the order of kinds, then of keys.
func (s *Store) Claim(ctx context.Context, kinds []approvals.DueKind, now time.Time, lease time.Duration, limit int) ([]orchestrator.Claim, error) {
	if limit <= 0 || len(kinds) == 0 {
		return nil, nil
	}
	keys := []string{s.keys.token(), s.keys.claims(), s.keys.operation(rand.Text())}
	args := []any{now.UnixMilli(), millisUp(now.Add(lease)), limit, operationLife.Milliseconds()}
	for _, k := range kinds {
		keys, args = append(keys, s.keys.due(k)), append(args, string(k))
	}
	v, err := s.run(ctx, s.scripts.claim, keys, args)
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	return claims(kinds, words(v))
}

// claims reads the answer of claim.lua.
func claims(kinds []approvals.DueKind, answer []string) ([]orchestrator.Claim, error) {
	out := make([]orchestrator.Claim, 0, len(answer)/3)
	for ; len(answer) >= 3; answer = answer[3:] {
		kind, err := strconv.Atoi(answer[0])
		if err != nil || kind < 0 || kind >= len(kinds) {
			return nil, fmt.Errorf("claim: unexpected answer %q of the script", answer)
		}
		token, err := strconv.ParseInt(answer[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("claim: token: %w", err)
		}
		out = append(out, orchestrator.Claim{Kind: kinds[kind], Key: answer[1], Token: token})
	}
	return out, nil
}

// Extend implements orchestrator.Queue.
func (s *Store) Extend(ctx context.Context, c orchestrator.Claim, until time.Time) error {
	keys := []string{s.keys.claims(), s.keys.due(c.Kind)}
	v, err := s.run(ctx, s.scripts.extend, keys, []any{claimField(c.Kind, c.Key), c.Token, c.Key, millisUp(until)})
	if err != nil {
		return fmt.Errorf("extend %s %s: %w", c.Kind, c.Key, err)
	}
	if v != "ok" {
		return fmt.Errorf("extend %s %s: %w", c.Kind, c.Key, orchestrator.ErrLostClaim)
	}
	return nil
}

// Inbox implements orchestrator.Queue.
func (s *Store) Inbox(ctx context.Context, c orchestrator.Claim, limit int) ([]gate.TriggerID, error) {
	rows, err := s.claimedRows(ctx, c, orchestrator.DueInbox, limit, s.keys.inbox(c.Key))
	if err != nil {
		return nil, fmt.Errorf("read inbox %s: %w", c.Key, err)
	}
	out := make([]gate.TriggerID, len(rows))
	for i, r := range rows {
		out[i] = gate.TriggerID(r)
	}
	return out, nil
}

// Outbox implements orchestrator.Queue.
func (s *Store) Outbox(ctx context.Context, c orchestrator.Claim, limit int) ([]gate.Outgoing, error) {
	rows, err := s.claimedRows(ctx, c, orchestrator.DueOutbox, limit, s.keys.lane(c.Key), s.keys.rows())
	if err != nil {
		return nil, fmt.Errorf("read outbox %s: %w", c.Key, err)
	}
	out := make([]gate.Outgoing, len(rows))
	for i, r := range rows {
		if _, err := decode(r, &out[i]); err != nil {
			return nil, fmt.Errorf("read outbox %s: %w", c.Key, err)
		}
	}
	return out, nil
}

func (s *Store) claimedRows(ctx context.Context, c orchestrator.Claim, kind approvals.DueKind, limit int, lists ...string) ([]string, error) {
	if c.Kind != kind {
		return nil, orchestrator.ErrLostClaim
	}
	args := []any{claimField(c.Kind, c.Key), c.Token, max(limit, 0)}
	v, err := s.scripts.rows.Run(ctx, s.client, append([]string{s.keys.claims()}, lists...), args...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, plain(err)
	}
	answer := words(v)
	if len(answer) == 0 || answer[0] != "ok" {
		return nil, orchestrator.ErrLostClaim
	}
	return answer[1:], nil
}
