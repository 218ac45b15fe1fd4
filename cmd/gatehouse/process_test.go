package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// crashFromEnv reads GATEHOUSE_TEST_CRASH, "before:7" or "after:answer": the
// process kills itself with SIGKILL around that write to the store.
func crashFromEnv() func(orchestrator.Store) orchestrator.Store {
	when, at, ok := strings.Cut(os.Getenv("GATEHOUSE_TEST_CRASH"), ":")
	if !ok {
		return nil
	}
	return func(s orchestrator.Store) orchestrator.Store {
		return &suicidal{Store: s, at: at, after: when == "after"}
	}
}

// suicidal kills its process around the write at, which is a number, counted
// from 1, or a name.
type suicidal struct {
	orchestrator.Store
	mu    sync.Mutex
	n     int
	at    string
	after bool
}

// The names of writes.
const (
	writeAnswer = "answer" // a question becomes answered
	writeWake   = "wake"   // its asker gets the answer
)

func (s *suicidal) write(name string, do func() error) error {
	s.mu.Lock()
	s.n++
	hit := s.at == strconv.Itoa(s.n) || s.at == name
	s.mu.Unlock()
	if hit && !s.after {
		die()
	}
	err := do()
	if hit {
		die()
	}
	return err
}

const terminate = syscall.SIGTERM

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func (s *suicidal) Receive(ctx context.Context, a gate.Arrival) (r orchestrator.Receipt, err error) {
	err = s.write("", func() error { r, err = s.Store.Receive(ctx, a); return err })
	return r, err
}

func (s *suicidal) Commit(ctx context.Context, c orchestrator.Changes) error {
	name := ""
	if c.Claim != nil && c.Claim.Kind == approvals.DueSettled {
		name = writeWake
	}
	return s.write(name, func() error { return s.Store.Commit(ctx, c) })
}

func (s *suicidal) CommitQuestions(ctx context.Context, c approvals.Change) error {
	name := ""
	if len(c.Questions) > 0 && c.Questions[0].Status == approvals.StatusAnswered {
		name = writeAnswer
	}
	return s.write(name, func() error { return s.Store.CommitQuestions(ctx, c) })
}

// world is everything around a gateway process: a simulated Feishu, a real
// redis-server, a configuration.
type world struct {
	t      *testing.T
	sim    *feishusim.Sim
	config string
	lin    feishusim.Person
	ops    feishusim.Chat

	mu    sync.Mutex
	proc  *exec.Cmd
	log   strings.Builder
	hook  string
	admin string
	gone  chan struct{}
}

func newWorld(t *testing.T, redis string) *world { return newWorldOf(t, redis, worldConfig) }

// newWorldOf is a world around a gateway with a configuration of its own.
func newWorldOf(t *testing.T, redis, config string) *world {
	t.Helper()
	w := &world{t: t, sim: feishusim.New(feishusim.App{})}
	api := httptest.NewServer(w.sim)
	t.Cleanup(api.Close)
	w.lin, w.ops = w.sim.Person("林岚"), w.sim.Group("ops")
	cfg := strings.NewReplacer(
		"API", api.URL, "REDIS", redis, "WORKSPACE", fmt.Sprintf("w%d", time.Now().UnixNano()), "CHAT", w.ops.ID, "LIN", w.lin.OpenID,
		"APPID", w.sim.App().ID, "SECRET", w.sim.App().Secret, "KEY", w.sim.App().EncryptKey, "VTOKEN", w.sim.App().Token,
	).Replace(config)
	w.config = filepath.Join(t.TempDir(), "gatehouse.yaml")
	if err := os.WriteFile(w.config, []byte(cfg), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.kill)
	return w
}

const worldToken = "test-operator-token-0123456789"

