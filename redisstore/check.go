package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// ErrUnfit: this Redis would lose what was acknowledged; the gateway does not
// start on it (RS-8).
var ErrUnfit = errors.New("this redis cannot be the store")

var errReplica = fmt.Errorf("%w: it is a replica, name its master", ErrUnfit)

// Findings is what Check learned about the server, on a Cluster about the node
// of the workspace. What it could not learn is empty: managed services hide
// their configuration, the trial store has none.
type Findings struct {
	Version  string `json:"version,omitempty"`
	Role     string `json:"role,omitempty"`
	Eviction string `json:"eviction,omitempty"`
	// AOF is "yes" or "no"; Fsync is appendfsync.
	AOF   string `json:"aof,omitempty"`
	Fsync string `json:"fsync,omitempty"`
	// Replicas is how many are connected.
	Replicas int `json:"replicas,omitempty"`
	// Warnings are sentences to be said loudly. MayLose: some of them mean
	// that acknowledged messages of the last second can be lost.
	Warnings []string `json:"warnings,omitempty"`
	MayLose  bool     `json:"may_lose"`

	clusterNode bool
}

// Check looks at the server's version, role, eviction and persistence, on a
// Cluster at those of every node, since the workspace may come to live there.
// It is ErrUnfit, with the reason, for a replica, for an evicting
// maxmemory-policy, for a version before 7.0 and for a node of a Cluster that
// is named as if it stood alone.
func (s *Store) Check(ctx context.Context) (Findings, error) {
	f, others, err := s.inspectAll(ctx)
	if err != nil {
		return f, fmt.Errorf("check redis: %w", plain(err))
	}
	for _, server := range append([]Findings{f}, others...) {
		if err := s.refuse(&server); err != nil {
			return f, fmt.Errorf("check redis: %w", err)
		}
	}
	s.warn(&f)
	for _, other := range others {
		s.warn(&other)
		f.MayLose = f.MayLose || other.MayLose
		f.Warnings = append(f.Warnings, other.Warnings...)
	}
	slices.Sort(f.Warnings)
	f.Warnings = slices.Compact(f.Warnings)
	return f, nil
}

func (s *Store) refuse(f *Findings) error {
	major, _, _ := strings.Cut(f.Version, ".")
	if n, err := strconv.Atoi(major); err == nil && n < 7 {
		return fmt.Errorf("%w: version %s, 7.0 is needed", ErrUnfit, f.Version)
	}
	if _, aware := s.client.(*redis.ClusterClient); f.clusterNode && !aware {
		return fmt.Errorf("%w: it is a node of a Cluster; write its nodes as redis://a:6379,b:6379,c:6379", ErrUnfit)
	}
	if f.Role != "" && f.Role != "master" {
		if s.form == sentinel { // a fail-over is under way
			return fmt.Errorf("%w: the master has become a %s", orchestrator.ErrUnavailable, f.Role)
		}
		return errReplica
	}
	if f.Eviction != "" && f.Eviction != "noeviction" {
		return fmt.Errorf("%w: maxmemory-policy %s throws acknowledged messages away, set noeviction", ErrUnfit, f.Eviction)
	}
	return nil
}

func (s *Store) warn(f *Findings) {
	switch {
	case f.AOF == "no":
		f.lose("appendonly is off: a crash of redis loses what came since its last snapshot")
	case f.AOF == "":
		f.lose("redis does not say whether it writes to disk (appendonly)")
	case f.Fsync == "":
		f.lose("redis does not say when it writes to disk (appendfsync)")
	case f.Fsync != "always":
		f.lose("appendfsync is " + f.Fsync + ": a crash can lose the last second; set always")
	}
	switch {
	case s.replicas > f.Replicas:
		f.Warnings = append(f.Warnings, fmt.Sprintf("redis.replicas is %d and redis has %d: nothing is acknowledged until they are there", s.replicas, f.Replicas))
	case s.replicas == 0 && f.Replicas > 0 && s.form != single:
		f.Warnings = append(f.Warnings, "a fail-over can lose the last acknowledged messages; set redis.replicas: 1")
	}
}

func (f *Findings) lose(why string) {
	f.MayLose = true
	f.Warnings = append(f.Warnings, why)
}
