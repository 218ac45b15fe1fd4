package orchestrator_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// guided plays a Ticket that matched the rules a, b and c, and returns the last
// Input that it got.
func guided(t *testing.T, settings orchestrator.Settings, resume bool, rules ...gate.Rule) orchestrator.Input {
	t.Helper()
	s, f := emptyState(), smallFacts(epoch)
	f.Settings.TeamPrompt, f.Settings.Instructions = settings.TeamPrompt, settings.Instructions
	f.Policy.Rules = rules
	s.Messages["m1"] = said("m1", "Alin@")
	s = apply(s, orchestrator.Arrive(s, "m1", f))
	s = apply(s, orchestrator.FormEval(s, "A", nil, "main", f))
	r := orchestrator.Ruling{PolicyVersion: 1, Evaluated: true}
	for _, rule := range rules {
		r.Verdicts = append(r.Verdicts, orchestrator.RuleVerdict{Rule: rule.ID, Match: true, Reason: "r"})
	}
	c, res := orchestrator.Route(s, orchestrator.Item{Trigger: "m1", Action: orchestrator.ActAccept, Title: "t"}, r, f)
	if !res.OK || len(c.Inputs) != 1 {
		t.Fatalf("Route = %+v with %d inputs, want a Ticket", res, len(c.Inputs))
	}
	if !resume {
		return c.Inputs[0]
	}
	s = apply(s, c)
	done, _ := orchestrator.Perform(s, res.Ticket, orchestrator.Command{Verb: orchestrator.VerbReport, Kind: orchestrator.ReportDone}, f)
	s = apply(s, done)
	s.Messages["m2"] = said("m2", "Awang")
	f.Policy.Rules = append([]gate.Rule{}, rules...)
	f.Policy.Rules[0].Instructions = "Label it twice."
	return orchestrator.Arrive(s, "m2", f).Inputs[0]
}

func TestTheExecutorIsTold(t *testing.T) {
	t.Parallel()
	review := gate.Review{Reviewers: []string{"ou_1"}, Approvals: 1}
	triage := gate.Rule{ID: "triage", Name: "Triage", Description: "Crashes.", Instructions: "Label it.", Enabled: true, Match: "x", Review: review}
	quiet := gate.Rule{ID: "quiet", Name: "Quiet", Enabled: true}
	told := orchestrator.Settings{TeamPrompt: "Tests first.", Instructions: map[string]string{"default": "Be brief.", "coder": "Be long."}}
	rows := []struct {
		rule         string
		resume       bool
		settings     orchestrator.Settings
		rules        []gate.Rule
		want         []orchestrator.WorkRule
		instructions string
	}{
		{"the matched rules with their names, instructions and review (RU-3, RU-4)", false, orchestrator.Settings{}, []gate.Rule{triage, quiet},
			[]orchestrator.WorkRule{{ID: "triage", Name: "Triage", Instructions: "Label it.", Review: review}, {ID: "quiet", Name: "Quiet"}}, ""},
		{"nothing where no rule matched and the configuration says nothing (RU-3)", false, orchestrator.Settings{TeamPrompt: " "}, nil, nil, ""},
		{"what the configuration tells every Ticket and its executor (RU-3)", false, told, nil, nil, "Tests first.\n\nBe brief."},
		{"again when it is resumed, as the rules read then (RU-3)", true, told, []gate.Rule{triage},
			[]orchestrator.WorkRule{{ID: "triage", Name: "Triage", Instructions: "Label it twice.", Review: review}}, "Tests first.\n\nBe brief."},
	}
	for _, r := range rows {
		t.Run(r.rule, func(t *testing.T) {
			t.Parallel()
			in := guided(t, r.settings, r.resume, r.rules...)
			if d := cmp.Diff(r.want, in.Rules, cmpopts.EquateEmpty()); d != "" || in.Instructions != r.instructions {
				t.Errorf("the Input tells %q and (-want +got):\n%s", in.Instructions, d)
			}
		})
	}
	t.Run("a follow-up tells none of it again (RU-3)", func(t *testing.T) {
		t.Parallel()
		s, f := emptyState(), smallFacts(epoch)
		f.Settings.TeamPrompt = "Tests first."
		s.Messages["m1"] = said("m1", "Alin@")
		s = apply(s, orchestrator.Arrive(s, "m1", f))
		s = apply(s, orchestrator.FormEval(s, "A", nil, "main", f))
		c, _ := orchestrator.Route(s, orchestrator.Item{Trigger: "m1", Action: orchestrator.ActAccept, Title: "t"}, orchestrator.Ruling{PolicyVersion: 1}, f)
		s = apply(s, c)
		s.Messages["m2"] = said("m2", "Awang")
		if in := orchestrator.Arrive(s, "m2", f).Inputs[0]; in.Instructions != "" || in.Rules != nil {
			t.Errorf("the follow-up tells %+v, want nothing but what was said", in)
		}
	})
}
