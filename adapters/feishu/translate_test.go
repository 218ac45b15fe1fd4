package feishu_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
	"github.com/gatehouse-bot/gatehouse/gate"
)

type fields = map[string]any

// translated translates a changed sample under a changed setting.
func translated(t *testing.T, file string, changes fields, set func(*feishu.Setting)) feishu.Event {
	t.Helper()
	s := sampleSetting()
	if set != nil {
		set(&s)
	}
	return feishu.Translate(s, edit(t, sample(t, file), changes))
}

func TestAddressing(t *testing.T) {
	t.Parallel()
	all := []any{fields{"key": "@_user_1", "name": "值班助手", "mentioned_type": "bot", "id": fields{"open_id": "ou_other"}}}
	post := func(id string) fields {
		return fields{"event.message.message_type": "post", "event.message.mentions": nil,
			"event.message.content": `{"content":[[{"tag":"at","user_id":"` + id + `","user_name":"值班助手"},{"tag":"text","text":" go"}]]}`}
	}
	card := fields{"event.message.message_type": "interactive", "event.message.mentions": nil,
		"event.message.content": `{"title":"T","elements":[[{"tag":"at","user_id":"` + sampleBot + `"},{"tag":"at","user_id":"all"},{"tag":"text","text":" go"}]]}`}
	for name, tt := range map[string]struct {
		file    string
		changes fields
		set     func(*feishu.Setting)
		want    gate.Addressing
	}{
		"FS-2 the bot's open_id addresses":                              {"group-text-at-bot.json", nil, nil, gate.Mention},
		"FS-2 the name alone does not":                                  {"group-text-at-bot.json", fields{"event.message.mentions": all}, nil, gate.NotAddressed},
		"FS-2 nothing does while the bot's open_id is unknown":          {"group-text-at-bot.json", nil, func(s *feishu.Setting) { s.BotOpenID = "" }, gate.NotAddressed},
		"B.2 an id given as a string counts like one in an object":      {"group-text-at-bot.json", fields{"event.message.mentions": []any{fields{"key": "@_user_1", "name": "x", "id": sampleBot, "id_type": "open_id"}}}, nil, gate.Mention},
		"B.3 an at node with the bot's own id counts without mentions":  {"group-post-at-bot.json", post(sampleBot), nil, gate.Mention},
		"B.3 an at node with only the bot's name does not":              {"group-post-at-bot.json", post("@_user_1"), nil, gate.NotAddressed},
		"B.3 an at node with an empty id does not, with an unknown bot": {"group-post-at-bot.json", post(""), func(s *feishu.Setting) { s.BotOpenID = "" }, gate.NotAddressed},
		"FS-2 a forwarded card that names the bot does not address":     {"group-post-at-bot.json", card, func(s *feishu.Setting) { s.Config.AtAll = true }, gate.NotAddressed},
		"AD-6a @all does not address":                                   {"group-text-at-all.json", nil, nil, gate.NotAddressed},
		"AD-6a @all addresses where at_all is set":                      {"group-text-at-all.json", nil, func(s *feishu.Setting) { s.Config.AtAll = true }, gate.Mention},
		"AD-6a @all in a post addresses where at_all is set":            {"group-post-at-all.json", nil, func(s *feishu.Setting) { s.Config.AtAll = true }, gate.Mention},
		"B.2 the words @all in prose are no @all":                       {"group-text-at-all.json", fields{"event.message.content": `{"text":"use @all or @_allies"}`}, func(s *feishu.Setting) { s.Config.AtAll = true }, gate.NotAddressed},
		"FS-3 a DM always addresses":                                    {"p2p-text.json", nil, func(s *feishu.Setting) { s.BotOpenID = "" }, gate.Direct},
		"B.1 topic_group is no DM":                                      {"topic-group-chat-type.json", nil, func(s *feishu.Setting) { s.BotOpenID = "" }, gate.NotAddressed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := translated(t, tt.file, tt.changes, tt.set)
			if got.Outcome != feishu.Triggered || got.Arrival.Trigger.Addressing != tt.want {
				t.Errorf("Translate = %v %s, addressing %v, want %v", got.Outcome, got.Reason, got.Arrival.Trigger.Addressing, tt.want)
			}
		})
	}
}

