package config

import (
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// ParsePolicy reads a Policy alone, as YAML or JSON: the section policy of the
// file, without its name. It is checked against the Sources and executors of
// c. ${NAME} is plain text there: a policy comes from people who may not see
// the gateway's environment. On faults that are more than warnings the Policy
// is the zero one, which admits nobody.
func (c *Config) ParsePolicy(name string, data []byte) (gate.Policy, Faults) {
	return c.parsePolicy(newDecoder(name, nil, nil), data)
}

func (c *Config) parsePolicy(d *decoder, data []byte) (gate.Policy, Faults) {
	for i := range c.Sources {
		d.refs.sources[c.Sources[i].ID] = c.Sources[i].Gate()
	}
	for name := range c.Executors {
		d.refs.executors[name] = true
	}
	p := gate.Policy{Mode: gate.Observe}
	root := node{d: d, value: d.tree(data), pattern: "policy"}
	if root.value != nil && root.value.missing {
		d.report(1, 1, "is empty; write the policy, or {} for one that admits nobody")
	}
	readPolicy(root, &p)
	faults := d.faults.sorted()
	if faults.Failed() {
		return gate.Policy{}, faults
	}
	return p, faults
}

func readPolicy(n node, to *gate.Policy) {
	n.object(func(o *object) {
		named(o.key("mode"), &to.Mode, "off", "observe", "auto")
		readRules(o.key("rules"), &to.Rules)
		sources := o.key("sources")
		if sources.value != nil {
			to.Sources = map[gate.SourceID]gate.SourcePolicy{}
		}
		sources.entries(func(id string, entry node) {
			if entry.knownSource(id, entry.key) {
				to.Sources[gate.SourceID(id)] = readSourcePolicy(entry, gate.SourceID(id))
			}
		})
	})
}

func readSourcePolicy(n node, id gate.SourceID) (p gate.SourcePolicy) {
	n.object(func(o *object) {
		p.Allow = o.key("allow").entriesOf(id)
		p.Bots = o.key("bots").entriesOf(id)
		o.key("executors").object(func(o *object) {
			p.Executors.Listed = o.key("listed").executors()
			p.Executors.Unlisted = o.key("unlisted").executors()
		})
		o.key("limits").object(func(o *object) { readLimits(o, &p.Limits) })
		p.Table = readTable(o.key("admission"), id)
	})
	return p
}

// executors decodes a list of executors, where "*" is any. Empty would mean
// the default, which is not what it looks like.
func (n node) executors() (all []string) {
	n.uniqueTexts(&all, func(item node, s *string) bool {
		if item.value.text == "*" {
			*s = "*"
			return true
		}
		return item.executor(s)
	})
	if n.set() && n.value.kind == list && len(n.value.items) == 0 {
		n.fault(`is empty; name executors, or "*" for any, or remove the key for the default`)
	}
	return all
}

// readLimits takes no zero: to package gate it means the default (AD-13).
func readLimits(o *object, to *gate.Limits) {
	const most = 1_000_000
	o.key("sender_per_hour").integer(&to.SenderPerHour, 1, most)
	o.key("scope_per_hour").integer(&to.ScopePerHour, 1, most)
	o.key("active_per_requester").integer(&to.ActivePerRequester, 1, most)
	o.key("waiting_per_scope").integer(&to.WaitingPerScope, 1, most)
}

// cells are the cells of a row, by their keys.
var cells = []gate.Cell{gate.ListedUnaddressed, gate.UnlistedAddressed, gate.UnlistedUnaddressed}

// readTable decodes an admission table and has package gate check it against
// the Source (AD-7).
func readTable(n node, id gate.SourceID) gate.Table {
	src := n.d.refs.sources[id]
	if !n.set() || src == nil {
		return nil
	}
	table, at := gate.Table{}, map[gate.Scope]map[gate.Cell]node{}
	n.entries(func(row string, entry node) {
		if !entry.isRow(row, src.Platform) {
			return
		}
		scope := gate.Scope(row)
		table[scope], at[scope] = readRow(entry)
	})
	for _, f := range gate.CheckTable(src, table) {
		at[f.Row][f.Cell].tableFault(id, f)
	}
	return table
}

// tableFault says what package gate found, at the cell.
func (n node) tableFault(id gate.SourceID, f gate.TableFault) {
	text := f.Text
	if f.Setting != "" {
		text += "; set it under sources." + string(id) + ", or write none here"
	}
	n.path = "" // the text names row and cell
	n.fault("%s", text)
	n.d.faults[len(n.d.faults)-1].Warning = f.Warning
}

// isRow reports whether the platform has such a row, and complains when not.
// Whether the chat of a row is configured is for package gate to say.
func (n node) isRow(row string, p gate.Platform) bool {
	known := []string{string(gate.Issues), string(gate.Pulls), string(gate.Comments), string(gate.CI)}
	if p == gate.Feishu {
		known = []string{"chat:oc_…", string(gate.OtherChats), string(gate.DirectChat)}
		if gate.Scope(row).Chat() != "" {
			return true
		}
	}
	for _, k := range known {
		if row == k {
			return true
		}
	}
	n.faultAt(n.key, "%s is no row; %s", quote(row), rowHint(row, known))
	return false
}

func rowHint(row string, known []string) string {
	if strings.HasPrefix(row, "oc_") {
		return "did you mean " + quote("chat:"+row) + "?"
	}
	return didYouMean(row, known)
}

func readRow(n node) (row gate.Row, at map[gate.Cell]node) {
	at = map[gate.Cell]node{}
	n.object(func(o *object) {
		to := map[gate.Cell]*gate.Strength{
			gate.ListedUnaddressed:   &row.ListedUnaddressed,
			gate.UnlistedAddressed:   &row.UnlistedAddressed,
			gate.UnlistedUnaddressed: &row.UnlistedUnaddressed,
		}
		for _, c := range cells {
			at[c] = o.key(c.String())
			named(at[c], to[c], "explicit", "inferred", "none")
		}
	})
	return row, at
}
