package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by a release build: -ldflags "-X main.version=1.2.3".
var version = ""

type versionCmd struct{}

// Help is the command's example.
func (versionCmd) Help() string { return "Example:\n  gatehouse version" }

// Run prints version, commit and Go version.
func (versionCmd) Run(a *app) error {
	v, commit := buildInfo()
	_, err := fmt.Fprintf(a.out, "gatehouse %s (commit %s, %s)\n", v, commit, runtime.Version())
	return err
}

func buildInfo() (v, commit string) {
	v, commit = version, "unknown"
	info, ok := debug.ReadBuildInfo()
	if v == "" {
		v = "(devel)"
		if ok && info.Main.Version != "" {
			v = info.Main.Version
		}
	}
	if !ok {
		return v, commit
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			commit = s.Value
		}
	}
	return v, commit
}
