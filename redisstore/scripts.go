package redisstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

//go:embed scripts/*.lua
var files embed.FS

// scripts are the five things that must be atomic. Each is safe to run twice,
// since the client retries when a reply is lost.
type scripts struct {
	receive, commit, claim, extend, rows *redis.Script
}

func newScripts() scripts {
	return scripts{
		receive: script("receive"), commit: script("commit"), claim: script("claim"),
		extend: script("extend"), rows: script("rows"),
	}
}

func script(name string) *redis.Script {
	text, err := files.ReadFile("scripts/" + name + ".lua")
	if err != nil {
		panic(err) // it is part of the binary
	}
	return redis.NewScript(string(text))
}

func (s scripts) all() []*redis.Script {
	return []*redis.Script{s.receive, s.commit, s.claim, s.extend, s.rows}
}

func (s scripts) load(ctx context.Context, c redis.UniversalClient) error {
	for _, script := range s.all() {
		if err := script.Load(ctx, c).Err(); err != nil {
			return fmt.Errorf("load scripts: %w", plain(err))
		}
	}
	return nil
}

// replicaWait is how long a write waits for its replicas.
const replicaWait = time.Second

var errReplicas = errors.New("too few replicas have the write")

// run runs a script that writes, loading it where the server forgot it. With
// replicas it waits for them on the same connection (RS-8).
func (s *Store) run(ctx context.Context, script *redis.Script, keys []string, args []any) (any, error) {
	if s.replicas == 0 {
		v, err := script.Run(ctx, s.client, keys, args...).Result()
		return v, plain(err)
	}
	v, err := s.runAndWait(ctx, script, keys, args)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		if err := s.scripts.load(ctx, s.client); err != nil {
			return nil, err
		}
		v, err = s.runAndWait(ctx, script, keys, args)
	}
	return v, plain(err)
}

func (s *Store) runAndWait(ctx context.Context, script *redis.Script, keys []string, args []any) (any, error) {
	pipe, err := s.pipelineFor(ctx, keys[0])
	if err != nil {
		return nil, err
	}
	run := pipe.EvalSha(ctx, script.Hash(), keys, args...)
	wait := pipe.Do(ctx, "WAIT", s.replicas, replicaWait.Milliseconds())
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	if n, err := wait.Int(); err != nil || n < s.replicas {
		return nil, fmt.Errorf("%w: %w", orchestrator.ErrUnavailable, errReplicas)
	}
	return run.Val(), nil
}

// pipelineFor is a pipeline to the node that has the key: WAIT itself names none.
func (s *Store) pipelineFor(ctx context.Context, key string) (redis.Pipeliner, error) {
	cluster, ok := s.client.(*redis.ClusterClient)
	if !ok {
		return s.client.Pipeline(), nil
	}
	node, err := cluster.MasterForKey(ctx, key)
	if err != nil {
		return nil, err
	}
	return node.Pipeline(), nil
}

// words reads a script's list of strings.
func words(v any) []string {
	list, _ := v.([]any)
	out := make([]string, len(list))
	for i, w := range list {
		out[i], _ = w.(string)
	}
	return out
}
