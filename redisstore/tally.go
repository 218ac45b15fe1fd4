package redisstore

import (
	"context"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// tallies changes the named sets that limits count (AD-13). A set lives as
// long as its youngest member can count; what counts until it is taken out, as
// long as records do.
func (s *Store) tallies(p *program, c *orchestrator.Changes) error {
	for _, t := range c.Tallies {
		key := s.keys.tally(t.Set)
		if t.Out {
			p.write("ZREM", p.key(key), t.Member)
			continue
		}
		keep := t.Keep
		if keep == 0 {
			keep = s.retention.Records
		}
		p.write("ZADD", p.key(key), t.At.UnixMilli(), t.Member)
		p.write("ZREMRANGEBYSCORE", p.key(key), "-inf", t.At.Add(-keep).UnixMilli())
		p.lifetime(key, keep)
	}
	return nil
}

// Tallied implements orchestrator.Tallies in one round trip.
func (s *Store) Tallied(ctx context.Context, sets ...orchestrator.Counts) ([]int, error) {
	pipe := s.client.Pipeline()
	counts := make([]*redis.IntCmd, len(sets))
	for i, c := range sets {
		from := "-inf"
		if !c.After.IsZero() {
			from = "(" + strconv.FormatInt(c.After.UnixMilli(), 10)
		}
		counts[i] = pipe.ZCount(ctx, s.keys.tally(c.Set), from, "+inf")
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("count tallies: %w", plain(err))
	}
	n := make([]int, len(sets))
	for i, c := range counts {
		n[i] = int(c.Val())
	}
	return n, nil
}
