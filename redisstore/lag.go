package redisstore

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// Lag tells for each kind of due work how long the oldest piece that nobody has
// claimed is overdue at now; zero when nothing is.
func (s *Store) Lag(ctx context.Context, now time.Time) (map[approvals.DueKind]time.Duration, error) {
	kinds := []approvals.DueKind{
		orchestrator.DueInbox, orchestrator.DueEvalFirst, orchestrator.DueEval, orchestrator.DueEvalLater, orchestrator.DueEvalDeadline, orchestrator.DueTurn, orchestrator.DueOutbox, orchestrator.DueResume,
		approvals.DueDeadline, approvals.DueSettled, approvals.DueLate,
	}
	pipe := s.client.Pipeline()
	heads := make([]*redis.ZSliceCmd, len(kinds))
	for i, kind := range kinds {
		heads[i] = pipe.ZRangeWithScores(ctx, s.keys.due(kind), 0, 0)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("read lag: %w", plain(err))
	}
	lags := make(map[approvals.DueKind]time.Duration, len(kinds))
	for i, kind := range kinds {
		lags[kind] = 0
		if head := heads[i].Val(); len(head) == 1 {
			lags[kind] = max(0, now.Sub(time.UnixMilli(int64(head[0].Score))))
		}
	}
	return lags, nil
}
