package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

// now is when the tests take place. The records carry times of another zone.
var (
	shanghai = time.FixedZone("", 8*60*60)
	now      = time.Date(2026, 9, 10, 20, 0, 0, 0, shanghai)
)

func ago(d time.Duration) time.Time { return now.Add(-d) }

// The tokens of the tests, by name.
const (
	ops   = "ops-secret-93f1b7"
	main  = "main-secret-5c2ad0"
	coder = "coder-secret-77e01b"
	board = "board-secret-e4410f"
)

func tokens() []api.Token {
	return []api.Token{
		{Name: "ops", Secret: ops, Role: api.Operator},
		{Name: "main", Secret: main, Role: api.Orchestrator},
		{Name: "coder", Secret: coder, Role: api.Executor},
		{Name: "board", Secret: board, Role: api.Viewer},
	}
}

// world is a listener over a store in memory, with its log.
type world struct {
	mem *storetest.Mem
	log *logged
	h   http.Handler
}

func newWorld(t *testing.T, edit ...func(*api.Config)) *world {
	t.Helper()
	w := &world{mem: storetest.NewMem(), log: &logged{}}
	c := api.Config{
		Lists: w.mem, Records: w.mem, Tokens: tokens(),
		Hosts:       []string{"127.0.0.1:8081", "https://bot.example.com"},
		Status:      func(context.Context) []api.Entry { return []api.Entry{{Name: "redis", State: api.OK}} },
		Ready:       func(context.Context) error { return nil },
		TurnTimeout: func(string) time.Duration { return 30 * time.Minute },
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			_, _ = w.Write([]byte("up 1\n"))
		}),
		Now: func() time.Time { return now },
		Log: slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	drained := make(chan struct{})
	close(drained)
	desk := w.service()
	c.Desk, c.Journal, c.Draining = desk, w.mem, drained
	c.Sessions, c.Broker, c.Questions = desk, w.broker(), w.mem
	c.Main, c.Again, c.External = service(w.mem), service(w.mem), true
	for _, e := range edit {
		e(&c)
	}
	w.h = held(t, api.New(c))
	return w
}

// service works on the store's Tickets, with everybody but lin unlisted.
func (w *world) service() *orchestrator.Service {
	var ids atomic.Int64
	return orchestrator.NewService(orchestrator.ServiceConfig{
		Store: w.mem, Asker: w.broker(), Directory: &orchestrator.Lists{States: w.mem}, Now: func() time.Time { return now },
		Settings: orchestrator.Settings{Workspace: "default"},
		Sources: map[gate.SourceID]*gate.Source{
			"feishu-main": {ID: "feishu-main", Platform: gate.Feishu, Enabled: true},
			"github-main": {ID: "github-main", Platform: gate.GitHub, Enabled: true},
		},
		NewID: func(prefix string) string { return prefix + strconv.FormatInt(ids.Add(1), 10) }, Log: slog.New(slog.DiscardHandler),
	})
}

func (w *world) broker() *approvals.Broker {
	return approvals.NewBroker(approvals.BrokerConfig{
		Workspace: "default", Store: w.mem, Directory: &orchestrator.Lists{States: w.mem}, Now: func() time.Time { return now },
	})
}

// service is a Service over the store, with a Policy that lists lin.
func service(mem *storetest.Mem) *orchestrator.Service {
	n := 0
	return orchestrator.NewService(orchestrator.ServiceConfig{
		Store: mem, Directory: &orchestrator.Lists{States: mem}, Now: func() time.Time { return now },
		Sources: map[gate.SourceID]*gate.Source{"feishu-main": {
			ID: "feishu-main", Platform: gate.Feishu, Enabled: true,
			Scopes: map[gate.Scope]gate.Receive{gate.ChatScope("oc_aaa"): gate.ReceiveAll},
		}},
		Settings: orchestrator.Settings{Workspace: "default", Language: "en", StopWords: []string{"stop"}, EvalTimeout: 10 * time.Minute, MaxRequeues: 2},
		NewID:    func(prefix string) string { n++; return fmt.Sprintf("%s%d", prefix, n) },
		Log:      slog.New(slog.DiscardHandler),
	})
}

func policy(mode gate.Mode) *orchestrator.PolicyRecord {
	return &orchestrator.PolicyRecord{Policy: gate.Policy{
		Version: 3, Mode: mode, Rules: []gate.Rule{{ID: "triage", Name: "triage", Enabled: true, Acknowledge: true}},
		Sources: map[gate.SourceID]gate.SourcePolicy{"feishu-main": {
			Allow: []string{"ou_lin"},
			Table: gate.Table{gate.ChatScope("oc_aaa"): {UnlistedAddressed: gate.Inferred}},
		}},
	}}
}

