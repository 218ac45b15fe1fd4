package main

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// tapFromEnv is what stands before the store of a process under test.
func tapFromEnv() func(orchestrator.Store) orchestrator.Store {
	if os.Getenv("GATEHOUSE_TEST_UNSWEPT") == "1" {
		return func(s orchestrator.Store) orchestrator.Store { return unswept{s} }
	}
	return crashFromEnv()
}

// unswept is a store whose question deadlines nobody is given.
type unswept struct{ orchestrator.Store }

func (s unswept) Claim(ctx context.Context, kinds []approvals.DueKind, now time.Time, lease time.Duration, limit int) ([]orchestrator.Claim, error) {
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k approvals.DueKind) bool { return k == approvals.DueDeadline })
	return s.Store.Claim(ctx, kinds, now, lease, limit)
}

// shortConfig is worldConfig with questions that soon time out.
var shortConfig = worldConfig + "approvals: {timeout: 2s}\n"

// asked waits until one of some processes asks, and says which.
func asked(t *testing.T, all []*world) (who int) {
	t.Helper()
	within := time.After(20 * time.Second)
	for tick := time.Tick(5 * time.Millisecond); ; {
		if who = slices.IndexFunc(all, func(w *world) bool { return strings.Contains(w.logged(), `msg="open question"`) }); who >= 0 {
			return who
		}
		select {
		case <-tick:
		case <-within:
			t.Fatal("nobody asked")
		}
	}
}

// cardShows waits until the first card says something and has no button.
func (w *world) cardShows(words string) {
	w.t.Helper()
	w.seen("the card says "+words, func(s feishusim.Snapshot) bool {
		return len(questions(s)) > 0 && len(questions(s)[0].Buttons()) == 0 && strings.Contains(questions(s)[0].Text(), words)
	})
}

// idle waits until nothing is left to do.
func (w *world) idle() {
	w.t.Helper()
	w.until("the queues are empty", func(ctx context.Context) bool {
		var st worldStatus
		return w.get(ctx, "/v1/status", &st) == nil && st.Queues == orchestrator.Depths{}
	})
}

// endedOnce checks the events that subscribers get of the one question, and its
// audit: each once, and no other end (DE-6, DE-11, AP-5).
func (w *world) endedOnce(as string, o approvals.Outcome) {
	w.t.Helper()
	n := map[string]int{}
	for _, e := range w.listen("0-0").hear(w.t, "ticket.ended") {
		if strings.HasPrefix(e.Type, "decision.") || strings.HasPrefix(e.Type, "approval/") {
			n[e.Type]++
		}
		if e.Type == approvals.RecordDecided && e.Data.Outcome != string(o) {
			w.t.Errorf("AP-2 the audit says %s, want %s", e.Data.Outcome, o)
		}
	}
	want := map[string]int{approvals.RecordOpened: 1, approvals.RecordAsked: 1, as: 1, approvals.RecordDecided: 1}
	if !maps.Equal(n, want) {
		w.t.Errorf("the events are %v, want %v", n, want)
	}
}

// TestTimeoutsFireOnce has four replicas, kills the one that asked, and lets
// the question time out (DE-6).
func TestTimeoutsFireOnce(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	w := newWorldOf(t, redis.URL, shortConfig)
	all := []*world{w, w.twin(), w.twin(), w.twin()}
	for _, r := range all {
		r.start()
		r.until("it is ready", func(ctx context.Context) bool { return r.ready(ctx) == http.StatusOK })
	}
	w.mention(w.sim.Say(w.ops, w.lin, "@bot 部署 1.4.2"))
	who := asked(t, all)
	all[who].kill()
	lives := all[(who+1)%len(all)]
	events := lives.listen("0-0").hear(t, approvals.RecordTimedOut)
	end := events[len(events)-1]
	late := end.At.Sub(end.Data.Deadline)
	t.Logf("it timed out %v after its deadline", late)
	if late < 0 || late > time.Second {
		t.Errorf("DE-6 it timed out %v after its deadline, want at most 1 s", late)
	}
	lives.cardShows("已超时")
	lives.seen("the result", func(s feishusim.Snapshot) bool { return has(s, "没有获得批准") })
	lives.idle()
	lives.endedOnce(approvals.RecordTimedOut, approvals.Unavailable)
	now, n := w.sim.Snapshot(), 0
	for _, c := range now.Named("patch") {
		if strings.HasSuffix(c.Path, "/"+questions(now)[0].ID) {
			n++
		}
	}
	if n != 1 {
		t.Errorf("CA-4 the card was updated %d times, want once", n)
	}
}

