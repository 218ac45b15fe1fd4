package storetest_test

import (
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(*testing.T) orchestrator.Store { return storetest.NewMem() }

func TestMemKeepsTheContract(t *testing.T) { storetest.Run(t, open) }

func TestMemIsItsOwnModel(t *testing.T) { storetest.Compare(t, open) }

func thread(title string, version int64) orchestrator.Changes {
	return orchestrator.Changes{
		Threads: []orchestrator.Thread{{ID: "th_1", Title: title, Version: version}},
		Effects: approvals.Effects{Due: []approvals.Due{{Kind: orchestrator.DueEval, Key: "th_1", At: time.Unix(9, 0)}}},
	}
}

func TestCloneGoesItsOwnWay(t *testing.T) {
	m := storetest.NewMem()
	if err := m.Commit(t.Context(), thread("one", 0)); err != nil {
		t.Fatal(err)
	}
	c := m.Clone()
	before := m.Dump()
	if err := c.Commit(t.Context(), thread("two", 1)); err != nil {
		t.Fatal(err)
	}
	if m.Dump() != before || c.Dump() == before {
		t.Fatalf("dumps after a commit to the clone:\n%s\n--\n%s", m.Dump(), c.Dump())
	}
	if err := m.Commit(t.Context(), thread("two", 1)); err != nil || m.Dump() != c.Dump() {
		t.Fatalf("Commit = %v; two histories to one state:\n%s\n--\n%s", err, m.Dump(), c.Dump())
	}
}

func TestAwayRefusesEveryCall(t *testing.T) {
	m := storetest.NewMem()
	m.Away(orchestrator.ErrUnavailable)
	if err := m.Commit(t.Context(), thread("one", 0)); !errors.Is(err, orchestrator.ErrUnavailable) {
		t.Fatalf("Commit = %v, want ErrUnavailable", err)
	}
	m.Away(nil)
	if err := m.Commit(t.Context(), thread("one", 0)); err != nil {
		t.Fatal(err)
	}
}
