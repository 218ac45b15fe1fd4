package gate_test

import (
	"fmt"
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

func TestBotsAndCIAreNeverExplicit(t *testing.T) {
	everywhere(t, ownList, func(in *input) error {
		if v := in.admit(); in.kind != gate.Person && v.Strength == gate.Explicit {
			return fmt.Errorf("AD-1, AD-7 Admit(%s) = %s, want at most inferred", in, show(v))
		}
		return nil
	})
}

func TestNothingIsInferredInModeOff(t *testing.T) {
	everywhere(t, ownList, func(in *input) error {
		if v := in.admit(); in.mode == gate.Off && v.Strength == gate.Inferred {
			return fmt.Errorf("AD-6 Admit(%s) = %s, want none", in, show(v))
		}
		return nil
	})
}

// Weakening anything never strengthens a verdict: a cell, the bot list, the
// mode, what the scope receives, the Thread's standing.
//
// The allow list is the exception, because AD-5 gives listed and unlisted
// people cells of their own, and nothing orders them: with listed_unaddressed
// none and unlisted_unaddressed inferred, being taken off the list lets a
// person's remarks through. So the property is: weakening the allow list never
// strengthens a verdict where the row is monotone (listed_unaddressed at least
// unlisted_unaddressed), nor of any message that addresses the agent (AD-2 is
// above every cell), nor of any follow-up on an own Thread (AD-3 is explicit
// for listed people whatever the cells say). What is left are unaddressed
// messages outside own Threads in rows that are upside down. Yes to No goes
// through Unknown, which counts as No (AD-11).
//
// One cell has no order of its own: explicit in the row `ci` is a fault that
// counts as none (AD-7), so mending it to inferred strengthens.
func TestWeakeningNeverStrengthens(t *testing.T) {
	weakened := []int{
		dimAllow, dimBots, dimListedUnaddressed, dimUnlistedAddressed, dimUnlistedUnaddressed,
		dimMode, dimStanding, dimReceive,
	}
	t.Parallel()
	for _, scope := range scopes {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			got := strengthsOf(scope)
			for i, s := range got {
				for _, dim := range weakened {
					if digit(i, dim) == 0 {
						continue
					}
					weaker := i - stride(dim)
					if got[weaker] <= s || unordered(pointAt(scope, i), dim) {
						continue
					}
					t.Fatalf("Admit(%s) = %s, want at most %s as for %s",
						pointAt(scope, weaker), got[weaker], s, pointAt(scope, i))
				}
			}
		})
	}
}

func strengthsOf(scope gate.Scope) []gate.Strength {
	in := newInput(scope)
	got := make([]gate.Strength, points())
	for i := range got {
		in.move(pointAt(scope, i))
		got[i] = in.admit().Strength
	}
	return got
}

// unordered are the points where a dimension has no order, as said above.
func unordered(p point, dim int) bool {
	switch dim {
	case dimAllow:
		return p.kind == gate.Person && p.addressing == gate.NotAddressed && p.standing != gate.Own &&
			p.cells.ListedUnaddressed < p.cells.UnlistedUnaddressed
	case dimUnlistedUnaddressed:
		return p.kind == gate.NoSender && p.cells.UnlistedUnaddressed == gate.Explicit
	}
	return false
}

func TestARowUpsideDownGivesAListedPersonLess(t *testing.T) {
	t.Parallel()
	in := newInput(gate.Issues)
	p := point{
		scope: gate.Issues, kind: gate.Person, mode: gate.Observe, receive: gate.ReceiveAll,
		cells: gate.Row{UnlistedUnaddressed: gate.Inferred},
	}
	for _, allow := range []gate.Membership{gate.No, gate.Unknown, gate.Yes} {
		p.allow = allow
		in.move(p)
		want := gate.Inferred
		if allow == gate.Yes {
			want = gate.None
		}
		if v := in.admit(); v.Strength != want {
			t.Errorf("AD-5 Admit(%s) = %s, want %s", p, show(v), want)
		}
	}
}

// What is admitted under a Policy still stands under it (page 05): mode auto
// where it is inferred, since no other mode accepts, and an executor that the
// Policy allows. Where the list was unknown, it may wait but never fails.
func TestWhatIsAdmittedStands(t *testing.T) {
	everywhere(t, ownList, func(in *input) error {
		v := in.admit()
		if !v.Admitted() || v.Strength == gate.Inferred && in.mode != gate.Auto {
			return nil
		}
		m := mandateOf(in, v)
		r := gate.Revalidate(&m, &in.src, &in.pol, in.lists)
		if r.Outcome == gate.Stands || r.Outcome == gate.Waits && in.allow == gate.Unknown {
			return nil
		}
		return fmt.Errorf("Revalidate(%s of %s) = %v, want it to stand", show(v), in, r)
	})
}

func mandateOf(in *input, v gate.Verdict) gate.Mandate {
	return gate.Mandate{
		State: gate.MandateActive, Source: in.t.Source, Scope: in.t.Scope, Sender: in.t.Sender,
		Addressing: in.t.Addressing, Listed: in.allow == gate.Yes,
		Strength: v.Strength, Basis: v.Basis, PolicyVersion: in.pol.Version,
		Rules: []string{"r1"}, Executor: "default",
	}
}

// Values outside the closed sets, which only a fault could make, refuse like
// the zero values.
func TestUnknownValuesRefuse(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		make func(p *point)
	}{
		{"an unknown kind of sender is nobody", func(p *point) { p.kind = 9 }},
		{"an unknown receive setting is off", func(p *point) { p.receive = 9 }},
		{"an unknown addressing is none", func(p *point) { p.addressing = 9; p.receive = gate.ReceiveMentions }},
		{"an unknown membership is not listed", func(p *point) { p.allow = 9 }},
		{"an unknown strength of a cell is none", func(p *point) { p.allow = gate.No; p.cells.UnlistedAddressed = 9 }},
		{"an unknown mode is off", func(p *point) { p.allow = gate.No; p.mode = 9; p.cells.UnlistedAddressed = gate.Inferred }},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			p := point{
				scope: gate.Issues, kind: gate.Person, allow: gate.Yes, mode: gate.Auto,
				addressing: gate.Mention, receive: gate.ReceiveAll,
			}
			r.make(&p)
			in := newInput(p.scope)
			in.move(p)
			if v := in.admit(); v.Admitted() {
				t.Errorf("Admit(%s) = %s, want none", p, show(v))
			}
		})
	}
}

func TestWithoutATriggerASourceOrAPolicyNothingIsAdmitted(t *testing.T) {
	t.Parallel()
	in := newInput(gate.Issues)
	in.move(point{
		scope: gate.Issues, kind: gate.Person, allow: gate.Yes, addressing: gate.Mention, receive: gate.ReceiveAll,
	})
	for name, v := range map[string]gate.Verdict{
		"no trigger": gate.Admit(nil, &in.src, &in.pol, gate.Own, in.lists),
		"no source":  gate.Admit(&in.t, nil, &in.pol, gate.Own, in.lists),
		"no policy":  gate.Admit(&in.t, &in.src, nil, gate.Own, in.lists),
	} {
		if v.Admitted() || v.Rule != "TR-5" {
			t.Errorf("Admit(%s) = %s, want none by TR-5", name, show(v))
		}
	}
}
