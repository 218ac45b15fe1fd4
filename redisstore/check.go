package redisstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// ErrUnfit: this Redis would lose what was acknowledged; the gateway does not
// start on it (RS-8).
var ErrUnfit = errors.New("this redis cannot be the store")

// Findings is what Check learned about the server. What it could not learn is
// empty: managed services hide their configuration, the trial store has none.
type Findings struct {
	Version  string `json:"version,omitempty"`
	Role     string `json:"role,omitempty"`
	Eviction string `json:"eviction,omitempty"`
	// AOF is "yes" or "no"; Fsync is appendfsync.
	AOF   string `json:"aof,omitempty"`
	Fsync string `json:"fsync,omitempty"`
	// Warnings are sentences to be said loudly. MayLose: some of them mean
	// that acknowledged messages of the last second can be lost.
	Warnings []string `json:"warnings,omitempty"`
	MayLose  bool     `json:"may_lose"`
}

// Check looks at the server's version, role, eviction and persistence. It is
// ErrUnfit, with the reason, for a replica, for an evicting maxmemory-policy
// and for a version before 7.0.
func (s *Store) Check(ctx context.Context) (Findings, error) {
	f, err := inspect(ctx, s.client)
	if err != nil {
		return f, fmt.Errorf("check redis: %w", plain(err))
	}
	if err := f.refuse(); err != nil {
		return f, fmt.Errorf("check redis: %w", err)
	}
	f.warn()
	return f, nil
}

// inspect reads INFO and, where it is allowed, CONFIG.
func inspect(ctx context.Context, c redis.UniversalClient) (Findings, error) {
	if err := c.Ping(ctx).Err(); err != nil {
		return Findings{}, err
	}
	text, err := c.Info(ctx).Result()
	if err != nil && away(err) {
		return Findings{}, err
	}
	info := fields(text)
	f := Findings{Version: info["redis_version"], Role: info["role"], Eviction: info["maxmemory_policy"]}
	switch info["aof_enabled"] {
	case "1":
		f.AOF = "yes"
	case "0":
		f.AOF = "no"
	}
	if config, err := c.ConfigGet(ctx, "appendfsync").Result(); err == nil {
		f.Fsync = config["appendfsync"]
	}
	return f, nil
}

// fields reads the "name:value" lines of INFO.
func fields(text string) map[string]string {
	out := map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if name, value, ok := strings.Cut(strings.TrimSpace(lines.Text()), ":"); ok {
			out[name] = value
		}
	}
	return out
}

func (f *Findings) refuse() error {
	major, _, _ := strings.Cut(f.Version, ".")
	if n, err := strconv.Atoi(major); err == nil && n < 7 {
		return fmt.Errorf("%w: version %s, 7.0 is needed", ErrUnfit, f.Version)
	}
	if f.Role != "" && f.Role != "master" {
		return fmt.Errorf("%w: it is a %s, name its master", ErrUnfit, f.Role)
	}
	if f.Eviction != "" && f.Eviction != "noeviction" {
		return fmt.Errorf("%w: maxmemory-policy %s throws acknowledged messages away, set noeviction", ErrUnfit, f.Eviction)
	}
	return nil
}

func (f *Findings) warn() {
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
}

func (f *Findings) lose(why string) {
	f.MayLose = true
	f.Warnings = append(f.Warnings, why)
}
