package storetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// kindVersion is no Guard's kind: Policy versions are never changed.
const kindVersion = "version"

func versionName(number int) name { return name{kindVersion, fmt.Sprint(number)} }

// PolicyVersion implements orchestrator.Versions.
func (m *Mem) PolicyVersion(ctx context.Context, number int) (orchestrator.PolicyVersion, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return orchestrator.PolicyVersion{}, fmt.Errorf("policy version: %w", err)
	}
	defer leave()
	return read[orchestrator.PolicyVersion](m, kindVersion, versionName(number).id)
}

// ListPolicyVersions implements orchestrator.Versions.
func (m *Mem) ListPolicyVersions(ctx context.Context, p orchestrator.Page) ([]orchestrator.PolicyVersion, string, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("list policy versions: %w", err)
	}
	defer leave()
	list := all(m, kindVersion, func(*orchestrator.PolicyVersion) bool { return true })
	return page(list, p, func(v *orchestrator.PolicyVersion) place {
		return place{int64(v.Number), fmt.Sprint(v.Number)}
	})
}

// Evaluating implements orchestrator.Versions.
func (m *Mem) Evaluating(ctx context.Context) ([]gate.ThreadID, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("evals under way: %w", err)
	}
	defer leave()
	var ids []gate.ThreadID
	for _, t := range all(m, orchestrator.KindThread, func(t *orchestrator.Thread) bool { return t.Eval != "" }) {
		ids = append(ids, t.ID)
	}
	slices.Sort(ids)
	return ids, nil
}
