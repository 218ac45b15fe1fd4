package redisstore

import (
	"bufio"
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// inspectAll asks the server that has the workspace, and the other masters of
// a Cluster as far as they answer.
func (s *Store) inspectAll(ctx context.Context) (own Findings, others []Findings, err error) {
	node, err := s.node(ctx)
	if err != nil {
		return own, nil, err
	}
	if own, err = inspect(ctx, node); err != nil {
		return own, nil, err
	}
	c, ok := s.client.(*redis.ClusterClient)
	if !ok {
		return own, nil, nil
	}
	var mu sync.Mutex
	err = c.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		f, err := inspect(ctx, node)
		if away(err) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		others = append(others, f)
		return err
	})
	return own, others, err
}

// inspect reads INFO and, where it is allowed, CONFIG.
func inspect(ctx context.Context, c redis.UniversalClient) (Findings, error) {
	if err := c.Ping(ctx).Err(); err != nil {
		return Findings{}, err
	}
	text, err := c.Info(ctx).Result()
	if err != nil && away(err) {
		return Findings{}, err
	}
	info := fields(text)
	f := Findings{
		Version: info["redis_version"], Role: info["role"], Eviction: info["maxmemory_policy"],
		clusterNode: info["redis_mode"] == "cluster",
	}
	f.Replicas, _ = strconv.Atoi(info["connected_slaves"])
	switch info["aof_enabled"] {
	case "1":
		f.AOF = "yes"
	case "0":
		f.AOF = "no"
	}
	if config, err := c.ConfigGet(ctx, "appendfsync").Result(); err == nil {
		f.Fsync = config["appendfsync"]
	}
	return f, nil
}

// fields reads the "name:value" lines of INFO.
func fields(text string) map[string]string {
	out := map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if name, value, ok := strings.Cut(strings.TrimSpace(lines.Text()), ":"); ok {
			out[name] = value
		}
	}
	return out
}
