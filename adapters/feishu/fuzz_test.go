package feishu_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

func FuzzDecrypt(f *testing.F) {
	f.Add("P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk=", "test key", []byte("hello"))
	f.Fuzz(func(t *testing.T, sealed, key string, plain []byte) {
		_, _ = feishu.Decrypt(sealed, key) // F21: no panic
		got, err := feishu.Decrypt(feishusim.Encrypt(key, plain), key)
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("Decrypt(Encrypt(%q)) = %q, %v", plain, got, err)
		}
	})
}

func FuzzTranslate(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join("testdata", "samples", "*.json"))
	for _, name := range files {
		if b, err := os.ReadFile(name); err == nil {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got := feishu.Translate(sampleSetting(), body)
		if got.Outcome == feishu.Triggered && (got.Arrival.Trigger.Sender.Kind == gate.Nobody || got.Arrival.Lane == "" || len(got.Arrival.Keys) == 0) {
			t.Errorf("Translate = %+v, want a sender, a lane and keys", got.Arrival)
		}
	})
}

func FuzzContent(f *testing.F) {
	for _, kind := range []string{"text", "post", "interactive", "file", "location"} {
		f.Add(kind, `{"text":"@_user_1 hi @_all","content":[[{"tag":"at","user_id":"@_user_1"}]]}`, "n")
	}
	f.Fuzz(func(t *testing.T, kind, content, name string) {
		if content == "" {
			content = "{}"
		}
		body := edit(t, sample(t, "group-text-at-bot.json"), fields{
			"event.message.message_type": kind, "event.message.content": content,
			"event.message.mentions": []any{fields{"key": "@_user_1", "name": name, "id": fields{"open_id": sampleBot}}},
		})
		got := feishu.Translate(sampleSetting(), body)
		if strings.Contains(got.Arrival.Trigger.Text, "\x00") || !utf8.ValidString(got.Arrival.Trigger.Text) {
			t.Errorf("text = %q, want valid text without NUL", got.Arrival.Trigger.Text)
		}
	})
}

func FuzzCard(f *testing.F) {
	f.Add("prompt\n```", "preview", "label", "<at id=all></at>")
	f.Fuzz(func(t *testing.T, prompt, preview, label, text string) {
		q := approval()
		q.Prompt, q.Operation.Preview, q.Options[0].Label, q.Session.Title = prompt, preview, label, text
		card := feishu.Card(sampleConfig(), q, gate.Sender{})
		if err := feishusim.CheckCard(card); err != nil || !json.Valid(card) {
			t.Fatalf("the platform refuses the card: %v", err)
		}
		done := closed(q, approvals.StatusAnswered, "approve", text, gate.Sender{Name: label}, approvals.ViaPanel)
		if err := feishusim.CheckCard(feishu.Card(sampleConfig(), done, gate.Sender{})); err != nil {
			t.Fatalf("the platform refuses the closed card: %v", err)
		}
	})
}
