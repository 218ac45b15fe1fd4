package gate_test

import (
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
	"pgregory.net/rapid"
)

// resume is a Mandate and the world of its resume. Each row changes a part.
type resume struct {
	m   gate.Mandate
	src gate.Source
	pol gate.Policy
	l   gate.Lists
}

func (r *resume) judge() gate.Revalidation { return gate.Revalidate(&r.m, &r.src, &r.pol, r.l) }

// newResume is of a person's Mandate in `issues` in a Source that receives
// everything, in mode auto, with the cells of row.
func newResume(basis, cells string) *resume {
	r := &resume{
		m: gate.Mandate{
			State: gate.MandateActive, Source: "main", Scope: "issues", Thread: "th",
			Sender: gate.Sender{Kind: gate.Person, ID: "u1"}, Strength: gate.Explicit, Rules: []string{"r1", "r2"}, Executor: "default",
		},
		src: gate.Source{ID: "main", Enabled: true, Scopes: map[gate.Scope]gate.Receive{"issues": all, "ci": all}},
		pol: gate.Policy{
			Mode:    auto,
			Rules:   []gate.Rule{{ID: "r1", Enabled: true}, {ID: "r2", Enabled: true}},
			Sources: map[gate.SourceID]gate.SourcePolicy{"main": {Table: gate.Table{"issues": row(cells), "ci": row(cells)}}},
		},
		l: gate.Lists{Allow: gate.Yes, Bots: gate.No},
	}
	if err := r.m.Basis.UnmarshalText([]byte(basis)); err != nil {
		panic(err)
	}
	return r
}

const (
	bySilence = "cell:issues/unlisted_unaddressed"
	byRemark  = "cell:issues/listed_unaddressed"
	byMention = "cell:issues/unlisted_addressed"
	byCI      = "cell:ci/unlisted_unaddressed"
)

func asInferred(r *resume) { r.m.Strength = gate.Inferred }
func unlisted(r *resume)   { r.l.Allow = gate.No }
func unknown(r *resume)    { r.l.Allow = gate.Unknown }
func addressed(r *resume)  { r.m.Addressing = gate.Mention }
func observing(r *resume)  { r.pol.Mode = observe }
func disabled(r *resume)   { r.pol.Rules[1].Enabled = false }
func asCoder(r *resume)    { r.m.Executor = "coder" }
func offNow(r *resume)     { r.src.Enabled = false }
func asBot(r *resume)      { asInferred(r); r.m.Sender.Kind, r.l = gate.Bot, gate.Lists{Bots: gate.Yes} }
func asCI(r *resume) {
	asInferred(r)
	unlisted(r)
	r.m.Sender, r.m.Scope = gate.Sender{Kind: gate.NoSender}, "ci"
}
func fewer(r *resume) { r.src.Scopes["issues"] = mentions }
func deaf(r *resume)  { delete(r.src.Scopes, "issues") }
func inRepo(configured ...string) func(r *resume) {
	return func(r *resume) { r.m.Place.Chat, r.src.Repos = "Acme/shop", configured }
}
func inChat(was, is gate.Scope) func(r *resume) {
	return func(r *resume) {
		r.m.Scope, r.m.Place.Chat, r.src.Scopes = was, "oc_1", map[gate.Scope]gate.Receive{is: mentions}
	}
}
func listedOnly(r *resume) { setExecutors(r, gate.Executors{Listed: []string{"default"}}) }

func setExecutors(r *resume, e gate.Executors) {
	s := r.pol.Sources["main"]
	s.Executors = e
	r.pol.Sources["main"] = s
}

type changes []func(r *resume)