// TestLateAnswersWithoutASweeper answers after the deadline in a gateway that
// never looks at deadlines by itself.
func TestLateAnswersWithoutASweeper(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	for _, first := range []string{"card", "HTTP", "read"} {
		t.Run("a late answer never counts, whatever comes first: "+first+" (DE-5)", func(t *testing.T) {
			t.Parallel()
			w := newWorldOf(t, redis.URL, shortConfig)
			w.start("GATEHOUSE_TEST_UNSWEPT=1")
			w.mention(w.sim.Say(w.ops, w.lin, "@bot 部署 1.4.2"))
			events := w.listen("0-0").hear(t, approvals.RecordOpened)
			w.seen("the card", func(s feishusim.Snapshot) bool { return len(questions(s)) > 0 })
			asked, card := events[len(events)-1], questions(w.sim.Snapshot())[0]
			w.until("the deadline has passed", func(context.Context) bool { return time.Now().After(asked.Data.Deadline) })
			if len(card.Buttons()) == 0 {
				t.Fatal("somebody swept")
			}
			ways := map[string]func(){
				"card": func() { w.clickLate(card) },
				"HTTP": func() { w.answerLate(asked) },
				"read": func() { w.readLate(asked) },
			}
			ways[first]()
			for _, way := range ways {
				way()
			}
			w.cardShows("已超时")
			w.seen("the result", func(s feishusim.Snapshot) bool { return has(s, "没有获得批准") })
			w.idle()
			w.endedOnce(approvals.RecordTimedOut, approvals.Unavailable)
		})
	}
}

func (w *world) clickLate(card feishusim.Message) {
	w.t.Helper()
	a, err := w.sim.Click(w.t.Context(), w.hook, card, w.lin, "approve")
	if err != nil || a.Toast.Type != "warning" || a.Card == nil {
		w.t.Errorf("DE-5 the late click got %+v, %v, want it refused, and the closed card", a.Toast, err)
	}
}

func (e heard) path() string { return "/v1/sessions/" + e.Session + "/decisions/" + e.Data.Decision }

func (w *world) answerLate(asked heard) {
	w.t.Helper()
	status, err := outsider{w, worldToken}.ask(w.t.Context(), http.MethodPost, asked.path(), `{"optionId":"approve"}`, nil)
	if status != http.StatusConflict || !strings.Contains(err.Error(), `"closed"`) {
		w.t.Errorf("DE-5 the late answer got %d, %v, want 409 closed", status, err)
	}
}

func (w *world) readLate(asked heard) {
	w.t.Helper()
	var q struct{ Status, Outcome string }
	if err := w.get(w.t.Context(), asked.path(), &q); err != nil || q.Status != "timed_out" || q.Outcome != "unavailable" {
		w.t.Errorf("DE-5 a read after the deadline = %+v, %v, want timed out", q, err)
	}
}

// TestKilledAroundAnAnswer kills the replica that was clicked with SIGKILL
// between the click and the response, and between the answer and the asker's
// wake-up. The platform tries the callback again (CA-5, DE-10).
func TestKilledAroundAnAnswer(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	for _, at := range []string{"before:" + writeAnswer, "after:" + writeAnswer, "before:" + writeWake, "after:" + writeWake} {
		t.Run("one answer and one final card, killed "+at+" (CA-5, DE-10)", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, redis.URL)
			w.start("GATEHOUSE_TEST_CRASH=" + at)
			first := w.gone
			said := w.sim.Say(w.ops, w.lin, "@bot 部署 1.4.2")
			w.mention(said)
			w.seen("the card", func(s feishusim.Snapshot) bool { return len(questions(s)) > 0 && len(questions(s)[0].Buttons()) > 0 })
			final := w.clickOnce()
			w.until("the process died", func(context.Context) bool { return w.gone != first })
			w.seen("the result", func(s feishusim.Snapshot) bool { return has(s, "已完成") })
			w.ended(said)
			if got := questions(w.sim.Snapshot())[0].Content; !sameJSON(got, final.Card) {
				t.Errorf("CA-5 the card is\n%s\nwant what the callback got\n%s", got, final.Card)
			}
			w.answeredOnce()
			w.endedOnce(approvals.RecordAnswered, approvals.AllowedOnce)
		})
	}
}

// clickOnce clicks the first card, and delivers that one callback until it is
// answered.
func (w *world) clickOnce() (a feishusim.Answer) {
	w.t.Helper()
	click, err := w.sim.Clicked(questions(w.sim.Snapshot())[0], w.lin, "approve")
	if err != nil {
		w.t.Fatal(err)
	}
	w.until("the callback is answered", func(ctx context.Context) bool {
		a, err = w.sim.Deliver(ctx, w.hook, click)
		return err == nil && a.Card != nil
	})
	return a
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// answeredOnce checks that the one Ticket was given the answer once.
func (w *world) answeredOnce() {
	w.t.Helper()
	var tickets struct{ Items []demoTicket }
	var inputs struct{ Items []struct{ Kind string } }
	if err := w.get(w.t.Context(), "/v1/tickets", &tickets); err != nil {
		w.t.Fatal(err)
	}
	if err := w.get(w.t.Context(), "/v1/tickets/"+tickets.Items[0].ID+"/inputs?after=0", &inputs); err != nil {
		w.t.Fatal(err)
	}
	n := 0
	for _, in := range inputs.Items {
		if in.Kind == "answer" {
			n++
		}
	}
	// A turn that is run again after a crash may find the answer by itself.
	if n > 1 {
		w.t.Errorf("DE-10 the ticket was given %d answers, want at most 1: %v", n, inputs.Items)
	}
}
