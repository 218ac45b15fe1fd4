package redisstore_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/redisstore"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

func TestRS8SettingsOfARealServerAreChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		says   string
		args   []string
		refuse string
		warn   string
	}{
		{"RS-8 allkeys-lru is refused", []string{"--maxmemory-policy", "allkeys-lru"}, "allkeys-lru", ""},
		{"RS-8 volatile-ttl is refused", []string{"--maxmemory-policy", "volatile-ttl"}, "volatile-ttl", ""},
		{"RS-8 a replica is refused", []string{"--replicaof", "127.0.0.1 1"}, "name its master", ""},
		{"RS-8 a store that loses nothing is fine", nil, "", ""},
		{"RS-8 everysec is said", []string{"--appendfsync", "everysec"}, "", "last second"},
		{"RS-8 fsync by the system is said", []string{"--appendfsync", "no"}, "", "appendfsync is no"},
		{"RS-8 no AOF is said", []string{"--appendonly", "no"}, "", "appendonly is off"},
		{"RS-8 a node of a Cluster named alone is refused", []string{"--cluster-enabled", "yes"}, "node of a Cluster", ""},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			s := openLater(t, redistest.Start(t, c.args...).URL)
			checks(t, s, c.refuse, c.warn)
		})
	}
}

func checks(t *testing.T, s *redisstore.Store, refuse, warn string) {
	t.Helper()
	f, err := s.Check(t.Context())
	if (refuse != "") != errors.Is(err, redisstore.ErrUnfit) || (err != nil && !strings.Contains(err.Error(), refuse)) {
		t.Errorf("Check = %v, want a refusal with %q", err, refuse)
	}
	if got := strings.Join(f.Warnings, " "); f.MayLose != (warn != "") || !strings.Contains(got, warn) {
		t.Errorf("Warnings = %q, want %q", got, warn)
	}
	if !strings.Contains(f.Version, ".") {
		t.Errorf("Version = %q", f.Version)
	}
}

func TestRS8AReplicaIsUnfitBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	work(t, openStore(t, redisstore.Options{URL: srv.URL, Workspace: "known"}), 1)
	mustDo(t, srv, "REPLICAOF", "127.0.0.1", "1")
	for _, ws := range []string{"new", "known"} {
		s, err := redisstore.Open(t.Context(), redisstore.Options{URL: srv.URL, Workspace: ws})
		if err == nil { // nothing had to be written: Check sees it
			defer s.Close()
			_, err = s.Check(t.Context())
		}
		if !errors.Is(err, redisstore.ErrUnfit) || !strings.Contains(err.Error(), "replica") {
			t.Errorf("RS-8: a %s workspace on a replica = %v, want ErrUnfit with the reason", ws, err)
		}
	}
}

// says answers INFO with a text of its own.
type says string

func (says) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (s says) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		switch cmd.Name() {
		case "info":
			cmd.(*redis.StringCmd).SetVal(strings.ReplaceAll(string(s), " ", "\r\n"))
			return nil
		case "config": // as managed services do
			cmd.SetErr(redisError("ERR unknown command 'CONFIG'"))
			return cmd.Err()
		}
		return next(ctx, cmd)
	}
}

func (says) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return next(ctx, cmds) }
}

func TestRS8WhatAServerDoesNotSayIsNotBelieved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ says, info, refuse, warn string }{
		{"RS-8 version 6 is refused", "redis_version:6.2.14 role:master aof_enabled:1", "7.0 is needed", ""},
		{"RS-8 version 7 is taken, with a word on fsync", "redis_version:7.0.0 role:master aof_enabled:1", "", "does not say when"},
		{"RS-8 version 10 is not version 1", "redis_version:10.0.0 role:master aof_enabled:0", "", "appendonly is off"},
		{"RS-8 a server that says nothing may lose", "redis_version:8.0.0", "", "does not say whether"},
		{"RS-8 a policy that evicts is refused", "redis_version:8.0.0 role:master maxmemory_policy:volatile-lru", "volatile-lru", ""},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			client := trial(t)
			client.AddHook(says(c.info))
			s := openStore(t, redisstore.Options{Client: client})
			checks(t, s, c.refuse, c.warn)
		})
	}
}
