package redisstore

import (
	"fmt"
	"net/url"
	"time"

	"github.com/redis/go-redis/v9"
)

// How long one call may take when nobody sets a shorter deadline: a Redis that
// is away is noticed within the time that a platform waits for its 2xx.
const (
	dialTimeout = time.Second
	readTimeout = 2 * time.Second
	retries     = 2
)

// dial makes the client that a URL asks for. It does not connect yet.
func dial(address string) (redis.UniversalClient, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("redis.url: %w", redactedError(err))
	}
	switch q := u.Query(); {
	case q.Has("addr"):
		return dialCluster(address)
	case q.Has("master_name"):
		return dialSentinel(address)
	}
	o, err := redis.ParseURL(address)
	if err != nil {
		return nil, fmt.Errorf("redis.url: %w", redactedError(err))
	}
	o.ContextTimeoutEnabled = true
	o.MaxRetries, o.MinRetryBackoff, o.MaxRetryBackoff = retries, 10*time.Millisecond, 100*time.Millisecond
	o.DialTimeout, o.DialerRetries = dialTimeout, 1
	o.ReadTimeout, o.WriteTimeout = readTimeout, readTimeout
	return redis.NewClient(o), nil
}

func dialCluster(address string) (redis.UniversalClient, error) {
	o, err := redis.ParseClusterURL(address)
	if err != nil {
		return nil, fmt.Errorf("redis.url: %w", redactedError(err))
	}
	o.ContextTimeoutEnabled = true
	o.DialTimeout, o.DialerRetries = dialTimeout, 1
	o.ReadTimeout, o.WriteTimeout = readTimeout, readTimeout
	return redis.NewClusterClient(o), nil
}

func dialSentinel(address string) (redis.UniversalClient, error) {
	o, err := redis.ParseFailoverURL(address)
	if err != nil {
		return nil, fmt.Errorf("redis.url: %w", redactedError(err))
	}
	o.ContextTimeoutEnabled = true
	o.DialTimeout, o.DialerRetries = dialTimeout, 1
	o.ReadTimeout, o.WriteTimeout = readTimeout, readTimeout
	return redis.NewFailoverClient(o), nil
}
