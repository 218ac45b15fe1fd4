package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

// office is a whole gateway without platforms, whose only executor, "default",
// is a remote one: it comes over HTTP with the token of the agent.
type office struct {
	t      *testing.T
	mem    *storetest.Mem
	svc    *orchestrator.Service
	broker *approvals.Broker
	h      http.Handler
	drain  chan struct{}
	said   int
	// attachTo is the Ticket that the main Session gives all to; "": it is the
	// builtin driver.
	attachTo atomic.Value

	mu   sync.Mutex
	sent []string
}

const agent = "agent-secret-0c11d9"

// inOffice runs a story in fake time.
func inOffice(t *testing.T, story func(*testing.T, *office)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { story(t, newOffice(t)) })
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, mem: storetest.NewMem(), drain: make(chan struct{})}
	log, directory := slog.New(slog.DiscardHandler), &orchestrator.Lists{States: o.mem}
	o.broker = approvals.NewBroker(approvals.BrokerConfig{
		Workspace: "default", Store: o.mem, Directory: directory, Settings: approvals.Settings{Timeout: time.Hour}, Logger: log,
	})
	var ids atomic.Int64
	o.svc = orchestrator.NewService(orchestrator.ServiceConfig{
		Store: o.mem, Asker: o.broker, Directory: directory, Now: time.Now, Log: log,
		NewID: func(prefix string) string { return fmt.Sprintf("%s%08x", prefix, ids.Add(1)) },
		Sources: map[gate.SourceID]*gate.Source{"fs": {
			ID: "fs", Platform: gate.Feishu, Enabled: true, Scopes: map[gate.Scope]gate.Receive{gate.ChatScope("oc_1"): gate.ReceiveMentions, gate.ChatScope("oc_2"): gate.ReceiveMentions},
		}},
		Settings: orchestrator.Settings{
			Workspace: "default", Language: "en", StopWords: []string{"stop"}, EvalTimeout: 10 * time.Minute, MaxRequeues: 2,
			Follow: map[string][]orchestrator.Follow{"default": {{Source: "fs", Pattern: "oc_3*"}}},
		},
	})
	if _, err := o.svc.ApplyFile(t.Context(), gate.Policy{Mode: gate.Observe, Sources: map[gate.SourceID]gate.SourcePolicy{
		"fs": {Allow: []string{"ou_lin"}, Table: gate.Table{}},
	}}); err != nil {
		t.Fatal(err)
	}
	o.work(log)
	o.h = held(t, api.New(api.Config{
		Lists: o.mem, Records: o.mem, Desk: o.svc, Sessions: o.svc, Broker: o.broker, Questions: o.mem, Again: o.svc, Journal: o.mem, Wake: o.mem.Wake, Draining: o.drain, Now: time.Now, Log: log,
		Tokens: append(tokens(), api.Token{Name: "agent", Secret: agent, Role: api.Executor, Executor: "default"}),
	}))
	return o
}

// work runs the gateway's worker until the test ends.
func (o *office) work(log *slog.Logger) {
	handlers := o.svc.Handlers()
	considerer := &orchestrator.Considerer{Service: o.svc, Driver: o, Session: "main"}
	runner := &orchestrator.Runner{Service: o.svc}
	outbox := &orchestrator.Outbox{Service: o.svc, Senders: map[gate.SourceID]orchestrator.Sender{"fs": o}, Keep: time.Hour}
	handlers[orchestrator.DueEval], handlers[orchestrator.DueTurn], handlers[orchestrator.DueOutbox] = considerer.Handle, runner.Handle, outbox.Handle
	worker := orchestrator.NewWorker(orchestrator.WorkerConfig{
		Queue: o.mem, States: o.mem, Handlers: handlers, Lease: 10 * time.Second, Poll: 250 * time.Millisecond, Limit: 8, Now: time.Now, Log: log,
	})
	ctx, cancel := context.WithCancel(o.t.Context())
	done := make(chan error, 1)
	go func() { done <- worker.Run(ctx, ctx) }()
	o.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			o.t.Errorf("Run: %v", err)
		}
	})
}

// Consider is the main Session.
func (o *office) Consider(ctx context.Context, h orchestrator.Handout) ([]orchestrator.Routed, error) {
	to, _ := o.attachTo.Load().(string)
	if to == "" {
		return orchestrator.Builtin{Settings: o.svc.Settings}.Consider(ctx, h)
	}
	var items []orchestrator.Routed
	for _, m := range h.Candidates {
		items = append(items, orchestrator.Routed{Item: orchestrator.Item{Trigger: m.ID, Action: orchestrator.ActAttach, Ticket: gate.TicketID(to)}})
	}
	return items, nil
}

// Send is the platform.
func (o *office) Send(_ context.Context, out gate.Outgoing) (gate.Sent, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if out.Kind == gate.OutReply && !strings.HasPrefix(out.Text, "Accepted") {
		o.sent = append(o.sent, string(out.Thread)+": "+out.Text)
	}
	return gate.Sent{Message: "om_" + out.ID, Chat: out.Place.Chat}, nil
}

// say has somebody say something in a Thread of a chat, such as "oc_1/om_1".
func (o *office) say(who, thread, text string) {
	o.t.Helper()
	o.speak(who, thread, text)
	o.settle()
}

