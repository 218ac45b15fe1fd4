package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// maxFile bounds the configuration file.
const maxFile = 1 << 20

// Config is a configuration without faults, defaults filled in. It is not
// changed once it was read.
type Config struct {
	Workspace  string
	Production bool   // refuse trial parts (RS-10) and agents under the gateway's uid (EX-6)
	DataDir    string // as written: relative to the working directory
	Language   Language
	Listen     string // public listener: webhooks only
	PublicURL  string // without a slash at its end; "" when not known

	LateAfter   time.Duration // TR-6
	DirectQuiet time.Duration // TH-2

	Admin        Admin
	Redis        Redis
	Retention    Retention
	Orchestrator Orchestrator
	Executors    map[string]Executor // by name; there always is a "default"
	Approvals    Approvals
	Links        []Link
	Loop         Loop
	Redeliver    Redeliver
	Sources      []Source // in the order of the file
	Policy       gate.Policy
	OTLP         OTLP
}

// Source returns the Source with that id, or nil.
func (c *Config) Source(id gate.SourceID) *Source {
	for i := range c.Sources {
		if c.Sources[i].ID == id {
			return &c.Sources[i]
		}
	}
	return nil
}

// Load reads the configuration in a file. The Config is nil when the faults
// are more than warnings; that nothing could reach the agent is one of those.
// Files with secrets (*_file) are found relative to
// the configuration's folder.
func Load(path string, env Env) (*Config, Faults) {
	data, err := readFile(path)
	if err != nil {
		return nil, Faults{{File: path, Text: fmt.Sprintf("%v; %s", err, instead(err))}}
	}
	c, faults := Parse(path, data, env, func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), name)
		}
		return os.ReadFile(name)
	})
	if why := c.idle(); why != "" {
		faults = append(Faults{{File: path, Warning: true, Text: why + ": nothing can reach the agent; see docs/getting-started.md"}}, faults...)
	}
	return c, faults
}

// instead is what to do about a configuration that cannot be read.
func instead(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "name one with --config; to write one, copy deploy/gatehouse.yaml, or follow docs/getting-started.md"
	}
	return "name another with --config"
}

// idle is why a gateway of this configuration would have nothing to do, or "".
func (c *Config) idle() string {
	switch {
	case c == nil:
		return ""
	case len(c.Sources) == 0:
		return "no source is configured"
	case !slices.ContainsFunc(c.Sources, func(s Source) bool { return s.Enabled }):
		return "no source is enabled"
	}
	return ""
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("read %s: larger than %d MiB", path, maxFile>>20)
	}
	return os.ReadFile(path)
}

// Parse is Load without a disk: name is what the faults call the file.
func Parse(name string, data []byte, env Env, read ReadFile) (*Config, Faults) {
	d := newDecoder(name, env, read)
	return d.config(data)
}

func newDecoder(file string, env Env, read ReadFile) *decoder {
	return &decoder{file: file, env: env, read: read, visit: refuseUnbuilt, refs: newReferences()}
}

// config decodes the whole file. What is referred to is decoded before what
// refers to it; the faults are put in the file's order at the end.
func (d *decoder) config(data []byte) (*Config, Faults) {
	c := defaults()
	root := node{d: d, value: d.tree(data)}
	root.object(func(o *object) {
		readServer(o, c)
		readRedis(o.key("redis"), &c.Redis)
		readRetention(o, c)
		readSources(o.key("sources"), c)
		readExecutors(o.key("executors"), c)
		readAdmin(o, c)
		readOrchestrator(o.key("orchestrator"), &c.Orchestrator)
		readApprovals(o.key("approvals"), &c.Approvals)
		readBetween(o, c)
		readPolicy(o.key("policy"), &c.Policy)
		d.checkChildren()
		fillTimeouts(c)
	})
	faults := d.faults.sorted()
	if faults.Failed() {
		return nil, faults
	}
	return c, faults
}

// fillTimeouts gives approvals.timeout to the Sources that have no time of
// their own (CA-1).
func fillTimeouts(c *Config) {
	for i := range c.Sources {
		if c.Sources[i].ApprovalsTimeout == 0 {
			c.Sources[i].ApprovalsTimeout = c.Approvals.Timeout
		}
	}
}
