package orchestrator

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

const (
	// missedFor is how far back the first search looks: as long as GitHub keeps a
	// delivery that can be made again (GH-8).
	missedFor = 3 * 24 * time.Hour
	// gapsFor is how long a gap is told, gapsTold how many are.
	gapsFor  = 7 * 24 * time.Hour
	gapsTold = 50
)

// The sets in which a Source's searches keep how far they came, and what they
// found.
func searchedSet(source gate.SourceID) string { return "searched:" + string(source) }
func askedSet(source gate.SourceID) string    { return "asked:" + string(source) }
func gapsSet(source gate.SourceID) string     { return "gaps:" + string(source) }

// searchFrom is the next search after those that the members tell of.
func searchFrom(members []Member, now time.Time) gate.Search {
	s := gate.Search{Since: now.Add(-missedFor), After: map[string]int64{}}
	for _, m := range members {
		hook, id, ok := readSearched(m.ID)
		if ok {
			s.After[hook] = max(s.After[hook], id)
		}
	}
	return s
}

func readSearched(member string) (hook string, id int64, ok bool) {
	hook, number, ok := strings.Cut(member, " ")
	id, err := strconv.ParseInt(number, 10, 64)
	return hook, id, ok && err == nil
}

// searched keeps how far a search came, what it asked for, and its gap if it
// found one.
func searched(source gate.SourceID, before gate.Search, found gate.Found, now time.Time) Changes {
	var c Changes
	set := searchedSet(source)
	for _, hook := range slices.Sorted(maps.Keys(found.Came)) {
		if was, came := before.After[hook], found.Came[hook]; came > was {
			c.Tallies = append(c.Tallies,
				Tally{Set: set, Member: hook + " " + strconv.FormatInt(was, 10), Out: true},
				Tally{Set: set, Member: hook + " " + strconv.FormatInt(came, 10), At: now})
		}
	}
	for _, guid := range found.Asked {
		c.Tallies = append(c.Tallies, Tally{Set: askedSet(source), Member: guid, At: now, Keep: gapsFor})
	}
	if gap := found.Gap; gap.Found > 0 {
		c.Tallies = append(c.Tallies, Tally{Set: gapsSet(source), Member: gapMember(gap), At: now, Keep: gapsFor})
		c.Log = append(c.Log, approvals.Record{Type: "source.gap", At: now, Data: map[string]any{"source": source, "gap": gap}})
	}
	return c
}

// gapMember is a gap as a member of its set.
func gapMember(g gate.Gap) string {
	text, _ := json.Marshal(g) // four fields that are always JSON
	return string(text)
}

// readGaps undoes gapMember, the latest first.
func readGaps(members []Member) []gate.Gap {
	var gaps []gate.Gap
	for _, m := range slices.Backward(members) {
		var g gate.Gap
		if json.Unmarshal([]byte(m.ID), &g) == nil && len(gaps) < gapsTold {
			gaps = append(gaps, g)
		}
	}
	return gaps
}

// missedEvery is how often a Source is searched, and a red branch looked at.
func (s *Settings) missedEvery() time.Duration {
	if s.Redeliver > 0 {
		return s.Redeliver
	}
	return 5 * time.Minute
}
