package github_test

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	htmlrenderer "github.com/yuin/goldmark/renderer/html"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
)

// mentions are the rows of facts/github.md D2, and some more.
var mentions = []struct {
	want   bool
	inputs []string
}{
	{true, []string{
		"@bot do", "@BOT do", "(@bot)", `"@bot"`, "@bot's", "@bot:", "hey @bot.", "@bot... x", "**@bot**", "_@bot_", "~~@bot~~", "- [ ] @bot",
		"# @bot", "| a |\n|---|\n| @bot |", "x[^1]\n\n[^1]: for @bot to see", "foo/@bot", "-@bot", ".@bot", "@@bot", "请@bot看看", "@bot[bot]", "@bot\r\nx",
		"para\n    @bot",
		"<details>\n@bot x\n</details>", "<p>@bot</p>", "<sub>@bot</sub>",
		"> quote\n\n@bot", `\@bot`, "&#64;bot", "&commat;bot",
		"`code` @bot", "```\ncode\n```\n@bot", "[link](https://x) @bot", "https://x/y @bot", "https://@bot", "a<!-- c -->@bot", "<pre>x</pre>\n\n@bot",
		"<b title='>'>@bot</b>", "@bot-\n@bot", "@other, @bot", "x<code>y</code>@bot", "<a href=x>y</a>@bot", "@bot!", "@bot?", "@bot;", "@bot—now", "@bot）",
		"<blockquote>a</blockquote>@bot", "</blockquote>@bot", "a\n===\n@bot", "1. @bot", "*a*@bot", "xhttps://x/@bot", "www.@bot",
		"<b @bot>", "<b x='@bot", "</b @bot>", // no tags for Markdown, but text
	}},
	{false, []string{
		"@bot-foo", "@bot2", "@bot_acme", "@botfoo", "@bot-", "@org/bot", "@bot/team", "x@bot", "x@bot.com", "@bot.com", "foo_@bot", "@ bot", "＠bot",
		"`@bot`", "``@bot``", "```\n@bot\n```", "~~~\n@bot\n~~~", "```\n@bot", "    @bot", "<pre>@bot</pre>", "<code>@bot</code>",
		"<!-- @bot -->", "<!-- a\n\n@bot\n\n-->", "<!-- @bot",
		"[@bot](https://x)", "![@bot](https://x)", `[a](https://x "@bot")`, "[a]: @bot", "https://x/@bot", "<https://x/@bot>", "www.x/@bot", `<b title="@bot">x</b>`,
		"@\u200bbot", "@&#8203;bot", "@<!-- -->bot", "@**bot**",
		"> @bot", "> quote\n@bot", "> [!NOTE]\n> @bot", "<blockquote>@bot</blockquote>", "<blockquote>a<b>@bot</b></blockquote>",
		"bot", "", "@", "@bоt", "<a>@bot</a>", "<a><b>@bot</b></a>", "<code>a</b>@bot", "<pre>\n\n@bot\n", "<? @bot ?>", "<!X @bot>",
		"@bot.com.", "@bot...x", "@BOT-X", "(https://x/a,@bot)", "http://x/a\u00a0", "*https://x/@bot*", "<blockquote><code>a</blockquote>@bot", "@ſbot",
	}},
}

func TestMentions(t *testing.T) {
	t.Parallel()
	for _, rows := range mentions {
		for _, in := range rows.inputs {
			if got := github.Mentions(in, "bot"); got != rows.want {
				t.Errorf("GH-4: Mentions(%q) = %v, want %v", in, got, rows.want)
			}
			if slow := slowMentions(in, "bot"); slow != rows.want {
				t.Errorf("GH-4: the reference says %v of %q, want %v", slow, in, rows.want)
			}
		}
	}
	if github.Mentions("@", "") || !github.Mentions("@my_bot-1 x", "My_Bot-1") {
		t.Errorf("Mentions does not take the name as it is")
	}
}

func TestMentionsAreLookedForInABoundedPart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 16<<10/5)
	for name, tt := range map[string]struct {
		text string
		want bool
	}{
		"within 16 KiB":                     {strings.Repeat("word ", 100) + "@bot " + long, true},
		"behind them":                       {long + "\n@bot", false},
		"a longer name is not cut to ours":  {strings.Repeat("é", (16<<10-4)/2) + "@bot-foo", false},
		"nor is a domain":                   {strings.Repeat("é", (16<<10-6)/2) + "(@bot.com", false},
		"a cut inside of a character":       {strings.Repeat("é", 16<<10) + "@bot", false},
		"the last line is cut as a whole":   {strings.Repeat("x", 16<<10-6) + "\n@botany", false},
		"nothing but an endless other name": {"@bot" + strings.Repeat("x", 20<<10), false},
	} {
		if got := github.Mentions(tt.text, "bot"); got != tt.want {
			t.Errorf("GH-4 %s: Mentions = %v, want %v", name, got, tt.want)
		}
	}
}

// TestHostileTextIsBounded has the worst inputs of facts D2 and libs T6 at
// GitHub's limit. The bound is generous: it tells a parse of all of them from one
// of 16 KiB on a busy machine.
func TestHostileTextIsBounded(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{">", "[a](", "_*a", "<b>", "`", "``` ", "<!--", "@bot ", "![", "* ", "&#64;", "http://a-", "<a ", "\\@", "- ", "</b>", "<b x='"} {
		text := "bot" + strings.Repeat(unit, 65536/len(unit))
		start := time.Now()
		github.Mentions(text, "bot")
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("GH-4: Mentions(%q…) took %v", unit, took)
		}
	}
	if github.Mentions(strings.Repeat("<b>", 600)+"@bot", "bot") {
		t.Errorf("GH-4: a text nested 600 deep is nobody's message")
	}
}

