package orchestrator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// ByFile is who made a Policy version that came from the configuration file.
const ByFile = "file"

// ErrOutdated: the Policy changed since the version that an edit started from
// (PV-6).
var ErrOutdated = errors.New("the policy changed meanwhile")

// PolicyVersion is one Policy that was in force: who brought it into force,
// when, and what it changed (PV-1). Rows are never changed.
type PolicyVersion struct {
	Number int          `json:"number"`
	Policy gate.Policy  `json:"policy"`
	By     string       `json:"by"`
	At     time.Time    `json:"at"`
	Diff   []PolicyEdit `json:"diff,omitempty"`
}

// FileEdit is what became of the policy part of the configuration file.
type FileEdit struct {
	Policy gate.Policy // that holds now
	// Elsewhere: the file was not applied, since the Policy in force was last
	// changed elsewhere (PV-6).
	Elsewhere bool
}

// ApplyFile brings the policy part of the configuration file into force and
// returns the Policy that then holds. A file that did not change since it was
// last applied changes nothing, and neither does one whose content is in force
// already (PV-1), nor one that was edited after the Policy was last changed
// elsewhere (PV-6).
func (s *Service) ApplyFile(ctx context.Context, p gate.Policy) (gate.Policy, error) {
	e, err := s.EditFile(ctx, nil, p)
	return e.Policy, err
}

// EditFile is ApplyFile for a file whose policy part was another one before,
// if that is known: where that one is in force, the edit started from it,
// whoever changed the Policy last.
func (s *Service) EditFile(ctx context.Context, before *gate.Policy, p gate.Policy) (e FileEdit, err error) {
	rec, err := s.editPolicy(ctx, func(rec PolicyRecord) (PolicyRecord, bool, error) {
		next, elsewhere := applyFile(rec, before, p)
		e.Elsewhere = elsewhere
		return next, next.File != rec.File, nil
	})
	e.Policy = rec.Policy
	return e, err
}

// SetPolicy brings a Policy into force that was made from version started, and
// returns the record that then holds. ErrOutdated when that is not the version
// in force (PV-6). What changes nothing makes no version (PV-1).
func (s *Service) SetPolicy(ctx context.Context, p gate.Policy, started int, by string) (PolicyRecord, error) {
	return s.editPolicy(ctx, func(rec PolicyRecord) (PolicyRecord, bool, error) {
		if rec.Policy.Version != started {
			return rec, false, fmt.Errorf("version %d is in force, not %d: %w", rec.Policy.Version, started, ErrOutdated)
		}
		next := rec.with(p, by)
		return next, next.Policy.Version != rec.Policy.Version, nil
	})
}

// editPolicy loads the record, calls a pure edit and commits what it made: a
// new version with its row of the history, and the work that follows from it
// (PV-3, PV-4), in one step.
func (s *Service) editPolicy(ctx context.Context, edit func(PolicyRecord) (PolicyRecord, bool, error)) (PolicyRecord, error) {
	for range commitTries {
		rec, err := s.Store.PolicyInForce(ctx)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return PolicyRecord{}, fmt.Errorf("load policy: %w", err)
		}
		next, changed, err := edit(rec)
		if err != nil || !changed {
			return rec, err
		}
		if next.Policy.Version != rec.Policy.Version {
			next.At = s.Now()
		}
		err = s.Store.Commit(ctx, policyCommit(rec, next))
		if err == nil {
			return next, nil
		}
		if !errors.Is(err, ErrConflict) {
			return PolicyRecord{}, fmt.Errorf("store policy: %w", err)
		}
	}
	return PolicyRecord{}, fmt.Errorf("store policy: %w", ErrConflict)
}

func policyCommit(rec, next PolicyRecord) Changes {
	ch := Changes{Policy: &next}
	if next.Policy.Version == rec.Policy.Version {
		return ch
	}
	ch.Versions = []PolicyVersion{{
		Number: next.Policy.Version, Policy: next.Policy, By: next.By, At: next.At,
		Diff: DiffPolicies(&rec.Policy, &next.Policy),
	}}
	ch.Log = []approvals.Record{{
		Type: "policy.applied", At: next.At, Data: map[string]any{"version": next.Policy.Version, "by": next.By},
	}}
	ch.Due = []approvals.Due{{Kind: DuePolicy, Key: policyWork, At: next.At}}
	return ch
}

// with is the record with another Policy, under the next version if that
// changes anything.
func (rec PolicyRecord) with(p gate.Policy, by string) PolicyRecord {
	p.Version = rec.Policy.Version
	if rec.Policy.Version > 0 && len(DiffPolicies(&rec.Policy, &p)) == 0 {
		return rec
	}
	p.Version++
	rec.Policy, rec.By = p, by
	return rec
}

// applyFile is the record after an edit of the file; elsewhere says that the
// file stays unapplied.
func applyFile(rec PolicyRecord, before *gate.Policy, file gate.Policy) (next PolicyRecord, elsewhere bool) {
	file.Version = 0
	hash := policyHash(file)
	if rec.File == hash {
		return rec, false
	}
	same := len(DiffPolicies(&rec.Policy, &file)) == 0
	agreed := before != nil && len(DiffPolicies(&rec.Policy, before)) == 0
	if rec.Policy.Version > 0 && rec.By != ByFile && !same && !agreed {
		return rec, true
	}
	next = rec.with(file, ByFile)
	next.File, next.By = hash, ByFile
	return next, false
}

// FileDiffers is the difference that an edit of the file would make which was
// not applied (PV-6). A file that was applied once, and did not change since,
// waits for nothing.
func (rec *PolicyRecord) FileDiffers(file *gate.Policy) []PolicyEdit {
	bare := *file
	bare.Version = 0
	if rec.File == policyHash(bare) {
		return nil
	}
	return DiffPolicies(&rec.Policy, file)
}

func policyHash(p gate.Policy) string {
	data, err := json.Marshal(p)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
