package orchestrator_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// wordMatcher holds an expression for the messages that contain it; "broken"
// cannot be evaluated, and "listed" asks for the sender.
type wordMatcher struct{}

func (wordMatcher) Match(version int, expression string, m *orchestrator.Message, listed bool) (bool, error) {
	switch {
	case version == 0:
		return false, errors.New("of no version")
	case expression == "broken":
		return false, errors.New("division by zero")
	case expression == "listed":
		return listed, nil
	}
	return strings.Contains(m.Text, expression), nil
}

func TestBuiltinJudgesInferredCandidates(t *testing.T) {
	t.Parallel()
	rule := func(id, match string, executors ...string) gate.Rule {
		return gate.Rule{ID: id, Enabled: true, Match: match, Executors: executors}
	}
	off := rule("off", "panic")
	off.Enabled = false
	ticket := orchestrator.Ticket{ID: "t1", State: orchestrator.TicketActive, Subs: []orchestrator.Subscription{{Kind: orchestrator.SubOwn}}}
	rows := []struct {
		rule    string
		rules   []gate.Rule
		tickets []orchestrator.Ticket
		want    string
	}{
		{"without rules nothing matches (RU-1)", nil, nil, "ignore: no rule matches"},
		{"a rule without an expression does not match (DR-1)", []gate.Rule{rule("a", "")}, nil, "ignore: no rule matches; a- the rule has no match expression"},
		{"one that holds is accepted (DR-1)", []gate.Rule{rule("a", "panic")}, nil, "accept default: rule a matches; a+ the match expression holds"},
		{"one that does not hold is not (DR-1)", []gate.Rule{rule("a", "calm")}, nil, "ignore: no rule matches; a- the match expression does not hold"},
		{"every enabled rule has one verdict, and no other rule (RU-1)", []gate.Rule{rule("a", "calm"), off, rule("b", "panic"), rule("c", "is")}, nil,
			"accept default: rule b matches; a- the match expression does not hold; b+ the match expression holds; c+ the match expression holds"},
		{"one that fails does not match, and says why (DR-1)", []gate.Rule{rule("a", "broken")}, nil,
			"ignore: no rule matches; a- the match expression could not be evaluated: division by zero"},
		{"one that fails stops no other (DR-1)", []gate.Rule{rule("a", "broken"), rule("b", "panic")}, nil,
			"accept default: rule b matches; a- the match expression could not be evaluated: division by zero; b+ the match expression holds"},
		{"it knows whether the sender is listed (DR-1)", []gate.Rule{rule("a", "listed")}, nil, "accept default: rule a matches; a+ the match expression holds"},
		{"the first matched rule names the executor (RO-2b)", []gate.Rule{rule("a", "calm", "painter"), rule("b", "panic", "coder", "default"), rule("c", "panic", "tester")}, nil,
			"accept coder: rule b matches; a- the match expression does not hold; b+ the match expression holds; c+ the match expression holds"},
		{"any executor is the default one (RO-2b)", []gate.Rule{rule("a", "panic", "*")}, nil, "accept default: rule a matches; a+ the match expression holds"},
		{"where the Thread has an active Ticket that gets it (DR-1)", []gate.Rule{rule("a", "panic")}, []orchestrator.Ticket{ticket},
			"attach t1: rule a matches, and the thread has an active ticket; a+ the match expression holds"},
	}
	for _, r := range rows {
		t.Run(r.rule, func(t *testing.T) {
			t.Parallel()
			m := orchestrator.Message{Trigger: gate.Trigger{ID: "m1", Text: "there is panic", Sender: gate.Sender{Kind: gate.Bot, ID: "cli_1"}}}
			m.Admission.Strength = gate.Inferred
			items, err := orchestrator.Builtin{Matcher: wordMatcher{}}.Consider(t.Context(), orchestrator.Handout{
				Policy: &gate.Policy{Version: 3, Mode: gate.Auto, Rules: r.rules}, Candidates: []orchestrator.Message{m},
				Tickets: r.tickets, Listed: map[gate.TriggerID]bool{"m1": true},
			})
			if err != nil || len(items) != 1 || !items[0].Evaluated {
				t.Fatalf("Consider = %+v, %v, want one evaluation", items, err)
			}
			if got := evaluation(items[0]); got != r.want {
				t.Errorf("Consider = %q, want %q", got, r.want)
			}
		})
	}
	t.Run("without a matcher no expression holds (DR-1)", func(t *testing.T) {
		t.Parallel()
		m := orchestrator.Message{Trigger: gate.Trigger{ID: "m1"}}
		items, _ := orchestrator.Builtin{}.Consider(t.Context(), orchestrator.Handout{
			Policy: &gate.Policy{Version: 1, Rules: []gate.Rule{rule("a", "panic")}}, Candidates: []orchestrator.Message{m},
		})
		if got, want := evaluation(items[0]), "ignore: no rule matches; a- this gateway evaluates no match expressions"; got != want {
			t.Errorf("Consider = %q, want %q", got, want)
		}
	})
}

