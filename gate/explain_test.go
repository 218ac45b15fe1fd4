package gate_test

import (
	"fmt"
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

func TestExplainAgreesWithAdmit(t *testing.T) {
	everywhere(t, ownList, func(in *input) error {
		want := in.admit()
		got, steps := gate.Explain(&in.t, &in.src, &in.pol, in.standing, in.lists)
		last := steps[len(steps)-1]
		if got != want || last != (gate.Step{Rule: want.Rule, Applies: true, Text: want.Reason}) {
			return fmt.Errorf("Explain(%s) = %s by %v, want %s", in, show(got), last, show(want))
		}
		for _, s := range steps[:len(steps)-1] {
			if s.Applies || s.Rule == "" || s.Text == "" {
				return fmt.Errorf("Explain(%s) has the step %+v, want one that says why it does not apply", in, s)
			}
		}
		return nil
	})
}

func TestExplainSaysWhyALineDoesNotApply(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, who, rule, want string }{
		{"AD-2 a person who is not listed", "unlisted", "AD-2", "a listed person who addresses the agent is explicit; not here: the sender is not listed"},
		{"AD-11 a person whose list cannot be read", "unknown", "AD-2", "a listed person who addresses the agent is explicit; not here: the list could not be read, which counts as not listed"},
		{"AD-2 a listed person who does not address", "listed", "AD-2", "a listed person who addresses the agent is explicit; not here: it does not address the agent"},
		{"AD-4 a thread without strength", "listed", "AD-3", "a listed person's follow-up is explicit; not here: no ticket whose mandate stands has the thread as its own"},
		{"AD-12 a person is not nobody", "listed", "AD-12", "a message of nobody is refused; not here: a person said it"},
		{"AD-1 CI is no bot", "ci", "AD-1", "a bot that is not on the bot list is refused; not here: no bot said it"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			p := who[r.who]
			p.scope, p.receive, p.standing = "issues", all, gone
			in := newInput(p.scope)
			in.move(p)
			_, steps := gate.Explain(&in.t, &in.src, &in.pol, in.standing, in.lists)
			if got := firstOf(steps, r.rule); got != r.want {
				t.Errorf("Explain(%s) says %q for %s, want %q", p, got, r.rule, r.want)
			}
		})
	}
}

func firstOf(steps []gate.Step, rule string) string {
	for _, s := range steps {
		if s.Rule == rule {
			return s.Text
		}
	}
	return ""
}
