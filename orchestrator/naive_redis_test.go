package orchestrator_test

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/gatehouse-bot/gatehouse/redisstore"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// TestNaiveModelOnRedis plays a few of the stories over a real redis-server,
// and many with GATEHOUSE_LONG=1.
func TestNaiveModelOnRedis(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL
	var n atomic.Int64
	stories := int64(20)
	if os.Getenv("GATEHOUSE_LONG") != "" {
		stories = 2000
	}
	seedNaive()
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