// evaluation is an evaluated item in a line.
func evaluation(r orchestrator.Routed) string {
	line := strings.TrimSpace(fmt.Sprintf("%s %s%s", r.Action, r.Executor, r.Ticket)) + ": " + r.Reason
	for _, v := range r.Verdicts {
		sign := "-"
		if v.Match {
			sign = "+"
		}
		line += "; " + v.Rule + sign + " " + v.Reason
	}
	return line
}

// A bot's message takes the whole way: gate, Eval, evaluation, Decision, Ticket.
func TestAMatchedRuleStartsWork(t *testing.T) {
	t.Parallel()
	rows := []struct {
		rule string
		mode gate.Mode
		text string
		want string
	}{
		{"in auto a matched rule starts a Ticket (DR-1)", gate.Auto, "disk full", "accepted  rules=disk tickets=1"},
		{"in observe that is recorded, and nothing starts (RU-2)", gate.Observe, "disk full", "observed accept rules=disk tickets=0"},
		{"where nothing matches it is ignored by evaluation (RU-1)", gate.Auto, "all is well", "ignored  rules= tickets=0"},
	}
	for _, r := range rows {
		t.Run(r.rule, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t)
				h.policy.Mode = r.mode
				h.policy.Rules = []gate.Rule{{ID: "disk", Name: "Disks", Enabled: true, Match: "disk"}, {ID: "other", Enabled: true}}
				ops := h.policy.Sources["feishu"]
				ops.Bots = []string{"cli_alarm"}
				h.policy.Sources["feishu"] = ops
				h.run()
				h.say(words{from: "cli_alarm", bot: true, text: r.text, mention: true})
				h.settle()
				if got := h.judged(); got != r.want {
					t.Errorf("the Decision is %q, want %q", got, r.want)
				}
			})
		})
	}
}

// judged is the one Decision in a line, with the rules of the Tickets there are.
func (h *house) judged() string {
	h.t.Helper()
	all, _, err := h.store.ListDecisions(h.t.Context(), orchestrator.DecisionFilter{}, orchestrator.Page{Limit: 10})
	if err != nil || len(all) != 1 {
		h.t.Fatalf("ListDecisions = %+v, %v, want one", all, err)
	}
	tickets, _, err := h.store.ListTickets(h.t.Context(), orchestrator.TicketFilter{}, orchestrator.Page{Limit: 10})
	if err != nil {
		h.t.Fatal(err)
	}
	d := all[0]
	if d.IgnoredFromCard || len(d.Verdicts) != 2 {
		h.t.Errorf("the Decision is %+v, want an evaluation with two verdicts (RU-1)", d)
	}
	var rules []string
	for _, v := range d.Verdicts {
		if v.Match {
			rules = append(rules, v.Rule)
		}
	}
	for _, t := range tickets {
		if !slices.Equal(t.Mandate.Rules, rules) {
			h.t.Errorf("the Mandate's rules are %v, want %v (RU-3)", t.Mandate.Rules, rules)
		}
	}
	return fmt.Sprintf("%s %s rules=%s tickets=%d", d.Outcome, d.Would, strings.Join(rules, ","), len(tickets))
}

