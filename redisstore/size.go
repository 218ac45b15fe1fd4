package redisstore

import (
	"context"
	"fmt"
	"strconv"
)

// Size is how much the server holds, of all workspaces (RS-6). Of a Cluster it
// is that of the node asked. What the server does not tell is 0.
type Size struct {
	Bytes int64
	Keys  int64
}

// Size asks the server.
func (s *Store) Size(ctx context.Context) (Size, error) {
	keys, err := s.client.DBSize(ctx).Result()
	if err != nil {
		return Size{}, fmt.Errorf("measure the store: %w", plain(err))
	}
	size := Size{Keys: keys}
	if text, err := s.client.Info(ctx, "memory").Result(); err == nil {
		size.Bytes, _ = strconv.ParseInt(fields(text)["used_memory"], 10, 64)
	}
	return size, nil
}
