package orchestrator_test

import (
	"errors"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func everyLine() gate.Policy {
	return gate.Policy{
		Mode: gate.Auto,
		Rules: []gate.Rule{{
			ID: "a", Name: "A", Description: "d", Instructions: "i", Enabled: true, Match: "true", Acknowledge: true,
			Review: gate.Review{Reviewers: []string{"y", "x"}, Approvals: 1}, Executors: []string{"coder"},
		}},
		Sources: map[gate.SourceID]gate.SourcePolicy{"f": {
			Allow: []string{"ou_1", "ou_2"}, Bots: []string{"cli_1"},
			Executors: gate.Executors{Listed: []string{"coder"}, Unlisted: []string{"other"}},
			Limits:    gate.Limits{SenderPerHour: 1},
			Table:     gate.Table{gate.DirectChat: {UnlistedAddressed: gate.Inferred}},
		}},
	}
}

func TestDiffPolicies(t *testing.T) {
	t.Parallel()
	source := func(edit func(*gate.SourcePolicy)) func(*gate.Policy) {
		return func(p *gate.Policy) {
			s := p.Sources["f"]
			edit(&s)
			p.Sources = map[gate.SourceID]gate.SourcePolicy{"f": s}
		}
	}
	for name, c := range map[string]struct {
		edit func(*gate.Policy)
		want []orchestrator.PolicyEdit
	}{
		"the same (PV-1)":                    {func(*gate.Policy) {}, nil},
		"another version number (PV-1)":      {func(p *gate.Policy) { p.Version = 9 }, nil},
		"the order of an allow list (PV-1)":  {source(func(s *gate.SourcePolicy) { s.Allow = []string{"ou_2", "ou_1", "ou_1"} }), nil},
		"a limit that is the default (PV-1)": {source(func(s *gate.SourcePolicy) { s.Limits.ScopePerHour = 30 }), nil},
		"a cell that says none (PV-1)": {source(func(s *gate.SourcePolicy) {
			s.Table = gate.Table{gate.DirectChat: s.Table[gate.DirectChat], "chat:x": {}}
		}), nil},
		"another mode makes one edit (PV-1)":   {func(p *gate.Policy) { p.Mode = gate.Off }, []orchestrator.PolicyEdit{{Path: "mode", Before: "auto", After: "off"}}},
		"somebody off the allow list (PV-1)":   {source(func(s *gate.SourcePolicy) { s.Allow = s.Allow[:1] }), []orchestrator.PolicyEdit{{Path: "sources.f.allow", Before: "ou_1, ou_2", After: "ou_1"}}},
		"a default executor is no edit (PV-1)": {source(func(s *gate.SourcePolicy) { s.Executors.Listed = []string{"*"} }), []orchestrator.PolicyEdit{{Path: "sources.f.executors.listed", Before: "coder"}}},
		"a rule's text makes one edit (PV-1)": {
			func(p *gate.Policy) { p.Rules[0].Instructions = "j" },
			[]orchestrator.PolicyEdit{{Path: "rules.a.instructions", Before: "i", After: "j"}},
		},
		"a cell (AD-10)": {
			source(func(s *gate.SourcePolicy) { s.Table = gate.Table{gate.DirectChat: {UnlistedAddressed: gate.Explicit}} }),
			[]orchestrator.PolicyEdit{{Path: "sources.f.admission.direct.unlisted_addressed", Before: "inferred", After: "explicit"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, next := everyLine(), everyLine()
			c.edit(&next)
			if got := orchestrator.DiffPolicies(&old, &next); !reflect.DeepEqual(got, c.want) {
				t.Errorf("DiffPolicies = %+v, want %+v", got, c.want)
			}
		})
	}
	none, all := gate.Policy{}, everyLine()
	if got := len(orchestrator.DiffPolicies(&none, &all)); got != 17 {
		t.Errorf("DiffPolicies(none, every line) has %d edits, want 17", got)
	}
}

// edited is the test policy with an edit.
func edited(edit func(*gate.Policy)) gate.Policy {
	p := testPolicy()
	edit(&p)
	return p
}

func unlisted(p *gate.Policy) { p.Sources["feishu"] = gate.SourcePolicy{Allow: []string{"ou_x"}} }

func TestPolicyVersions(t *testing.T) {
	t.Parallel()
	auto := edited(func(p *gate.Policy) { p.Mode = gate.Auto })
	off := edited(func(p *gate.Policy) { p.Mode = gate.Off })
	type step struct {
		file, before *gate.Policy
		put          *gate.Policy
		started      int
		version      int
		by           string
		elsewhere    bool
		outdated     bool
	}
	observe := testPolicy()
	for name, steps := range map[string][]step{
		"a change makes a version, a change of nothing does not (PV-1)": {
			{file: &observe, version: 1, by: "file"}, {file: &observe, version: 1, by: "file"},
			{put: &observe, started: 1, version: 1, by: "file"}, {put: &auto, started: 1, version: 2, by: "api:ops"},
		},
		"two editors cannot overwrite each other (PV-6)": {
			{file: &observe, version: 1, by: "file"}, {put: &auto, started: 1, version: 2, by: "api:ops"},
			{put: &off, started: 1, version: 2, by: "api:ops", outdated: true},
		},
		"a file edit after a change elsewhere is not applied (PV-6)": {
			{file: &observe, version: 1, by: "file"}, {put: &auto, started: 1, version: 2, by: "api:ops"},
			{file: &off, version: 2, by: "api:ops", elsewhere: true}, {file: &observe, version: 2, by: "api:ops"},
		},
		"a file that says what is in force owns the policy again (PV-6)": {
			{file: &observe, version: 1, by: "file"}, {put: &auto, started: 1, version: 2, by: "api:ops"},
			{file: &auto, version: 2, by: "file"}, {file: &off, version: 3, by: "file"},
		},
		"a file edit that starts from what is in force is applied (PV-6)": {
			{file: &observe, version: 1, by: "file"}, {put: &auto, started: 1, version: 2, by: "api:ops"},
			{file: &off, before: &auto, version: 3, by: "file"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			for i, s := range steps {
				var err error
				var e orchestrator.FileEdit
				if s.put != nil {
					_, err = h.svc.SetPolicy(t.Context(), *s.put, s.started, "api:ops")
				} else {
					e, err = h.svc.EditFile(t.Context(), s.before, *s.file)
				}
				rec, _ := h.store.PolicyInForce(t.Context())
				if rec.Policy.Version != s.version || rec.By != s.by || e.Elsewhere != s.elsewhere || errors.Is(err, orchestrator.ErrOutdated) != s.outdated {
					t.Errorf("step %d: version %d by %q, elsewhere %t, %v; want %+v", i, rec.Policy.Version, rec.By, e.Elsewhere, err, s)
				}
			}
		})
	}
	t.Run("each version is kept with who, when and the diff (PV-1)", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		_, err1 := h.svc.ApplyFile(t.Context(), observe)
		_, err2 := h.svc.SetPolicy(t.Context(), auto, 1, "api:ops")
		v, err3 := h.store.PolicyVersion(t.Context(), 2)
		want := []orchestrator.PolicyEdit{{Path: "mode", Before: "observe", After: "auto"}}
		if err := errors.Join(err1, err2, err3); err != nil || v.By != "api:ops" || v.At.IsZero() || !reflect.DeepEqual(v.Diff, want) {
			t.Errorf("version 2 is %+v, %v", v, err)
		}
	})
}

// told returns the policy_changed Inputs of the only Ticket.
func (h *house) told() (told []gate.PolicyChange) {
	h.t.Helper()
	in, err := h.store.Inputs(h.t.Context(), h.ticket().ID, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, i := range in {
		if i.Kind == orchestrator.InputPolicyChanged {
			told = append(told, *i.Policy)
		}
	}
	return told
}

func TestPolicyChangeReachesTickets(t *testing.T) {
	t.Parallel()
	play := func(t *testing.T, check func(h *house)) {
		t.Helper()
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, approvalScript()...)
			h.run()
			h.say(words{from: listed, text: "1.4.2", mention: true, id: "om_1"})
			h.settle()
			check(h)
		})
	}
	put := func(h *house, started int, p gate.Policy) {
		h.t.Helper()
		if _, err := h.svc.SetPolicy(h.t.Context(), p, started, "api:ops"); err != nil {
			h.t.Fatal(err)
		}
		h.settle()
	}
	t.Run("an affected active ticket is told once, and keeps its mandate (PV-4, PV-5)", func(t *testing.T) {
		play(t, func(h *house) {
			put(h, 1, edited(unlisted))
			put(h, 2, edited(func(p *gate.Policy) { unlisted(p); p.Mode = gate.Off }))
			if got := h.told(); len(got) != 1 || got[0].Requester != gate.ReasonRequesterLost {
				t.Errorf("told %+v, want once of the requester", got)
			}
			if tk := h.ticket(); !tk.Mandate.Stands() || !tk.Active() {
				t.Errorf("mandate is %s, want it to stand", tk.Mandate.State)
			}
		})
	})
	t.Run("who knows that its requester is off the list is told no more of changes about others, until it is news again (PV-4)", func(t *testing.T) {
		play(t, func(h *house) {
			allow := func(ids ...string) gate.Policy {
				return edited(func(p *gate.Policy) {
					s := p.Sources["feishu"]
					s.Allow = ids
					p.Sources["feishu"] = s
				})
			}
			for i, step := range []struct {
				p    gate.Policy
				told int
			}{
				{allow("ou_other"), 1}, {allow("ou_other", "ou_third"), 1}, {allow("ou_third"), 1},
				{allow(listed), 1}, {allow("ou_third"), 2}, {allow("ou_other"), 2},
			} {
				put(h, i+1, step.p)
				if got := h.told(); len(got) != step.told {
					t.Errorf("after step %d told %d times, want %d: %+v", i+1, len(got), step.told, got)
				}
			}
		})
	})
	t.Run("who was resumed though its requester is off the list is told nothing of changes about others (PV-4, RV-2)", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.play("say m1 A lin@; eval A; accept m1")
		tk := d.s.Tickets["t1"]
		tk.Mandate.Basis = gate.Basis{Kind: gate.FollowUp}
		tk.State, tk.End = orchestrator.TicketEnded, &orchestrator.End{Reason: orchestrator.EndCompleted}
		d.s.Tickets["t1"] = tk
		d.f.Lists = map[orchestrator.Who]gate.Lists{}
		d.play("say m2 A wang")
		if tk := d.s.Tickets["t1"]; !tk.Active() || !tk.Bereft {
			t.Errorf("ticket is %s, bereft %t; want it resumed, and to know", tk.State, tk.Bereft)
		}
	})
	t.Run("an unaffected ticket gets nothing (PV-4)", func(t *testing.T) {
		play(t, func(h *house) {
			put(h, 1, edited(func(p *gate.Policy) { p.Mode = gate.Off }))
			if got := h.told(); len(got) != 0 {
				t.Errorf("told %+v, want nothing", got)
			}
			if got := h.ticket().Told; got != 2 {
				t.Errorf("Told = %d, want 2", got)
			}
		})
	})
	t.Run("a mandate that lost its requester is revoked at the next resume (RV-7, RE-2)", func(t *testing.T) {
		play(t, func(h *house) {
			q := h.question()
			if _, err := h.broker.Cancel(t.Context(), q.Session.ID, q.ID, "test"); err != nil {
				t.Fatal(err)
			}
			h.settle()
			put(h, 1, edited(unlisted))
			h.say(words{from: stranger, text: "again", root: "om_1", id: "om_2"})
			h.settle()
			if tk := h.ticket(); tk.Active() || tk.Mandate.State != gate.MandateRevoked {
				t.Errorf("ticket is %s with mandate %s, want ended and revoked", tk.State, tk.Mandate.State)
			}
		})
	})
}

