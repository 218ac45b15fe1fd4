package feishu

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/gatehouse-bot/gatehouse/adapters/internal/markdown"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// form is one way to say something: a message type and its content. moved is
// the content for where the message replied to is gone, or "".
type form struct{ kind, content, moved string }

// splitReply cuts a text into messages that fit in every form (OUT-5).
func splitReply(text string) []string {
	text = quiet(strings.TrimSpace(text))
	if text == "" {
		return nil
	}
	var out []string
	for _, p := range markdown.Split(text, partBytes) {
		if s := p.String(); strings.TrimSpace(s) != "" {
			out = append(out, s)
		}
	}
	return out
}

// replyForms are the ways to say a part, best first (FS-5: card, post, text).
// Headings and tables are rendered by a card only; anything else reads better
// as a post, which can be quoted and copied. gone is the note for a reply whose
// message is not there any more.
func replyForms(part, gone string, mention gate.Sender) []form {
	ways := []func(string, gate.Sender) form{postForm, textForm}
	headings, tables := shape(part)
	if (headings > 0 || tables > 0) && tables <= maxTables {
		ways = append([]func(string, gate.Sender) form{cardForm}, ways...)
	}
	var out []form
	for _, way := range ways {
		f := way(part, mention)
		f.moved = way(gone+"\n\n"+part, mention).content
		if f.kind == "text" || len(f.moved) <= maxCardBytes {
			out = append(out, f)
		}
	}
	return out
}

func cardForm(part string, mention gate.Sender) form {
	var elements []any
	if callable(mention) {
		elements = append(elements, md("<at id="+mention.ID+"></at>"))
	}
	elements = append(elements, md(noImages(part)))
	return form{kind: "interactive", content: string(marshal(obj{
		"schema": "2.0", "config": obj{"update_multi": true},
		"body": obj{"elements": elements},
	}))}
}

// postForm is a post whose Markdown is one md node, under the locale level that
// a sent post needs (facts D.1).
func postForm(part string, mention gate.Sender) form {
	var lines []any
	if callable(mention) {
		lines = append(lines, []any{obj{"tag": "at", "user_id": mention.ID}})
	}
	lines = append(lines, []any{obj{"tag": "md", "text": noImages(part)}})
	return form{kind: "post", content: string(marshal(obj{"zh_cn": obj{"content": lines}}))}
}

// textForm is plain text, marshalled: the SDK's builder does not escape (D.1).
func textForm(part string, mention gate.Sender) form {
	if callable(mention) {
		part = `<at user_id="` + mention.ID + `"></at> ` + part
	}
	return form{kind: "text", content: string(marshal(obj{"text": part}))}
}

// callable: only a person, and only by an id that cannot leave its tag.
func callable(s gate.Sender) bool { return s.Kind == gate.Person && platformID(s.ID) }

// noImages makes links of images: the platform takes uploaded images only and
// refuses the whole message for another (facts D.3, 200570).
func noImages(text string) string {
	return markdown.Outside(text, func(line string) string { return strings.ReplaceAll(line, "![", "[") })
}

// shape counts what only a card renders.
func shape(text string) (headings, tables int) {
	divider := regexp.MustCompile(`^[\s|:-]*-[\s|:-]*$`)
	markdown.Outside(text, func(line string) string {
		if isHeading(line) {
			headings++
		}
		if strings.Contains(line, "|") && divider.MatchString(line) {
			tables++
		}
		return line
	})
	return headings, tables
}

func isHeading(line string) bool {
	body := strings.TrimLeft(line, " ")
	rest := strings.TrimLeft(body, "#")
	return body != rest && len(body)-len(rest) <= 6 && strings.HasPrefix(rest, " ")
}

// questionText asks a question where no card can be shown (CA-7, CA-8).
func questionText(c Config, q approvals.Question) string {
	w := c.wordsFor(q)
	title := w.questionTitle
	if q.Kind == approvals.Approval {
		title = w.approvalTitle
	}
	lines := []string{title + " · " + q.ID.Short()}
	if q.Prompt != "" {
		kept, left := cut(q.Prompt, cardPromptBytes, cardPreviewLines)
		lines = append(lines, theirs(quiet(kept)))
		if left > 0 {
			lines = append(lines, fmt.Sprintf(w.cutNotice, left))
		}
	}
	if op := q.Operation; op != nil {
		kept, left := cut(op.Preview, cardPreviewBytes, cardPreviewLines)
		lines = append(lines, w.tool+": "+oneLine(op.Tool, cardTitleRunes), theirs(quiet(exact(kept))))
		if left > 0 {
			lines = append(lines, fmt.Sprintf(w.cutNotice, left))
		}
	}
	return strings.Join(append(lines, commands(c, w, q)...), "\n")
}

// theirs marks each line that an agent wrote, so that none passes for ours.
func theirs(s string) string { return "│ " + strings.ReplaceAll(s, "\n", "\n│ ") }

func commands(c Config, w words, q approvals.Question) []string {
	m := cardMaker{Config: c, words: w, q: q, shrink: 1}
	out := []string{w.until + ": " + m.clock(q.Deadline), w.replyCommand}
	if q.Kind == approvals.Approval {
		return append(out, fmt.Sprintf(w.approveOrReject, q.ID.Short()))
	}
	for _, o := range q.Options {
		out = append(out, "/answer "+q.ID.Short()+" "+oneLine(o.ID, cardLabelRunes)+" ("+m.labelOf(o)+")")
	}
	if q.AllowFreeText {
		out = append(out, fmt.Sprintf(w.answerCommand, q.ID.Short()))
	}
	return out
}
