package redisstore_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/redisstore"
)

var kept = redisstore.Retention{Raw: time.Hour, Records: 1000 * time.Hour, Dedupe: 100 * time.Hour}

// story leaves one of every kind of key: what is open, and what is done.
func story(t *testing.T, s *redisstore.Store) {
	t.Helper()
	if _, err := s.Receive(t.Context(), arrival("trg_1")); err != nil {
		t.Fatal(err)
	}
	open := orchestrator.Changes{
		Threads:  []orchestrator.Thread{{ID: "live", Queue: []gate.TriggerID{"trg_1"}}, {ID: "quiet"}},
		Tickets:  []orchestrator.Ticket{{ID: "active", State: orchestrator.TicketActive}, {ID: "ended", State: orchestrator.TicketEnded}},
		Evals:    []orchestrator.Eval{{ID: "open", Undecided: []gate.TriggerID{"trg_1"}}, {ID: "done"}},
		Chats:    []orchestrator.Chat{{Key: "dm"}},
		Messages: []orchestrator.Message{{Trigger: gate.Trigger{ID: "trg_2", Thread: "th_1"}}},
		Questions: []approvals.Question{
			{ID: "asked", Status: approvals.StatusOpen}, {ID: "closed", Status: approvals.StatusAnswered},
		},
		Policy:    &orchestrator.PolicyRecord{},
		Decisions: []orchestrator.Decision{{ID: "dec_1", Thread: "th_1", At: start}},
		Inputs:    []orchestrator.Input{{Ticket: "active", Seq: 1}, {Ticket: "ended", Seq: 1}},
		Acts:      []orchestrator.Act{{Ticket: "active", Key: "k"}, {Ticket: "ended", Key: "k"}},
		Seen:      []string{"echo"},
	}
	open.Out = []gate.Outgoing{{ID: "o1", Lane: "l1"}}
	open.Due = []approvals.Due{{Kind: orchestrator.DueTurn, Key: "active", At: start}}
	open.Log = []approvals.Record{{Type: "x", At: start}}
	if err := s.Commit(t.Context(), open); err != nil {
		t.Fatal(err)
	}
	claimOne(t, s, orchestrator.DueTurn)
}

// lives is how long a key lives, by the beginning of its name; the longest
// beginning counts.
var lives = map[string]time.Duration{
	"trigger:": kept.Records, "raw:": kept.Raw, "key:": kept.Dedupe, "said:": kept.Dedupe, "op:": time.Minute,
	"thread:live": -1, "thread:quiet": kept.Records, "ticket:active": -1, "ticket:ended": kept.Records,
	"inputs:active": -1, "inputs:ended": kept.Records, "acts:active": -1, "acts:ended": kept.Records,
	"eval:open": -1, "eval:done": kept.Records, "question:asked": -1, "question:closed": kept.Records,
	"decision:": kept.Records, "index:": -1, "index:triggers": kept.Records, "index:decisions": kept.Records, "index:asked": kept.Records,
	"chat:": -1, "policy": -1, "form": -1, "inbox:": -1, "lane:": -1, "rows": -1, "due:": -1, "claims": -1, "token": -1,
	"live": -1, "log": -1,
}

func lifeOf(key string) (best time.Duration, ok bool) {
	longest := -1
	for prefix, life := range lives {
		if strings.HasPrefix(key, prefix) && len(prefix) > longest {
			longest, best, ok = len(prefix), life, true
		}
	}
	return best, ok
}

func TestRS6EveryKeyHasTheLifetimeOfTheTable(t *testing.T) {
	t.Parallel()
	for server, c := range map[string]redis.UniversalClient{"miniredis": trial(t), "redis-server": server(t)} {
		s := openStore(t, redisstore.Options{Client: c, Retention: kept})
		story(t, s)
		keys, err := c.Keys(t.Context(), "*").Result()
		if err != nil || len(keys) < 30 {
			t.Fatalf("%s: Keys = %v, %v", server, keys, err)
		}
		for _, k := range keys {
			want, known := lifeOf(strings.TrimPrefix(k, "{w}:"))
			got, err := c.PTTL(t.Context(), k).Result()
			if !known || err != nil || got > want || got < want-10*time.Second {
				t.Errorf("%s: %s lives %v (%v), want %v", server, k, got, err, want)
			}
		}
	}
}

