package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// twin is another process of the same gateway: the same configuration,
// workspace and platform.
func (w *world) twin() *world {
	w.t.Helper()
	other := &world{t: w.t, sim: w.sim, config: w.config, lin: w.lin, ops: w.ops}
	w.t.Cleanup(other.kill)
	return other
}

// bothReady waits until both processes take deliveries.
func bothReady(a, b *world) {
	for _, w := range []*world{a, b} {
		w.until("it is ready", func(ctx context.Context) bool { return w.ready(ctx) == http.StatusOK })
	}
}

// race calls the processes' doors at once, each some times.
func race(times int, call func(hook string) error, ws ...*world) error {
	errs := make([]error, times*len(ws))
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = call(ws[i%len(ws)].hook) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestRS3TwoReplicasSideBySide: both take webhooks of one Source. The same
// delivery to both at once is one Trigger, a click on both is one answer
// (TR-1, DE-5).
func TestRS3TwoReplicasSideBySide(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	a := newWorld(t, redis.URL)
	b := a.twin()
	a.start()
	b.start()
	bothReady(a, b)
	said := a.sim.Say(a.ops, a.lin, "@bot 部署 1.4.2")
	deliver := func(hook string) error {
		got, err := a.sim.Deliver(t.Context(), hook, said)
		if err == nil && got.Status != http.StatusOK {
			err = fmt.Errorf("status %d", got.Status)
		}
		return err
	}
	if err := race(4, deliver, a, b); err != nil {
		t.Fatalf("TR-1: one delivery to both at once: %v", err)
	}
	a.seen("the card", func(s feishusim.Snapshot) bool { return len(questions(s)) > 0 && len(questions(s)[0].Buttons()) > 0 })
	card := questions(a.sim.Snapshot())[0]
	click := func(hook string) error {
		got, err := a.sim.Click(t.Context(), hook, card, a.lin, "approve")
		if err == nil && got.Toast.Type == "error" {
			err = fmt.Errorf("toast %q", got.Toast.Content)
		}
		return err
	}
	if err := race(4, click, a, b); err != nil {
		t.Errorf("DE-5: one click to both at once: %v", err)
	}
	a.seen("the result", func(s feishusim.Snapshot) bool { return has(s, "已完成") })
	if err := race(4, deliver, a, b); err != nil {
		t.Errorf("TR-1: the delivery to both again: %v", err)
	}
	b.ended(said)
}

// TestRS3ADeadReplicasWorkIsTakenOver: of two replicas one is killed while it
// holds work. The other finishes it within 10 s, and what was said in the
// Thread is answered in its order.
func TestRS3ADeadReplicasWorkIsTakenOver(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	lives := newWorld(t, redis.URL)
	lives.start()
	lives.until("it is ready", func(ctx context.Context) bool { return lives.ready(ctx) == http.StatusOK })
	said := lives.sim.Say(lives.ops, lives.lin, "@bot 部署 1.4.2")
	lives.mention(said)
	lives.seen("the card", func(s feishusim.Snapshot) bool { return len(questions(s)) > 0 && len(questions(s)[0].Buttons()) > 0 })

	// It gets no delivery, so its writes are commits of work that it claimed.
	dies := lives.twin()
	dies.start("GATEHOUSE_TEST_CRASH=before:2")
	var asked []string
	more := func() {
		text := fmt.Sprintf("追问 %02d", len(asked))
		asked = append(asked, text)
		lives.mention(lives.sim.Say(lives.ops, lives.lin, "@bot "+text, feishusim.ReplyTo(said.Message)))
	}
	for dead := false; !dead; {
		if len(asked) == 60 {
			t.Fatalf("one replica did all the work:\n%s", dies.logged())
		}
		more()
		select {
		case <-dies.gone:
			dead = true
		case <-time.After(20 * time.Millisecond):
		}
	}
	killed := time.Now()
	more()
	more()
	answers := func(s feishusim.Snapshot) (out []string) {
		for _, m := range s.Sent() {
			if strings.HasPrefix(m.Text(), "追问") {
				out = append(out, m.Text())
			}
		}
		return out
	}
	lives.seen("every answer", func(s feishusim.Snapshot) bool { return len(answers(s)) >= len(asked) })
	took := time.Since(killed)
	t.Logf("the work was taken over and done %v after the kill; %d messages", took.Round(time.Millisecond), len(asked))
	if took > 10*time.Second {
		t.Errorf("RS-3: it took %v, want at most 10 s", took)
	}
	if got := answers(lives.sim.Snapshot()); !slices.Equal(got, asked) {
		t.Errorf("RS-3: answered %q, want each once and in the order of %q", got, asked)
	}
	lives.click()
	lives.seen("the result", func(s feishusim.Snapshot) bool { return has(s, "已完成") })
}

// TestRS1ServeOnACluster plays the main job with a Cluster of three nodes.
func TestRS1ServeOnACluster(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	t.Parallel()
	w := newWorld(t, redistest.StartCluster(t, 3).URL)
	w.start()
	said := w.sim.Say(w.ops, w.lin, "@bot 部署 1.4.2")
	w.mention(said)
	w.click()
	w.seen("the result", func(s feishusim.Snapshot) bool { return has(s, "已完成") })
	w.ended(said)
}

// TestRS8ServeFollowsAFailover plays the main job under Sentinels with a
// replica to wait for. The master dies between the card and the click; the
// process follows to the new one, and nothing is lost or done twice.
func TestRS8ServeFollowsAFailover(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	t.Parallel()
	redis := redistest.StartSentinel(t)
	w := newWorld(t, redis.URL)
	cfg, err := os.ReadFile(w.config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.config, []byte(strings.Replace(string(cfg), "redis: {", "redis: {replicas: 1, ", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	w.start()
	process := w.proc
	said := w.sim.Say(w.ops, w.lin, "@bot 部署 1.4.2")
	w.mention(said)
	w.seen("the card", func(s feishusim.Snapshot) bool { return len(questions(s)) > 0 && len(questions(s)[0].Buttons()) > 0 })
	killed := time.Now()
	redis.Master(t).Kill()
	w.click()
	w.seen("the result", func(s feishusim.Snapshot) bool { return has(s, "已完成") })
	t.Logf("the result came %v after the master died", time.Since(killed).Round(time.Millisecond))
	w.ended(said)
	if w.proc != process {
		t.Errorf("RS-9: the gateway was started again:\n%s", w.logged())
	}
}
