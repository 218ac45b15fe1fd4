package gate_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// edit changes the next Policy of a row.
type edit func(p *gate.Policy)

func mode(m gate.Mode) edit { return func(p *gate.Policy) { p.Mode = m } }

func source(change func(s *gate.SourcePolicy)) edit {
	return func(p *gate.Policy) {
		s := p.Sources["main"]
		change(&s)
		p.Sources["main"] = s
	}
}

func allow(ids ...string) edit { return source(func(s *gate.SourcePolicy) { s.Allow = ids }) }
func bots(ids ...string) edit  { return source(func(s *gate.SourcePolicy) { s.Bots = ids }) }
func cells(c string) edit {
	return source(func(s *gate.SourcePolicy) { s.Table = gate.Table{"issues": row(c)} })
}
func rule(change func(r *gate.Rule)) edit { return func(p *gate.Policy) { change(&p.Rules[0]) } }

func policyOf() *gate.Policy {
	return &gate.Policy{
		Mode: auto,
		Rules: []gate.Rule{
			{ID: "r1", Name: "Triage", Description: "new issues", Instructions: "label them", Enabled: true},
			{ID: "r2", Name: "Other", Enabled: true},
			{ID: "r3", Name: "Asleep"},
		},
		Sources: map[gate.SourceID]gate.SourcePolicy{
			"main": {Allow: []string{"u1"}, Bots: []string{"b1"}, Table: gate.Table{"issues": row("eii")}},
		},
	}
}

const (
	lost = `{"requester":"the requester may no longer start work"}`
	obs  = `{"mode":"proactive work is no longer accepted: the mode went from auto to observe"}`
	toff = `{"mode":"proactive work is no longer accepted: the mode went from auto to off"}`
	same = `{}`
)

func TestAffected(t *testing.T) {
	t.Parallel()
	yes, no, unk := gate.Lists{Allow: gate.Yes, Bots: gate.Yes}, gate.Lists{}, gate.Lists{Allow: gate.Unknown, Bots: gate.Unknown}
	rows := []struct {
		name  string
		basis string
		with  changes
		edit  edit
		l     gate.Lists
		want  string
	}{
		{"PV-4 nothing changed", "allow_list", nil, func(*gate.Policy) {}, yes, same},
		{"PV-4 a change elsewhere", "allow_list", nil, func(p *gate.Policy) { p.Rules[1].Name = "x"; p.Sources["b"] = gate.SourcePolicy{} }, yes, same},

		{"PV-4 a matched rule changed", "allow_list", nil, rule(func(r *gate.Rule) { r.Instructions = "close them" }), yes,
			`{"rules":[{"id":"r1","name":"Triage","gone":false,"text":"new issues\n\nclose them"}]}`},
		{"PV-4 its review changed", "allow_list", nil, rule(func(r *gate.Rule) { r.Review.Approvals = 2 }), yes,
			`{"rules":[{"id":"r1","name":"Triage","gone":false,"text":"new issues\n\nlabel them","review":{"approvals":2}}]}`},
		{"PV-4 a matched rule was disabled", "allow_list", nil, rule(func(r *gate.Rule) { r.Enabled = false }), yes,
			`{"rules":[{"id":"r1","name":"Triage","gone":true,"text":""}]}`},
		{"PV-4 a matched rule was deleted", "allow_list", nil, func(p *gate.Policy) { p.Rules = p.Rules[1:] }, yes,
			`{"rules":[{"id":"r1","name":"Triage","gone":true,"text":""}]}`},
		{"PV-4 a matched rule applies again", "allow_list", nil, func(p *gate.Policy) { p.Rules[2].Enabled = true }, yes,
			`{"rules":[{"id":"r3","name":"Asleep","gone":false,"text":""}]}`},
		{"PV-4 what was disabled before stays silent", "allow_list", nil, func(p *gate.Policy) { p.Rules = p.Rules[:2] }, yes, same},

		{"PV-4 the requester was taken off the list", "allow_list", changes{addressed}, allow(), no, lost},
		{"PV-4 but a cell lets them ask", "allow_list", changes{addressed}, func(p *gate.Policy) { allow()(p); cells("-e-")(p) }, no, same},
		{"PV-4 the requester stays on the list", "allow_list", nil, allow("u1", "u2"), yes, same},
		{"PV-4 a list that cannot be read says nothing", "allow_list", nil, allow(), unk, same},
		{"PV-4 who left a group was not changed by the policy", "allow_list", nil, mode(auto), no, same},
		{"PV-4 a follow-up's requester was taken off the list", "follow_up", nil, allow(), no, lost},
		{"PV-4 a follow-up's requester who is listed has no cell to lose", "follow_up", nil, cells("---"), yes, same},
		{"PV-4 a cell was weakened", byRemark, nil, cells("i--"), yes, lost},
		{"PV-4 a cell was weakened, and the list cannot be read", byRemark, nil, cells("i-i"), unk, lost},
		{"PV-4 a cell was weakened for some", byRemark, nil, cells("e--"), unk, same},
		{"PV-4 a cell was strengthened", byRemark, changes{asInferred}, cells("e--"), yes, same},
		{"PV-7 what the source receives does not count", byMention, changes{asInferred, addressed, fewer}, cells("-e-"), no, same},
		{"PV-4 a bot was taken off the list", "bot_list", changes{asBot}, bots(), no, lost},
		{"PV-4 a bot stays on the list", "bot_list", changes{asBot}, bots("b1", "b2"), yes, same},
		{"PV-4 a bot list that cannot be read says nothing", "bot_list", changes{asBot}, bots(), unk, same},
		{"PV-4 an unlisted follow-up has no list to lose", "follow_up_unlisted", changes{asInferred}, allow(), no, same},

		{"PV-4 the mode went to observe", byRemark, changes{asInferred}, mode(observe), yes, obs},
		{"PV-4 the mode went to off", "follow_up_unlisted", changes{asInferred}, mode(off), no, toff},
		{"PV-4 a mode that does not exist is off", byRemark, changes{asInferred}, mode(9), yes, toff},
		{"PV-4 the mode does not concern who asked", "allow_list", nil, mode(off), yes, same},

		{"PV-4 a mandate that does not stand", "allow_list", changes{func(r *resume) { r.m.State = gate.MandateRevoked }}, allow(), no, same},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			world := newResume(r.basis, "---")
			world.m.Rules = []string{"r1", "r3"}
			for _, change := range r.with {
				change(world)
			}
			next := policyOf()
			r.edit(next)
			got, affected := gate.Affected(&world.m, policyOf(), next, r.l, false)
			text, err := json.Marshal(got)
			if err != nil || string(text) != r.want || affected != (r.want != same) {
				t.Errorf("Affected(%+v) = %s, %t, %v, want %s", world.m, text, affected, err, r.want)
			}
		})
	}
}

