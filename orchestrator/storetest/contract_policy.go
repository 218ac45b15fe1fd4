package storetest

import (
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func policyPromises() []promise {
	return []promise{
		{"PV-1 every policy version is kept, and listed newest first", keepsVersions},
		{"PV-1 a refused commit keeps no version", refusedVersion},
		{"PV-3 the threads with an eval under way are known", knowsEvaluating},
	}
}

func version(n int) orchestrator.PolicyVersion {
	return orchestrator.PolicyVersion{
		Number: n, Policy: gate.Policy{Version: n, Mode: gate.Auto}, By: "api:ops", At: start,
		Diff: []orchestrator.PolicyEdit{{Path: "mode", Before: "off", After: "auto"}},
	}
}

func keepsVersions(_ *testing.T, b *bench) {
	_, err := b.PolicyVersion(b.ctx(), 1)
	b.equal("PolicyVersion of none", err, orchestrator.ErrNotFound)
	for n := 1; n <= 11; n++ {
		b.commit(orchestrator.Changes{Versions: []orchestrator.PolicyVersion{version(n)}})
	}
	got, err := b.PolicyVersion(b.ctx(), 10)
	b.equal("PolicyVersion error", err, nil)
	b.equal("PolicyVersion(10)", got, version(10))
	list, next, err := b.ListPolicyVersions(b.ctx(), orchestrator.Page{Limit: 3})
	b.equal("ListPolicyVersions error", err, nil)
	b.equal("first page", list, []orchestrator.PolicyVersion{version(11), version(10), version(9)})
	list, next, err = b.ListPolicyVersions(b.ctx(), orchestrator.Page{Limit: 50, Cursor: next})
	b.equal("ListPolicyVersions error", err, nil)
	b.equal("second page", len(list), 8)
	b.equal("cursor at the end", next, "")
}

func refusedVersion(_ *testing.T, b *bench) {
	b.refuse(orchestrator.Changes{
		Policy: &orchestrator.PolicyRecord{Version: 7}, Versions: []orchestrator.PolicyVersion{version(1)},
	}, orchestrator.ErrConflict)
	_, err := b.PolicyVersion(b.ctx(), 1)
	b.equal("PolicyVersion", err, orchestrator.ErrNotFound)
}

func knowsEvaluating(_ *testing.T, b *bench) {
	busy, idle := newThread("th_busy"), newThread("th_idle")
	busy.Eval = "evl_1"
	b.commit(orchestrator.Changes{Threads: []orchestrator.Thread{busy, idle}})
	got, err := b.Evaluating(b.ctx())
	b.equal("Evaluating error", err, nil)
	b.equal("Evaluating", got, []gate.ThreadID{"th_busy"})
	busy.Eval, busy.Version = "", 1
	b.commit(orchestrator.Changes{Threads: []orchestrator.Thread{busy}})
	got, err = b.Evaluating(b.ctx())
	b.equal("Evaluating error", err, nil)
	b.equal("Evaluating", got, []gate.ThreadID(nil))
}