const worldConfig = `
workspace: WORKSPACE
language: zh
listen: 127.0.0.1:0
admin:
  listen: 127.0.0.1:0
  tokens: [{name: test, token: ` + worldToken + `, role: operator}]
redis: {url: "REDIS"}
executors:
  default:
    kind: echo
    script:
      - approve: {tool: deploy, preview: "deploy {{text}}", reason: "确认"}
      - done: "已完成：{{text}}"
sources:
  feishu-main:
    kind: feishu
    base_url: "API"
    app_id: "APPID"
    app_secret: "SECRET"
    encrypt_key: "KEY"
    verification_token: "VTOKEN"
    receive: {chats: {CHAT: mentions}}
policy:
  sources:
    feishu-main: {allow: ["LIN"]}
`

var upLine = regexp.MustCompile(`msg="gatehouse is up" webhooks=(\S+) admin=(\S+)`)

// start starts a gateway process and returns once it listens and knows who it
// is: before that no message in a group addresses it (FS-2).
func (w *world) start(env ...string) {
	w.t.Helper()
	cmd := exec.Command(os.Args[0], "serve", "--config", w.config)
	cmd.Env = append(append(os.Environ(), "GATEHOUSE_TEST_MAIN=1"), env...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	up, known, gone := make(chan []string, 1), make(chan struct{}, 1), make(chan struct{})
	go func() {
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			w.mu.Lock()
			w.log.WriteString(lines.Text() + "\n")
			w.mu.Unlock()
			if m := upLine.FindStringSubmatch(lines.Text()); m != nil {
				up <- m
			}
			if strings.Contains(lines.Text(), `msg="bot identity"`) {
				known <- struct{}{}
			}
		}
		_ = cmd.Wait()
		close(gone)
	}()
	w.proc, w.gone = cmd, gone
	select {
	case m := <-up:
		w.hook, w.admin = "http://"+m[1]+"/webhooks/feishu-main", "http://"+m[2]
		select {
		case <-known:
		case <-gone:
		case <-time.After(20 * time.Second):
			w.t.Fatalf("the gateway does not learn who it is:\n%s", w.logged())
		}
	case <-gone:
		w.hook, w.admin = "", ""
	case <-time.After(20 * time.Second):
		w.t.Fatalf("the gateway did not come up:\n%s", w.logged())
	}
}

func (w *world) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

// kill ends the process with SIGKILL and waits for it.
func (w *world) kill() {
	if w.proc != nil {
		_ = w.proc.Process.Signal(syscall.SIGKILL)
		<-w.gone
	}
}

// alive starts the process again if it died.
func (w *world) alive() {
	select {
	case <-w.gone:
		w.start()
	default:
	}
}

// until tries until it holds, over processes that may die.
func (w *world) until(what string, holds func(ctx context.Context) bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 60*time.Second)
	defer cancel()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		w.alive()
		if holds(ctx) {
			return
		}
		select {
		case <-ctx.Done():
			w.t.Fatalf("never: %s\n%s", what, w.logged())
		case <-tick.C:
		}
	}
}

func (w *world) get(ctx context.Context, path string, to any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.admin+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+worldToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, res.Body)
		return fmt.Errorf("GET %s: %s", path, res.Status)
	}
	return json.NewDecoder(res.Body).Decode(to)
}

// The steps of the main job, each of which can be repeated.

func (w *world) mention(said feishusim.Event) {
	w.until("the mention is taken", func(ctx context.Context) bool {
		a, err := w.sim.Deliver(ctx, w.hook, said)
		return err == nil && a.Status == http.StatusOK
	})
}

func (w *world) seen(what string, ok func(feishusim.Snapshot) bool) {
	w.until(what, func(context.Context) bool { return ok(w.sim.Snapshot()) })
}

func (w *world) click() {
	w.until("the click is taken", func(ctx context.Context) bool {
		cards := questions(w.sim.Snapshot())
		if len(cards) == 0 {
			return false
		}
		if len(cards[0].Buttons()) == 0 {
			return true // answered before the process died
		}
		a, err := w.sim.Click(ctx, w.hook, cards[0], w.lin, "approve")
		return err == nil && a.Toast.Type == "success"
	})
}

type worldStatus struct {
	Queues orchestrator.Depths
}

