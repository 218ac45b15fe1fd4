package feishu_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// The Source of the samples (testdata/samples/_expected.json).
const (
	opsGroup   = "oc_cf66cde46906ea92ae2a4b059eccf3d3"
	topicGroup = "oc_bd71060b838e36da99b95393a4c52abc"
	sampleBot  = "ou_bd1611224f3a3d9ff7bd850ded1344f4"
	lin        = "ou_4fe584cb0be34a1894129f094b4464b0"
)

func sampleConfig() feishu.Config {
	return feishu.Config{
		ID: "feishu-main", Workspace: "default", AppID: "cli_a8f3c1d2e5b7900c", AppSecret: "sample-secret",
		EncryptKey: "sample-encrypt-key-7Qx2Lm9", VerificationToken: "Zk3vT9mQe1RbX7uLc5WyH2sNd8PgA4Jf",
		TenantKey: "16c2d4f1a90b8e37", Language: "zh", Zone: time.UTC,
	}
}

func source(scopes map[gate.Scope]gate.Receive) gate.Source {
	return gate.Source{ID: "feishu-main", Platform: gate.Feishu, Enabled: true, Scopes: scopes}
}

func sampleSetting() feishu.Setting {
	return feishu.Setting{
		Config: sampleConfig(), BotOpenID: sampleBot, Tenant: "16c2d4f1a90b8e37", Now: time.Date(2026, 9, 10, 12, 0, 0, 0, time.UTC),
		Source: source(map[gate.Scope]gate.Receive{
			gate.ChatScope(opsGroup): gate.ReceiveAll, gate.ChatScope(topicGroup): gate.ReceiveMentions, gate.DirectChat: gate.ReceiveAll,
		}),
	}
}

