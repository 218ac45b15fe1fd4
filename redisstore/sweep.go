package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// sweepBatch is how many rows of an index are looked at together.
const sweepBatch = 200

// Sweep forgets what no lifetime can: Threads whose last activity is longer
// ago than retention.records and whose Tickets are gone, the list entries of
// Tickets that are gone, and old lines of the event log (RS-6). Any replica may
// run it at any time; once an hour is plenty. It returns what it removed.
func (s *Store) Sweep(ctx context.Context, now time.Time) (removed int, err error) {
	before := now.Add(-s.retention.Records)
	for _, sweep := range []struct {
		index string
		batch func(context.Context, []string) (int, error)
	}{
		{s.keys.index(threads), s.sweepThreads},
		{s.keys.index(tickets), s.sweepTickets},
	} {
		n, err := s.sweepIndex(ctx, sweep.index, before, sweep.batch)
		removed += n
		if err != nil {
			return removed, fmt.Errorf("sweep: %w", plain(err))
		}
	}
	oldest := strconv.FormatInt(max(0, before.UnixMilli()), 10)
	n, err := s.client.XTrimMinID(ctx, s.keys.log(), oldest).Result()
	return removed + int(n), wrap("sweep", plain(err))
}

// sweepIndex hands the old rows of an index to sweep, oldest first.
func (s *Store) sweepIndex(ctx context.Context, index string, before time.Time, sweep func(context.Context, []string) (int, error)) (removed int, err error) {
	by := redis.ZRangeBy{Min: "-inf", Max: strconv.FormatInt(before.UnixMilli(), 10), Count: sweepBatch}
	for {
		ids, err := s.client.ZRangeByScore(ctx, index, &by).Result()
		if err != nil || len(ids) == 0 {
			return removed, err
		}
		n, err := sweep(ctx, ids)
		removed += n
		if err != nil {
			return removed, err
		}
		by.Offset += int64(len(ids) - n) // those that stay
	}
}

func (s *Store) sweepTickets(ctx context.Context, ids []string) (removed int, err error) {
	for _, id := range ids {
		gone, err := s.gone(ctx, []string{s.keys.record(orchestrator.KindTicket, id)})
		if err != nil {
			return removed, err
		}
		if !gone {
			continue
		}
		pipe := s.client.Pipeline()
		pipe.ZRem(ctx, s.keys.indexBy(tickets, "state", string(orchestrator.TicketActive)), id)
		pipe.ZRem(ctx, s.keys.indexBy(tickets, "state", string(orchestrator.TicketEnded)), id)
		pipe.ZRem(ctx, s.keys.index(tickets), id)
		if _, err := pipe.Exec(ctx); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

func (s *Store) sweepThreads(ctx context.Context, ids []string) (removed int, err error) {
	for _, id := range ids {
		t, err := get[orchestrator.Thread](ctx, s, s.keys.record(orchestrator.KindThread, id), orchestrator.ErrNotFound)
		if err != nil && !errors.Is(err, orchestrator.ErrNotFound) {
			return removed, err
		}
		asleep, err := s.asleep(ctx, &t)
		if err != nil {
			return removed, err
		}
		if !asleep {
			continue
		}
		switch err := s.forgetThread(ctx, id, t.Version); {
		case err == nil:
			removed++
		case !errors.Is(err, orchestrator.ErrConflict): // on a conflict it woke up
			return removed, err
		}
	}
	return removed, nil
}

// asleep reports whether nothing waits on a Thread and its Tickets are gone.
func (s *Store) asleep(ctx context.Context, t *orchestrator.Thread) (bool, error) {
	if len(t.Queue)+len(t.Companions)+len(t.Notices) > 0 || t.Eval != "" {
		return false, nil
	}
	var records []string
	for _, tk := range t.Tickets {
		records = append(records, s.keys.record(orchestrator.KindTicket, string(tk.Ticket)))
	}
	return s.gone(ctx, records)
}

func (s *Store) gone(ctx context.Context, records []string) (bool, error) {
	if len(records) == 0 {
		return true, nil
	}
	n, err := s.client.Exists(ctx, records...).Result()
	return n == 0, err
}

// forgetThread removes a Thread, unless it changed meanwhile.
func (s *Store) forgetThread(ctx context.Context, id string, version int64) error {
	p := newProgram(s.keys.operation(rand.Text()))
	record := p.key(s.keys.record(orchestrator.KindThread, id))
	p.check("version", record, version)
	p.write("DEL", record)
	p.write("SREM", p.key(s.keys.live()), id)
	p.write("ZREM", p.key(s.keys.index(threads)), id)
	v, err := s.run(ctx, s.scripts.commit, p.keys, p.args(""))
	if err != nil {
		return err
	}
	return verdict(words(v))
}