func (o *office) speak(who, thread, text string) {
	o.said++
	chat, root, _ := strings.Cut(thread, "/")
	id, th := fmt.Sprintf("om_%d", o.said), gate.ThreadID("fs~"+chat+"~"+root)
	how := gate.NotAddressed
	if rest, ok := strings.CutPrefix(text, "@bot "); ok {
		how, text = gate.Mention, rest
	}
	kind := gate.Person
	if who == "bot" {
		kind = gate.Bot
	}
	err := o.svc.Receive(o.t.Context(), gate.Arrival{
		Trigger: gate.Trigger{
			Source: "fs", Scope: gate.ChatScope(chat), Thread: th, Place: gate.Place{Chat: chat, Root: root}, Kind: gate.KindMessage,
			Sender: gate.Sender{Kind: kind, ID: "ou_" + who, Name: who}, Addressing: how, Text: text, Plain: text,
			IDs: gate.PlatformIDs{Message: id}, OccurredAt: time.Now(),
		},
		Keys: []string{gate.MessageKey("fs", id)}, Lane: string(th), OnlyIfLive: how == gate.NotAddressed,
	})
	if err != nil {
		o.t.Errorf("Receive(%q): %v", text, err)
	}
}

// words writes values with a space between.
func words(v ...any) string { return strings.TrimSpace(fmt.Sprintln(v...)) }

// settle lets everything that is due happen.
func (o *office) settle() {
	time.Sleep(3 * time.Second) // fake time
	synctest.Wait()
}

func (o *office) lines() string {
	o.settle()
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.sent, "; ")
}

// message is what became of the message with that text.
func (o *office) message(text string) orchestrator.Message {
	o.t.Helper()
	list, _, err := o.mem.ListMessages(o.t.Context(), orchestrator.MessageFilter{}, orchestrator.Page{Limit: 100})
	for _, m := range list {
		if m.Text == text {
			return m
		}
	}
	o.t.Fatalf("no message %q: %v", text, err)
	return orchestrator.Message{}
}

// remote is a program of somebody else's: it knows the gateway's HTTP only.
type remote struct {
	o      *office
	client *http.Client
	token  string
}

// RoundTrip takes a request to the listener.
func (o *office) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	in := r.Clone(r.Context())
	in.Host, in.RequestURI = "127.0.0.1:8081", r.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	o.h.ServeHTTP(rec, in)
	return rec.Result(), r.Context().Err()
}

func (o *office) remote(token string) *remote {
	return &remote{o: o, client: &http.Client{Transport: o}, token: token}
}

func (r *remote) call(method, path, body string) (status int, answer []byte) {
	r.o.t.Helper()
	req, err := http.NewRequestWithContext(r.o.t.Context(), method, "http://127.0.0.1:8081"+path, bytes.NewBufferString(body))
	if err != nil {
		r.o.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := r.client.Do(req)
	if err != nil {
		r.o.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	if err != nil {
		r.o.t.Fatal(err)
	}
	return res.StatusCode, answer
}

// ask calls and reads a 200 into v.
func (r *remote) ask(method, path, body string, v any) {
	r.o.t.Helper()
	status, answer := r.call(method, path, body)
	if err := json.Unmarshal(answer, v); err != nil || status != http.StatusOK {
		r.o.t.Fatalf("%s %s = %d %s, %v", method, path, status, answer, err)
	}
}

// ticket waits for the first active Ticket of the executor.
func (r *remote) ticket() string {
	r.o.t.Helper()
	var l struct{ Items []struct{ ID string } }
	r.ask("GET", "/v1/tickets?executor=me&state=active&wait=30s", "", &l)
	if len(l.Items) == 0 {
		r.o.t.Fatal("no ticket came")
	}
	return l.Items[0].ID
}

type given struct {
	ID      string
	Seq     int
	Kind    string
	Owned   bool
	Sender  *struct{ Listed, Requester, Approver bool }
	Trigger *struct{ Text, Thread string }

	Prompt   string
	Decision *struct {
		Status, Outcome string
		Answer          *struct{ OptionID string }
	}
}

type read struct {
	Items  []given
	Ticket struct {
		State string
		End   *struct{ Reason, By string }
	}
}

// inputs reads with a query, such as "?wait=30s".
func (r *remote) inputs(ticket, query string) read {
	r.o.t.Helper()
	var got read
	r.ask("GET", "/v1/tickets/"+ticket+"/inputs"+query, "", &got)
	return got
}

// texts are what the Inputs say: the message's text, or the kind.
func (g read) texts() string {
	words := make([]string, len(g.Items))
	for i, in := range g.Items {
		words[i] = in.Kind
		if in.Trigger != nil {
			words[i] = in.Trigger.Text
		}
	}
	return strings.Join(words, ",")
}

type done struct {
	OK, Deduped    bool
	Note, Question string
	Error          struct{ Code, Message string }
}

// said is the outcome in a word.
func (d done) said() string {
	switch {
	case d.Error.Code != "":
		return d.Error.Code
	case d.Deduped:
		return "deduped"
	case d.Note != "":
		return "noted"
	case d.OK:
		return "ok"
	}
	return "?"
}

func (r *remote) act(ticket, body string) done {
	r.o.t.Helper()
	var d done
	r.ask("POST", "/v1/tickets/"+ticket+"/actions", body, &d)
	return d
}

// stage is the Ticket's, as a board sees it.
func (o *office) stage(ticket string) string {
	o.t.Helper()
	var t struct{ Stage string }
	o.remote(board).ask("GET", "/v1/tickets/"+ticket, "", &t)
	return t.Stage
}
