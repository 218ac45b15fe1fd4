package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/redisstore"
)

// writes are all kinds of writes that the holder of a claim can try, each
// alone, so that no other check can be what refuses it.
func writes(s *redisstore.Store, held orchestrator.Claim) map[string]func(context.Context) error {
	out := map[string]func(context.Context) error{
		"Extend": func(ctx context.Context) error { return s.Extend(ctx, held, start.AddDate(9, 0, 0)) },
	}
	for what, c := range map[string]orchestrator.Changes{
		"nothing but the end":   {},
		"nothing, and keeps it": {Keep: true},
		"a later time":          {Next: start.AddDate(5, 0, 0)},
		"a thread":              {Threads: []orchestrator.Thread{{ID: "late"}}},
		"a ticket":              {Tickets: []orchestrator.Ticket{{ID: "late", State: orchestrator.TicketActive}}},
		"a message":             {Messages: []orchestrator.Message{{Trigger: gate.Trigger{ID: "late"}}}},
		"an eval":               {Evals: []orchestrator.Eval{{ID: "late"}}},
		"a chat":                {Chats: []orchestrator.Chat{{Key: "late"}}},
		"a question":            {Questions: []approvals.Question{{ID: "late", Status: approvals.StatusOpen}}},
		"a policy":              {Policy: &orchestrator.PolicyRecord{}},
		"a decision":            {Decisions: []orchestrator.Decision{{ID: "late"}}},
		"an input":              {Inputs: []orchestrator.Input{{Ticket: "late", Seq: 1}}},
		"an act":                {Acts: []orchestrator.Act{{Ticket: "late", Key: "late"}}},
		"a dedupe key":          {Seen: []string{"late"}},
		"a reply":               {Effects: approvals.Effects{Out: []gate.Outgoing{{ID: "late", Lane: "late"}}}},
		"due work":              {Effects: approvals.Effects{Due: []approvals.Due{{Kind: orchestrator.DueTurn, Key: "late", At: start}}}},
		"a cancel":              {Effects: approvals.Effects{Cancel: []approvals.Due{{Kind: held.Kind, Key: held.Key}}}},
		"a line of the log":     {Effects: approvals.Effects{Log: []approvals.Record{{Type: "late"}}}},
	} {
		out["Commit of "+what] = func(ctx context.Context) error { c.Claim = &held; return s.Commit(ctx, c) }
	}
	commit := func(c orchestrator.Changes) func(context.Context) error {
		return func(ctx context.Context) error { c.Claim = &held; return s.Commit(ctx, c) }
	}
	switch held.Kind {
	case orchestrator.DueInbox:
		out["Commit of taken arrivals"] = commit(orchestrator.Changes{Took: []gate.TriggerID{"trg_1"}})
	case orchestrator.DueOutbox:
		out["Commit of sent rows"] = commit(orchestrator.Changes{SentIDs: []string{"o1"}})
		out["Commit of retried rows"] = commit(orchestrator.Changes{Retried: []gate.Outgoing{{ID: "o1", Lane: "l1", Attempts: 3}}})
	}
	return out
}

// TestRS3AStalledHolderWritesNothing: a worker that stalled until its work was
// taken over comes back and tries every kind of write. None lands: the
// database is byte for byte what it was.
func TestRS3AStalledHolderWritesNothing(t *testing.T) {
	t.Parallel()
	for server, c := range map[string]redis.UniversalClient{"miniredis": trial(t), "redis-server": server(t)} {
		s := openStore(t, redisstore.Options{Client: c})
		if _, err := s.Receive(t.Context(), arrival("trg_1")); err != nil {
			t.Fatal(err)
		}
		row := gate.Outgoing{ID: "o1", Lane: "l1", Kind: gate.OutReply, CreatedAt: start}
		if err := s.Commit(t.Context(), orchestrator.Changes{Effects: approvals.Effects{Out: []gate.Outgoing{row}}}); err != nil {
			t.Fatal(err)
		}
		for _, kind := range []approvals.DueKind{orchestrator.DueInbox, orchestrator.DueOutbox} {
			stalled, taken := takenOver(t, s, kind)
			before := dump(t, c)
			for what, do := range writes(s, stalled) {
				if err := do(t.Context()); !errors.Is(err, orchestrator.ErrLostClaim) {
					t.Errorf("RS-3 %s, %s: %s of the stalled holder = %v, want ErrLostClaim", server, kind, what, err)
				}
			}
			if _, err := s.Inbox(t.Context(), stalled, 1); !errors.Is(err, orchestrator.ErrLostClaim) {
				t.Errorf("RS-3 %s: Inbox of the stalled holder = %v, want ErrLostClaim", server, err)
			}
			if after := dump(t, c); !maps.Equal(before, after) {
				t.Errorf("RS-3 %s, %s: the stalled holder changed the database:\n%v\n%v", server, kind, before, after)
			}
			if err := s.Extend(t.Context(), taken, start.AddDate(2, 0, 0)); err != nil {
				t.Errorf("RS-3 %s, %s: the successor's claim = %v, want it to hold", server, kind, err)
			}
		}
	}
}

// takenOver claims work twice, the second time after the lease ran out.
func takenOver(t *testing.T, s *redisstore.Store, kind approvals.DueKind) (stalled, taken orchestrator.Claim) {
	t.Helper()
	claim := func(now time.Time) orchestrator.Claim {
		cs, err := s.Claim(t.Context(), []approvals.DueKind{kind}, now, 10*time.Second, 1)
		if err != nil || len(cs) != 1 {
			t.Fatalf("Claim(%s) = %v, %v, want one", kind, cs, err)
		}
		return cs[0]
	}
	return claim(start.Add(time.Minute)), claim(start.Add(time.Minute + 10*time.Second))
}

// dump is all that is stored.
func dump(t *testing.T, c redis.UniversalClient) map[string]string {
	t.Helper()
	keys, err := c.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, k := range keys {
		out[k] = content(t, c, k)
	}
	return out
}

// content is a key's value, whatever its type, as text.
func content(t *testing.T, c redis.UniversalClient, key string) string {
	t.Helper()
	read := map[string][]any{
		"string": {"GET", key}, "hash": {"HGETALL", key}, "list": {"LRANGE", key, 0, -1}, "set": {"SMEMBERS", key},
		"zset": {"ZRANGE", key, 0, -1, "WITHSCORES"}, "stream": {"XRANGE", key, "-", "+"},
	}
	v, err := c.Do(t.Context(), read[c.Type(t.Context(), key).Val()]...).Result()
	if err != nil {
		t.Fatalf("read %s: %v", key, err)
	}
	return fmt.Sprint(v)
}