func TestPolicyChangeOfAnEndedTicket(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.play("say m1 A lin@; eval A; accept m1")
	old := *d.f.Policy
	old.Version = 1
	c := orchestrator.PolicyChanged(d.s, "t9", 1, &old, d.f)
	if len(c.Tickets)+len(c.Inputs) != 0 {
		t.Errorf("PolicyChanged of an unknown ticket = %+v, want nothing", c)
	}
}

func TestStaleEval(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.play("say m1 A lin@; eval A")
	newer := *d.f.Policy
	newer.Version++
	same := orchestrator.DiscardStale(d.s, "A", d.f)
	if len(same.Threads) != 0 {
		t.Errorf("an eval under the policy in force is kept (PV-3): %+v", same)
	}
	if c := orchestrator.DiscardStale(d.s, "Z", d.f); len(c.Threads) != 0 {
		t.Errorf("DiscardStale of no thread = %+v", c)
	}
	d.f.Policy = &newer
	c := orchestrator.DiscardStale(d.s, "A", d.f)
	t.Run("a new version discards the evals under way and puts their triggers back (PV-3, EV-6)", func(t *testing.T) {
		t.Parallel()
		if len(c.Threads) != 1 || c.Threads[0].Eval != "" || len(c.Threads[0].Queue) != 1 ||
			len(c.Decisions) != 1 || c.Decisions[0].Outcome != orchestrator.Unavailable || len(c.Due) != 1 {
			t.Errorf("DiscardStale = %+v", c)
		}
	})
}