func TestCutMention(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"@bot do":          "do",
		"  @BOT[bot], do":  "do",
		"@bot: do":         "do",
		"@bot，停":           "停",
		"@bot @bot do":     "do",
		"@bot":             "",
		"@bot-x do":        "@bot-x do",
		"@bot/team do":     "@bot/team do",
		"please @bot do":   "please @bot do",
		"@botdo":           "@botdo",
		"@bot\n\n/help me": "/help me",
		"":                 "",
	} {
		if got := github.CutMention(in, "bot"); got != want {
			t.Errorf("CutMention(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzMentions(f *testing.F) {
	for _, rows := range mentions {
		for _, in := range rows.inputs {
			f.Add(in)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			return
		}
		if got, want := github.Mentions(text, "bot"), slowMentions(text, "bot"); got != want {
			t.Fatalf("Mentions(%q) = %v, want %v", text, got, want)
		}
	})
}

var (
	slowToken   = regexp.MustCompile(`(?s)<!--(?:-?>|.*?(?:--!?>|\z))|<[!?].*?(?:>|\z)|</[^a-zA-Z>].*?(?:>|\z)|</>|</?[a-zA-Z][^\s/>]*(?:=[ \t\r\n\f]*"[^"]*(?:"|\z)|=[ \t\r\n\f]*'[^']*(?:'|\z)|=[ \t\r\n\f]*|[^>=])*(?:>|\z)|[^<]+|<`)
	slowMute    = regexp.MustCompile(`^(pre|code|tt|a|script|style|blockquote)$`)
	slowTag     = regexp.MustCompile(`(?s)^<(/?)([a-zA-Z][^\s/>]*)`)
	slowVoid    = regexp.MustCompile(`^(area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)$`)
	slowBlock   = regexp.MustCompile(`^(address|article|aside|blockquote|center|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|header|li|main|nav|ol|p|pre|section|summary|table|ul)$`)
	slowFormat  = regexp.MustCompile(`^(a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)$`)
	slowAddress = regexp.MustCompile(`(?i)(^|[^a-zA-Z0-9])(https?://[a-zA-Z0-9\x{80}-\x{10ffff}][^ \t\n<]*)|(^|[ \t\n*_~(])(www\.[a-zA-Z0-9\x{80}-\x{10ffff}][^ \t\n<]*)`)
)

// slowMentions is GH-4 another way: the rendered HTML is cut into tokens by one
// expression, elements are a list that is searched from scratch for every text,
// and a mention is one expression.
func slowMentions(md, name string) bool {
	if !strings.Contains(asciiLower(md), name) {
		return false
	}
	var out bytes.Buffer
	g := goldmark.New(goldmark.WithExtensions(extension.Strikethrough), goldmark.WithRendererOptions(htmlrenderer.WithUnsafe()))
	if g.Convert([]byte(md), &out) != nil {
		return false
	}
	var open, texts []string
	text := ""
	for _, tok := range slowToken.FindAllString(out.String(), -1) {
		markup := len(tok) > 1 && tok[0] == '<'
		if !markup {
			if !slowMuted(open) {
				text += tok
			}
			continue
		}
		texts, text = append(texts, text), ""
		open = slowElement(open, tok)
		if len(open) > 512 {
			return false
		}
	}
	for _, s := range append(texts, text) {
		if slowIn(html.UnescapeString(s), name) {
			return true
		}
	}
	return false
}

func slowMuted(open []string) bool {
	for _, n := range open {
		if slowMute.MatchString(n) {
			return true
		}
	}
	return false
}

func slowElement(open []string, tok string) []string {
	m := slowTag.FindStringSubmatch(tok)
	if m == nil {
		return open
	}
	name := asciiLowerAll(m[2])
	if m[1] == "/" {
		return slowClose(open, name)
	}
	if !strings.HasSuffix(tok, ">") || slowVoid.MatchString(name) {
		return open
	}
	if name == "a" {
		open = slowClose(open, "a")
	}
	if slowBlock.MatchString(name) {
		open = slowClose(open, "p")
	}
	return append(append([]string{}, open...), name)
}

func slowClose(open []string, name string) []string {
	for i := len(open) - 1; i >= 0; i-- {
		if open[i] != name {
			continue
		}
		out := append([]string{}, open[:i]...)
		for _, inner := range open[i+1:] {
			if slowFormat.MatchString(inner) {
				out = append(out, inner)
			}
		}
		return out
	}
	return open
}

func slowIn(text, name string) bool {
	text = strings.ToValidUTF8(text, "\ufffd")
	text = slowAddress.ReplaceAllString(text, "$1$3")
	mention := regexp.MustCompile(`(^|[^A-Za-z0-9_])@(?i:` + regexp.QuoteMeta(name) + `)(\.*)([^A-Za-z0-9_.]|$)`)
	for at := 0; at < len(text); at++ {
		m := mention.FindStringSubmatchIndex(text[at:])
		if m == nil {
			return false
		}
		dots, next := text[at+m[4]:at+m[5]], text[at+m[6]:at+m[7]]
		if dots != "" || next != "-" && next != "/" {
			return true
		}
		at += m[4] - 1
	}
	return false
}

func asciiLower(s string) string { return asciiLowerAll(s) }

func asciiLowerAll(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 32
		}
	}
	return string(b)
}
