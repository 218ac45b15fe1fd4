package redisstore_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/redisstore"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// nobody is on no list: only an operator's answer counts.
type nobody struct{}

func (nobody) Lists(context.Context, gate.SourceID, gate.Sender) gate.Lists { return gate.Lists{} }

// replicas are Brokers that share nothing but the server: each has connections
// of its own. Their clock is the test's.
type replicas struct {
	brokers []*approvals.Broker
	store   *redisstore.Store
	clock   atomic.Int64 // ns
}

func startReplicas(t *testing.T, url, workspace string, n int) *replicas {
	t.Helper()
	r := &replicas{}
	r.clock.Store(start.UnixNano())
	for range n {
		r.store = openStore(t, redisstore.Options{URL: url, Workspace: workspace})
		r.brokers = append(r.brokers, approvals.NewBroker(approvals.BrokerConfig{
			Workspace: workspace, Store: r.store, Directory: nobody{},
			Now: func() time.Time { return time.Unix(0, r.clock.Load()).UTC() },
		}))
	}
	return r
}

func (r *replicas) any() *approvals.Broker { return r.brokers[rand.IntN(len(r.brokers))] }

// ask opens a question about one operation.
func (r *replicas) ask(t *testing.T, key string) approvals.Question {
	t.Helper()
	s := approvals.Session{ID: "tkt_1", Source: "fs", Thread: "fs~oc_1~om_1", Requester: gate.Sender{Kind: gate.Person, ID: "ou_li"}}
	q, created, err := r.any().Open(t.Context(), s, approvals.Request{
		RequestID: key, Kind: approvals.Approval, Operation: &approvals.Operation{Tool: "deploy", Reason: "to staging"},
	})
	if err != nil || !created {
		t.Fatalf("Open(%s) = created %v, %v", key, created, err)
	}
	return q
}

// do makes a call to any replica, and tells what it said.
func (r *replicas) do(ctx context.Context, q approvals.Question, c call) said {
	b := r.any()
	switch c.verb {
	case "answer", "answer of a stranger":
		res, err := b.Answer(ctx, approvals.AnswerRequest{
			ID: q.ID, OptionID: c.option, Via: approvals.ViaAPI, Operator: c.verb == "answer", Who: gate.Sender{Kind: gate.Person, ID: "ops"},
		})
		if err == nil && !res.Deduped {
			return told(res.Question, "won")
		}
		return told(res.Question, cmp.Or(word(err), "deduped"))
	case "read":
		q, err := b.Question(ctx, q.ID)
		return told(q, word(err))
	case "cancel":
		q, err := b.Cancel(ctx, q.Session.ID, q.ID, "withdrawn")
		return told(q, word(err))
	case "expire":
		return said{how: word(b.Expire(ctx, q.ID))}
	}
	r.clock.Store(q.Deadline.UnixNano())
	return said{}
}

func told(q approvals.Question, how string) said {
	s := said{status: q.Status, how: how}
	if q.Answer != nil {
		s.option = q.Answer.OptionID
	}
	return s
}

// word is what an error is called in the slot; one that it does not know
// stands for itself, and explains nothing.
func word(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, approvals.ErrAnswered):
		return "conflict"
	case errors.Is(err, approvals.ErrClosed):
		return "closed"
	case errors.Is(err, approvals.ErrEarly):
		return "early"
	case errors.Is(err, approvals.ErrNotAllowed):
		return "refused"
	}
	return err.Error()
}

// record makes the calls from some clients at one time, each its share one
// after the other, and writes down when each call began and ended.
func (r *replicas) record(ctx context.Context, q approvals.Question, clients int, calls []call) []porcupine.Operation {
	all := make([]porcupine.Operation, len(calls))
	began, gate := time.Now(), make(chan struct{})
	var done sync.WaitGroup
	for client := range clients {
		done.Go(func() {
			<-gate
			for i := client; i < len(calls); i += clients {
				from := time.Since(began)
				out := r.do(ctx, q, calls[i])
				all[i] = porcupine.Operation{ClientId: client, Input: calls[i], Call: int64(from), Output: out, Return: int64(time.Since(began))}
			}
		})
	}
	close(gate)
	done.Wait()
	return all
}

