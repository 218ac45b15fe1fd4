package gate_test

import (
	"fmt"
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// The whole input space of Admit: every scope, and in each of them every
// combination of the dimensions below.
var scopes = []gate.Scope{
	"chat:oc_1", gate.OtherChats, gate.DirectChat,
	gate.Issues, gate.Pulls, gate.Comments, gate.CI, "nowhere",
}

// A dimension counts from the weakest value to the strongest, where it has an
// order.
const (
	dimKind = iota
	dimAllow
	dimBots
	dimListedUnaddressed
	dimUnlistedAddressed
	dimUnlistedUnaddressed
	dimMode
	dimStanding
	dimAddressing
	dimReceive
)

var sizes = [...]int{
	dimKind: 4, dimAllow: 3, dimBots: 3,
	dimListedUnaddressed: 3, dimUnlistedAddressed: 3, dimUnlistedUnaddressed: 3,
	dimMode: 3, dimStanding: 4, dimAddressing: 3, dimReceive: 3,
}

// point is one input of Admit, in plain values.
type point struct {
	scope      gate.Scope
	kind       gate.SenderKind
	allow      gate.Membership
	bots       gate.Membership
	cells      gate.Row
	mode       gate.Mode
	standing   gate.Standing
	addressing gate.Addressing
	receive    gate.Receive
}

// input is a point in the types of Admit. It can be moved from point to point
// of one scope. Around the point lie decoys, explicit everywhere, that no
// decision may read.
type input struct {
	point
	t     gate.Trigger
	src   gate.Source
	pol   gate.Policy
	lists gate.Lists
}

func newInput(scope gate.Scope) *input {
	all := gate.Row{ListedUnaddressed: gate.Explicit, UnlistedAddressed: gate.Explicit, UnlistedUnaddressed: gate.Explicit}
	return &input{
		point: point{scope: scope},
		t:     gate.Trigger{Source: "main", Scope: scope, Sender: gate.Sender{ID: "u1"}, Text: "@_all @agent"},
		src: gate.Source{
			ID: "main", Enabled: true,
			Scopes: map[gate.Scope]gate.Receive{"chat:decoy": gate.ReceiveAll},
		},
		pol: gate.Policy{
			Version: 7,
			Rules:   []gate.Rule{{ID: "r1", Enabled: true}},
			Sources: map[gate.SourceID]gate.SourcePolicy{
				"main":  {Table: gate.Table{"chat:decoy": all, "": all}},
				"decoy": {Table: gate.Table{scope: all, gate.CI: all}},
			},
		},
	}
}

func (in *input) move(p point) {
	in.point = p
	in.t.Sender.Kind, in.t.Addressing = p.kind, p.addressing
	in.src.Scopes[p.scope], in.src.Scopes[gate.CI] = p.receive, p.receive
	table := in.pol.Sources["main"].Table
	table[p.scope], table[gate.CI] = p.cells, p.cells
	in.pol.Mode = p.mode
	in.lists = gate.Lists{Allow: p.allow, Bots: p.bots}
}

func (in *input) admit() gate.Verdict {
	return gate.Admit(&in.t, &in.src, &in.pol, in.standing, in.lists)
}

// points is how many there are in a scope.
func points() int {
	n := 1
	for _, s := range sizes {
		n *= s
	}
	return n
}

// stride is how far apart two points are that differ by one in a dimension.
func stride(dim int) int {
	n := 1
	for _, s := range sizes[dim+1:] {
		n *= s
	}
	return n
}

func digit(i, dim int) int { return i / stride(dim) % sizes[dim] }

func pointAt(scope gate.Scope, i int) point {
	var d [len(sizes)]int
	for dim := len(sizes) - 1; dim >= 0; dim-- {
		d[dim], i = i%sizes[dim], i/sizes[dim]
	}
	return point{
		scope: scope, kind: gate.SenderKind(d[dimKind]),
		allow: gate.Membership(d[dimAllow]), bots: gate.Membership(d[dimBots]),
		cells: gate.Row{
			ListedUnaddressed:   gate.Strength(d[dimListedUnaddressed]),
			UnlistedAddressed:   gate.Strength(d[dimUnlistedAddressed]),
			UnlistedUnaddressed: gate.Strength(d[dimUnlistedUnaddressed]),
		},
		mode: gate.Mode(d[dimMode]), standing: gate.Standing(d[dimStanding]),
		addressing: gate.Addressing(d[dimAddressing]), receive: gate.Receive(d[dimReceive]),
	}
}

// everywhere runs a check on every point that is wanted, scope by scope in
// parallel, and stops a scope at its first failure.
func everywhere(t *testing.T, wanted func(point) bool, check func(in *input) error) {
	t.Parallel()
	for _, scope := range scopes {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			in := newInput(scope)
			for i := range points() {
				p := pointAt(scope, i)
				if !wanted(p) {
					continue
				}
				in.move(p)
				if err := check(in); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// every point: nothing is left out.
func every(point) bool { return true }

// ownList leaves out the points that differ only in a list that is not the
// sender's. TestAdmitIsPage02 shows that those are alike.
func ownList(p point) bool {
	return (p.kind == gate.Person || p.allow == gate.No) && (p.kind == gate.Bot || p.bots == gate.No)
}

func (p point) String() string {
	return fmt.Sprintf("%s allow=%s bots=%s in %s (receives %s), addressing=%s, thread=%s, mode=%s, cells=%s/%s/%s",
		p.kind, p.allow, p.bots, p.scope, p.receive, p.addressing, p.standing, p.mode,
		p.cells.ListedUnaddressed, p.cells.UnlistedAddressed, p.cells.UnlistedUnaddressed)
}

func show(v gate.Verdict) string {
	return fmt.Sprintf("%s %s %s (%s)", v.Strength, v.Basis, v.Rule, v.Reason)
}
