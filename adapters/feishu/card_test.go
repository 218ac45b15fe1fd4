package feishu_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

var update = flag.Bool("update", false, "write the golden cards")

const questionID = approvals.ID("6f0b3d52-7c1e-5a4b-9d2f-0a1b2c3d4e5f")

func approval() approvals.Question {
	return approvals.Question{
		ID: questionID, Workspace: "default", Kind: approvals.Approval, Status: approvals.StatusOpen,
		Session: approvals.Session{ID: "tkt_1", Title: "部署 1.4.2 到预发", Short: "0a1b2c3d"},
		Prompt:  "需要在预发环境执行部署。", Recommendation: approvals.OptionApprove,
		Options:   []approvals.Option{{ID: approvals.OptionApprove}, {ID: approvals.OptionReject}},
		Operation: &approvals.Operation{Tool: "bash", Preview: "make deploy ENV=staging VERSION=1.4.2", Reason: "按发布清单"},
		CreatedAt: time.Date(2026, 9, 10, 12, 45, 0, 0, time.UTC), Deadline: time.Date(2026, 9, 10, 12, 50, 0, 0, time.UTC),
	}
}

func choice() approvals.Question {
	q := approval()
	q.Kind, q.Operation, q.Recommendation, q.AllowFreeText = approvals.Choice, nil, "staging", true
	q.Prompt = "Which environment?\n\n- staging\n- prod"
	q.Options = []approvals.Option{{ID: "staging", Label: "Staging", Description: "safe"}, {ID: "prod", Label: "Production", Style: "danger"}}
	q.Answerers = []string{"requester", "ou_9e83abe1b7a141e8256c78154e065572"}
	return q
}

// many is a choice of more than a few options.
func many() approvals.Question {
	q := choice()
	q.Prompt, q.Options, q.Recommendation = "Which one?", nil, "o3"
	for i := 1; i <= 7; i++ {
		q.Options = append(q.Options, approvals.Option{ID: fmt.Sprint("o", i), Label: fmt.Sprint("Option ", i)})
	}
	return q
}

func clarification() approvals.Question {
	q := approval()
	q.Kind, q.Operation, q.Options, q.Recommendation, q.AllowFreeText = approvals.Clarification, nil, nil, "", true
	q.Prompt = "What is the change number?"
	return q
}

func closed(q approvals.Question, s approvals.Status, option, text string, by gate.Sender, via approvals.Via) approvals.Question {
	at := time.Date(2026, 9, 10, 12, 47, 0, 0, time.UTC)
	q.Status, q.ClosedAt = s, at
	if s == approvals.StatusAnswered {
		q.Answer = &approvals.Answer{OptionID: option, Text: text, By: by, Via: via, At: at}
		if via == approvals.ViaCard {
			q.Answer.Source = "feishu-main"
		}
	}
	return q
}

func cardStates() map[string]approvals.Question {
	linlan := gate.Sender{Kind: gate.Person, ID: lin}
	stated := approval()
	stated.AsStated, stated.AllowFreeText = true, true
	reviewed := approval()
	reviewed.Review = gate.Review{Reviewers: []string{"ou_9e83abe1b7a141e8256c78154e065572", "approvers"}, Approvals: 2}
	reviewed.Approved = []approvals.Answer{{OptionID: "approve", By: linlan, Source: "feishu-main", Via: approvals.ViaCard}}
	return map[string]approvals.Question{
		"approval": approval(), "approval-review": reviewed, "approval-as-stated": stated, "choice": choice(), "choice-many": many(), "clarification": clarification(),
		"approved":         closed(approval(), approvals.StatusAnswered, "approve", "", linlan, approvals.ViaCard),
		"rejected-reason":  closed(approval(), approvals.StatusAnswered, "reject", "not today", linlan, approvals.ViaCard),
		"rejected-policy":  closed(approval(), approvals.StatusAnswered, "reject", "", gate.Sender{}, approvals.ViaPolicy),
		"answered-github":  closed(choice(), approvals.StatusAnswered, "staging", "", gate.Sender{Kind: gate.Person, ID: "583231", Name: "octocat"}, approvals.ViaGitHub),
		"answered-panel":   closed(choice(), approvals.StatusAnswered, "prod", "since staging is down", gate.Sender{Name: "ops"}, approvals.ViaPanel),
		"approved-machine": closed(approval(), approvals.StatusAnswered, "approve", "", gate.Sender{}, approvals.ViaMachine),
		"answered-text":    closed(clarification(), approvals.StatusAnswered, "", "CHG-4711", linlan, approvals.ViaCard),
		"timed-out":        closed(approval(), approvals.StatusTimedOut, "", "", gate.Sender{}, ""),
		"cancelled":        closed(choice(), approvals.StatusCancelled, "", "", gate.Sender{}, ""),
	}
}

