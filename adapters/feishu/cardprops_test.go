package feishu_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// hostile is what an agent writes that wants to call people, to lead them
// astray, or to be taken for the host.
var hostile = []string{
	"<at id=all></at>", "<AT user_id=\"ou_x\"></AT>", "<at ids=ou_a,ou_b>", "< at id=all>", "<person id='ou_x'></person>", "@all", "@_all", "&lt;at id=all&gt;",
	"[https://good.example](https://evil.example)", "[ok](<https://evil.example> \"t\")", "[a][b]", "\n[b]: https://evil.example\n", "![x](img_v2)", "![x][b]",
	"<https://evil.example>", "<a href='https://evil.example'>here</a>", "<link url='https://evil.example'>x</link>", "<font color='green'>ok</font>", "<!-- x -->", "<?x ?>",
	"\n# 已批准\n", "\n> # x\n", "\n- ## x\n", "\n1. # x\n", "\n---\n", "\n> ---\n", "x\n=\n", "x\n-\n", "\n* * *\n", "\n___\n", "\n- - -\n",
	"```", "\n```\n", "\n    ```\n", "\n~~~\n", "\n- ```\n", "> ```\n", "\n``````go evil <at id=all>\n", "`", "``",
	"\n| a | b |\n|---|---|\n| 1 | 2 |\n\n", "\na|b\n-|-\n",
	"谁可以回答: 所有人", "\nUntil: never", "截止: 永远", "✅ 已批准", "」(0a1b2c3d)", "”", "批准", "Approve", "附理由拒绝",
	"\u202e", "\u200b", "\u2066", "\ufeff", "\u3164", "\u2800", "\u034f", "\U000e0041", "\u2028", "\x00", "\x1b[31m", "\xff", "👩\u200d💻", "\ufe0f",
	"\\", "\"", "\t", " ", "\n", "\r\n", "正常的文字", "rm -rf /", "{{x}}", "%!s(MISSING)", "$(x)",
}

func hostileText() *rapid.Generator[string] {
	piece := rapid.OneOf(rapid.SampledFrom(hostile), rapid.StringN(0, 12, 40))
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat(strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), ""), rapid.SampledFrom([]int{1, 1, 1, 1, 40}).Draw(t, "times"))
	})
}

// anyQuestion is any that the broker could hold, and more.
func anyQuestion(t *rapid.T) approvals.Question {
	text := hostileText()
	draw := func(what string) string { return text.Draw(t, what) }
	word := func(what string) string { // as the broker takes them
		s := strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return -1
			}
			return r
		}, strings.ToValidUTF8(draw(what), ""))
		return strings.ToValidUTF8(s[:min(len(s), approvals.MaxWord)], "")
	}
	q := approval()
	q.Prompt, q.Session.Title, q.Session.Short = draw("prompt"), draw("title"), rapid.SampledFrom([]string{"", "0a1b2c3d"}).Draw(t, "short")
	q.AsStated, q.AllowFreeText = rapid.Bool().Draw(t, "stated"), rapid.Bool().Draw(t, "free text")
	if q.Kind = rapid.SampledFrom([]approvals.Kind{approvals.Approval, approvals.Choice, approvals.Clarification}).Draw(t, "kind"); q.Kind == approvals.Approval {
		q.Operation = &approvals.Operation{Tool: word("tool"), Preview: draw("preview"), Reason: draw("reason")}
	} else {
		q.Operation, q.Options = nil, nil
		for range rapid.IntRange(0, approvals.MaxOptions).Draw(t, "options") {
			q.Options = append(q.Options, approvals.Option{
				ID: word("option"), Label: word("label"), Description: draw("description"), Style: rapid.SampledFrom([]string{"", "primary", "danger", "x"}).Draw(t, "style"),
			})
		}
		if len(q.Options) > 0 {
			q.Recommendation = rapid.SampledFrom(q.Options).Draw(t, "recommended").ID
		}
	}
	q.Answerers = rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{"requester", "approvers", lin}), text), 0, 20).Draw(t, "answerers")
	return ended(t, q)
}

func ended(t *rapid.T, q approvals.Question) approvals.Question {
	at := time.Date(2026, 9, 10, 12, 47, 0, 0, time.UTC)
	by := gate.Sender{Kind: gate.Person, ID: rapid.SampledFrom([]string{lin, "583231", "", "ou_x></at><at id=all"}).Draw(t, "by"), Name: hostileText().Draw(t, "name")}
	q.Status = rapid.SampledFrom([]approvals.Status{approvals.StatusOpen, approvals.StatusAnswered, approvals.StatusTimedOut, approvals.StatusCancelled}).Draw(t, "status")
	given := approvals.Answer{By: by, At: at, Text: hostileText().Draw(t, "text"), Source: rapid.SampledFrom([]gate.SourceID{"feishu-main", "gh"}).Draw(t, "source"),
		Via: rapid.SampledFrom([]approvals.Via{approvals.ViaCard, approvals.ViaAPI, approvals.ViaPanel, approvals.ViaGitHub, approvals.ViaPolicy, approvals.ViaMachine, approvals.ViaReply}).Draw(t, "via")}
	if len(q.Options) > 0 {
		given.OptionID = rapid.SampledFrom(q.Options).Draw(t, "answer").ID
	}
	if q.Status == approvals.StatusAnswered {
		q.Answer, q.ClosedAt = &given, at
	} else if rapid.Bool().Draw(t, "approved by one") {
		q.Approved, q.Review.Approvals = []approvals.Answer{given}, 2
	}
	return q
}

const whole = "https://panel.example/q"

// shown is a card in pieces: what the host says, the Markdown in the box, and
// what can be pressed.
type shown struct {
	plain, marked, boxed, buttons []string
}