func TestSenders(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		changes fields
		set     func(*feishu.Setting)
		kind    gate.SenderKind
		reason  feishu.Reason
	}{
		"FS-2 user is a person":                      {nil, nil, gate.Person, ""},
		"FS-2 bot is a bot":                          {fields{"event.sender.sender_type": "bot"}, nil, gate.Bot, ""},
		"FS-2 app is a bot":                          {fields{"event.sender.sender_type": "app"}, nil, gate.Bot, ""},
		"FS-2 anonymous is nobody":                   {fields{"event.sender.sender_type": "anonymous"}, nil, 0, feishu.ReasonNobody},
		"FS-2 no type is nobody":                     {fields{"event.sender.sender_type": nil}, nil, 0, feishu.ReasonNobody},
		"AD-12 an account without open_id is nobody": {fields{"event.sender.sender_id.open_id": ""}, nil, 0, feishu.ReasonNobody},
		"TR-3 the bot itself is dropped":             {fields{"event.sender.sender_id.open_id": sampleBot, "event.sender.sender_type": "bot"}, nil, 0, feishu.ReasonOwn},
		"TR-3 also when it comes as a user":          {fields{"event.sender.sender_id.open_id": sampleBot}, nil, 0, feishu.ReasonOwn},
		"FS-2 a message that we sent is dropped": {nil, func(s *feishu.Setting) {
			s.Sent = func(id string) bool { return id == "om_x100bc83377a63db0fe101901b0bb7c0" }
		}, 0, feishu.ReasonOwn},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := translated(t, "group-text-at-bot.json", tt.changes, tt.set)
			if got.Reason != tt.reason || got.Arrival.Trigger.Sender.Kind != tt.kind {
				t.Errorf("Translate = %v %q, sender %v, want %q, %v", got.Outcome, got.Reason, got.Arrival.Trigger.Sender.Kind, tt.reason, tt.kind)
			}
		})
	}
}

