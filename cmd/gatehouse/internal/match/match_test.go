package match_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/match"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func issue() *orchestrator.Message {
	m := &orchestrator.Message{Trigger: gate.Trigger{
		Kind: gate.KindIssue, Text: "It crashes:\npanic: nil map", Title: "Crash on start", Source: "github-main", Scope: gate.Issues,
		Thread: "th_1", Addressing: gate.NotAddressed, URL: "https://example.com/7", Place: gate.Place{Chat: "acme/app", Root: "7"},
		Sender:     gate.Sender{Kind: gate.Person, ID: "583231", Name: "octocat"},
		OccurredAt: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
	}}
	m.Admission.Strength = gate.Inferred
	return m
}

func message() *orchestrator.Message {
	return &orchestrator.Message{Late: true, Trigger: gate.Trigger{
		Kind: gate.KindMessage, Text: "磁盘满了", Scope: gate.ChatScope("oc_ops"), Place: gate.Place{Chat: "oc_ops"},
		Sender: gate.Sender{Kind: gate.Bot, ID: "cli_1"}, Addressing: gate.Mention,
	}}
}

func TestAnExpressionReadsTheMessage(t *testing.T) {
	t.Parallel()
	rows := []struct {
		expression string
		of         *orchestrator.Message
		want       bool
	}{
		{`kind == "issue" && text.contains("panic")`, issue(), true},
		{`kind == "issue" && text.contains("panic")`, message(), false},
		{`title.startsWith("Crash")`, issue(), true},
		{`text.matches("(?i)PANIC: .*map")`, issue(), true},
		{`text.contains("磁盘")`, message(), true},
		{`source == "github-main" && thread == "th_1" && url.endsWith("/7")`, issue(), true},
		{`repo == "acme/app" && chat == "" && scope == "issues"`, issue(), true},
		{`repo == "" && chat == "oc_ops" && scope == "chat:oc_ops"`, message(), true},
		{`addressing == "none" && strength == "inferred"`, issue(), true},
		{`addressing == "mention" && late`, message(), true},
		{`sender.kind == "person" && sender.id == "583231" && sender.name == "octocat" && sender.listed`, issue(), true},
		{`sender.kind in ["bot", "none"]`, message(), true},
		{`occurred_at < timestamp("2026-03-02T00:00:00Z") && occurred_at.getHours("Asia/Shanghai") == 16`, issue(), true},
	}
	for _, r := range rows {
		t.Run(r.expression, func(t *testing.T) {
			t.Parallel()
			if faults := match.Check(r.expression); faults != nil {
				t.Fatalf("DR-1 Check = %v, want no fault", faults)
			}
			if got, err := match.New().Match(1, r.expression, r.of, true); err != nil || got != r.want {
				t.Errorf("DR-1 Match = %v, %v, want %v", got, err, r.want)
			}
		})
	}
}

func TestABadExpressionIsFoundBeforeItRuns(t *testing.T) {
	t.Parallel()
	rows := []struct{ what, expression, want string }{
		{"a misspelt variable", `kid == "issue"`, `1:1: undeclared reference to 'kid' (did you mean 'kind'?)`},
		{"a misspelt field of the sender, on the second line", "kind == 'issue' &&\n  sender.listd", `2:9: undeclared reference to 'sender.listd' (did you mean 'sender.listed'?)`},
		{"a type that does not fit", `late == "yes"`, `1:6: found no matching overload for '_==_' applied to '(bool, string)'`},
		{"no truth", `text`, `1:1: want an expression that is true or false, this one is string`},
		{"nothing", ``, `1:1: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}`},
		{"a broken pattern", `text.matches("(")`, `1:14: invalid matches argument`},
		{"too long", strings.Repeat(" ", match.MaxExpression) + "late", `1:1: 4100 bytes, at most 4096`},
		{"too deep", strings.Repeat("(", 300) + "late" + strings.Repeat(")", 300), `1:1: expression recursion limit exceeded: 50`},
	}
	for _, r := range rows {
		t.Run(r.what, func(t *testing.T) {
			t.Parallel()
			faults := match.Check(r.expression)
			if len(faults) == 0 || faults[0].Error() != r.want {
				t.Errorf("DR-1 Check = %v, want %q first", faults, r.want)
			}
			if holds, err := match.New().Match(1, r.expression, issue(), true); err == nil || holds {
				t.Errorf("DR-1 Match = %v, %v, want an error: what does not compile holds for nothing", holds, err)
			}
		})
	}
}

func TestWhatCannotBeEvaluatedHoldsForNothing(t *testing.T) {
	t.Parallel()
	long := issue()
	long.Text = strings.Repeat("a", 2*match.MaxText)
	rows := []struct {
		what, expression string
		want             string
	}{
		{"a division by nothing", `1 / (text.size() - text.size()) == 1`, "division by zero"},
		{"a pattern of the sender's that is none", `text.matches(title + "(")`, "missing closing"},
		{"what costs too much", `["a", "b", "c", "d", "e", "f", "g", "h"].all(x, [1, 2, 3, 4, 5, 6, 7, 8].all(y, [1, 2, 3, 4, 5, 6, 7, 8].all(z, !text.contains(x + text))))`, "cost limit exceeded"},
	}
	for _, r := range rows {
		t.Run(r.what, func(t *testing.T) {
			t.Parallel()
			holds, err := match.New().Match(1, r.expression, long, true)
			if holds || err == nil || !strings.Contains(err.Error(), r.want) {
				t.Errorf("DR-1 Match = %v, %v, want an error with %q", holds, err, r.want)
			}
		})
	}
}

func TestALongTextIsCut(t *testing.T) {
	t.Parallel()
	m := issue()
	m.Text = strings.Repeat("好", match.MaxText) + "end"
	got, err := match.New().Match(1, `text.contains("end") || text.size() > 21845`, m, true)
	if got || err != nil {
		t.Errorf("Match = %v, %v, want false: what is beyond %d bytes is not looked at", got, err, match.MaxText)
	}
}

func TestOneMatcherServesManyVersionsAtOnce(t *testing.T) {
	t.Parallel()
	m := match.New()
	for version := range 4 {
		t.Run("a version", func(t *testing.T) {
			t.Parallel()
			for range 50 {
				if ok, err := m.Match(version, "late || !late", issue(), false); !ok || err != nil {
					t.Errorf("Match = %v, %v, want true", ok, err)
				}
			}
		})
	}
}

func TestTheDocsNameEveryVariable(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"../../../../docs/configuration.md", "../../../../docs/zh/configuration.md"} {
		docs, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range match.Names() {
			if !strings.Contains(string(docs), "| `"+name+"` |") {
				t.Errorf("%s does not name the variable %s", file, name)
			}
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	m, is := match.New(), issue()
	for b.Loop() {
		if ok, err := m.Match(1, `kind == "issue" && text.contains("panic")`, is, false); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
