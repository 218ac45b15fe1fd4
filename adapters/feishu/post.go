package feishu

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// rich is a post, or the degraded rendering of a card: lines of nodes.
type rich struct {
	Title    text              `json:"title"`
	Content  []json.RawMessage `json:"content"`
	Elements []json.RawMessage `json:"elements"`
}

type node struct {
	Tag       text            `json:"tag"`
	Text      text            `json:"text"`
	Href      text            `json:"href"`
	UserID    text            `json:"user_id"`
	UserName  text            `json:"user_name"`
	ImageKey  text            `json:"image_key"`
	FileKey   text            `json:"file_key"`
	FileName  text            `json:"file_name"`
	EmojiType text            `json:"emoji_type"`
	Language  text            `json:"language"`
	Style     json.RawMessage `json:"style"`
}

func readPost(raw []byte, p *people) said {
	r := unwrap(raw)
	out := readLines(r.Content, p)
	if title := oneLine(string(r.Title), 400); title != "" {
		out.markdown = strings.TrimRight("**"+title+"**\n"+out.markdown, "\n")
	}
	return out
}

// readCard reads what other clients see of a card. It never addresses the bot
// by its nodes alone: a card is an app's, and who forwards it did not write
// what it says.
func readCard(raw []byte, p *people) said {
	r := unwrap(raw)
	atBot, atAll := p.atBot, p.atAll
	out := readLines(slices.Concat(r.Content, r.Elements), p)
	p.atBot, p.atAll = atBot, atAll
	out.markdown = strings.TrimRight(label("card", string(r.Title))+"\n"+out.markdown, "\n")
	return out
}

// unwrap tolerates a locale level, which received posts do not have.
func unwrap(raw []byte) rich {
	var r rich
	_ = json.Unmarshal(raw, &r)
	if r.Content != nil || r.Elements != nil {
		return r
	}
	var locales map[string]json.RawMessage
	if json.Unmarshal(raw, &locales) != nil {
		return r
	}
	names := make([]string, 0, len(locales))
	for name := range locales {
		names = append(names, name)
	}
	sort.Sort(sort.Reverse(sort.StringSlice(names))) // zh_cn before en_us
	for _, name := range names {
		var inner rich
		if json.Unmarshal(locales[name], &inner) == nil && inner.Content != nil {
			return inner
		}
	}
	return r
}

func readLines(raw []json.RawMessage, p *people) said {
	var out said
	lines := make([]string, 0, len(raw))
	for _, rawLine := range raw {
		var nodes []json.RawMessage
		if json.Unmarshal(rawLine, &nodes) != nil {
			nodes = []json.RawMessage{rawLine}
		}
		var line strings.Builder
		for _, rawNode := range nodes {
			var n node
			if json.Unmarshal(rawNode, &n) != nil {
				continue
			}
			s, files := readNode(n, p)
			line.WriteString(s)
			out.files = append(out.files, files...)
		}
		lines = append(lines, line.String())
	}
	out.markdown = settleOwn(strings.Join(lines, "\n"))
	return out
}

func readNode(n node, p *people) (string, []gate.Attachment) {
	s := noNUL(string(n.Text))
	switch n.Tag {
	case "text", "md", "plain_text", "lark_md", "markdown":
		return styled(s, n.Style), nil
	case "a":
		return "[" + s + "](" + oneLine(string(n.Href), 4000) + ")", nil
	case "at":
		return p.at(string(n.UserID), oneLine(string(n.UserName), nameRunes)), nil
	case "img":
		return "[image]", files("image", "", string(n.ImageKey))
	case "media":
		name := fileName(string(n.FileName))
		return label("media", name), files("media", name, string(n.FileKey))
	case "emotion":
		return ":" + oneLine(string(n.EmojiType), 40) + ":", nil
	case "code_block":
		return fence(s, oneLine(string(n.Language), 30)), nil
	case "hr":
		return "---", nil
	}
	return s, nil
}

// styled marks bold, italic and struck text; the marks stand inside its outer
// white space, else they would not be marks.
func styled(s string, rawStyle json.RawMessage) string {
	var styles []text
	_ = json.Unmarshal(rawStyle, &styles)
	core := strings.TrimSpace(s)
	if core == "" || len(styles) == 0 {
		return s
	}
	marked := core
	for _, style := range styles {
		if mark := map[text]string{"bold": "**", "italic": "*", "lineThrough": "~~"}[style]; mark != "" {
			marked = mark + marked + mark
		}
	}
	return strings.Replace(s, core, marked, 1)
}

// fence puts code into a block whose fence is longer than any in the code.
func fence(code, language string) string {
	longest, run := 2, 0
	for i := range len(code) {
		if run++; code[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	bar := strings.Repeat("`", longest+1)
	return bar + language + "\n" + strings.TrimRight(code, "\n") + "\n" + bar
}