func TestRS6AnEndedTicketThatGoesOnLivesForEver(t *testing.T) {
	t.Parallel()
	c := trial(t)
	s := openStore(t, redisstore.Options{Client: c, Retention: kept})
	story(t, s)
	again := orchestrator.Ticket{ID: "ended", State: orchestrator.TicketActive, Version: 1}
	if err := s.Commit(t.Context(), orchestrator.Changes{Tickets: []orchestrator.Ticket{again}}); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"{w}:ticket:ended", "{w}:inputs:ended", "{w}:acts:ended"} {
		if ttl, err := c.PTTL(t.Context(), k).Result(); err != nil || ttl != -1 {
			t.Errorf("%s lives %v (%v), want for ever", k, ttl, err)
		}
	}
}

func TestRS6SweepForgetsThreadsWhoseTicketsAreGone(t *testing.T) {
	t.Parallel()
	c := server(t)
	s := openStore(t, redisstore.Options{Client: c, Retention: kept})
	held := func(id gate.ThreadID, ticket gate.TicketID) orchestrator.Thread {
		return orchestrator.Thread{ID: id, LastActivity: start, Tickets: []orchestrator.ThreadTicket{{Ticket: ticket}}}
	}
	young := held("young", "gone")
	young.LastActivity = start.Add(2 * time.Hour)
	queued := orchestrator.Thread{ID: "queued", LastActivity: start, Queue: []gate.TriggerID{"trg_1"}}
	err := s.Commit(t.Context(), orchestrator.Changes{
		Threads: []orchestrator.Thread{held("asleep", "gone"), held("awake", "active"), young, queued},
		Tickets: []orchestrator.Ticket{
			{ID: "active", State: orchestrator.TicketActive, CreatedAt: start},
			{ID: "gone", State: orchestrator.TicketEnded, CreatedAt: start},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Del(t.Context(), "{w}:ticket:gone") // its lifetime ended
	n, err := s.Sweep(t.Context(), start.Add(kept.Records+time.Hour))
	if err != nil || n != 2 {
		t.Fatalf("Sweep = %d, %v, want the thread and the ticket", n, err)
	}
	threads, _, err := s.ListThreads(t.Context(), orchestrator.Page{})
	if err != nil || len(threads) != 3 {
		t.Errorf("ListThreads = %v, %v, want the other three", threads, err)
	}
	live, _ := c.SMembers(t.Context(), "{w}:live").Result()
	left, _ := c.ZRange(t.Context(), "{w}:index:tickets", 0, -1).Result()
	if len(live) != 3 || len(left) != 1 || left[0] != "active" {
		t.Errorf("live %v, tickets %v", live, left)
	}
}

func TestRS6IndexRowsGoWithTheirRecords(t *testing.T) {
	t.Parallel()
	c := trial(t)
	s := openStore(t, redisstore.Options{Client: c, Retention: kept})
	late := arrival("trg_2")
	late.Trigger.ReceivedAt = start.Add(kept.Records + time.Hour)
	for _, a := range []gate.Arrival{arrival("trg_1"), late} {
		if _, err := s.Receive(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Commit(t.Context(), orchestrator.Changes{Messages: []orchestrator.Message{message(t, s, "trg_2")}}); err != nil {
		t.Fatal(err)
	}
	for _, index := range []string{"", ":source:feishu", ":thread:th_1"} {
		if ids, err := c.ZRange(t.Context(), "{w}:index:triggers"+index, 0, -1).Result(); err != nil || len(ids) != 1 {
			t.Errorf("index%s = %v, %v, want the late one", index, ids, err)
		}
	}
}

func TestRS7ARecordOfANewerFormIsRefusedAndNeverRewritten(t *testing.T) {
	t.Parallel()
	for server, c := range map[string]redis.UniversalClient{"miniredis": trial(t), "redis-server": server(t)} {
		s := openStore(t, redisstore.Options{Client: c})
		for _, row := range []string{"1 2\n{\"new\":true}", "1 99\n", "no row at all"} {
			c.Set(t.Context(), "{w}:thread:th_1", row, 0)
			c.Set(t.Context(), "{w}:decision:dec_1", row, 0)
			for what, err := range map[string]error{
				"Commit": s.Commit(t.Context(), orchestrator.Changes{Threads: []orchestrator.Thread{{ID: "th_1", Version: 1}}}),
				"Create": s.Commit(t.Context(), orchestrator.Changes{Threads: []orchestrator.Thread{{ID: "th_1"}}}),
				"Decide": s.Commit(t.Context(), orchestrator.Changes{Decisions: []orchestrator.Decision{{ID: "dec_1"}}}),
			} {
				if !errors.Is(err, orchestrator.ErrNewer) {
					t.Errorf("%s: %s over %q = %v, want ErrNewer", server, what, row, err)
				}
			}
			if got := c.Get(t.Context(), "{w}:thread:th_1").Val(); got != row {
				t.Errorf("%s: the record became %q", server, got)
			}
		}
		c.Set(t.Context(), "{w}:thread:th_1", "1 2\n{}", 0)
		if _, err := s.Load(t.Context(), orchestrator.Want{Threads: []gate.ThreadID{"th_1"}}); !errors.Is(err, orchestrator.ErrNewer) {
			t.Errorf("%s: Load = %v, want ErrNewer", server, err)
		}
	}
}

func TestRS7ARecordOfAnOlderFormIsRead(t *testing.T) {
	t.Parallel()
	c := trial(t)
	s := openStore(t, redisstore.Options{Client: c})
	c.Set(t.Context(), "{w}:thread:th_1", "7 0\n{\"id\":\"th_1\",\"title\":\"old\"}", 0)
	st, err := s.Load(t.Context(), orchestrator.Want{Threads: []gate.ThreadID{"th_1"}})
	th := st.Threads["th_1"]
	if err != nil || th.Title != "old" || th.Version != 7 {
		t.Fatalf("Load = %+v, %v", th, err)
	}
	if err := s.Commit(t.Context(), orchestrator.Changes{Threads: []orchestrator.Thread{th}}); err != nil {
		t.Fatalf("Commit: %v", err)
	}
	if row := c.Get(t.Context(), "{w}:thread:th_1").Val(); !strings.HasPrefix(row, "8 1\n") {
		t.Errorf("row = %q, want the present form", row)
	}
}

func TestRS7AWorkspaceOfANewerLayoutIsRefused(t *testing.T) {
	t.Parallel()
	c := trial(t)
	c.Set(t.Context(), "{w}:form", "2", 0)
	_, err := redisstore.Open(t.Context(), redisstore.Options{Client: c, Workspace: "w"})
	if !errors.Is(err, orchestrator.ErrNewer) {
		t.Fatalf("Open = %v, want ErrNewer", err)
	}
	if _, err := redisstore.Open(t.Context(), redisstore.Options{Client: c, Workspace: "a{b}"}); err == nil {
		t.Fatal("RS-1: Open took a workspace with braces")
	}
}

// TestRS6AfterItsLifetimesAWorkspaceIsEmptyButForWhatStays: a whole story, all
// of it done; then the time goes by.
func TestRS6AfterItsLifetimesAWorkspaceIsEmptyButForWhatStays(t *testing.T) {
	t.Parallel()
	m, c := fastForward(t)
	s := openStore(t, redisstore.Options{Client: c, Retention: kept})
	for n := range 5 {
		finish(t, s, n)
	}
	before, err := c.DBSize(t.Context()).Result()
	if err != nil || before < 50 {
		t.Fatalf("DBSize = %d, %v, want a story", before, err)
	}
	m.FastForward(kept.Raw)
	if keys := named(t, c, "raw:"); len(keys) > 0 {
		t.Errorf("RS-6: after retention.raw there are %v", keys)
	}
	m.FastForward(kept.Dedupe - kept.Raw)
	if keys := append(named(t, c, "key:"), named(t, c, "said:")...); len(keys) > 0 {
		t.Errorf("RS-6: after retention.dedupe there are %v", keys)
	}
	m.FastForward(kept.Records - kept.Dedupe)
	// The lines of the log are as old as the server's clock says.
	if _, err := s.Sweep(t.Context(), time.Now().Add(2*kept.Records)); err != nil {
		t.Fatal(err)
	}
	m.FastForward(time.Minute) // the marks of Sweep's own operations
	stays := map[string]bool{"log": true, "form": true, "token": true, "policy": true, "chat:dm": true}
	if n, err := c.XLen(t.Context(), "{w}:log").Result(); n > 0 || err != nil {
		t.Errorf("RS-6: the log has %d lines, %v", n, err)
	}
	for _, k := range named(t, c, "") {
		if !stays[strings.TrimPrefix(k, "{w}:")] {
			t.Errorf("RS-6: after all lifetimes and Sweep there is %s: %s", k, content(t, c, k))
		}
	}
}

// finish does a piece of work from its arrival to its end.
func finish(t *testing.T, s *redisstore.Store, n int) {
	t.Helper()
	id, th, tk := name("trg_", n), gate.ThreadID(name("th_", n)), gate.TicketID(name("tkt_", n))
	a := arrival(id)
	a.Trigger.Thread, a.Lane = th, string(th)
	if _, err := s.Receive(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	commit := func(c orchestrator.Changes) {
		t.Helper()
		if err := s.Commit(t.Context(), c); err != nil {
			t.Fatalf("Commit: %v", err)
		}
	}
	chat := orchestrator.Chat{Key: "dm"}
	if st, err := s.Load(t.Context(), orchestrator.Want{Chats: []string{"dm"}}); err != nil {
		t.Fatal(err)
	} else if known, ok := st.Chats["dm"]; ok {
		chat = known
	}
	inbox := claimOne(t, s, orchestrator.DueInbox)
	first := orchestrator.Changes{
		Threads:   []orchestrator.Thread{{ID: th, LastActivity: start, Queue: []gate.TriggerID{a.Trigger.ID}}},
		Tickets:   []orchestrator.Ticket{{ID: tk, State: orchestrator.TicketActive, CreatedAt: start}},
		Messages:  []orchestrator.Message{message(t, s, a.Trigger.ID)},
		Evals:     []orchestrator.Eval{{ID: gate.EvalID(name("evl_", n)), Undecided: []gate.TriggerID{a.Trigger.ID}}},
		Chats:     []orchestrator.Chat{chat},
		Questions: []approvals.Question{{ID: approvals.ID(name("q_", n)), Status: approvals.StatusOpen, CreatedAt: start}},
		Inputs:    []orchestrator.Input{{Ticket: tk, Seq: 1}},
		Acts:      []orchestrator.Act{{Ticket: tk, Key: "k"}},
		Seen:      []string{name("echo", n)},
		Claim:     &inbox, Took: []gate.TriggerID{a.Trigger.ID},
	}
	first.Out = []gate.Outgoing{{ID: name("o", n), Lane: name("l", n), CreatedAt: start}}
	first.Due = []approvals.Due{{Kind: orchestrator.DueTurn, Key: string(tk), At: start}, {Kind: approvals.DueDeadline, Key: name("q_", n), At: start}}
	first.Log = []approvals.Record{{Type: "x", At: start}}
	commit(first)
	out := claimOne(t, s, orchestrator.DueOutbox)
	commit(orchestrator.Changes{Claim: &out, SentIDs: []string{name("o", n)}})
	turn, deadline := claimOne(t, s, orchestrator.DueTurn), claimOne(t, s, approvals.DueDeadline)
	commit(orchestrator.Changes{Claim: &deadline, Questions: []approvals.Question{{ID: approvals.ID(name("q_", n)), Version: 1, Status: approvals.StatusAnswered, CreatedAt: start}}})
	commit(orchestrator.Changes{
		Claim:     &turn,
		Threads:   []orchestrator.Thread{{ID: th, Version: 1, LastActivity: start, Tickets: []orchestrator.ThreadTicket{{Ticket: tk}}}},
		Tickets:   []orchestrator.Ticket{{ID: tk, Version: 1, State: orchestrator.TicketEnded, CreatedAt: start}},
		Evals:     []orchestrator.Eval{{ID: gate.EvalID(name("evl_", n)), Version: 1}},
		Decisions: []orchestrator.Decision{{ID: orchestrator.DecisionID(name("dec_", n)), Thread: th, Outcome: orchestrator.Ignored, At: start}},
	})
}

func named(t *testing.T, c redis.UniversalClient, kind string) []string {
	t.Helper()
	keys, err := c.Keys(t.Context(), "{w}:"+kind+"*").Result()
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