func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "samples", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// edit returns a JSON document with fields changed by dotted path; a nil value
// deletes.
func edit(t testing.TB, doc []byte, changes map[string]any) []byte {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	for path, to := range changes {
		at := v
		keys := bytes.Split([]byte(path), []byte("."))
		for _, k := range keys[:len(keys)-1] {
			inner, ok := at[string(k)].(map[string]any)
			if !ok {
				inner = map[string]any{}
				at[string(k)] = inner
			}
			at = inner
		}
		last := string(keys[len(keys)-1])
		if to == nil {
			delete(at, last)
		} else {
			at[last] = to
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

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

// broker is a small approvals.Broker: it keeps questions and settles them by the
// rules that matter to a card.
type broker struct {
	mu      sync.Mutex
	now     time.Time
	rows    map[approvals.ID]approvals.Question
	allowed map[string]bool
	got     []approvals.AnswerRequest
	err     error
	// reason is that of err. entered, when set, is told of each answer, which
	// then waits for go on.
	reason  string
	entered chan struct{}
	goOn    chan struct{}
	// partly: an approval does not end the question.
	partly bool
}

func (b *broker) Question(_ context.Context, id approvals.ID) (approvals.Question, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q, ok := b.rows[id]
	if !ok {
		return q, approvals.ErrNotFound
	}
	return q, nil
}

func (b *broker) Answer(_ context.Context, r approvals.AnswerRequest) (approvals.Result, error) {
	if b.entered != nil {
		b.entered <- struct{}{}
		<-b.goOn
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.got = append(b.got, r)
	if b.err != nil && b.reason == "" {
		return approvals.Result{}, b.err
	}
	q, ok := b.rows[r.ID]
	if b.err != nil {
		return approvals.Result{Question: q, Reason: b.reason}, b.err
	}
	if !ok {
		return approvals.Result{}, approvals.ErrNotFound
	}
	a := approvals.Answer{OptionID: r.OptionID, Text: r.Text, By: r.Who, Source: r.Source, Via: r.Via, At: b.now}
	switch {
	case len(q.Messages) > 0 && *r.Message != q.Messages[0]:
		return approvals.Result{Question: q, Reason: approvals.ReasonWrongCard}, approvals.ErrWrongCard
	case b.allowed != nil && !b.allowed[r.Who.ID]:
		return approvals.Result{Question: q, Reason: gate.ReasonNeither}, approvals.ErrNotAllowed
	case q.Status == approvals.StatusAnswered && q.Answer.Same(a):
		return approvals.Result{Question: q, Deduped: true}, nil
	case q.Status == approvals.StatusAnswered:
		return approvals.Result{Question: q}, approvals.ErrAnswered
	case q.Status != approvals.StatusOpen:
		return approvals.Result{Question: q}, approvals.ErrClosed
	case r.OptionID == "" && r.Text == "":
		return approvals.Result{Question: q}, approvals.ErrInvalid
	}
	if b.partly {
		q.Approved = append(q.Approved, a)
		b.rows[r.ID] = q
		return approvals.Result{Question: q}, nil
	}
	q.Status, q.Answer, q.ClosedAt = approvals.StatusAnswered, &a, b.now
	b.rows[r.ID] = q
	return approvals.Result{Question: q}, nil
}

func (b *broker) asked() []approvals.AnswerRequest {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]approvals.AnswerRequest(nil), b.got...)
}

func (b *broker) put(q approvals.Question) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rows == nil {
		b.rows = map[approvals.ID]approvals.Question{}
	}
	b.rows[q.ID] = q
}

// world is a gateway's Feishu side in front of a simulated Feishu.
type world struct {
	sim     *feishusim.Sim
	cfg     feishu.Config
	bot     *feishu.Bot
	handler *feishu.Handler
	sender  *feishu.Sender
	intake  *intake
	broker  *broker
	hook    string
	logged  *syncBuffer
	counted *counts
}

type counts struct {
	mu sync.Mutex
	by map[feishu.Reason]int
}

func (c *counts) count(r feishu.Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by[r]++
}

func (c *counts) of(r feishu.Reason) int {
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

func newWorld(t testing.TB, changes ...func(*feishu.Config)) *world {
	t.Helper()
	w := &world{
		sim: feishusim.New(feishusim.App{BotName: "值班助手"}), intake: &intake{}, logged: &syncBuffer{},
		counted: &counts{by: map[feishu.Reason]int{}},
		broker:  &broker{now: time.Date(2026, 9, 10, 12, 50, 0, 0, time.UTC)},
	}
	api := httptest.NewServer(w.sim)
	t.Cleanup(api.Close)
	app := w.sim.App()
	w.cfg = feishu.Config{
		ID: "feishu-main", Workspace: "default", BaseURL: api.URL, AppID: app.ID, AppSecret: app.Secret,
		EncryptKey: app.EncryptKey, VerificationToken: app.Token, ReplyInThread: true, Zone: time.UTC,
		RequestTimeout: 5 * time.Second,
	}
	for _, change := range changes {
		change(&w.cfg)
	}
	bot, err := feishu.NewBot(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.bot = bot
	log := slog.New(slog.NewTextHandler(w.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ops := w.sim.Group("ops")
	src := source(map[gate.Scope]gate.Receive{gate.ChatScope(ops.ID): gate.ReceiveAll, gate.DirectChat: gate.ReceiveAll, gate.OtherChats: gate.ReceiveMentions})
	w.handler = feishu.NewHandler(bot, func() gate.Source { return src }, w.intake, w.broker, log)
	w.handler.Count = w.counted.count
	w.sender = feishu.NewSender(bot, w.broker, log)
	hook := httptest.NewServer(w.handler)
	t.Cleanup(hook.Close)
	w.hook = hook.URL
	return w
}

func (w *world) identify(t testing.TB) {
	t.Helper()
	if _, err := w.bot.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (w *world) deliver(t testing.TB, e feishusim.Event) feishusim.Answer {
	t.Helper()
	a, err := w.sim.Deliver(t.Context(), w.hook, e)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var errDown = errors.New("the store is down")

type panicky struct{}

func (panicky) Receive(context.Context, gate.Arrival) error { panic("secret text") }

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
