package main

import (
	"strings"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// withLost adds where the gateway cannot speak any more (EN-5). A chat or a
// repository fewer is said; a Source is degraded where it is all of it, or all
// of an owner.
func withLost(e api.Entry, platform gate.Platform, id gate.SourceID, lost []orchestrator.Reach) api.Entry {
	var names []string
	for _, r := range lost {
		if r.Place.Source() != id {
			continue
		}
		_, name, within := strings.Cut(string(r.Place), "~")
		names = append(names, strings.TrimSpace(strings.ReplaceAll(name, "~", "/")+" ("+r.Lost+")"))
		if owner := platform == gate.GitHub && !strings.Contains(name, "~"); owner || !within {
			e.State = api.Degraded
		}
	}
	if len(names) == 0 {
		return e
	}
	say := "nothing can be said in " + few(names)
	if e.Message != "" {
		say = e.Message + "; " + say
	}
	e.Message = say
	return e
}