var resumes = []struct {
	name, basis, cells string
	with               changes
	want               string
}{
	{"RE-4 an active mandate stands", "allow_list", "---", nil, "stands RV-7"},
	{"RE-4 a withdrawn mandate fails", "allow_list", "---", changes{func(r *resume) { r.m.State = gate.MandateWithdrawn }}, "fails RE-4"},
	{"RE-4 a revoked mandate fails", "allow_list", "---", changes{func(r *resume) { r.m.State = gate.MandateRevoked }}, "fails RE-4"},
	{"RE-4 the zero mandate fails", "allow_list", "---", changes{func(r *resume) { r.m = gate.Mandate{} }}, "fails RE-4"},
	{"RE-4 a mandate without a basis fails", "", "---", nil, "fails RE-4"},
	{"RE-4 a mandate of an unknown basis fails", "", "---", changes{func(r *resume) { r.m.Basis.Kind = 9 }}, "fails RE-4"},
	{"RE-4 a mandate without strength fails", byRemark, "---", changes{func(r *resume) { r.m.Strength = gate.None }}, "fails RE-4"},

	{"RV-1 a scope that is off fails", "allow_list", "---", changes{deaf}, "fails RV-1"},
	{"RV-1 a repository that is configured stands", "allow_list", "---", changes{inRepo("acme/*")}, "stands RV-7"},
	{"RV-1 a repository that was removed fails", "allow_list", "---", changes{inRepo("acme/other", "umbrella/*")}, "fails RV-1"},
	{"RV-1 it fails also while switched off", "allow_list", "---", changes{inRepo("acme/other"), offNow}, "fails RV-1"},
	{"RV-1 a chat that lost its line is one of the others", "allow_list", "---", changes{inChat("chat:oc_1", "other_chats")}, "stands RV-7"},
	{"RV-1 and fails where those are off", "allow_list", "---", changes{inChat("chat:oc_1", "chat:oc_2")}, "fails RV-1"},
	{"RV-1 a chat that got a line goes by that", "allow_list", "---", changes{inChat("other_chats", "chat:oc_1")}, "stands RV-7"},
	{"RV-1 it need not receive every message", "follow_up", "---", changes{fewer}, "stands RV-2"},
	{"RV-1 a source that is switched off waits", "allow_list", "---", changes{offNow}, "waits RV-1"},
	{"RV-1 it waits whatever the policy says", "allow_list", "---", changes{offNow, unlisted}, "waits RV-1"},
	{"RV-1 a removed scope fails also while switched off", "allow_list", "---", changes{offNow, deaf}, "fails RV-1"},

	{"RV-2 a follow-up needs nothing more", "follow_up", "---", changes{observing, disabled, unlisted}, "stands RV-2"},
	{"RV-2 also where the list cannot be read", "follow_up", "---", changes{unknown, asCoder}, "stands RV-2"},

	{"RV-3 an unlisted follow-up stands in auto", "follow_up_unlisted", "---", changes{asInferred, unlisted}, "stands RV-3"},
	{"RV-3 it fails in another mode", "follow_up_unlisted", "---", changes{asInferred, observing}, "fails RV-3"},
	{"RV-3 it fails with a rule disabled", "follow_up_unlisted", "---", changes{asInferred, disabled}, "fails RV-3"},
	{"RV-3 it is inferred whatever is recorded", "follow_up_unlisted", "---", changes{observing}, "fails RV-3"},

	{"RV-4 a cell that still gives as much stands", byRemark, "e--", nil, "stands RV-4"},
	{"RV-4 a cell that gives more stands", byRemark, "e--", changes{asInferred}, "stands RV-4"},
	{"RV-4 a cell that gives less fails", byRemark, "i--", nil, "fails RV-4"},
	{"RV-4 a cell that says none fails", byMention, "---", changes{addressed, unlisted}, "fails RV-4"},
	{"RV-4 taken off the list, a listed cell is lost", byRemark, "e--", changes{unlisted}, "fails RV-4"},
	{"RV-4 unless the other cell gives as much", byRemark, "--e", changes{unlisted}, "stands RV-4"},
	{"RV-4 put on the list, who addresses needs no cell", byMention, "---", changes{addressed}, "stands RV-4"},
	{"RV-4 put on the list, who does not has the other cell", bySilence, "--e", nil, "fails RV-4"},
	{"RV-4 the thread's tickets do not count", bySilence, "--i", changes{unlisted}, "fails RV-4"},
	{"PV-5a a cell that is not available any more fails", byRemark, "e--", changes{fewer}, "fails RV-4"},
	{"RV-4 a mention's cell is available with mentions", byMention, "-e-", changes{addressed, unlisted, fewer}, "stands RV-4"},
	{"RV-4 CI keeps its cell", byCI, "--i", changes{asCI}, "stands RV-4"},
	{"RV-4 CI does not need the allow list", byCI, "--i", changes{asCI, unknown}, "stands RV-4"},
	{"RV-4 CI fails with explicit, which is none", byCI, "--e", changes{asCI}, "fails RV-4"},
	{"RV-4 a bot has no cell", byMention, "eee", changes{asBot, addressed}, "fails RV-4"},

	{"RV-5 a bot on the list stands", "bot_list", "---", changes{asBot}, "stands RV-5"},
	{"RV-5 a bot off the list fails", "bot_list", "---", changes{asBot, func(r *resume) { r.l.Bots = gate.No }}, "fails RV-5"},
	{"RV-8 a bot list that cannot be read waits", "bot_list", "---", changes{asBot, func(r *resume) { r.l.Bots = gate.Unknown }}, "waits RV-8"},

	{"RV-6 an inferred cell needs mode auto", byRemark, "i--", changes{asInferred, observing}, "fails RV-6"},
	{"RV-6 an explicit cell does not", byRemark, "e--", changes{observing, disabled}, "stands RV-4"},
	{"RV-6 an inferred cell needs its rules", byRemark, "i--", changes{asInferred, disabled}, "fails RV-6"},
	{"RV-6 a bot needs mode auto", "bot_list", "---", changes{asBot, observing}, "fails RV-6"},
	{"RV-6 a bot needs its rules", "bot_list", "---", changes{asBot, disabled}, "fails RV-6"},
	{"TR-7 an inferred request by the list needs mode auto", "allow_list", "---", changes{asInferred, observing}, "fails RV-6"},

	{"RV-7 who is listed stands", "allow_list", "---", changes{observing, disabled}, "stands RV-7"},
	{"RV-7 who is not listed any more fails", "allow_list", "-e-", changes{addressed, unlisted}, "fails RV-7"},
	{"RV-8 an allow list that cannot be read waits", "allow_list", "---", changes{unknown}, "waits RV-8"},
	{"RV-8 a membership that is none of three waits", "allow_list", "---", changes{func(r *resume) { r.l.Allow = 9 }}, "waits RV-8"},

	{"RV-8 a rule that is gone is not enabled", byRemark, "i--", changes{asInferred, func(r *resume) { r.pol.Rules = r.pol.Rules[:1] }}, "fails RV-6"},
	{"RU-2 an inferred mandate has a rule", byRemark, "i--", changes{asInferred, func(r *resume) { r.m.Rules = nil }}, "fails RV-6"},
	{"RV-8 an unknown list waits where the cells differ", byRemark, "e-i", changes{unknown}, "waits RV-8"},
	{"RV-8 and stands where both give enough", byRemark, "e-e", changes{unknown}, "stands RV-4"},
	{"RV-8 and fails where neither does", byRemark, "i-i", changes{unknown}, "fails RV-4"},
	{"RV-8 what is certain outweighs what is unknown", byRemark, "i--", changes{asInferred, unknown, observing}, "fails RV-6"},

	{"RO-2b a listed person keeps any executor", "allow_list", "---", changes{asCoder}, "stands RV-7"},
	{"RO-2b an executor that is not allowed any more fails", "allow_list", "---", changes{asCoder, listedOnly}, "fails RO-2b"},
	{"RO-2b also after a follow-up", "follow_up", "---", changes{asCoder, listedOnly}, "fails RO-2b"},
	{"RO-2b a follow-up taken off the list keeps its executor", "follow_up", "---", changes{asCoder, unlisted}, "stands RV-2"},
	{"RO-2b off the list, by a cell, only default is left", bySilence, "e-e", changes{asCoder, unlisted}, "fails RO-2b"},
	{"RO-2b it waits where only the list tells", bySilence, "e-e", changes{asCoder, unknown}, "waits RV-8"},
	{"RO-2b an inferred one goes by its rules", byRemark, "i--", changes{asInferred, asCoder}, "fails RO-2b"},
}