func (w *world) commit(t *testing.T, c orchestrator.Changes) {
	t.Helper()
	if err := w.mem.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// get asks with a token ("" sends none) and reads the whole answer.
func (w *world) get(t *testing.T, token, target string, edit ...func(*http.Request)) answer {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	r.Host = "127.0.0.1:8081"
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for _, e := range edit {
		e(r)
	}
	rec := httptest.NewRecorder()
	w.h.ServeHTTP(rec, r)
	return answer{rec.Code, rec.Header(), rec.Body.Bytes()}
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

type problem struct {
	Type, Title, Code, Detail string
	Status                    int
}

// problem reads the problem document, which repeats the status.
func (a answer) problem(t *testing.T) problem {
	t.Helper()
	var p problem
	if err := json.Unmarshal(a.body, &p); err != nil || p.Status != a.status || p.Type != "about:blank" {
		t.Fatalf("%d %v: %s", a.status, err, a.body)
	}
	return p
}

// ids are those of a list's items, and next is the cursor.
func (a answer) ids(t *testing.T) (ids []string, next string) {
	t.Helper()
	var l struct {
		Items []struct{ ID string }
		Next  *string
	}
	if err := json.Unmarshal(a.body, &l); err != nil || a.status != http.StatusOK {
		t.Fatalf("%d %v: %s", a.status, err, a.body)
	}
	for _, i := range l.Items {
		ids = append(ids, i.ID)
	}
	if l.Next != nil {
		next = *l.Next
	}
	return ids, next
}

// logged keeps the log's lines.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// lines are the log's records.
func (l *logged) lines(t *testing.T) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for d := json.NewDecoder(bytes.NewBufferString(l.String())); d.More(); {
		var line map[string]any
		if err := d.Decode(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines
}

var lin = gate.Sender{Kind: gate.Person, ID: "ou_lin", Name: "Lin", Aliases: []string{"union:on_1"}}

const (
	chat   = gate.ThreadID("feishu-main~oc_aaa~om_1")
	issue  = gate.ThreadID("github-main~acme~app~7")
	branch = gate.ThreadID("github-main~acme~app~main")
	fix    = gate.TicketID("tkt_0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")
	which  = approvals.ID("7b1f0c3a-0000-5000-8000-000000000001")
	triage = gate.TicketID("tkt_0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f9999")
)

// story fills the store: a Ticket that asks, one that was stopped, and the
// messages, Threads and Decisions around them.
func story(t *testing.T, w *world) {
	t.Helper()
	said := gate.Trigger{
		ID: "trg_1", Workspace: "default", Source: "feishu-main", Scope: "chat:oc_aaa", Thread: chat, Kind: gate.KindMessage,
		Sender: lin, Addressing: gate.Mention, Text: "fix the <b>build</b>", Plain: "fix the build",
		OccurredAt: ago(time.Hour), ReceivedAt: ago(time.Hour - time.Second), Raw: "trg_1",
	}
	ci := gate.Trigger{
		ID: "trg_2", Workspace: "default", Source: "github-main", Scope: gate.CI, Thread: branch, Kind: gate.KindCI,
		Sender: gate.Sender{Kind: gate.NoSender}, Text: "build failed", Title: "CI of main", URL: "https://github.com/acme/app/runs/1",
		OccurredAt: ago(30 * time.Minute), ReceivedAt: ago(30 * time.Minute),
	}
	w.commit(t, orchestrator.Changes{
		Policy: &orchestrator.PolicyRecord{Policy: gate.Policy{Version: 3, Mode: gate.Observe}},
		Messages: []orchestrator.Message{
			{Trigger: said, State: orchestrator.StateOwned, Owners: []gate.TicketID{fix}, Edited: true, Admission: orchestrator.Admission{
				Verdict: gate.Verdict{Strength: gate.Explicit, Basis: gate.Basis{Kind: gate.AllowList}, Rule: "AD-1", Reason: "on the list"}, PolicyVersion: 3,
			}},
			{Trigger: ci, State: orchestrator.StateReceived},
		},
		Tickets: []orchestrator.Ticket{asking(), stopped()}, Threads: threads(), Decisions: decisions(),
		Questions: questions(),
	})
}

func questions() []approvals.Question {
	return []approvals.Question{{
		ID: which, Workspace: "default", Session: approvals.Session{ID: approvals.SessionID(fix)},
		RequestID: "r1", Kind: approvals.Choice, Prompt: "which?", Status: approvals.StatusOpen, CreatedAt: ago(time.Minute), Deadline: ago(-time.Minute),
		Options: []approvals.Option{{ID: "a", Label: "A"}}, Events: []approvals.Event{{Type: approvals.EventOpened, At: ago(time.Minute)}},
	}}
}

func asking() orchestrator.Ticket {
	return orchestrator.Ticket{
		ID: fix, Title: "Fix the build", Brief: "It is red.", Executor: "coder", State: orchestrator.TicketActive,
		Mandate: gate.Mandate{
			State: gate.MandateActive, Source: "feishu-main", Scope: "chat:oc_aaa", Thread: chat, Trigger: "trg_1", Sender: lin,
			Strength: gate.Explicit, Basis: gate.Basis{Kind: gate.AllowList}, PolicyVersion: 3, Executor: "coder",
		},
		Subs: []orchestrator.Subscription{{Thread: chat, Kind: orchestrator.SubOwn}, {Thread: issue, Kind: orchestrator.SubContext}},
		Seq:  1, Delivered: 1, Turn: true, CreatedAt: ago(50 * time.Minute), ActiveAt: ago(50 * time.Minute),
	}
}

func stopped() orchestrator.Ticket {
	return orchestrator.Ticket{
		ID: triage, Title: "Triage", Executor: "default", State: orchestrator.TicketEnded,
		End: &orchestrator.End{Reason: orchestrator.EndManualStop, By: "panel:ops", At: ago(2 * time.Hour)},
		Mandate: gate.Mandate{
			State: gate.MandateRevoked, Source: "github-main", Scope: gate.Issues, Thread: issue, Trigger: "trg_0",
			Sender: gate.Sender{Kind: gate.Person, ID: "583231"}, Strength: gate.Inferred,
			Basis:         gate.Basis{Kind: gate.TableCell, Row: gate.Issues, Cell: gate.UnlistedAddressed},
			PolicyVersion: 2, Rules: []string{"triage"}, RevokedReason: "the rule is gone", Executor: "default",
		},
		CreatedAt: ago(3 * time.Hour), ActiveAt: ago(2 * time.Hour),
	}
}

func threads() []orchestrator.Thread {
	latest := decisions()
	return []orchestrator.Thread{
		{ID: chat, Source: "feishu-main", Scope: "chat:oc_aaa", Latest: &latest[0], LastActivity: ago(time.Minute), Tickets: []orchestrator.ThreadTicket{
			{Ticket: fix, Kind: orchestrator.SubOwn}, {Ticket: "tkt_forgotten", Kind: orchestrator.SubOwn},
		}},
		{ID: issue, Source: "github-main", Title: "Panic at start", Scope: gate.Issues, Latest: &latest[2], LastActivity: ago(2 * time.Minute),
			Tickets: []orchestrator.ThreadTicket{{Ticket: triage, Kind: orchestrator.SubOwn}, {Ticket: fix, Kind: orchestrator.SubContext}}},
		{ID: branch, Source: "github-main", Title: "CI of main", Scope: gate.CI, Queue: []gate.TriggerID{"trg_2"}, Eval: "evl_9", LastActivity: ago(3 * time.Minute)},
	}
}

func decisions() []orchestrator.Decision {
	return []orchestrator.Decision{
		{ID: "dec_1", Eval: "evl_1", Thread: chat, Trigger: "trg_1", Outcome: orchestrator.Accepted, Ticket: fix, Strength: gate.Explicit,
			Basis: gate.Basis{Kind: gate.AllowList}, PolicyVersion: 3, Reason: "asked for", By: orchestrator.ByMainSession, At: ago(55 * time.Minute)},
		{ID: "dec_2", Eval: "evl_2", Thread: issue, Trigger: "trg_0", Outcome: orchestrator.Observed, Would: orchestrator.ActAccept, Strength: gate.Inferred,
			Basis:         gate.Basis{Kind: gate.TableCell, Row: gate.Issues, Cell: gate.UnlistedAddressed},
			PolicyVersion: 2, Verdicts: []orchestrator.RuleVerdict{{Rule: "triage", Match: true, Reason: "a panic"}}, By: orchestrator.ByMainSession, At: ago(3 * time.Hour)},
		{ID: "dec_3", Eval: "evl_3", Thread: issue, Trigger: "trg_0", Outcome: orchestrator.Unavailable, Strength: gate.Inferred,
			Basis: gate.Basis{Kind: gate.BotList}, PolicyVersion: 3, Reason: "expired three times", By: orchestrator.ByGateway, At: ago(time.Hour)},
	}
}
