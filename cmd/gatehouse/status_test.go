package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// keys asks the server how many keys it has.
func keys(t *testing.T, url string) string { return command(t, url, "DBSIZE") }

// command sends the server one word, over its socket.
func command(t *testing.T, url, word string) string {
	t.Helper()
	c, err := net.Dial("unix", strings.TrimPrefix(url, "unix://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprint(c, word+"\r\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// TestServeRefuses posts what must be refused to a running gateway: the
// statuses of page 07, no write to Redis, nothing secret in the log (FS-1).
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	w := newWorld(t, redis.URL)
	w.start()
	w.until("it is ready", func(ctx context.Context) bool { return w.ready(ctx) == http.StatusOK })
	before := keys(t, redis.URL)

	said := w.sim.Say(w.ops, w.lin, "@bot 部署")
	body, good := w.sim.Seal(said.Body)
	with := func(name, value string) http.Header { h := good.Clone(); h.Set(name, value); return h }
	without := func(name string) http.Header { h := good.Clone(); h.Del(name); return h }
	twice := good.Clone()
	twice.Add("X-Lark-Signature", good.Get("X-Lark-Signature"))
	app := w.sim.App()
	other := func(change func(*feishusim.App)) ([]byte, http.Header) {
		a := app
		change(&a)
		sim := feishusim.New(a)
		return sim.Seal(sim.Say(sim.Group("ops"), sim.Person("林岚"), "@bot 部署").Body)
	}
	wrongApp, wrongAppHeader := other(func(a *feishusim.App) { a.ID = "cli_other" })
	wrongToken, wrongTokenHeader := other(func(a *feishusim.App) { a.Token = "another-verification-token" })
	broken, brokenHeader := w.sim.Seal([]byte(`{"schema": "2.0", "header": `))

	for _, c := range []struct {
		name   string
		body   []byte
		header http.Header
		want   int
	}{
		{"a wrong signature", body, with("X-Lark-Signature", strings.Repeat("0", 64)), 401},
		{"no signature", body, without("X-Lark-Signature"), 401},
		{"no timestamp", body, without("X-Lark-Request-Timestamp"), 401},
		{"no nonce", body, without("X-Lark-Request-Nonce"), 401},
		{"two signatures", body, twice, 401},
		{"a changed body", append([]byte(" "), body...), good, 401},
		{"another app's event", wrongApp, wrongAppHeader, 401},
		{"a wrong verification token", wrongToken, wrongTokenHeader, 401},
		{"broken JSON inside", broken, brokenHeader, 401},
		{"plaintext", said.Body, good, 401},
		{"oversize", []byte(strings.Repeat("x", 1<<20+1)), good, 413},
	} {
		a, err := w.sim.Post(t.Context(), w.hook, c.body, c.header)
		if err != nil || a.Status != c.want {
			t.Errorf("%s: %d, %v; want %d", c.name, a.Status, err, c.want)
		}
	}
	unknown := strings.Replace(w.hook, "feishu-main", "nobody", 1)
	if a, err := w.sim.Post(t.Context(), unknown, body, good); err != nil || a.Status != http.StatusNotFound {
		t.Errorf("an unknown source: %d, %v; want 404", a.Status, err)
	}
	if res, err := http.Get(w.hook); err != nil || res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %v, %v; want 405", res, err)
	}
	if after := keys(t, redis.URL); after != before {
		t.Errorf("refused calls changed the number of keys from %s to %s", before, after)
	}
	for _, secret := range []string{app.Secret, app.EncryptKey, app.Token, worldToken, "部署"} {
		if strings.Contains(w.logged(), secret) {
			t.Errorf("the log has a secret or a text: %q", secret)
		}
	}
}

func (w *world) ready(ctx context.Context) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.admin+"/readyz", nil)
	if err != nil {
		return 0
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	return res.StatusCode
}

// TestServeWithoutRedis: while Redis is away events get 503 and nothing is
// acknowledged, the challenge is answered, /readyz says 503 and /healthz 200;
// when it is back everything goes on without a restart (RS-9, TR-2, FS-1).
func TestServeWithoutRedis(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	redis.Kill()
	w := newWorld(t, redis.URL)
	w.start() // comes up although Redis is away
	said := w.sim.Say(w.ops, w.lin, "@bot 部署 1.4.2")
	away := func(when string) {
		t.Helper()
		if a, err := w.sim.Deliver(t.Context(), w.hook, said); err != nil || a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: an event got %d, %v; want 503 with Retry-After", when, a.Status, err)
		}
		if a, err := w.sim.Challenge(t.Context(), w.hook); err != nil || a.Status != http.StatusOK || a.Challenge == "" {
			t.Errorf("%s: the challenge got %d, %v", when, a.Status, err)
		}
		if got := w.ready(t.Context()); got != http.StatusServiceUnavailable {
			t.Errorf("%s: /readyz is %d; want 503", when, got)
		}
		res, err := http.Get(strings.Replace(w.hook, "/webhooks/feishu-main", "/healthz", 1))
		if err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("%s: /healthz: %v, %v; want 200", when, res, err)
		}
	}
	away("at start")
	redis.Restart(t)
	w.until("it is ready", func(ctx context.Context) bool { return w.ready(ctx) == http.StatusOK })
	redis.Kill()
	away("later")
	redis.Restart(t)
	w.mention(said)
	w.click()
	w.seen("the result", func(s feishusim.Snapshot) bool { return has(s, "已完成") })
	w.ended(said)
}

// TestServeDrains: SIGTERM ends the process with status 0, and what was
// acknowledged goes on after the next start.
func TestServeDrains(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	w := newWorld(t, redis.URL)
	said := w.sim.Say(w.ops, w.lin, "@bot 部署 1.4.2")
	w.start()
	w.mention(said)
	if err := w.proc.Process.Signal(terminate); err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.gone:
	case <-time.After(30 * time.Second):
		t.Fatalf("SIGTERM did not end the process:\n%s", w.logged())
	}
	if code := w.proc.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit status %d; want 0:\n%s", code, w.logged())
	}
	w.start()
	w.click()
	w.seen("the result", func(s feishusim.Snapshot) bool { return has(s, "已完成") })
	w.ended(said)
}

// TestServeEmptiedStore empties Redis under the gateway: what comes afterwards
// is worked on without a restart (RS-9).
func TestServeEmptiedStore(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	w := newWorld(t, redis.URL)
	w.start()
	w.until("it is ready", func(ctx context.Context) bool { return w.ready(ctx) == http.StatusOK })
	command(t, redis.URL, "FLUSHALL")
	said := w.sim.Say(w.ops, w.lin, "@bot 部署 1.4.2")
	w.mention(said)
	w.click()
	w.seen("the result", func(s feishusim.Snapshot) bool { return has(s, "已完成") })
	w.ended(said)
}
