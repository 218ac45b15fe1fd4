package github

import (
	"slices"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// attempt is one try of GitHub to make a delivery (facts A3).
type attempt struct {
	id    int64
	guid  string
	event string
	at    time.Time
	ok    bool
}

// attemptOf reads one. Success is exactly what GitHub's own script takes for it.
func attemptOf(d *gh.HookDelivery) attempt {
	return attempt{
		id: d.GetID(), guid: d.GetGUID(), event: d.GetEvent(), at: d.GetDeliveredAt().UTC(),
		ok: d.GetStatus() == "OK",
	}
}

// missed picks of the attempts, newest first, one for each delivery that nobody
// took, oldest first. A delivery is its GUID: one attempt that went well is
// enough, or every search would repeat it. What nothing could come of, by its
// event, is none.
func missed(all []attempt) []attempt {
	taken := map[string]bool{}
	for _, a := range all {
		taken[a.guid] = taken[a.guid] || a.ok
	}
	var out []attempt
	for _, a := range slices.Backward(all) {
		_, unread := unread(a.event)
		if unread || a.guid == "" || taken[a.guid] {
			continue
		}
		taken[a.guid] = true
		out = append(out, a)
	}
	return out
}

// gapOf is the time that deliveries were missed in.
func gapOf(list []attempt) gate.Gap {
	g := gate.Gap{Found: len(list)}
	for i, a := range list {
		if i == 0 {
			g.From = a.at
		}
		g.From, g.To = earlier(g.From, a.at), later(g.To, a.at)
	}
	return g
}

// add puts what was found at one hook to the rest.
func add(f *gate.Found, g gate.Gap, asked []string) {
	g.Replayed = len(asked)
	if f.Gap.Found > 0 && g.Found > 0 {
		g.From, g.To = earlier(f.Gap.From, g.From), later(f.Gap.To, g.To)
	}
	if g.Found > 0 {
		g.Found, g.Replayed = g.Found+f.Gap.Found, g.Replayed+f.Gap.Replayed
		f.Gap = g
	}
	f.Asked = append(f.Asked, asked...)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
