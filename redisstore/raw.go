package redisstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

const (
	// inScript is the greatest compressed body that goes through the script.
	inScript = 32 << 10
	// chunk is how much of a bigger one one command carries, so that Redis
	// never stalls on it (RS-8a).
	chunk = 256 << 10
)

// storeChunks writes a big compressed body beside its record, before the
// script makes it count. Writing it twice does no harm.
func (s *Store) storeChunks(ctx context.Context, id gate.TriggerID, body []byte) error {
	key, ttl := s.keys.raw(id), s.retention.Raw
	for at := 0; at < len(body); at += chunk {
		pipe := s.client.Pipeline()
		pipe.SetRange(ctx, key, int64(at), string(body[at:min(at+chunk, len(body))]))
		pipe.PExpire(ctx, key, ttl)
		if _, err := pipe.Exec(ctx); err != nil {
			return plain(err)
		}
	}
	return nil
}

// Raw returns the raw payload of a message; ErrNotFound when there is none any
// more.
func (s *Store) Raw(ctx context.Context, id gate.TriggerID) ([]byte, error) {
	stored, err := s.client.Get(ctx, s.keys.raw(id)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("raw payload of %s: %w", id, orchestrator.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("raw payload of %s: %w", id, plain(err))
	}
	return s.press.expand(stored)
}
