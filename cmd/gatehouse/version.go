package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version is set by a release build: -ldflags "-X main.version=1.2.3".
var version = ""

type versionCmd struct{}

// Help is the command's example.
func (versionCmd) Help() string { return "Example:\n  gatehouse version" }

// Run prints version, commit and Go version.
func (versionCmd) Run(a *app) error {
	info, _ := debug.ReadBuildInfo()
	v, commit := buildInfo(version, info)
	_, err := fmt.Fprintf(a.out, "gatehouse %s (commit %s, %s)\n", v, commit, runtime.Version())
	return err
}

// buildInfo is the version and the commit that a binary was built from, as far
// as it knows: a build outside git does not know the commit, and one from a
// tree with changes says so.
func buildInfo(release string, info *debug.BuildInfo) (v, commit string) {
	if info == nil {
		info = &debug.BuildInfo{}
	}
	v, commit = cmp.Or(release, strings.Trim(info.Main.Version, "()"), "devel"), "unknown"
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	if rev := set["vcs.revision"]; rev != "" {
		commit = rev
		if set["vcs.modified"] == "true" {
			commit += "+dirty"
		}
	}
	return v, commit
}
