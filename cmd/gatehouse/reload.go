package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// settle is how long the file must be quiet before it is read: an editor
// writes in several steps.
const settleTime = 200 * time.Millisecond

// follower follows the configuration file while the gateway runs (PV-6).
// Policy parts come into force; the rest waits for a restart.
type follower struct {
	g    *gateway
	path string
	env  config.Env
	hup  chan os.Signal

	mu     sync.Mutex
	digest [sha256.Size]byte
	policy gate.Policy // of the last good reading
	fault  string      // why the file as it stands is not used; "" when it is
}

// catchHUP catches SIGHUP, which would end the process.
func catchHUP() chan os.Signal {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	return hup
}

// follow makes the gateway follow the file that its configuration is of.
func (g *gateway) follow(path string, env config.Env, hup chan os.Signal) {
	f := &follower{g: g, path: path, env: env, hup: hup, policy: g.cfg.Policy}
	if data, err := os.ReadFile(path); err == nil {
		f.digest = sha256.Sum256(data)
	}
	g.file = f
}

// run looks at the file when it changed, and on SIGHUP, until ctx ends. The
// folder is watched, not the file: editors and Kubernetes replace files.
func (f *follower) run(ctx context.Context) {
	defer signal.Stop(f.hup)
	watch, err := fsnotify.NewWatcher()
	if err == nil {
		defer func() { _ = watch.Close() }()
		err = watch.Add(filepath.Dir(f.path))
	}
	if err != nil {
		f.g.log.WarnContext(ctx, "the configuration is not watched; send SIGHUP after a change", "err", err)
		watch = &fsnotify.Watcher{}
	}
	quiet := time.NewTimer(settleTime) // it may have changed while the gateway started
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-watch.Events:
			quiet.Reset(settleTime)
		case err := <-watch.Errors:
			f.g.log.WarnContext(ctx, "watch the configuration", "err", err)
		case <-quiet.C:
			f.look(ctx, false)
		case <-f.hup:
			f.g.log.InfoContext(ctx, "SIGHUP: reading the configuration again")
			f.look(ctx, true)
		}
	}
}

// look reads the file if its content changed, or if that was asked for.
func (f *follower) look(ctx context.Context, asked bool) {
	data, err := os.ReadFile(f.path)
	if err != nil {
		f.refuse(ctx, config.Faults{{File: f.path, Text: err.Error()}})
		return
	}
	f.mu.Lock()
	digest := sha256.Sum256(data)
	same := digest == f.digest
	f.digest = digest
	f.mu.Unlock()
	if same && !asked {
		return
	}
	again, faults := config.Load(f.path, f.env)
	if again == nil {
		f.refuse(ctx, faults)
		return
	}
	f.apply(ctx, again)
}

// apply brings the policy of a good file into force and says what needs a
// restart.
func (f *follower) apply(ctx context.Context, again *config.Config) {
	needs := f.g.cfg.NeedsRestart(again)
	if len(needs) > 0 {
		f.g.log.WarnContext(ctx, "changed in the configuration, and needs a restart", "keys", strings.Join(needs, " "))
	}
	if faults := f.fits(again, needs); faults.Failed() {
		f.refuse(ctx, faults)
		return
	}
	f.mu.Lock()
	before := f.policy
	f.mu.Unlock()
	_ = f.g.untilDone(ctx, f.g.log, "apply the policy", func() error {
		e, err := f.g.service.EditFile(ctx, &before, again.Policy)
		switch {
		case err != nil:
			return err
		case e.Elsewhere:
			f.g.log.WarnContext(ctx, "the policy was last changed elsewhere: the file is not applied; see gatehouse policy apply --force",
				"version", e.Policy.Version)
		default:
			f.g.log.InfoContext(ctx, "the policy of the configuration is in force", "version", e.Policy.Version)
		}
		return nil
	})
	f.mu.Lock()
	f.policy, f.fault = again.Policy, ""
	f.mu.Unlock()
}

// fits checks the policy of the file against the Sources and executors that
// run, where the file has others.
func (f *follower) fits(again *config.Config, needs []string) config.Faults {
	if !slices.Contains(needs, "sources") && !slices.Contains(needs, "executors") {
		return nil
	}
	data, err := config.PolicyJSON(&again.Policy)
	if err != nil {
		return config.Faults{{File: f.path, Text: err.Error()}}
	}
	_, faults := f.g.cfg.ParsePolicy(f.path, data)
	for i := range faults {
		faults[i].Line, faults[i].Text = 0, faults[i].Text+" (as long as the gateway is not restarted)"
	}
	return faults
}

// refuse leaves the running policy as it is and says why, line by line.
func (f *follower) refuse(ctx context.Context, faults config.Faults) {
	var wrong []string
	for _, fault := range faults {
		if !fault.Warning {
			wrong = append(wrong, fault.String())
			f.g.log.ErrorContext(ctx, "the configuration is refused, the running one stays", "fault", fault.String())
		}
	}
	f.mu.Lock()
	f.fault = strings.Join(wrong, "; ")
	f.mu.Unlock()
}

// state is the last good policy of the file, and why the file is not used.
func (f *follower) state() (gate.Policy, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.policy, f.fault
}

// policyTrouble says what is wrong between the file, the stored Policy and the
// configuration, or "" (PV-5a, PV-6).
func (g *gateway) policyTrouble(ctx context.Context) (string, error) {
	rec, err := g.service.PolicyRecord(ctx)
	if err != nil {
		return "", err
	}
	var said []string
	if g.file != nil {
		file, fault := g.file.state()
		if fault != "" {
			said = append(said, "the file is not used: "+fault)
		}
		var paths []string
		for _, e := range rec.FileDiffers(&file) {
			paths = append(paths, e.Path)
		}
		if len(paths) > 0 {
			said = append(said, fmt.Sprintf("the file differs from version %d, which %s made, in %s; gatehouse policy apply --force puts the file in force",
				rec.Policy.Version, rec.By, strings.Join(paths, ", ")))
		}
	}
	return strings.Join(append(said, g.unavailableCells(&rec.Policy)...), "; "), nil
}

// unavailableCells are cells of a Policy that the configuration makes
// unavailable: they count as none (PV-5a).
func (g *gateway) unavailableCells(p *gate.Policy) (said []string) {
	for _, id := range sortedSources(p) {
		src := g.service.Sources[id]
		if src == nil {
			said = append(said, fmt.Sprintf("the policy names source %s, which is not configured", id))
			continue
		}
		for _, f := range gate.CheckTable(src, p.Sources[id].Table) {
			if !f.Warning {
				said = append(said, fmt.Sprintf("%s: %s; it counts as none", id, f.Text))
			}
		}
	}
	return said
}

func sortedSources(p *gate.Policy) []gate.SourceID {
	ids := make([]gate.SourceID, 0, len(p.Sources))
	for id := range p.Sources {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