func TestRevalidate(t *testing.T) {
	t.Parallel()
	for _, r := range resumes {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			world := newResume(r.basis, r.cells)
			for _, change := range r.with {
				change(world)
			}
			got := world.judge()
			if word := got.Outcome.String() + " " + got.Rule; word != r.want || got.Reason == "" {
				t.Errorf("Revalidate(%+v, %s) = %s (%s), want %s", world.m, r.cells, word, got.Reason, r.want)
			}
		})
	}
}

func TestRevalidateWithoutAWorld(t *testing.T) {
	t.Parallel()
	r := newResume("allow_list", "---")
	rows := []struct {
		name string
		got  gate.Revalidation
		want gate.RevalidationOutcome
	}{
		{"RV-1 a source that was removed fails", gate.Revalidate(&r.m, nil, &r.pol, r.l), gate.Fails},
		{"RE-4 no mandate fails", gate.Revalidate(nil, &r.src, &r.pol, r.l), gate.Fails},
		{"PV-1 a policy that is not known waits", gate.Revalidate(&r.m, &r.src, nil, r.l), gate.Waits},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if r.got.Outcome != r.want {
				t.Errorf("Revalidate(…) = %v, want %s", r.got, r.want)
			}
		})
	}
}

// Resolving an unknown list one way or the other never contradicts what was
// said while it was unknown: only what waits can go either way (RV-8).
func TestAnUnknownListOnlyMakesWait(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		basis := rapid.SampledFrom([]string{"allow_list", "follow_up", "follow_up_unlisted", "bot_list", bySilence, byRemark, byMention}).Draw(t, "basis")
		r := newResume(basis, rapid.StringMatching(`[ei-]{3}`).Draw(t, "cells"))
		for _, change := range []func(*resume){asInferred, addressed, observing, disabled, asCoder, offNow, asBot, fewer, listedOnly} {
			if rapid.Bool().Draw(t, "change") {
				change(r)
			}
		}
		judge := func(m gate.Membership) gate.RevalidationOutcome {
			r.l.Allow, r.l.Bots = m, m
			return r.judge().Outcome
		}
		yes, no, got := judge(gate.Yes), judge(gate.No), judge(gate.Unknown)
		if yes == no && got != yes || yes != no && got != gate.Waits {
			t.Fatalf("RV-8 Revalidate(%+v, unknown) = %s, want it to wait exactly where listed (%s) and not listed (%s) differ", r.m, got, yes, no)
		}
	})
}
