package redisstore

import (
	"context"
	"fmt"

	"github.com/gatehouse-bot/gatehouse/approvals"
)

// Log returns up to limit lines of the event log after a cursor ("" is the
// beginning), oldest first, and the cursor of the last one. Lines that were
// trimmed meanwhile are left out.
func (s *Store) Log(ctx context.Context, after string, limit int) ([]approvals.Record, string, error) {
	from := "-"
	if after != "" {
		from = "(" + after
	}
	lines, err := s.client.XRangeN(ctx, s.keys.log(), from, "+", int64(limit)).Result()
	if err != nil {
		return nil, after, fmt.Errorf("read log: %w", plain(err))
	}
	out := make([]approvals.Record, len(lines))
	for i, l := range lines {
		row, _ := l.Values["r"].(string)
		if _, err := decode(row, &out[i]); err != nil {
			return nil, after, fmt.Errorf("read log %s: %w", l.ID, err)
		}
		after = l.ID
	}
	return out, after, nil
}
