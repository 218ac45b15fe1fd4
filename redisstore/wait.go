package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// replicaWait is how long a write waits for its replicas.
const replicaWait = time.Second

// waitTries is how often a write is sent when the server first has to learn
// the script, or we have to learn where the slot is.
const waitTries = 3

var (
	errReplicas     = errors.New("too few replicas have the write")
	errReplicasDisk = errors.New("too few replicas have the write on disk (WAITAOF); do they have appendonly yes?")
)

// node is where the workspace lives: all its keys are in one slot (RS-1). WAIT
// and LOAD name no key, so a Cluster would send them anywhere.
func (s *Store) node(ctx context.Context) (redis.UniversalClient, error) {
	c, ok := s.client.(*redis.ClusterClient)
	if !ok {
		return s.client, nil
	}
	return c.MasterForKey(ctx, s.keys.form())
}

// runConfirmed runs a script and waits for the replicas on the same
// connection: a write counts when they have it (RS-8). It is ErrUnavailable
// when too few said so in time; the write may have happened, and the caller's
// next try is safe.
func (s *Store) runConfirmed(ctx context.Context, script *redis.Script, keys []string, args []any) (any, error) {
	for try := 1; ; try++ {
		v, err := s.runAndWait(ctx, script, keys, args)
		if err == nil || try == waitTries || !s.mend(ctx, err) {
			return v, err
		}
	}
}

// mend removes what kept a write from being taken, where that is our part. It
// reports whether another try makes sense.
func (s *Store) mend(ctx context.Context, err error) bool {
	c, clustered := s.client.(*redis.ClusterClient)
	switch {
	case redis.HasErrorPrefix(err, "NOSCRIPT"):
		return s.loadScripts(ctx) == nil
	case redis.HasErrorPrefix(err, "unknown command") && s.waitAOF.Load():
		s.waitAOF.Store(false) // an older server took over
		return true
	case !clustered:
		return false
	case redis.HasErrorPrefix(err, "MOVED"):
		// It reads the map of the Cluster before it calls anybody.
		return c.ForEachMaster(ctx, func(context.Context, *redis.Client) error { return nil }) == nil
	}
	c.ReloadState(ctx)
	return false
}

func (s *Store) runAndWait(ctx context.Context, script *redis.Script, keys []string, args []any) (any, error) {
	node, err := s.node(ctx)
	if err != nil {
		return nil, err
	}
	pipe := node.Pipeline()
	run := pipe.EvalSha(ctx, script.Hash(), keys, args...)
	onDisk, wait := s.waitAOF.Load(), []any{"WAIT", s.replicas, replicaWait.Milliseconds()}
	if onDisk {
		wait = []any{"WAITAOF", 0, s.replicas, replicaWait.Milliseconds()}
	}
	answer := pipe.Do(ctx, wait...)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	if confirmed(answer, onDisk) >= s.replicas {
		return run.Val(), nil
	}
	if onDisk {
		return nil, fmt.Errorf("%w: %w", orchestrator.ErrUnavailable, errReplicasDisk)
	}
	return nil, fmt.Errorf("%w: %w", orchestrator.ErrUnavailable, errReplicas)
}

// confirmed is how many replicas have the write. WAITAOF answers with the
// number of local fsyncs, then of replicas.
func confirmed(wait *redis.Cmd, onDisk bool) int {
	if !onDisk {
		n, _ := wait.Int()
		return n
	}
	both, err := wait.Int64Slice()
	if err != nil || len(both) < 2 {
		return 0
	}
	return int(both[1])
}

// hasWaitAOF asks whether the server has WAITAOF (Redis 7.2).
func hasWaitAOF(ctx context.Context, node redis.UniversalClient) bool {
	info, err := node.Do(ctx, "COMMAND", "INFO", "WAITAOF").Slice()
	return err == nil && len(info) == 1 && info[0] != nil
}

// loadScripts teaches the workspace's node the scripts.
func (s *Store) loadScripts(ctx context.Context) error {
	node, err := s.node(ctx)
	if err != nil {
		return fmt.Errorf("load scripts: %w", plain(err))
	}
	for _, script := range s.scripts.all() {
		if err := script.Load(ctx, node).Err(); err != nil {
			return fmt.Errorf("load scripts: %w", plain(err))
		}
	}
	return nil
}
