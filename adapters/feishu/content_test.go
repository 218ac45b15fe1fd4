package feishu_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// saying translates one message of a type with that content and mentions.
func saying(t *testing.T, kind, content string, mentions ...any) gate.Trigger {
	t.Helper()
	got := translated(t, "group-text-no-mention.json", fields{
		"event.message.message_type": kind, "event.message.content": content, "event.message.mentions": mentions,
	}, nil)
	if got.Outcome != feishu.Triggered {
		t.Fatalf("Translate = %v %q, want a trigger", got.Outcome, got.Reason)
	}
	return got.Arrival.Trigger
}

func called(n int, name, openID string) any {
	return fields{"key": fmt.Sprintf("@_user_%d", n), "name": name, "id": fields{"open_id": openID}}
}

func TestContentTypes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ kind, content, want string }{
		"text":             {"text", `{"text":"see [a](https://a.example)"}`, "see [a](https://a.example)"},
		"image":            {"image", `{"image_key":"img_1"}`, "[image]"},
		"file":             {"file", `{"file_key":"f","file_name":"a.txt"}`, "[file: a.txt]"},
		"folder":           {"folder", `{"file_key":"f","file_name":"logs"}`, "[folder: logs]"},
		"audio":            {"audio", `{"file_key":"f","duration":4200}`, "[audio 4.2s]"},
		"audio, odd":       {"audio", `{"file_key":"f","duration":"x"}`, "[audio]"},
		"media":            {"media", `{"file_key":"f","image_key":"i","file_name":"v.mp4","duration":1000}`, "[media: v.mp4]"},
		"sticker":          {"sticker", `{"file_key":"f"}`, "[sticker]"},
		"share_chat":       {"share_chat", `{"chat_id":"oc_1"}`, "[shared chat: oc_1]"},
		"share_user":       {"share_user", `{"user_id":"ou_1"}`, "[shared user: ou_1]"},
		"location":         {"location", `{"name":"Office","longitude":"116.3","latitude":"40.0"}`, "[location: Office (40.0, 116.3)]"},
		"merge_forward":    {"merge_forward", `{"content":"Merged and Forwarded Message"}`, "[merged forward]"},
		"system":           {"system", `{}`, "[unsupported: system]"},
		"an evil type":     {"x\n# y", `{}`, "[unsupported: x # y]"},
		"interactive":      {"interactive", `{"title":"Build","elements":[[{"tag":"text","text":"failed"},{"tag":"a","text":"log","href":"https://l"}]]}`, "[card: Build]\nfailed[log](https://l)"},
		"interactive, odd": {"interactive", `{"elements":"?"}`, "[card]"},
		"post with all nodes": {"post", `{"title":"T","content":[[{"tag":"text","text":" b ","style":["bold","italic"]},{"tag":"emotion","emoji_type":"OK"}],[{"tag":"hr"}],` +
			`[{"tag":"code_block","language":"GO","text":"x := 1\n"}],[{"tag":"media","file_key":"f","file_name":"v.mp4"}],[{"tag":"new","text":"kept"}]]}`,
			"**T**\n***b*** :OK:\n---\n```GO\nx := 1\n```\n[media: v.mp4]\nkept"},
		"post in a locale wrapper":       {"post", `{"zh_cn":{"title":"","content":[[{"tag":"text","text":"hi"}]]}}`, "hi"},
		"post with code holding a fence": {"post", "{\"content\":[[{\"tag\":\"code_block\",\"text\":\"```\\nx\"}]]}", "````\n```\nx\n````"},
		"post that is no post":           {"post", `[]`, ""},
	} {
		t.Run("FS-2 "+name, func(t *testing.T) {
			t.Parallel()
			got := saying(t, tt.kind, tt.content).Text
			if strings.TrimSpace(got) != strings.TrimSpace(tt.want) {
				t.Errorf("text = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCodeOfNothingButFences(t *testing.T) {
	t.Parallel()
	code := strings.Repeat("`", 1<<19)
	content, _ := json.Marshal(fields{"content": []any{[]any{fields{"tag": "code_block", "text": code}}}})
	start := time.Now()
	got := saying(t, "post", string(content)).Text
	if want := code + "`\n" + code + "\n" + code + "`"; got != want {
		t.Errorf("text has %d bytes, want the code in a longer fence", len(got))
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("took %v, want time in the length of the text", took)
	}
}

func TestAttachments(t *testing.T) {
	t.Parallel()
	got := saying(t, "file", `{"file_key":"key-1","file_name":"../../etc/\u202epass\nwd"}`)
	want := gate.Attachment{Kind: "file", Name: ".._.._etc_pass wd", Key: "key-1"}
	if len(got.Attachments) != 1 || got.Attachments[0] != want {
		t.Errorf("attachments = %+v, want %+v: a file name is untrusted", got.Attachments, want)
	}
	post := saying(t, "post", `{"content":[[{"tag":"img","image_key":"i1"},{"tag":"img","image_key":"i2"}]]}`)
	if len(post.Attachments) != 2 || post.Attachments[1].Key != "i2" {
		t.Errorf("attachments = %+v, want both images", post.Attachments)
	}
}

func TestMentions(t *testing.T) {
	t.Parallel()
	eleven := make([]any, 0, 11)
	for n := range 11 {
		eleven = append(eleven, called(n+1, fmt.Sprintf("P%d", n+1), fmt.Sprintf("ou_%d", n+1)))
	}
	bot := called(1, "值班助手", sampleBot)
	for name, tt := range map[string]struct {
		text     string
		mentions []any
		want     string
	}{
		"B.2 the eleventh mention is not the first":      {"@_user_11 and @_user_1 and @_user_10", eleven, "@P11 and @P1 and @P10"},
		"B.2 a placeholder without an entry was typed":   {"@_user_7 typed", eleven[:1], "@_user_7 typed"},
		"B.2 text right after a placeholder":             {"@_user_1你好", eleven[:1], "@P1你好"},
		"FS-2 the bot's mention is removed at the start": {" @_user_1  @_user_1 deploy", []any{bot}, "deploy"},
		"FS-2 and named elsewhere":                       {"ask @_user_1 to deploy", []any{bot}, "ask @值班助手 to deploy"},
		"FS-2 a bare mention leaves an empty text":       {"@_user_1", []any{bot}, ""},
		"a NUL cannot fake the mark":                     {"\u0000x\u0000 hi", nil, "x hi"},
		"a name stays on one line":                       {"@_user_1", []any{called(1, "a\nb", "ou_a")}, "@a b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content, _ := json.Marshal(map[string]string{"text": tt.text})
			if got := saying(t, "text", string(content), tt.mentions...).Text; got != tt.want {
				t.Errorf("text = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"code spans":           {"run `stop` now", "run  now"},
		"double code spans":    {"``a`b`` c", "c"},
		"a lonely backtick":    {"it`s", "it`s"},
		"code blocks":          {"a\n```\nstop\n```\nb", "a\nb"},
		"an unclosed block":    {"a\n~~~\nstop", "a"},
		"a span is no block":   {"```x``` b", "b"},
		"quotes":               {"> stop\nno", "no"},
		"comments":             {"a <!-- stop --> b", "a  b"},
		"an unclosed comment":  {"a <!-- stop", "a"},
		"fences by themselves": {"````\n```\nstop\n````\nb", "b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content, _ := json.Marshal(map[string]string{"text": tt.text})
			if got := saying(t, "text", string(content)).Plain; got != tt.want {
				t.Errorf("Plain of %q = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}