// linear fails the test when no order of the calls explains what they said.
func linear(t *testing.T, all []porcupine.Operation) {
	t.Helper()
	if porcupine.CheckOperationsTimeout(slotModel, all, time.Minute) == porcupine.Ok {
		return
	}
	slices.SortFunc(all, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	for _, o := range all {
		t.Logf("%9d %9d  %v -> %v", o.Call, o.Return, o.Input, o.Output)
	}
	t.Error("no order of these calls explains what they said")
}

// twoHundredAnswer is DE-4 on four replicas: exactly one of 200 answers wins,
// whoever said the same is told so, and everybody else that it is too late.
func twoHundredAnswer(t *testing.T, url string) {
	r := startReplicas(t, url, "storm", 4)
	q := r.ask(t, "storm")
	calls := make([]call, 200)
	for i := range calls {
		calls[i] = call{"answer", []string{approvals.OptionApprove, approvals.OptionReject}[i%2]}
	}
	all := r.record(t.Context(), q, len(calls), calls)
	counts := counted(all)
	if want := map[string]int{"won": 1, "deduped": 99, "conflict": 100}; !maps.Equal(counts, want) {
		t.Errorf("200 answers came to %v, want %v", counts, want)
	}
	linear(t, all)
	r.endedOnce(t, q.ID)
}

// counted is how many calls came to what.
func counted(all []porcupine.Operation) map[string]int {
	n := map[string]int{}
	for _, o := range all {
		n[o.Output.(said).how]++
	}
	return n
}

// strangersAnswer proves that 200 who may not answer keep nobody from it who
// may, and are on record.
func strangersAnswer(t *testing.T, url string) {
	r := startReplicas(t, url, "strangers", 4)
	q := r.ask(t, "strangers")
	calls := slices.Repeat([]call{{"answer of a stranger", approvals.OptionReject}}, 201)
	calls[100] = call{"answer", approvals.OptionApprove}
	all := r.record(t.Context(), q, len(calls), calls)
	if n := counted(all); n["won"] != 1 || n["refused"] != 200 {
		t.Errorf("the calls came to %v, want one answer and 200 refusals", n)
	}
	t.Logf("the answer took %v", time.Duration(all[100].Return-all[100].Call).Round(time.Millisecond))
	end, err := r.any().Question(t.Context(), q.ID)
	if err != nil || !end.Outcome.Allows() || !slices.ContainsFunc(end.Events, func(e approvals.Event) bool { return e.Type == approvals.EventRefused }) {
		t.Errorf("it ended %s with %+v, %v", end.Outcome, end.Events, err)
	}
}

// endedOnce checks that a question has one line of each kind in the log, and
// one piece of due work, however many tried to end it.
func (r *replicas) endedOnce(t *testing.T, id approvals.ID) {
	t.Helper()
	lines, _, err := r.store.Log(t.Context(), "", 10_000)
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, l := range lines {
		if strings.Contains(fmt.Sprint(l.Data), string(id)) {
			n[l.Type]++
		}
	}
	ends := n[approvals.RecordAnswered] + n[approvals.RecordTimedOut] + n[approvals.RecordCancelled]
	if n[approvals.RecordOpened] != 1 || n[approvals.RecordAsked] != 1 || ends != 1 || n[approvals.RecordDecided] != 1 {
		t.Errorf("the log has %v of %s, want each pair once (AP-5, DE-11)", n, id)
	}
}

// TestAnswersRaceOnFourReplicas races calls on one server. What they said must
// be explained by one order of them all.
func TestAnswersRaceOnFourReplicas(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL
	t.Run("of 200 answers exactly one wins (DE-4)", func(t *testing.T) {
		t.Parallel()
		twoHundredAnswer(t, url)
	})
	t.Run("200 strangers starve nobody (CA-3, DE-4)", func(t *testing.T) {
		t.Parallel()
		strangersAnswer(t, url)
	})
	t.Run("answers, reads, a withdrawal and the deadline mixed (DE-1, DE-4, DE-5, AP-6)", func(t *testing.T) {
		t.Parallel()
		mixed(t, url)
	})
}

// mixed plays many short races, in which anything may come first.
func mixed(t *testing.T, url string) {
	r := startReplicas(t, url, "mixed", 4)
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	ends := map[approvals.Status]int{}
	for i := range rounds {
		r.clock.Store(start.UnixNano())
		q := r.ask(t, fmt.Sprint("round ", i))
		calls := slices.Repeat([]call{{verb: "read"}}, 24)
		calls = append(calls, slices.Repeat([]call{{"answer", "approve"}, {"answer", "reject"}}, 2)...)
		calls = append(calls, call{verb: "expire"}, call{verb: "expire"}, call{verb: "cancel"}, call{verb: "deadline"})
		rand.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
		linear(t, r.record(t.Context(), q, 8, calls))
		end, err := r.any().Question(t.Context(), q.ID)
		if err != nil {
			t.Fatal(err)
		}
		ends[end.Status]++
		r.endedOnce(t, q.ID)
	}
	t.Logf("%d rounds ended %v", rounds, ends)
}
