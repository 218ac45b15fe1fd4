package redisstore_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/redisstore"
)

// bare is the least that a durable, deduplicated intake can do: the yardstick
// that the ratios of facts/perf.md are taken against.
const bare = `if not redis.call('SET', KEYS[1], '1', 'NX', 'PX', 604800000) then return 0 end
redis.call('XADD', KEYS[2], '*', 'b', ARGV[1])
return 1`

// otherRepository is a comment on GitHub of about 13 KB, recorded, moved to
// another repository, other people and numbers, with a text of its own: the
// dictionary knows its form and not what it says. n keeps them apart.
func otherRepository(t testing.TB, n uint64) []byte {
	t.Helper()
	text, err := os.ReadFile("../adapters/github/testdata/samples/issue_comment.created.json")
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(n, 7))
	word := func(letters string, length int) string {
		out := make([]byte, length)
		for i := range out {
			out[i] = letters[rnd.IntN(len(letters))]
		}
		return string(out)
	}
	said := make([]string, 100)
	for i := range said {
		said[i] = word("abcdefghijklmnopqrstuvwxyz", 3+rnd.IntN(8))
	}
	body := strings.NewReplacer("Codertocat", word("abcdefgh", 9), "Hello-World", word("ijklmnop", 11),
		"You are totally right! I'll get this fixed right away.", strings.Join(said, " ")).Replace(compact.String())
	return regexp.MustCompile(`[0-9]{4,}`).ReplaceAllFunc([]byte(body), func(d []byte) []byte { return []byte(word("123456789", len(d))) })
}

func big(id string, raw []byte) gate.Arrival {
	a := arrival(id)
	a.Raw, a.Lane = raw, id
	a.Trigger.Thread = gate.ThreadID("th_" + id)
	a.Trigger.Text = strings.Repeat("please have a look at this. ", 20)
	return a
}

// parallel runs do on 16 callers, each with numbers of its own.
func parallel(b *testing.B, do func(n int64) error) {
	b.Helper()
	var n atomic.Int64
	b.SetParallelism(8)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := do(n.Add(1)); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkBare12KB(b *testing.B) {
	c, script, payload := server(b), redis.NewScript(bare), otherRepository(b, 1)
	parallel(b, func(n int64) error {
		return script.Run(b.Context(), c, []string{fmt.Sprintf("{w}:k:%d", n), "{w}:s"}, payload).Err()
	})
	stored(b, c)
}

func BenchmarkReceive12KB(b *testing.B) {
	c, payload := server(b), otherRepository(b, 1)
	s := openStore(b, redisstore.Options{Client: c})
	parallel(b, func(n int64) error {
		_, err := s.Receive(b.Context(), big(fmt.Sprintf("trg_%032d", n), payload))
		return err
	})
	stored(b, c)
}

// BenchmarkSqueeze12KB is what compressing costs us; stored-B is what is left.
func BenchmarkSqueeze12KB(b *testing.B) {
	payload, n := otherRepository(b, 1), 0
	squeeze := redisstore.Squeezer()
	b.ReportAllocs()
	for b.Loop() {
		n = len(squeeze(payload))
	}
	b.SetBytes(int64(len(payload)))
	b.ReportMetric(float64(n), "stored-B")
}

func BenchmarkReceiveDuplicate12KB(b *testing.B) {
	c := server(b)
	s := openStore(b, redisstore.Options{Client: c})
	a := big("trg_1", otherRepository(b, 1))
	if _, err := s.Receive(b.Context(), a); err != nil {
		b.Fatal(err)
	}
	a.Trigger.ID = "trg_2"
	parallel(b, func(int64) error {
		_, err := s.Receive(b.Context(), a)
		return err
	})
	stored(b, c)
}

// BenchmarkCommit is a Ticket's transition with an Input, a reply and its Due.
func BenchmarkCommit(b *testing.B) {
	c := server(b)
	s := openStore(b, redisstore.Options{Client: c})
	parallel(b, func(n int64) error { return s.Commit(b.Context(), transition(n)) })
	stored(b, c)
}

func transition(n int64) orchestrator.Changes {
	id := gate.TicketID(fmt.Sprintf("tkt_%032d", n))
	return orchestrator.Changes{
		Tickets: []orchestrator.Ticket{{ID: id, Title: "Fix the build", Executor: "default", State: orchestrator.TicketActive, CreatedAt: start, ActiveAt: start}},
		Inputs:  []orchestrator.Input{{ID: "in", Ticket: id, Seq: 1, Kind: orchestrator.InputMessage, Trigger: "trg_1", At: start}},
		Effects: approvals.Effects{
			Out: []gate.Outgoing{{ID: string(id), Lane: fmt.Sprint("l", n%64), Kind: gate.OutReply, Text: "On it.", CreatedAt: start}},
			Due: []approvals.Due{{Kind: orchestrator.DueTurn, Key: string(id), At: start}},
		},
	}
}

// stored reports what one operation cost Redis, and left in it. The CPU of both
// processes is what survives a noisy machine.
func stored(b *testing.B, c redis.UniversalClient) {
	b.Helper()
	b.StopTimer()
	info, err := c.Info(b.Context(), "memory", "cpu").Result()
	if err != nil {
		b.Fatal(err)
	}
	var used int64
	var user, sys float64
	for _, line := range strings.Split(info, "\r\n") {
		_, _ = fmt.Sscanf(line, "used_memory_dataset:%d", &used)
		_, _ = fmt.Sscanf(line, "used_cpu_user:%g", &user)
		_, _ = fmt.Sscanf(line, "used_cpu_sys:%g", &sys)
	}
	b.ReportMetric(float64(used)/float64(b.N), "redis-B/op")
	b.ReportMetric((user+sys)*1e6/float64(b.N), "redis-us/op")
}