func TestAffectedWithoutTwoPoliciesIsFalse(t *testing.T) {
	t.Parallel()
	m, p := &newResume("allow_list", "---").m, policyOf()
	for name, affected := range map[string]bool{
		"no mandate": second(gate.Affected(nil, p, p, gate.Lists{}, false)),
		"no old":     second(gate.Affected(m, nil, p, gate.Lists{}, false)),
		"no next":    second(gate.Affected(m, p, nil, gate.Lists{}, false)),
	} {
		if affected {
			t.Errorf("PV-4 Affected(%s) = true, want false", name)
		}
	}
}

func TestWhatIsKnownIsNoNews(t *testing.T) {
	t.Parallel()
	m, next := &newResume("allow_list", "---").m, policyOf()
	m.Rules = []string{"r1"}
	allow()(next)
	if got, affected := gate.Affected(m, policyOf(), next, gate.Lists{}, true); affected {
		t.Errorf("PV-4 Affected(who knows it) = %+v, want nothing", got)
	}
	rule(func(r *gate.Rule) { r.Enabled = false })(next)
	if got, affected := gate.Affected(m, policyOf(), next, gate.Lists{}, true); !affected || got.Requester != "" || len(got.Rules) != 1 {
		t.Errorf("PV-4 Affected(who knows of the requester, not of the rule) = %+v, %t, want the rule only", got, affected)
	}
}

func TestLostRequester(t *testing.T) {
	t.Parallel()
	unk := gate.Lists{Allow: gate.Unknown, Bots: gate.Unknown}
	yes := gate.Lists{Allow: gate.Yes, Bots: gate.Yes}
	for _, r := range []struct {
		name, basis string
		cells       string
		l           gate.Lists
		want        gate.Membership
	}{
		{"PV-4 who is listed may", "allow_list", "---", yes, gate.No},
		{"PV-4 who is not may not", "allow_list", "---", gate.Lists{}, gate.Yes},
		{"PV-4 a list that cannot be read tells nothing", "allow_list", "---", unk, gate.Unknown},
		{"PV-4 unless the cells say the same of both", byRemark, "---", unk, gate.Yes},
		{"PV-4 a bot that is listed may", "bot_list", "---", yes, gate.No},
		{"PV-4 a bot that is not may not", "bot_list", "---", gate.Lists{}, gate.Yes},
		{"PV-4 a bot list that cannot be read tells nothing", "bot_list", "---", unk, gate.Unknown},
		{"PV-4 a follow-up of who is not listed has no list to lose", "follow_up_unlisted", "---", gate.Lists{}, gate.No},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			p := policyOf()
			cells(r.cells)(p)
			if got := gate.LostRequester(&newResume(r.basis, "---").m, p, r.l); got != r.want {
				t.Errorf("LostRequester = %v, want %v", got, r.want)
			}
		})
	}
}

func second(_ gate.PolicyChange, ok bool) bool { return ok }

// Every field of a rule but its match is part of the work: one that is added
// to the type is noticed here.
func TestEveryFieldOfARuleCounts(t *testing.T) {
	t.Parallel()
	m := &newResume("allow_list", "---").m
	full := gate.Rule{
		Name: "n", Description: "d", Instructions: "i", Match: "m", Acknowledge: true,
		Review: gate.Review{Reviewers: []string{"r"}, Approvals: 1}, Executors: []string{"e"},
	}
	for i := range reflect.TypeFor[gate.Rule]().NumField() {
		field := reflect.TypeFor[gate.Rule]().Field(i).Name
		if field == "ID" || field == "Enabled" {
			continue
		}
		next := policyOf()
		next.Rules[0].Description, next.Rules[0].Instructions, next.Rules[0].Name = "", "", ""
		old := policyOf()
		old.Rules[0] = next.Rules[0]
		reflect.ValueOf(&next.Rules[0]).Elem().Field(i).Set(reflect.ValueOf(full).Field(i))
		if _, got := gate.Affected(m, old, next, gate.Lists{Allow: gate.Yes}, false); got != (field != "Match") {
			t.Errorf("PV-4 Affected(rule with another %s) = %t", field, got)
		}
	}
}
