package orchestrator_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/gatehouse-bot/gatehouse/redisstore"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// TestNaiveModelOnRedis plays a few of the stories over a real redis-server,
// and some hundreds with GATEHOUSE_LONG=1.
func TestNaiveModelOnRedis(t *testing.T) {
	seedNaive()
	t.Parallel()
	url := redistest.Start(t).URL
	var n atomic.Int64
	stories := int64(20)
	if naiveLong() {
		stories = 500
	}
	rapid.Check(t, func(rt *rapid.T) {
		if n.Add(1) > stories && !rt.Failed() {
			return
		}
		store, err := redisstore.Open(rt.Context(), redisstore.Options{URL: url, Workspace: fmt.Sprintf("n%d", n.Load())})
		if err != nil {
			rt.Fatalf("Open: %v", err)
		}
		defer store.Close()
		playNaive(rt, store)
	})
}
