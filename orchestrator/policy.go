package orchestrator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// ApplyFile brings the policy part of the configuration file into force and
// returns the Policy that then holds. A file that did not change since it was
// last applied changes nothing, and neither does one whose content is in force
// already (PV-1).
func (s *Service) ApplyFile(ctx context.Context, p gate.Policy) (gate.Policy, error) {
	for range commitTries {
		rec, err := s.Store.PolicyInForce(ctx)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return gate.Policy{}, fmt.Errorf("load policy: %w", err)
		}
		next, changed := applyFile(rec, p)
		if !changed {
			return rec.Policy, nil
		}
		next.At = s.Now()
		ch := Changes{Policy: &next}
		ch.Log = append(ch.Log, approvals.Record{
			Type: "policy.applied", At: next.At, Data: map[string]any{"version": next.Policy.Version, "by": next.By},
		})
		err = s.Store.Commit(ctx, ch)
		if err == nil {
			return next.Policy, nil
		}
		if !errors.Is(err, ErrConflict) {
			return gate.Policy{}, fmt.Errorf("store policy: %w", err)
		}
	}
	return gate.Policy{}, fmt.Errorf("store policy: %w", ErrConflict)
}

// applyFile is the pure part: the record to store, and whether it differs.
func applyFile(rec PolicyRecord, file gate.Policy) (PolicyRecord, bool) {
	file.Version = 0
	hash := policyHash(file)
	if rec.File == hash {
		return rec, false
	}
	old := rec.Policy
	old.Version = 0
	file.Version = rec.Policy.Version
	if rec.Policy.Version == 0 || !reflect.DeepEqual(old, samePolicy(file)) {
		file.Version++
	}
	return PolicyRecord{Policy: file, File: hash, By: "file", Version: rec.Version}, true
}

// samePolicy is the policy as it comes back from the store, without its
// version.
func samePolicy(p gate.Policy) gate.Policy {
	p.Version = 0
	var back gate.Policy
	data, err := json.Marshal(p)
	if err != nil || json.Unmarshal(data, &back) != nil {
		return p
	}
	return back
}

func policyHash(p gate.Policy) string {
	data, err := json.Marshal(p)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
