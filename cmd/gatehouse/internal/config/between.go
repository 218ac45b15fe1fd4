package config

import (
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Link says that accounts of several Sources are one person (PL-3).
type Link map[gate.SourceID]string

// Loop is the brake on turns between the agent and bots (PL-2).
type Loop struct {
	Limit  int
	Window time.Duration
}

// Redeliver is the search for deliveries that GitHub could not make (GH-8).
type Redeliver struct{ Interval time.Duration }

// OTLP is where traces go; without an endpoint nowhere.
type OTLP struct{ Endpoint string }

// readBetween decodes the short sections that concern several Sources.
func readBetween(o *object, c *Config) {
	o.key("links").list(func(item node) { readLink(item, &c.Links) })
	o.key("loop").object(func(o *object) {
		o.key("limit").integer(&c.Loop.Limit, 1, 1000)
		o.key("window").duration(&c.Loop.Window, time.Second, day)
	})
	o.key("redeliver").object(func(o *object) {
		o.key("interval").duration(&c.Redeliver.Interval, 10*time.Second, day)
	})
	o.key("otlp").object(func(o *object) { o.key("endpoint").url(&c.OTLP.Endpoint) })
}

func readLink(n node, to *[]Link) {
	link := Link{}
	n.entries(func(id string, account node) {
		var s string
		if account.knownSource(id, account.key) && account.nonEmpty().entry(gate.SourceID(id), &s) {
			link[gate.SourceID(id)] = s
			if gate.NeedsLookup(s) {
				account.fault("%s is no single account; name one person", account.got())
			}
		}
	})
	if n.set() && n.value.kind == mapping && len(n.value.keys) < 2 {
		n.fault("links nothing; name the person on two sources")
	}
	*to = append(*to, link)
}
