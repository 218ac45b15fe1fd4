package main

import (
	"runtime/debug"
	"testing"
)

func TestBuildInfo(t *testing.T) {
	t.Parallel()
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: modified}}
	}
	for name, c := range map[string]struct {
		release, main string
		settings      []debug.BuildSetting
		v, commit     string
	}{
		"outside git":              {"", "(devel)", nil, "devel", "unknown"},
		"a test binary":            {"", "", nil, "devel", "unknown"},
		"a clean tree":             {"", "v0.1.0", vcs("false"), "v0.1.0", "abc"},
		"a tree with changes":      {"", "v0.1.0+dirty", vcs("true"), "v0.1.0+dirty", "abc+dirty"},
		"a release":                {"1.2.3", "v0.0.0", vcs("false"), "1.2.3", "abc"},
		"a release with changes":   {"1.2.3", "v0.0.0", vcs("true"), "1.2.3", "abc+dirty"},
		"a release outside of git": {"1.2.3", "(devel)", nil, "1.2.3", "unknown"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.main}, Settings: c.settings}
		if v, commit := buildInfo(c.release, info); v != c.v || commit != c.commit {
			t.Errorf("buildInfo of %s = %s, %s, want %s, %s", name, v, commit, c.v, c.commit)
		}
	}
	if v, commit := buildInfo("", nil); v != "devel" || commit != "unknown" {
		t.Errorf("buildInfo of nothing = %s, %s, want devel, unknown", v, commit)
	}
}