// ended waits until nothing is left to do, and checks that everything happened
// once.
func (w *world) ended(said feishusim.Event) {
	w.t.Helper()
	w.until("the queues are empty", func(ctx context.Context) bool {
		var st worldStatus
		return w.get(ctx, "/v1/status", &st) == nil && st.Queues == orchestrator.Depths{}
	})
	var tickets struct{ Items []demoTicket }
	var triggers struct{ Items []demoTrigger }
	var decisions struct{ Items []struct{ Outcome string } }
	w.until("the API answers", func(ctx context.Context) bool {
		return w.get(ctx, "/v1/tickets", &tickets) == nil && w.get(ctx, "/v1/triggers", &triggers) == nil && w.get(ctx, "/v1/decisions", &decisions) == nil
	})
	if len(tickets.Items) != 1 || len(triggers.Items) != 1 || len(decisions.Items) != 1 {
		w.t.Errorf("%d tickets, %d triggers, %d decisions; want one each", len(tickets.Items), len(triggers.Items), len(decisions.Items))
		return
	}
	if tk := tickets.Items[0]; tk.State != "ended" || tk.End.Reason != "completed" {
		w.t.Errorf("the ticket is %s, %s; want completed", tk.State, tk.End.Reason)
	}
	var texts []string
	for _, m := range w.sim.Messages() {
		if titled(m) {
			texts = append(texts, fmt.Sprintf("card with %d buttons", len(m.Buttons())))
			continue
		}
		texts = append(texts, m.Text())
	}
	if len(texts) != 3 || !strings.HasPrefix(texts[0], "已完成 `") || texts[1] != "card with 0 buttons" || !strings.HasPrefix(texts[2], "已完成") {
		w.t.Errorf("sent %q; want the card of the Ticket as it ended, the settled card and the result, each once", texts)
	}
	if r := w.sim.Message(said.Message).Reactions; len(r) != 1 {
		w.t.Errorf("the mention has the reactions %v; want one receipt", r)
	}
	for _, secret := range []string{w.sim.App().Secret, w.sim.App().EncryptKey, w.sim.App().Token, worldToken, "部署"} {
		if strings.Contains(w.logged(), secret) {
			w.t.Errorf("the log has a secret or a text: %q", secret)
		}
	}
}

// TestServeSurvivesKill plays the main job through serve with a real
// redis-server, and kills the process with SIGKILL between any two steps
// (TR-2, EV-7, DE-10, OUT-1).
func TestServeSurvivesKill(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	w := newWorld(t, redis.URL)
	said := w.sim.Say(w.ops, w.lin, "@bot 部署 1.4.2")
	again := func() { w.kill(); w.start() }
	w.start()
	w.mention(said)
	again()
	w.seen("the receipt", func(s feishusim.Snapshot) bool { m, _ := s.Message(said.Message); return len(m.Reactions) > 0 })
	again()
	w.seen("the acceptance", func(s feishusim.Snapshot) bool { return has(s, "已受理") })
	again()
	w.seen("the card", func(s feishusim.Snapshot) bool { return len(questions(s)) > 0 })
	again()
	w.click()
	again()
	w.seen("the result", func(s feishusim.Snapshot) bool { return has(s, "已完成") })
	again()
	w.mention(said)
	w.ended(said)
}

// TestServeCrashPoints does the same at writes of the store: every one of them
// with GATEHOUSE_LONG=1, else a few. The search over all of them runs in
// process, in orchestrator.
func TestServeCrashPoints(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	step := 9
	if os.Getenv("GATEHOUSE_LONG") == "1" {
		step = 1
	}
	for at := 1; at <= 28; at += step {
		for _, when := range []string{"before", "after"} {
			t.Run(fmt.Sprintf("killed %s write %d", when, at), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, redis.URL)
				said := w.sim.Say(w.ops, w.lin, "@bot 部署 1.4.2")
				w.start(fmt.Sprintf("GATEHOUSE_TEST_CRASH=%s:%d", when, at))
				w.mention(said)
				w.click()
				w.seen("the result", func(s feishusim.Snapshot) bool { return has(s, "已完成") })
				w.mention(said)
				w.ended(said)
			})
		}
	}
}
