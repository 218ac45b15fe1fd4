package redistest_test

import (
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

func TestAClusterServesEverySlotAndMovesThem(t *testing.T) {
	t.Parallel()
	began := time.Now()
	c := redistest.StartCluster(t, 3)
	t.Logf("a cluster of three took %v", time.Since(began))
	from := c.Owner(t, "{a}:1")
	if _, err := from.Do("SET", "{a}:1", "x y\r\nz"); err != nil {
		t.Fatal(err)
	}
	to := c.Nodes[0]
	if to == from {
		to = c.Nodes[1]
	}
	c.Move(t, "{a}:1", to)
	if got := c.Owner(t, "{a}:1"); got != to {
		t.Errorf("Owner = %s, want %s", got.Addr, to.Addr)
	}
	if v, err := to.Do("GET", "{a}:1"); err != nil || v != "x y\r\nz" {
		t.Errorf("GET = %q, %v", v, err)
	}
}

func TestASentinelNamesANewMaster(t *testing.T) {
	t.Parallel()
	began := time.Now()
	s := redistest.StartSentinel(t)
	t.Logf("a sentinel with three servers took %v", time.Since(began))
	old := s.Master(t)
	old.Kill()
	began = time.Now()
	s.WaitFailover(t, old)
	t.Logf("the fail-over took %v", time.Since(began))
	if s.Master(t) == old {
		t.Error("the dead server is still the master")
	}
}
