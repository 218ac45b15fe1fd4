package config

import (
	"slices"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// ParseAll is Parse of a gateway that has everything built. It also gives the
// pattern of every key and item that the decoder asked for.
func ParseAll(name string, data []byte, env Env, read ReadFile) (*Config, Faults, []string) {
	d := newDecoder(name, env, read)
	var keys []string
	d.visit = func(n node) { keys = append(keys, n.pattern) }
	c, faults := d.config(data)
	slices.Sort(keys)
	return c, faults, slices.Compact(keys)
}

// NotBuilt are the patterns of what is not built.
func NotBuilt() (patterns []string) {
	for _, u := range notBuilt {
		patterns = append(patterns, u.pattern)
	}
	return patterns
}

// ParsePolicyAll is ParsePolicy of a gateway that has everything built.
func ParsePolicyAll(c *Config, name string, data []byte) (gate.Policy, Faults) {
	d := newDecoder(name, nil, nil)
	d.visit = func(node) {}
	return c.parsePolicy(d, data)
}
