package redisstore

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

const (
	// codecFlate is the first byte of a stored payload: how to read the rest.
	codecFlate = 'f'
	// inScript is the greatest compressed body that goes through the script.
	inScript = 32 << 10
	// chunk is how much of a bigger one one command carries, so that Redis
	// never stalls on it (RS-8a).
	chunk = 256 << 10
)

// press compresses bodies; its writers are big and are used again.
type press struct{ writers sync.Pool }

func (p *press) squeeze(body []byte) ([]byte, error) {
	if len(body) == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	out.WriteByte(codecFlate)
	w, ok := p.writers.Get().(*flate.Writer)
	if !ok {
		w, _ = flate.NewWriter(nil, flate.BestSpeed) // the level is a valid one
	}
	defer p.writers.Put(w)
	w.Reset(&out)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func expand(stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] != codecFlate {
		return nil, fmt.Errorf("raw payload: %w", orchestrator.ErrNewer)
	}
	return io.ReadAll(flate.NewReader(bytes.NewReader(stored[1:])))
}

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
	return expand(stored)
}
