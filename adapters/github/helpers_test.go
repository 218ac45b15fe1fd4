package github_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
	"github.com/gatehouse-bot/gatehouse/gate"
)

const (
	ownID      = 31415926
	codertocat = "21031067"
)

var now = time.Date(2026, 9, 10, 12, 0, 0, 0, time.UTC)

func sampleConfig() github.Config {
	return github.Config{
		ID: "github-main", Workspace: "default", WebhookSecrets: []string{"sample-secret-0123456789"}, Login: "my-bot",
		Auth: github.Auth{Token: "sample-token"}, Repos: []string{"*/*"},
	}
}

func all(r gate.Receive) map[gate.Scope]gate.Receive {
	return map[gate.Scope]gate.Receive{gate.Issues: r, gate.Pulls: r, gate.Comments: r, gate.CI: gate.ReceiveAll}
}

func source(scopes map[gate.Scope]gate.Receive) gate.Source {
	return gate.Source{ID: "github-main", Platform: gate.GitHub, Enabled: true, Scopes: scopes}
}

func sampleSetting() github.Setting {
	return github.Setting{Config: sampleConfig(), Source: source(all(gate.ReceiveMentions)), OwnID: ownID, Now: now}
}

func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "samples", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// translated is what a sample is, with fields changed by dotted path.
func translated(t testing.TB, s github.Setting, name string, changes map[string]any) github.Event {
	t.Helper()
	event, _, _ := strings.Cut(name, ".")
	return github.Translate(s, github.Delivery{Event: event, GUID: "guid-1", Body: edit(t, sample(t, name), changes)})
}

// edit returns a JSON document with fields changed by dotted path; nil is null,
// and gone{} deletes.
func edit(t testing.TB, doc []byte, changes map[string]any) []byte {
	t.Helper()
	if len(changes) == 0 {
		return doc
	}
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	for path, to := range changes {
		at, keys := v, strings.Split(path, ".")
		for _, k := range keys[:len(keys)-1] {
			inner, ok := at[k].(map[string]any)
			if !ok {
				inner = map[string]any{}
				at[k] = inner
			}
			at = inner
		}
		at[keys[len(keys)-1]] = to
		if _, ok := to.(gone); ok {
			delete(at, keys[len(keys)-1])
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type gone struct{}

// intake records Arrivals; err is what it answers.
type intake struct {
	mu  sync.Mutex
	got []gate.Arrival
	err error
}

func (i *intake) Receive(_ context.Context, a gate.Arrival) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.got = append(i.got, a)
	return i.err
}

func (i *intake) arrivals() []gate.Arrival {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]gate.Arrival(nil), i.got...)
}

type counts struct {
	mu sync.Mutex
	by map[github.Reason]int
}

func (c *counts) count(r github.Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by[r]++
}

func (c *counts) of(r github.Reason) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by[r]
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// world is a gateway's GitHub side in front of a simulated GitHub.
type world struct {
	sim     *githubsim.Sim
	cfg     github.Config
	bot     *github.Bot
	handler *github.Handler
	sender  *github.Sender
	intake  *intake
	hook    string
	logged  *syncBuffer
	counted *counts
	asked   questions

	repo githubsim.Repo
	ann  githubsim.Account
}

// asApp makes a world sign in as an App; else it is the ordinary account.
func asApp(w *world) {
	w.cfg.Auth = github.Auth{AppID: w.sim.App().ID, PrivateKey: w.sim.PrivateKey()}
}

func newWorld(t testing.TB, changes ...func(*world)) *world {
	t.Helper()
	w := &world{
		sim: githubsim.New(githubsim.App{}), intake: &intake{}, logged: &syncBuffer{},
		counted: &counts{by: map[github.Reason]int{}},
	}
	api := httptest.NewServer(w.sim)
	t.Cleanup(api.Close)
	w.cfg = github.Config{
		ID: "github-main", Workspace: "default", BaseURL: api.URL, WebhookSecrets: []string{w.sim.App().Secret},
		Login: w.sim.App().Slug, Auth: github.Auth{Token: w.sim.App().Token}, Repos: []string{"acme/*"}, RequestTimeout: 5 * time.Second,
	}
	w.repo, w.ann = w.sim.Repo("acme/app"), w.sim.Person("ann")
	for _, change := range changes {
		change(w)
	}
	bot, err := github.NewBot(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.bot = bot
	log := slog.New(slog.NewTextHandler(w.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	src := source(all(gate.ReceiveMentions))
	w.handler = github.NewHandler(bot, func() gate.Source { return src }, w.intake, log)
	w.handler.Count = w.counted.count
	w.sender = github.NewSender(bot, w.asked, log)
	hook := httptest.NewServer(w.handler)
	t.Cleanup(hook.Close)
	w.hook = hook.URL
	return w
}

// identified is newWorld that knows who it is.
func identified(t testing.TB, changes ...func(*world)) *world {
	t.Helper()
	w := newWorld(t, changes...)
	if _, err := w.bot.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) deliver(t testing.TB, d githubsim.Delivery) githubsim.Answer {
	t.Helper()
	a, err := w.sim.Deliver(t.Context(), w.hook, d)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// serve gives the handler one request and returns its answer.
func (w *world) serve(method string, body []byte, h http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/webhooks/github-main", bytes.NewReader(body))
	r.Header = h
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	return rec
}

// send sends, and returns the error as what it is.
func (w *world) send(t testing.TB, out gate.Outgoing) (gate.Sent, *gate.SendError) {
	t.Helper()
	sent, err := w.sender.Send(t.Context(), out)
	if err == nil {
		return sent, nil
	}
	var se *gate.SendError
	if !errors.As(err, &se) {
		t.Fatalf("Send = %v (%T), want a *gate.SendError", err, err)
	}
	return sent, se
}

type panicky struct{}

func (panicky) Receive(context.Context, gate.Arrival) error { panic("secret text") }

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// restart gives the world a bot that knows nothing but the configuration and who
// it is.
func (w *world) restart(t testing.TB) {
	t.Helper()
	bot, err := github.NewBot(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.sim.Fail(githubsim.Fault{Call: "installations", Status: 404})
	if _, err := bot.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.bot = bot
	src := source(all(gate.ReceiveMentions))
	w.handler = github.NewHandler(bot, func() gate.Source { return src }, w.intake, discard())
	w.handler.Count = w.counted.count
	hook := httptest.NewServer(w.handler)
	t.Cleanup(hook.Close)
	w.hook = hook.URL
	w.sender = github.NewSender(bot, w.asked, discard())
}
