package feishu_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// expected is a line of testdata/samples/_expected.json.
type expected struct {
	File       string   `json:"file"`
	Kind       string   `json:"kind"`
	EventType  string   `json:"event_type"`
	Dedupe     []string `json:"dedupe"`
	SenderKind string   `json:"sender_kind"`
	Addressing string   `json:"addressing"`
	AtAll      bool     `json:"at_all"`
	Text       string   `json:"text"`
	Thread     string   `json:"thread"`
}

// markdown is our rendering where the expected plain one differs: links, titles
// and styles are Markdown here.
var markdown = map[string]string{
	"group-post-at-bot.json": "**发布清单**\n请按下面的清单发布：\n**1. 合并主干**\n[变更单](https://example.com/change/4711)，抄送 @陈舟\n[image]",
}

func TestSamples(t *testing.T) {
	t.Parallel()
	var all struct {
		Files []expected `json:"files"`
	}
	if err := json.Unmarshal(sample(t, "_expected.json"), &all); err != nil {
		t.Fatal(err)
	}
	for _, want := range all.Files {
		if want.Kind == "outgoing" || want.Kind == "vector" || strings.HasSuffix(want.File, "-encrypted.json") {
			continue // tested in card_test.go and handler_test.go
		}
		t.Run(want.File, func(t *testing.T) {
			t.Parallel()
			got := feishu.Translate(sampleSetting(), sample(t, want.File))
			checkSample(t, got, want)
		})
	}
}

func checkSample(t *testing.T, got feishu.Event, want expected) {
	t.Helper()
	outcome, reason := want.outcome()
	if got.Outcome != outcome || reason != "" && got.Reason != reason {
		t.Fatalf("Translate(%s) = %v %q, want %v %q", want.File, got.Outcome, got.Reason, outcome, reason)
	}
	if got.Outcome == feishu.Triggered {
		checkTrigger(t, got.Arrival, want)
	}
}

func (e expected) outcome() (feishu.Outcome, feishu.Reason) {
	switch e.Kind {
	case "challenge":
		if strings.Contains(e.File, "wrong-token") {
			return feishu.Refused, feishu.ReasonToken
		}
		return feishu.Challenge, ""
	case "message":
		if e.SenderKind == "self" {
			return feishu.Ignored, feishu.ReasonOwn
		}
		return feishu.Triggered, ""
	case "forged":
		if strings.Contains(e.File, "app-id") {
			return feishu.Refused, feishu.ReasonApp
		}
		return feishu.Refused, feishu.ReasonToken
	case "card_action": // their values carry no signature of ours (CA-6)
		return feishu.CardClick, feishu.ReasonForged
	}
	if r, ok := map[string]feishu.Reason{"recalled": feishu.ReasonRecalled, "updated": feishu.ReasonUpdated}[e.Kind]; ok {
		return feishu.Changed, r
	}
	reach := map[string]feishu.Reason{
		"bot_added": feishu.ReasonBotAdded, "bot_removed": feishu.ReasonBotRemoved, "chat_gone": feishu.ReasonDisbanded,
	}
	if r, ok := reach[e.Kind]; ok {
		return feishu.Changed, r
	}
	return feishu.Ignored, map[string]feishu.Reason{
		"p2p_entered": feishu.ReasonChatEntered,
		"reaction":    feishu.ReasonReaction, "unknown": feishu.ReasonUnknownType,
	}[e.Kind]
}

func checkTrigger(t *testing.T, got gate.Arrival, want expected) {
	t.Helper()
	var keys []string
	for _, k := range want.Dedupe {
		keys = append(keys, "feishu-main:"+strings.Replace(k, "_id", "", 1))
	}
	text := want.Text
	if md, ok := markdown[want.File]; ok {
		text = md
	}
	tr := got.Trigger
	if strings.Join(got.Keys, " ") != strings.Join(keys, " ") {
		t.Errorf("keys = %v, want %v", got.Keys, keys)
	}
	if want.Text != "" && tr.Text != text {
		t.Errorf("text = %q, want %q", tr.Text, text)
	}
	if a := tr.Addressing.String(); want.Addressing != "" && a != want.Addressing {
		t.Errorf("addressing = %s, want %s", a, want.Addressing)
	}
	if k := map[gate.SenderKind]string{gate.Person: "user", gate.Bot: "bot"}[tr.Sender.Kind]; want.SenderKind != "" && k != want.SenderKind {
		t.Errorf("sender kind = %s, want %s", k, want.SenderKind)
	}
	checkThread(t, got, want.Thread)
}

func checkThread(t *testing.T, got gate.Arrival, want string) {
	t.Helper()
	tr := got.Trigger
	root, isRoot := strings.CutPrefix(want, "root:")
	thread, lane := "", "feishu-main~"+tr.Place.Chat
	if isRoot {
		thread = "feishu-main~" + tr.Place.Chat + "~" + root
		lane = thread
	}
	if string(tr.Thread) != thread || got.Lane != lane {
		t.Errorf("thread %q lane %q, want %q %q", tr.Thread, got.Lane, thread, lane)
	}
}
