package redisstore

import (
	"context"
	"embed"
	"time"

	"github.com/redis/go-redis/v9"
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

// doubtAfter is how long a call takes that may have been answered by another
// server than it was sent to.
const doubtAfter = time.Second

// run runs a script that writes, loading it where the server forgot it. With
// replicas it waits for them (RS-8).
func (s *Store) run(ctx context.Context, script *redis.Script, keys []string, args []any) (any, error) {
	began := time.Now()
	v, err := s.runOn(ctx, script, keys, args)
	if away(err) || redis.HasErrorPrefix(err, "READONLY") || time.Since(began) > doubtAfter {
		s.line.doubt()
	}
	return v, plain(err)
}

func (s *Store) runOn(ctx context.Context, script *redis.Script, keys []string, args []any) (any, error) {
	if s.replicas > 0 {
		return s.runConfirmed(ctx, script, keys, args)
	}
	return script.Run(ctx, s.client, keys, args...).Result()
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
