package redisstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// versions is what the list of Policy versions is of, and their kind of key.
const (
	versions    = "versions"
	kindVersion = "version"
)

// version appends a Policy version to the history (PV-1).
func (w *recordWriter) version(v *orchestrator.PolicyVersion) {
	id := strconv.Itoa(v.Number)
	text, err := encode(1, v)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("policy version %d: %w", v.Number, err)
	}
	w.p.set(w.keys.of(kindVersion, id), text, 0)
	w.p.write("ZADD", w.p.key(w.keys.index(versions)), v.Number, id)
}

func (w *recordWriter) evaluating(thread string, yes bool) {
	op := "SREM"
	if yes {
		op = "SADD"
	}
	w.p.write(op, w.p.key(w.keys.evaluating()), thread)
}

// PolicyVersion implements orchestrator.Versions.
func (s *Store) PolicyVersion(ctx context.Context, number int) (orchestrator.PolicyVersion, error) {
	key := s.keys.of(kindVersion, strconv.Itoa(number))
	v, err := get[orchestrator.PolicyVersion](ctx, s, key, orchestrator.ErrNotFound)
	return v, wrap("policy version", err)
}

// ListPolicyVersions implements orchestrator.Versions.
func (s *Store) ListPolicyVersions(ctx context.Context, p orchestrator.Page) ([]orchestrator.PolicyVersion, string, error) {
	list, next, err := listing[orchestrator.PolicyVersion]{
		store: s, index: s.keys.index(versions),
		key:  func(id string) string { return s.keys.of(kindVersion, id) },
		keep: func(*orchestrator.PolicyVersion) bool { return true },
	}.page(ctx, p)
	return list, next, wrap("list policy versions", err)
}

// Evaluating implements orchestrator.Versions.
func (s *Store) Evaluating(ctx context.Context) ([]gate.ThreadID, error) {
	ids, err := s.client.SMembers(ctx, s.keys.evaluating()).Result()
	if err != nil {
		return nil, fmt.Errorf("evals under way: %w", plain(err))
	}
	slices.Sort(ids)
	threads := make([]gate.ThreadID, len(ids))
	for i, id := range ids {
		threads[i] = gate.ThreadID(id)
	}
	return threads, nil
}
