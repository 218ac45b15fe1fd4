package main

import "github.com/gatehouse-bot/gatehouse/gate"

// parsePolicy reads a Policy of the API and checks it against the Sources and
// executors of the running configuration; warnings are no faults.
func (g *gateway) parsePolicy(name string, data []byte) (gate.Policy, []string) {
	p, faults := g.cfg.ParsePolicy(name, data)
	if !faults.Failed() {
		return p, nil
	}
	var wrong []string
	for _, f := range faults {
		if !f.Warning {
			wrong = append(wrong, f.String())
		}
	}
	return gate.Policy{}, wrong
}
