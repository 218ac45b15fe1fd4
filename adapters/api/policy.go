package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// Policies is what the calls on the Policy work with; every
// orchestrator.Service is one.
type Policies interface {
	PolicyRecord(ctx context.Context) (orchestrator.PolicyRecord, error)
	// SetPolicy refuses with orchestrator.ErrOutdated when started is not the
	// version in force.
	SetPolicy(ctx context.Context, p gate.Policy, started int, by string) (orchestrator.PolicyRecord, error)
	Explain(ctx context.Context, q orchestrator.PolicyQuery) (orchestrator.Admission, []gate.Step, error)
	Backtest(ctx context.Context, p gate.Policy, since time.Time) (orchestrator.Backtest, error)
}

// Pauser holds processing up and lets it go on (RE-3); every
// orchestrator.Service is one.
type Pauser interface {
	Pause(ctx context.Context, source gate.SourceID, by string) (orchestrator.Pauses, error)
	Resume(ctx context.Context, source gate.SourceID, by string) (orchestrator.Pauses, error)
}

// Versions is what the history of the Policy is read from; every
// orchestrator.Store is one.
type Versions interface {
	ListPolicyVersions(ctx context.Context, p orchestrator.Page) ([]orchestrator.PolicyVersion, string, error)
}

// ParsePolicy reads a Policy, YAML or JSON, and names all that is wrong with
// it, each with its line.
type ParsePolicy func(name string, data []byte) (p gate.Policy, faults []string)

// invalidPolicy is an errInvalidPolicy with all that is wrong.
type invalidPolicy []string

func (f invalidPolicy) Error() string        { return "invalid policy: " + strings.Join(f, "\n") }
func (f invalidPolicy) Is(target error) bool { return target == errInvalidPolicy }

// policyShape is a Policy on the wire: what a PUT takes, so that an answer can
// be edited and sent back.
type policyShape struct {
	Mode    gate.Mode                           `json:"mode"`
	Rules   []gate.Rule                         `json:"rules"`
	Sources map[gate.SourceID]gate.SourcePolicy `json:"sources"`
}

func policyOf(p *gate.Policy) policyShape {
	s := policyShape{Mode: p.Mode, Rules: orEmpty(p.Rules), Sources: p.Sources}
	if s.Sources == nil {
		s.Sources = map[gate.SourceID]gate.SourcePolicy{}
	}
	return s
}

type policyAnswer struct {
	Version int         `json:"version"`
	Policy  policyShape `json:"policy"`
	By      string      `json:"by"`
	At      time.Time   `json:"at"`
}

// policyInForce sends a record with its version as the ETag.
func (c call) policyInForce(rec *orchestrator.PolicyRecord) policyAnswer {
	c.body.w.Header().Set("ETag", strconv.Quote(strconv.Itoa(rec.Policy.Version)))
	return policyAnswer{rec.Policy.Version, policyOf(&rec.Policy), rec.By, rec.At.UTC()}
}

// getPolicy is GET /v1/policy.
func (a *api) getPolicy(ctx context.Context, c call) (any, error) {
	if a.policy == nil {
		return nil, errNoRoute
	}
	rec, err := a.policy.PolicyRecord(ctx)
	if err != nil {
		return nil, fmt.Errorf("load policy: %w", err)
	}
	return c.policyInForce(&rec), nil
}

// putPolicy is PUT /v1/policy: the Policy as JSON, or as YAML by content type.
// If-Match names the version that the edit started from (PV-6).
func (a *api) putPolicy(ctx context.Context, c call) (any, error) {
	if a.policy == nil || a.parsePolicy == nil {
		return nil, errNoRoute
	}
	started, err := c.ifMatch()
	if err != nil {
		return nil, err
	}
	data, err := c.body.policy()
	if err != nil {
		return nil, err
	}
	p, faults := a.parsePolicy("policy", data)
	if len(faults) > 0 {
		return nil, invalidPolicy(faults)
	}
	rec, err := a.policy.SetPolicy(ctx, p, started, "api:"+c.who.name)
	if err != nil {
		return nil, fmt.Errorf("set policy: %w", err)
	}
	return c.policyInForce(&rec), nil
}

// ifMatch reads the version that an edit started from. What is no version of
// ours is never the one in force.
func (c call) ifMatch() (int, error) {
	tag := strings.TrimSpace(c.body.r.Header.Get("If-Match"))
	if tag == "" || tag == "*" {
		return 0, errNoIfMatch
	}
	text, err := strconv.Unquote(tag)
	if err != nil {
		return 0, orchestrator.ErrOutdated
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, orchestrator.ErrOutdated
	}
	return n, nil
}

// policy reads the bytes of a Policy.
func (b *bodyReader) policy() ([]byte, error) {
	media, _, err := mime.ParseMediaType(b.r.Header.Get("Content-Type"))
	known := []string{"application/json", "application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"}
	if err != nil || !slices.Contains(known, media) {
		return nil, errMedia
	}
	data, err := io.ReadAll(http.MaxBytesReader(b.w, b.r.Body, maxBody))
	if err != nil {
		return nil, badBody(err)
	}
	return data, nil
}

type policyVersion struct {
	Version int                       `json:"version"`
	By      string                    `json:"by"`
	At      time.Time                 `json:"at"`
	Diff    []orchestrator.PolicyEdit `json:"diff"`
	Policy  policyShape               `json:"policy"`
}

