package redisstore_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/redisstore"
)

// notAlike are constructs that Redis 7.0 and miniredis do not share, or that
// have no place in a script (facts/libs.md section 3).
var notAlike = []string{
	`\bcjson\b`, `\bcmsgpack\b`, `\bstruct\.`, `\bbit\.`, `\bos\.`, `^#!`, `redis\.setresp`, `redis\.log`, `redis\.sha1hex`,
	`redis\.error_reply`, `redis\.pcall`, `\berror\(`, `\btostring\(`, `math\.random`, `REDIS_VERSION`, `table\.sort`,
	`'(TIME|BLPOP|BRPOP|BLMOVE|BZPOPMIN|XREAD|XREADGROUP|WAIT|HEXPIRE|DELEX|ZRANGESTORE|ZINCRBY|OBJECT|CONFIG|KEYS|SCAN)'`,
}

func luaFiles(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("scripts/*.lua")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	out := map[string]string{}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		out[p] = string(text)
	}
	return out
}

func TestScriptsUseOnlyWhatBothServersUnderstandAlike(t *testing.T) {
	for name, text := range luaFiles(t) {
		for i, line := range strings.Split(text, "\n") {
			code, _, _ := strings.Cut(line, "--")
			for _, re := range notAlike {
				if regexp.MustCompile(re).MatchString(code) {
					t.Errorf("%s:%d: %q matches %s", name, i+1, code, re)
				}
			}
		}
	}
}

func TestEveryScriptSaysWhatItTakesAndReturns(t *testing.T) {
	for name, text := range luaFiles(t) {
		head, _, _ := strings.Cut(text, "\nlocal ")
		for _, want := range []string{"-- KEYS", "-- ARGV", "-- returns"} {
			if !strings.Contains(head, want) {
				t.Errorf("%s: its header has no %q", name, want)
			}
		}
	}
}

// TestLint shows that the lint has teeth.
func TestTheLintSeesWhatItRefuses(t *testing.T) {
	for _, code := range []string{"cjson.decode(x)", "redis.call('TIME')", "os.time()", "#!lua", "tostring(1e15)"} {
		found := false
		for _, re := range notAlike {
			found = found || regexp.MustCompile(re).MatchString(code)
		}
		if !found {
			t.Errorf("%q passes the lint", code)
		}
	}
}

func TestScriptsLoadOnBothServers(t *testing.T) {
	t.Parallel()
	for name, text := range luaFiles(t) {
		mini, err1 := trial(t).ScriptLoad(t.Context(), text).Result()
		real, err2 := server(t).ScriptLoad(t.Context(), text).Result()
		if err1 != nil || err2 != nil || mini != real {
			t.Errorf("%s: miniredis %q, %v; redis-server %q, %v", name, mini, err1, real, err2)
		}
	}
}

func TestForgottenScriptsAreLoadedAgain(t *testing.T) {
	t.Parallel()
	c := server(t)
	s := openStore(t, redisstore.Options{Client: c})
	if err := c.ScriptFlush(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	work(t, s, 1)
}

// work receives, commits, claims and reads once; n keeps the ids apart.
func work(t *testing.T, s *redisstore.Store, n int) {
	t.Helper()
	id := name("trg_", n)
	if r, err := s.Receive(t.Context(), arrival(id)); err != nil || r != orchestrator.Stored {
		t.Fatalf("Receive = %s, %v", r, err)
	}
	if err := s.Commit(t.Context(), orchestrator.Changes{Threads: []orchestrator.Thread{{ID: gate.ThreadID(name("th_", n))}}}); err != nil {
		t.Fatalf("Commit: %v", err)
	}
	c := claimOne(t, s, orchestrator.DueInbox)
	ids, err := s.Inbox(t.Context(), c, 10)
	if err != nil || len(ids) != 1 || string(ids[0]) != id {
		t.Fatalf("Inbox = %v, %v", ids, err)
	}
	if err := s.Extend(t.Context(), c, start.AddDate(1, 0, 0)); err != nil {
		t.Fatalf("Extend: %v", err)
	}
	if err := s.Commit(t.Context(), orchestrator.Changes{Claim: &c, Took: ids}); err != nil {
		t.Fatalf("Commit: %v", err)
	}
}
