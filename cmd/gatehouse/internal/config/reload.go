package config

import "reflect"

// NeedsRestart names the keys at the top of the file, in its order, in which a
// configuration read again differs from the running one. The policy is not
// among them: it is the one part that can change while the gateway runs.
func (c *Config) NeedsRestart(again *Config) (keys []string) {
	old, now := c.parts(), again.parts()
	for i, p := range old {
		if !reflect.DeepEqual(p.value, now[i].value) {
			keys = append(keys, p.key)
		}
	}
	return keys
}

type part struct {
	key   string
	value any
}

// parts is everything but the policy.
func (c *Config) parts() []part {
	return []part{
		{"workspace", c.Workspace},
		{"production", c.Production},
		{"data_dir", c.DataDir},
		{"language", c.Language},
		{"listen", c.Listen},
		{"public_url", c.PublicURL},
		{"admin", c.Admin},
		{"redis", c.Redis},
		{"retention", c.Retention},
		{"late_after", c.LateAfter},
		{"direct_quiet", c.DirectQuiet},
		{"orchestrator", c.Orchestrator},
		{"executors", c.Executors},
		{"approvals", c.Approvals},
		{"links", c.Links},
		{"loop", c.Loop},
		{"redeliver", c.Redeliver},
		{"sources", c.Sources},
		{"otlp", c.OTLP},
	}
}
