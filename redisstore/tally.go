package redisstore

import (
	"context"
	"fmt"
	"strconv"
	"time"

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
		if t.Most > 0 {
			p.check("room", p.key(key), t.Member, t.Most)
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
		counts[i] = pipe.ZCount(ctx, s.keys.tally(c.Set), from(c), "+inf")
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

// from is the least score that counts.
func from(c orchestrator.Counts) string {
	if c.After.IsZero() {
		return "-inf"
	}
	return "(" + strconv.FormatInt(c.After.UnixMilli(), 10)
}

// Members implements orchestrator.Tallies in one round trip.
func (s *Store) Members(ctx context.Context, sets ...orchestrator.Counts) ([][]orchestrator.Member, error) {
	pipe := s.client.Pipeline()
	lists := make([]*redis.ZSliceCmd, len(sets))
	for i, c := range sets {
		lists[i] = pipe.ZRangeByScoreWithScores(ctx, s.keys.tally(c.Set), &redis.ZRangeBy{Min: from(c), Max: "+inf"})
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("list tallies: %w", plain(err))
	}
	all := make([][]orchestrator.Member, len(sets))
	for i, l := range lists {
		for _, z := range l.Val() {
			all[i] = append(all[i], orchestrator.Member{ID: fmt.Sprint(z.Member), At: time.UnixMilli(int64(z.Score)).UTC()})
		}
	}
	return all, nil
}