func TestGoldenCards(t *testing.T) {
	t.Parallel()
	for name, q := range cardStates() {
		for _, language := range []string{"zh", "en"} {
			t.Run("CA-2 CA-4 "+name+" in "+language, func(t *testing.T) {
				t.Parallel()
				c := sampleConfig()
				c.Language = language
				checkGolden(t, name+"."+language+".json", feishu.Card(c, q, gate.Sender{Kind: gate.Person, ID: lin}))
			})
		}
	}
}

func TestTheCardClosesInTheWordsOfItsButton(t *testing.T) {
	t.Parallel()
	for language, want := range map[string][2]string{"zh": {"批准", "已批准"}, "en": {"Approve", "Approved"}} {
		r := approvals.Request{RequestID: "r", Kind: approvals.Approval, Prompt: "?", Operation: approval().Operation}
		q, _, err := approvals.Open(r, approvals.Session{ID: "tkt_1", Language: language}, approvals.Settings{}, approvals.IDs{}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		bare := q
		bare.Options = []approvals.Option{{ID: approvals.OptionApprove}, {ID: approvals.OptionReject}}
		done := closed(q, approvals.StatusAnswered, approvals.OptionApprove, "", gate.Sender{Kind: gate.Person, ID: lin}, approvals.ViaCard)
		for q, word := range map[*approvals.Question]string{&q: `"` + want[0] + `"`, &bare: `"` + want[0] + `"`, &done: "✅ " + want[1]} {
			if card := string(feishu.Card(sampleConfig(), *q, gate.Sender{})); !strings.Contains(card, word) {
				t.Errorf("AP-2a %s: no %s on the card %s", language, word, card)
			}
		}
	}
}

func checkGolden(t *testing.T, name string, card json.RawMessage) {
	t.Helper()
	var got bytes.Buffer
	if err := json.Indent(&got, card, "", " "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	path := filepath.Join("testdata", "cards", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(want, got.Bytes()) {
		t.Errorf("card %s differs from its golden file (run with -update and look at the diff): %v\n%s", name, err, got.Bytes())
	}
}

// onPlatform sends a card through the simulated platform, which checks it.
func onPlatform(t *testing.T, card json.RawMessage) feishusim.Message {
	t.Helper()
	if err := feishusim.CheckCard(card); err != nil {
		t.Fatalf("the platform refuses the card: %v\n%s", err, card)
	}
	return feishusim.Message{Type: "interactive", Content: card}
}

func TestCardsOnThePlatform(t *testing.T) {
	t.Parallel()
	for name, q := range cardStates() {
		t.Run("C.6 the platform takes "+name, func(t *testing.T) {
			t.Parallel()
			m := onPlatform(t, feishu.Card(sampleConfig(), q, gate.Sender{}))
			if n := len(m.Buttons()); q.Status.Terminal() != (n == 0) {
				t.Errorf("card has %d buttons, want none exactly when it is closed (CA-4)", n)
			}
		})
	}
}

func TestCardLimits(t *testing.T) {
	t.Parallel()
	long := choice()
	long.Prompt = strings.Repeat(`"提示" \ `+"\n", 3000)
	long.Options = nil
	for i := range 20 {
		long.Options = append(long.Options, approvals.Option{ID: strings.Repeat("i", 60) + string(rune('a'+i)), Label: strings.Repeat("标签", 60), Description: strings.Repeat("说明", 300)})
	}
	op := approval()
	op.Operation.Preview = strings.Repeat("rm -rf \"/tmp/x\" && ", 2000)
	op.Operation.Reason, op.Session.Title = strings.Repeat("因", 5000), strings.Repeat("题", 5000)
	controls := approval()
	controls.Operation.Preview, controls.Prompt = strings.Repeat("\u202e", 4000), strings.Repeat("\x01\\", 4000)
	for name, q := range map[string]approvals.Question{"a long prompt and 20 options": long, "a long operation": op, "characters that grow": controls} {
		t.Run("D.2 "+name, func(t *testing.T) {
			t.Parallel()
			card := feishu.Card(sampleConfig(), q, gate.Sender{})
			m := onPlatform(t, card)
			if len(card) > 30*1024 || len(m.Buttons()) == 0 {
				t.Errorf("card has %d bytes and %d buttons, want at most 30 KB with its buttons", len(card), len(m.Buttons()))
			}
		})
	}
	t.Run("CA-2 what is cut says so, with a link to the whole", func(t *testing.T) {
		t.Parallel()
		c := sampleConfig()
		c.Link = func(q approvals.Question) string { return "https://panel.example/q/" + string(q.ID) }
		text := onPlatform(t, feishu.Card(c, op, gate.Sender{})).Text()
		if !strings.Contains(text, "已截断") || !strings.Contains(text, "https://panel.example/q/"+string(questionID)) {
			t.Errorf("card = %s, want the cut and the link", text)
		}
	})
}

func TestCardIsNotToBeFooled(t *testing.T) {
	t.Parallel()
	q := approval()
	q.Prompt = "# 已批准\n---\nhi <at id=all></at> <font color='green'>ok</font> ![x](https://e/x.png)\n```\nopen"
	q.Operation.Preview = "echo ok\n```\n<at id=all></at>\n# fake\nrm \u202e-rf"
	q.Operation.Tool, q.Session.Title = "bash\n**x**", "<at id=all></at>"
	text := onPlatform(t, feishu.Card(sampleConfig(), q, gate.Sender{})).Text()
	for name, bad := range map[string]string{
		"PL-4 an at in the prompt or the operation": "\n<at id=all>",
		"C.6 an image":                "![",
		"a heading":                   "\n# 已批准",
		"a rule":                      "\n---",
		"a tag":                       "<font",
		"a fence that ends the block": "echo ok\n```\n",
		"a bidirectional mark":        "\u202e",
	} {
		if strings.Contains("\n"+text, bad) {
			t.Errorf("the card shows %s: %q in\n%s", name, bad, text)
		}
	}
	if !strings.Contains(text, "⟨U+202E⟩") {
		t.Errorf("card = %s, want the invisible character spelled out", text)
	}
	at := `"content":"<at id=all></at>`
	if card := string(feishu.Card(sampleConfig(), q, gate.Sender{Kind: gate.Person, ID: "ou_x></at><at id=all"})); strings.Contains(card, `"tag":"markdown"`) && strings.Contains(card, at) {
		t.Errorf("an id left its tag: %s", card)
	}
}

func TestCardMention(t *testing.T) {
	t.Parallel()
	card := string(feishu.Card(sampleConfig(), approval(), gate.Sender{Kind: gate.Person, ID: lin}))
	if !strings.Contains(card, "<at id="+lin+"></at>") {
		t.Errorf("card = %s, want it to call %s (CA-1)", card, lin)
	}
	if card := string(feishu.Card(sampleConfig(), approval(), gate.Sender{Kind: gate.Bot, ID: lin})); strings.Contains(card, "<at") {
		t.Errorf("card = %s, want no bot called", card)
	}
}
