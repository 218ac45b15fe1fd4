package redisstore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/redisstore"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

func TestRS8CheckRefusesAndWarns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		says   string
		args   []string
		refuse string
		warn   string
	}{
		{"an evicting policy is refused", []string{"--maxmemory-policy", "allkeys-lru"}, "allkeys-lru", ""},
		{"a replica is refused", []string{"--replicaof", "127.0.0.1 1"}, "slave", ""},
		{"a store that loses nothing is fine", nil, "", ""},
		{"everysec is said", []string{"--appendfsync", "everysec"}, "", "last second"},
		{"no AOF is said", []string{"--appendonly", "no"}, "", "appendonly is off"},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			client := dial(t, redistest.Start(t, c.args...).URL)
			s, err := redisstore.Open(t.Context(), redisstore.Options{Client: client, Workspace: "w"})
			if c.refuse == "slave" {
				if err == nil {
					t.Fatal("Open of a replica = nil")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			f, err := s.Check(t.Context())
			if (c.refuse != "") != errors.Is(err, redisstore.ErrUnfit) || (err != nil && !strings.Contains(err.Error(), c.refuse)) {
				t.Errorf("Check = %v, want a refusal with %q", err, c.refuse)
			}
			if got := strings.Join(f.Warnings, " "); f.MayLose != (c.warn != "") || !strings.Contains(got, c.warn) {
				t.Errorf("Warnings = %q, want %q", got, c.warn)
			}
			if !strings.Contains(f.Version, ".") {
				t.Errorf("Version = %q", f.Version)
			}
		})
	}
}
