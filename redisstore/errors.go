package redisstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// hints says in plain words what an answer of Redis means, by its prefix
// (RS-9). Each is a state that passes or that an operator ends.
func hints() [][2]string {
	return [][2]string{
		{"OOM", "redis is out of memory (maxmemory reached)"},
		{"READONLY", "redis is a replica and takes no writes"},
		{"LOADING", "redis is loading its data"},
		{"MISCONF", "redis cannot write to its disk"},
		{"MASTERDOWN", "redis has lost its master"},
		{"CLUSTERDOWN", "the redis cluster is down"},
		{"TRYAGAIN", "the redis cluster is moving this slot"},
		{"MOVED", "the redis cluster has moved this slot"},
		{"ASK", "the redis cluster is moving this slot"},
		{"NOREPLICAS", "redis has too few replicas"},
		{"BUSY", "redis is busy with a script"},
		{"UNBLOCKED", "redis is failing over"},
		{"NOAUTH", "redis asks for a password"},
		{"WRONGPASS", "redis refuses the password"},
		{"NOPERM", "redis refuses this user the command"},
		{"max number of clients", "redis has too many clients"},
	}
}

// plain turns what keeps Redis from serving into ErrUnavailable with a hint,
// and leaves every other error as it is.
func plain(err error) error {
	if err == nil || errors.Is(err, redis.Nil) {
		return err
	}
	for _, h := range hints() {
		if redis.HasErrorPrefix(err, h[0]) {
			return fmt.Errorf("%w: %s: %w", orchestrator.ErrUnavailable, h[1], err)
		}
	}
	if away(err) {
		return fmt.Errorf("%w: redis does not answer: %w", orchestrator.ErrUnavailable, err)
	}
	return err
}

// away reports whether the error says that nobody answered.
func away(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, redis.ErrClosed) || errors.Is(err, redis.ErrPoolTimeout) ||
		errors.Is(err, redis.ErrPoolExhausted)
}

// redactedError keeps the cause of a URL's error without the URL, which may
// hold a password.
func redactedError(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