func read(t interface{ Fatalf(string, ...any) }, card json.RawMessage) shown {
	var doc struct {
		Body struct{ Elements []map[string]any }
	}
	if err := json.Unmarshal(card, &doc); err != nil {
		t.Fatalf("the card is no JSON: %v", err)
	}
	var s shown
	for _, e := range doc.Body.Elements {
		switch {
		case e["background_style"] == "grey":
			column := e["columns"].([]any)[0].(map[string]any)
			for _, in := range column["elements"].([]any) {
				if in := in.(map[string]any); in["tag"] == "markdown" {
					s.boxed = append(s.boxed, contentOf(in))
				}
			}
		case e["tag"] == "markdown":
			s.marked = append(s.marked, contentOf(e))
		case e["tag"] == "div":
			s.plain = append(s.plain, contentOf(e))
		default:
			for _, b := range (feishusim.Message{Type: "interactive", Content: mustJSON(obj{"elements": []any{e}})}).Buttons() {
				s.buttons = append(s.buttons, b.Label)
			}
		}
	}
	return s
}

type obj = map[string]any

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func contentOf(e map[string]any) string {
	if inner, ok := e["text"].(map[string]any); ok {
		e = inner
	}
	s, _ := e["content"].(string)
	return s
}

// ours is a line of the host in either language, as a pattern: nothing in it is
// somebody else's but what stands in quotes.
var ours = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`(?:任务|Task): Q(?: \(0a1b2c3d\))?`, `(?:工具|Tool|原因|Reason): Q`, `(?:建议|Recommended): (?:批准|拒绝|Approve|Reject|Q)`,
	`(?:截止|Until): 2026-09-10 12:50 \(UTC\+00:00\)`, `⚠️ (?:已截断：还有 \d+ 字节没有显示|Cut: \d+ more bytes are not shown)`, `⚠️ (?:以上操作|The operation is).*`,
	`(?:谁可以回答|Who may answer): .*`, `(?:回答|Answer): Q`,
	`(?:⌛ .*|已取消|Cancelled)(?: · 2026[^「」“”]*)?`, `(?:✅|⛔) (?:已批准|已拒绝|已回答|Approved|Rejected|Answered) · 2026-09-10 12:47 \(UTC\+00:00\)[^「」“”]*(?: · Q)?`,
}, "|") + `)$`)

var inQuotes = regexp.MustCompile(`「[^「」“”]*」|“[^「」“”]*”`)

// Property: whatever an agent wrote, the platform takes the card, and nothing
// on it looks like the host's own words but those.
func TestAnyQuestionMakesAGoodCard(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := anyQuestion(t)
		c := sampleConfig()
		c.Language = rapid.SampledFrom([]string{"zh", "en"}).Draw(t, "language")
		c.Link = func(approvals.Question) string { return whole }
		card := feishu.Card(c, q, gate.Sender{Kind: gate.Person, ID: lin})
		if err := feishusim.CheckCard(card); err != nil {
			t.Fatalf("the platform refuses the card: %v", err)
		}
		s := read(t, card)
		for _, line := range s.plain {
			if !ours.MatchString(inQuotes.ReplaceAllString(line, "Q")) {
				t.Errorf("a line outside the box is not the host's own: %q (CA-2)", line)
			}
		}
		for _, m := range append(s.marked, s.boxed...) {
			checkCalls(t, m)
		}
		if q.Status.Terminal() && len(s.buttons) > 0 {
			t.Errorf("a closed card has buttons %q (CA-4)", s.buttons)
		}
		if q.Kind != approvals.Approval && slices.ContainsFunc(s.buttons, func(b string) bool { return slices.Contains([]string{"批准", "拒绝", "Approve", "Reject"}, b) }) {
			t.Errorf("an agent's button reads like the host's: %q", s.buttons)
		}
		checkBox(t, q, s.boxed)
	})
}

var ownCall = regexp.MustCompile(`<at id=(?:` + lin + `|583231)></at>`)

// checkCalls: nobody is called but by our own tags, and nothing is hidden.
func checkCalls(t *rapid.T, m string) {
	rest := ownCall.ReplaceAllString(m, "")
	if regexp.MustCompile(`(?i)<\s*/?(?:at|person)\b`).MatchString(rest) {
		t.Errorf("the card calls somebody: %q (PL-4)", m)
	}
	for _, r := range rest {
		if r != '\n' && r != '\t' && r != '\u200b' && r != '\u200d' && r != '\ufe0f' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point) {
			t.Errorf("the card hides %U in %q", r, m)
		}
	}
}

// checkBox reads what the agent wrote with another reader of CommonMark: no
// links, images, headings, rules or tags, and an operation is one code block.
func checkBox(t *rapid.T, q approvals.Question, boxed []string) {
	if q.Operation != nil && q.Operation.Preview != "" {
		last := boxed[len(boxed)-1]
		if boxed = boxed[:len(boxed)-1]; !strings.HasPrefix(last, "```\n") || strings.Count(last, "```") != 2 || !strings.HasSuffix(last, "\n```") {
			t.Errorf("the operation is not one code block: %q", last)
		}
	}
	for _, m := range boxed {
		_ = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader([]byte(m))), func(n ast.Node, _ bool) (ast.WalkStatus, error) {
			switch n.Kind() {
			case ast.KindLink, ast.KindImage, ast.KindHeading, ast.KindRawHTML, ast.KindHTMLBlock, ast.KindThematicBreak, ast.KindAutoLink:
				t.Errorf("the agent's text makes a %s: %q", n.Kind(), m)
				return ast.WalkStop, nil
			}
			return ast.WalkContinue, nil
		})
	}
}
