package redisstore

import (
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// How long one call may take when nobody sets a shorter deadline: a Redis that
// is away is noticed within the time that a platform waits for its 2xx.
const (
	dialTimeout = time.Second
	readTimeout = 2 * time.Second
	retries     = 2
	// reshape is how old the map of a Cluster may be: the way to a node that
	// took over is found within it.
	reshape = time.Second
)

// dial makes the client that a URL asks for. It does not connect yet.
func dial(address string) (redis.UniversalClient, layout, error) {
	url, form, err := driverURL(address)
	if err != nil {
		return nil, form, fmt.Errorf("redis.url: %w", err)
	}
	var client redis.UniversalClient
	switch form {
	case cluster:
		client, err = dialCluster(url)
	case sentinel:
		client, err = dialSentinel(url)
	case single:
		client, err = dialSingle(url)
	}
	if err != nil {
		return nil, form, fmt.Errorf("redis.url: %w", redactedError(err))
	}
	return client, form, nil
}

func dialSingle(url string) (redis.UniversalClient, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	o.ContextTimeoutEnabled = true
	retry(&o.MaxRetries, &o.MinRetryBackoff, &o.MaxRetryBackoff)
	patience(&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.DialerRetries)
	return redis.NewClient(o), nil
}

func dialCluster(url string) (redis.UniversalClient, error) {
	o, err := redis.ParseClusterURL(url)
	if err != nil {
		return nil, err
	}
	o.ContextTimeoutEnabled = true
	o.ClusterStateReloadInterval = reshape
	patience(&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.DialerRetries)
	return redis.NewClusterClient(o), nil
}

func dialSentinel(url string) (redis.UniversalClient, error) {
	o, err := redis.ParseFailoverURL(url)
	if err != nil {
		return nil, err
	}
	o.ContextTimeoutEnabled = true
	retry(&o.MaxRetries, &o.MinRetryBackoff, &o.MaxRetryBackoff)
	patience(&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.DialerRetries)
	return redis.NewFailoverClient(o), nil
}

// retry and patience set what the URL does not say.
func retry(times *int, from, to *time.Duration) {
	if *times == 0 {
		*times = retries
	}
	*from, *to = or(*from, 10*time.Millisecond), or(*to, 100*time.Millisecond)
}

func patience(dial, read, write *time.Duration, dials *int) {
	*dial, *read, *write = or(*dial, dialTimeout), or(*read, readTimeout), or(*write, readTimeout)
	if *dials == 0 {
		*dials = 1
	}
}