// A matched rule names who must approve what its Ticket asks, and how many.
func TestAReviewIsEnforcedWhereTheExecutorAsks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, approvalScript()...)
		h.policy.Mode = gate.Auto
		h.policy.Rules = []gate.Rule{
			{ID: "disk", Enabled: true, Match: "disk", Review: gate.Review{Reviewers: []string{"approvers", "ou_boss"}, Approvals: 2}},
			{ID: "all", Enabled: true, Match: "", Review: gate.Review{Reviewers: []string{"ou_nobody"}}},
		}
		ops := h.policy.Sources["feishu"]
		ops.Bots = []string{"cli_alarm"}
		h.policy.Sources["feishu"] = ops
		h.run()
		h.say(words{from: "cli_alarm", bot: true, text: "disk full", mention: true})
		h.settle()
		h.want("card") // a rule without acknowledge starts in silence (RU-4)
		q := h.question()
		if q.Review.Approvals != 2 || !slices.Equal(q.Review.Reviewers, []string{"approvers", "ou_boss"}) {
			t.Errorf("the question's review is %+v, want that of the rule that matched (RU-4)", q.Review)
		}
		approve := func(name string) error {
			_, err := h.broker.Answer(t.Context(), approvals.AnswerRequest{
				ID: q.ID, OptionID: approvals.OptionApprove, Via: approvals.ViaAPI, Operator: true, Who: gate.Sender{Kind: gate.Person, ID: name},
			})
			h.settle()
			return err
		}
		if err := approve("ann"); err != nil || h.ticket().End != nil {
			t.Errorf("after the first approval the ticket is %+v, %v, want it waiting (RU-4)", h.ticket().End, err)
		}
		if err := approve("ben"); err != nil || h.ticket().End == nil {
			t.Errorf("after the second approval the ticket is %+v, %v, want it done (RU-4)", h.ticket().End, err)
		}
		h.history(q.ID, "opened presented approved answered presentation_updated")
	})
}

// TestBuiltinNamesAnExecutor: an explicit request gets the default executor
// where the Policy gives it that one, else the first of its list (DR-1, RO-2b).
func TestBuiltinNamesAnExecutor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule   string
		listed bool
		lists  gate.Executors
		want   string
	}{
		{"by default the default one (RO-2b)", true, gate.Executors{}, "default"},
		{"the default one where it is among others (RO-2b)", true, gate.Executors{Listed: []string{"coder", "default"}}, "default"},
		{"else the first (RO-2b)", true, gate.Executors{Listed: []string{"coder", "writer"}}, "coder"},
		{"others by their own list (RO-2b)", false, gate.Executors{Listed: []string{"coder"}, Unlisted: []string{"helper"}}, "helper"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			m := orchestrator.Message{Trigger: gate.Trigger{ID: "m1", Source: "fs", Text: "fix it", Sender: gate.Sender{Kind: gate.Person, ID: "ou_1"}}}
			m.Admission.Strength = gate.Explicit
			items, err := orchestrator.Builtin{}.Consider(t.Context(), orchestrator.Handout{
				Policy:     &gate.Policy{Sources: map[gate.SourceID]gate.SourcePolicy{"fs": {Executors: c.lists}}},
				Candidates: []orchestrator.Message{m}, Listed: map[gate.TriggerID]bool{"m1": c.listed},
			})
			if err != nil || len(items) != 1 || items[0].Action != orchestrator.ActAccept || items[0].Executor != c.want {
				t.Errorf("Consider = %+v, %v; want an accept for %s", items, err, c.want)
			}
		})
	}
}