// listPolicyVersions is GET /v1/policy/versions, the newest first (PV-1).
func (a *api) listPolicyVersions(ctx context.Context, c call) (any, error) {
	if a.versions == nil {
		return nil, errNoRoute
	}
	p, err := c.query.page()
	if err != nil {
		return nil, err
	}
	found, next, err := a.versions.ListPolicyVersions(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("list policy versions: %w", err)
	}
	return listOf(found, next, func(v *orchestrator.PolicyVersion) policyVersion {
		return policyVersion{v.Number, v.By, v.At.UTC(), orEmpty(v.Diff), policyOf(&v.Policy)}
	}), nil
}

// Explanation is the answer of POST /v1/policy/explain, and what the command
// line prints.
type Explanation struct {
	Admission any         `json:"admission"`
	Steps     []gate.Step `json:"steps"`
}

// Explained shows an admission with its working.
func Explained(ad orchestrator.Admission, steps []gate.Step) Explanation {
	return Explanation{admissionOf(ad), steps}
}

func admissionOf(ad orchestrator.Admission) admission {
	return admission{
		Strength: ad.Strength.String(), Basis: ad.Basis.String(), Reason: ad.Reason, PolicyVersion: ad.PolicyVersion,
	}
}

// explainPolicy is POST /v1/policy/explain.
func (a *api) explainPolicy(ctx context.Context, c call) (any, error) {
	if a.policy == nil {
		return nil, errNoRoute
	}
	var in struct {
		Source     gate.SourceID   `json:"source"`
		Scope      gate.Scope      `json:"scope"`
		Sender     gate.Sender     `json:"sender"`
		Addressing gate.Addressing `json:"addressing"`
		Thread     gate.ThreadID   `json:"thread"`
	}
	if err := c.body.json(&in); err != nil {
		return nil, err
	}
	if in.Thread != "" && !sound(string(in.Thread)) {
		return nil, orchestrator.ErrNotFound
	}
	ad, steps, err := a.policy.Explain(ctx, orchestrator.PolicyQuery{
		Source: in.Source, Scope: in.Scope, Sender: in.Sender, Addressing: in.Addressing, Thread: in.Thread,
	})
	if err != nil {
		return nil, fmt.Errorf("explain policy: %w", err)
	}
	return Explained(ad, steps), nil
}

type backtest struct {
	Considered int       `json:"considered"`
	Changed    []differs `json:"changed"`
}

type differs struct {
	Trigger gate.TriggerID `json:"trigger"`
	Thread  gate.ThreadID  `json:"thread"`
	Before  admission      `json:"before"`
	After   admission      `json:"after"`
}

// backtestPolicy is POST /v1/policy/backtest (PV-8).
func (a *api) backtestPolicy(ctx context.Context, c call) (any, error) {
	if a.policy == nil || a.parsePolicy == nil {
		return nil, errNoRoute
	}
	var in struct {
		Policy json.RawMessage `json:"policy"`
		Since  string          `json:"since"`
	}
	if err := c.body.json(&in); err != nil {
		return nil, err
	}
	since, err := days(in.Since)
	if err != nil {
		return nil, badQuery("since is a duration such as 7d or 12h.")
	}
	p, faults := a.parsePolicy("policy", in.Policy)
	if len(faults) > 0 {
		return nil, invalidPolicy(faults)
	}
	b, err := a.policy.Backtest(ctx, p, a.now().Add(-since))
	if err != nil {
		return nil, fmt.Errorf("backtest policy: %w", err)
	}
	out := backtest{Considered: b.Considered, Changed: make([]differs, len(b.Changed))}
	for i, d := range b.Changed {
		out.Changed[i] = differs{d.Trigger, d.Thread, admissionOf(d.Before), admissionOf(d.After)}
	}
	return out, nil
}

// days reads a duration of Go's, or a number of days (page 07).
func days(s string) (time.Duration, error) {
	if n, ok := strings.CutSuffix(s, "d"); ok {
		d, err := strconv.Atoi(n)
		if err != nil || d < 0 || d > 36500 {
			return 0, errors.New("no number of days")
		}
		return time.Duration(d) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = errors.New("negative duration")
	}
	return d, err
}

type pauses struct {
	All     bool            `json:"all"`
	Sources []gate.SourceID `json:"sources"`
}

// pause is POST /v1/pause {source?} (RE-3); without a source it is everything.
func (a *api) pause(ctx context.Context, c call) (any, error) { return a.hold(ctx, c, Pauser.Pause) }

// resume is POST /v1/resume {source?}.
func (a *api) resume(ctx context.Context, c call) (any, error) { return a.hold(ctx, c, Pauser.Resume) }

func (a *api) hold(ctx context.Context, c call, do func(Pauser, context.Context, gate.SourceID, string) (orchestrator.Pauses, error)) (any, error) {
	if a.pauser == nil {
		return nil, errNoRoute
	}
	var in struct {
		Source gate.SourceID `json:"source"`
	}
	if err := c.body.json(&in); err != nil {
		return nil, err
	}
	p, err := do(a.pauser, ctx, in.Source, "api:"+c.who.name)
	if err != nil {
		return nil, err
	}
	return struct {
		Paused pauses `json:"paused"`
	}{pauses{p.All != nil, orEmpty(p.Names())}}, nil
}