func TestSenderIDs(t *testing.T) {
	t.Parallel()
	got := translated(t, "group-text-at-bot.json", nil, nil).Arrival.Trigger.Sender
	want := gate.Sender{Kind: gate.Person, ID: lin, Aliases: []string{"union:on_95af479cd95822c3f3d78194997f2327", "user:7g3kd9a1"}}
	if got.ID != want.ID || strings.Join(got.Aliases, " ") != strings.Join(want.Aliases, " ") || got.Tenant != "" {
		t.Errorf("sender = %+v, want %+v", got, want)
	}
	foreign := translated(t, "group-text-at-bot.json", fields{"event.sender.tenant_key": "other", "event.sender.sender_id.user_id": nil}, nil).Arrival.Trigger.Sender
	if foreign.Tenant != "other" || len(foreign.Aliases) != 1 {
		t.Errorf("sender = %+v, want tenant other and no user: alias (B.1)", foreign)
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	scopes := func(m map[gate.Scope]gate.Receive) func(*feishu.Setting) {
		return func(s *feishu.Setting) { s.Source = source(m) }
	}
	ops := gate.ChatScope(opsGroup)
	for name, tt := range map[string]struct {
		file   string
		set    func(*feishu.Setting)
		scope  gate.Scope
		live   bool
		reason feishu.Reason
	}{
		"FS-3 p2p is direct":                                      {"p2p-text.json", nil, gate.DirectChat, false, ""},
		"FS-3 p2p is dropped where DMs are off":                   {"p2p-text.json", scopes(nil), "", false, feishu.ReasonNotReceived},
		"FS-3 a configured chat":                                  {"group-text-no-mention.json", nil, ops, false, ""},
		"AD-9 unaddressed in a mentions chat counts only if live": {"group-text-no-mention.json", scopes(map[gate.Scope]gate.Receive{ops: gate.ReceiveMentions}), ops, true, ""},
		"AD-9 addressed in a mentions chat counts":                {"group-text-at-bot.json", scopes(map[gate.Scope]gate.Receive{ops: gate.ReceiveMentions}), ops, false, ""},
		"FS-3 a chat that is configured off is no other chat":     {"group-text-at-bot.json", scopes(map[gate.Scope]gate.Receive{ops: gate.ReceiveOff, gate.OtherChats: gate.ReceiveMentions}), "", false, feishu.ReasonNotReceived},
		"FS-3 another chat that addresses":                        {"group-text-at-bot.json", scopes(map[gate.Scope]gate.Receive{gate.OtherChats: gate.ReceiveMentions}), gate.OtherChats, false, ""},
		"FS-3 another chat that does not":                         {"group-text-no-mention.json", scopes(map[gate.Scope]gate.Receive{gate.OtherChats: gate.ReceiveMentions}), "", false, feishu.ReasonNotAddressed},
		"FS-3 another chat where the setting is off":              {"group-text-at-bot.json", scopes(nil), "", false, feishu.ReasonNotReceived},
		"TR-5 a Source that is off":                               {"group-text-at-bot.json", func(s *feishu.Setting) { s.Source.Enabled = false }, "", false, feishu.ReasonSourceOff},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := translated(t, tt.file, nil, tt.set)
			if got.Reason != tt.reason || got.Arrival.Trigger.Scope != tt.scope || got.Arrival.OnlyIfLive != tt.live {
				t.Errorf("Translate = %v %q, scope %q, only if live %v, want %q, %q, %v",
					got.Outcome, got.Reason, got.Arrival.Trigger.Scope, got.Arrival.OnlyIfLive, tt.reason, tt.scope, tt.live)
			}
		})
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	t.Run("TH-2 a DM's reply belongs to its root's Thread, in the chat's Lane", func(t *testing.T) {
		t.Parallel()
		got := translated(t, "p2p-text.json", fields{"event.message.root_id": "om_root", "event.message.parent_id": "om_parent"}, nil).Arrival
		chat := got.Trigger.Place.Chat
		if string(got.Trigger.Thread) != "feishu-main~"+chat+"~om_root" || got.Lane != "feishu-main~"+chat || got.Trigger.ReplyTo != "om_parent" {
			t.Errorf("thread %q lane %q reply to %q", got.Trigger.Thread, got.Lane, got.Trigger.ReplyTo)
		}
	})
	t.Run("FS-3 the topic is kept only to know where to reply", func(t *testing.T) {
		t.Parallel()
		got := translated(t, "topic-reply-at-bot.json", nil, nil).Arrival.Trigger
		if got.Place.Topic != "omt_4c584082351fc3" || got.Place.Root != "om_x100b22f8f66c07fd650d065ef8cc64c" || strings.Contains(string(got.Thread), "omt_") {
			t.Errorf("place = %+v, thread %q", got.Place, got.Thread)
		}
	})
	t.Run("TH-2 a reply without thread_id is the same Thread", func(t *testing.T) {
		t.Parallel()
		with := translated(t, "topic-reply-at-bot.json", nil, nil).Arrival.Trigger.Thread
		without := translated(t, "topic-reply-at-bot.json", fields{"event.message.thread_id": nil}, nil).Arrival.Trigger.Thread
		if with != without {
			t.Errorf("threads %q and %q, want one", with, without)
		}
	})
	for _, bad := range []string{"", "om/x", "om~x", "om x", strings.Repeat("x", 200)} {
		got := translated(t, "group-text-at-bot.json", fields{"event.message.message_id": bad}, nil)
		if got.Reason != feishu.ReasonUnreadable {
			t.Errorf("message id %q = %v %q, want unreadable", bad, got.Outcome, got.Reason)
		}
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	want := time.UnixMilli(1789012801000).UTC()
	for name, at := range map[string]any{
		"milliseconds": "1789012801000", "seconds": "1789012801", "microseconds": "1789012801000000",
		"nanoseconds": "1789012801000000000", "F20 a number": 1789012801000,
	} {
		got := translated(t, "group-text-at-bot.json", fields{"event.message.create_time": at}, nil).Arrival.Trigger.OccurredAt
		if !got.Equal(want) {
			t.Errorf("%s: occurred at %v, want %v", name, got, want)
		}
	}
	header := translated(t, "group-text-at-bot.json", fields{"event.message.create_time": "x"}, nil).Arrival.Trigger.OccurredAt
	none := translated(t, "group-text-at-bot.json", fields{"event.message.create_time": nil, "header.create_time": nil}, nil).Arrival.Trigger
	if !header.Equal(time.UnixMilli(1789012801180)) || !none.OccurredAt.Equal(none.ReceivedAt) {
		t.Errorf("fallbacks = %v and %v, want the header's time and the time of arrival", header, none.OccurredAt)
	}
}

func TestOddEvents(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file    string
		changes fields
		want    feishu.Outcome
		reason  feishu.Reason
	}{
		"A.7 a message recalled before the push has no content": {"group-text-at-bot.json", fields{"event.message.content": ""}, feishu.Ignored, feishu.ReasonEmpty},
		"content that is no JSON is still a message":            {"group-text-at-bot.json", fields{"event.message.content": "plain"}, feishu.Triggered, ""},
		"mentions of an odd type are none":                      {"group-text-no-mention.json", fields{"event.message.mentions": "x"}, feishu.Triggered, ""},
		"a sender id that is null is nobody":                    {"group-text-at-bot.json", fields{"event.sender.sender_id": nil}, feishu.Ignored, feishu.ReasonNobody},
		"an event that is a list is unreadable":                 {"group-text-at-bot.json", fields{"event": []any{}}, feishu.Ignored, feishu.ReasonUnreadable},
		"no event id leaves the message id as key":              {"group-text-at-bot.json", fields{"header.event_id": nil}, feishu.Triggered, ""},
		"message read": {"event-unknown-type.json", fields{"header.event_type": "im.message.message_read_v1"}, feishu.Ignored, feishu.ReasonRead},
		"chat updated": {"event-unknown-type.json", fields{"header.event_type": "im.chat.updated_v1"}, feishu.Ignored, feishu.ReasonChatChanged},
		"bot menu":     {"event-unknown-type.json", fields{"header.event_type": "application.bot.menu_v6"}, feishu.Ignored, feishu.ReasonMenu},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := translated(t, tt.file, tt.changes, nil)
			if got.Outcome != tt.want || got.Reason != tt.reason {
				t.Errorf("Translate = %v %q, want %v %q", got.Outcome, got.Reason, tt.want, tt.reason)
			}
		})
	}
}

func TestOutcomeWords(t *testing.T) {
	t.Parallel()
	want := map[feishu.Outcome]string{feishu.Refused: "refused", feishu.Ignored: "ignored", feishu.Challenge: "challenge",
		feishu.CardClick: "card", feishu.Triggered: "trigger", 99: "refused"}
	for o, word := range want {
		if b, err := o.MarshalText(); err != nil || string(b) != word {
			t.Errorf("Outcome %d = %s, %v, want %s", o, b, err, word)
		}
	}
}
