package feishu

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/internal/markdown"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Setting is all that Translate knows beside the body.
type Setting struct {
	Config Config
	Source gate.Source
	// BotOpenID is the app's own open_id; while it is "" nothing in a group
	// addresses the agent (FS-2).
	BotOpenID string
	// Tenant is the tenant whose events are ours; "" takes any.
	Tenant string
	// Sent reports whether a message id is one that we sent (FS-2). Nil: none.
	Sent func(messageID string) bool
	Now  time.Time
}

const (
	typeMessage = "im.message.receive_v1"
	typeCard    = "card.action.trigger"
	typeRecall  = "im.message.recalled_v1"
	typeUpdate  = "im.message.updated_v1"

	typeBotAdded   = "im.chat.member.bot.added_v1"
	typeBotRemoved = "im.chat.member.bot.deleted_v1"
	typeDisbanded  = "im.chat.disbanded_v1"
)

// Translate makes of a decrypted body one of a closed set of Events. It does no
// I/O, never fails and never panics on purpose: what cannot be read is refused
// (envelope) or ignored (event), each with a reason.
//
// It checks token, app and tenant of every event (facts A.5, F1, F5). Whether
// the request was signed is its caller's business: an unsigned one may only be
// a Challenge.
func Translate(s Setting, body []byte) Event {
	env, err := decodeEnvelope(body)
	if err != nil {
		return refused(ReasonEnvelope)
	}
	if env.isChallenge() {
		return challenge(s, env)
	}
	if r := s.distrust(env); r != "" {
		return refused(r)
	}
	ev := s.read(env, body)
	ev.ID, ev.Type, ev.Tenant = string(env.Header.EventID), string(env.Header.EventType), string(env.Header.TenantKey)
	return ev
}

func challenge(s Setting, env envelope) Event {
	if !equal(string(env.Token), s.Config.VerificationToken) || env.Challenge == "" {
		return refused(ReasonToken)
	}
	return Event{Outcome: Challenge, Type: "url_verification", Challenge: string(env.Challenge)}
}

// distrust names what about an envelope is not ours, or "" (FS-1).
func (s Setting) distrust(env envelope) Reason {
	switch {
	case env.isV1():
		return ReasonV1
	case env.isOldCard():
		return ReasonOldCard
	case !equal(string(env.Header.Token), s.Config.VerificationToken):
		return ReasonToken
	case string(env.Header.AppID) != s.Config.AppID:
		return ReasonApp
	case env.Header.TenantKey == "" || s.Tenant != "" && string(env.Header.TenantKey) != s.Tenant:
		return ReasonTenant
	}
	return ""
}

// read gives an event to its reader. Types without one are counted by reason
// (FS-4).
func (s Setting) read(env envelope, body []byte) Event {
	switch t := string(env.Header.EventType); t {
	case typeMessage:
		return s.readMessage(env, body)
	case typeCard:
		return s.readClick(env)
	case typeRecall:
		return s.readNews(env, gate.Change{Kind: gate.ChangeRecall}, ReasonRecalled)
	case typeUpdate:
		return s.readNews(env, gate.Change{Kind: gate.ChangeEdit, Reread: true}, ReasonUpdated)
	case typeBotAdded:
		return s.readReach(env, "", ReasonBotAdded)
	case typeBotRemoved:
		return s.readReach(env, "the bot was removed from the chat", ReasonBotRemoved)
	case typeDisbanded:
		return s.readReach(env, "the chat was disbanded", ReasonDisbanded)
	default:
		return ignored(otherType(t))
	}
}

// otherType is the reason why an event of that type is ignored (facts B.6).
func otherType(t string) Reason {
	switch {
	case t == "im.message.message_read_v1":
		return ReasonRead
	case strings.HasPrefix(t, "im.message.reaction."):
		return ReasonReaction
	case t == "im.chat.access_event.bot_p2p_chat_entered_v1":
		return ReasonChatEntered
	case strings.HasPrefix(t, "im.chat."):
		return ReasonChatChanged
	case t == "application.bot.menu_v6":
		return ReasonMenu
	}
	return ReasonUnknownType
}

func (s Setting) readMessage(env envelope, body []byte) Event {
	var m message
	if json.Unmarshal(env.Event, &m) != nil || !platformID(string(m.Message.MessageID)) || !platformID(string(m.Message.ChatID)) ||
		m.Message.RootID != "" && !platformID(string(m.Message.RootID)) {
		return ignored(ReasonUnreadable)
	}
	sender := s.sender(env, m)
	if s.isOwn(m, sender) {
		return ignored(ReasonOwn)
	}
	if sender.Kind == gate.Nobody {
		return ignored(ReasonNobody)
	}
	if strings.TrimSpace(string(m.Message.Content)) == "" {
		return ignored(ReasonEmpty) // recalled before it was pushed (facts A.7)
	}
	who := newPeople(m.Message.Mentions, s.BotOpenID, s.everyone())
	what := readContent(string(m.Message.MessageType), string(m.Message.Content), who)
	addressing := s.addressing(m, who)
	scope, onlyIfLive, reason := s.scope(m, addressing)
	if reason != "" {
		return ignored(reason)
	}
	t := gate.Trigger{
		Workspace: s.Config.Workspace, Source: s.Config.ID, Scope: scope, Kind: gate.KindMessage,
		Sender: sender, Addressing: addressing,
		Text: what.markdown, Plain: markdown.Plain(what.markdown), Attachments: what.files,
		ReplyTo:    string(m.Message.ParentID),
		IDs:        gate.PlatformIDs{Event: string(env.Header.EventID), Message: string(m.Message.MessageID)},
		OccurredAt: s.occurred(env, m), ReceivedAt: s.Now,
	}
	lane := s.place(&t, m)
	return Event{Outcome: Triggered, Arrival: gate.Arrival{
		Trigger: t, Keys: s.keys(t.IDs), Lane: lane, OnlyIfLive: onlyIfLive, Raw: body,
	}}
}

// sender tells who said it (FS-2): user is a person, bot and app are bots, and
// anything else, or an account without an open_id, is nobody.
func (s Setting) sender(env envelope, m message) gate.Sender {
	kind := gate.Nobody
	switch m.Sender.SenderType {
	case "user":
		kind = gate.Person
	case "bot", "app":
		kind = gate.Bot
	}
	id := m.Sender.SenderID
	if id.OpenID == "" {
		return gate.Sender{}
	}
	out := gate.Sender{Kind: kind, ID: string(id.OpenID), Aliases: id.aliases()}
	if m.Sender.TenantKey != env.Header.TenantKey {
		out.Tenant = string(m.Sender.TenantKey)
	}
	return out
}

// isOwn drops what the agent said itself, whatever sender type it came with
// (TR-3, facts B.5).
func (s Setting) isOwn(m message, who gate.Sender) bool {
	if s.BotOpenID != "" && who.ID == s.BotOpenID {
		return true
	}
	return s.Sent != nil && s.Sent(string(m.Message.MessageID))
}

func (s Setting) addressing(m message, who *people) gate.Addressing {
	switch {
	case m.Message.ChatType == "p2p":
		return gate.Direct
	case who.atBot, who.atAll && s.Config.AtAll:
		return gate.Mention
	}
	return gate.NotAddressed
}

// scope finds the receiving scope (FS-3) and whether the message counts only on
// a live Thread (AD-9), or why it is dropped. Only p2p is a DM: every other
// chat_type is a group (facts section 0).
func (s Setting) scope(m message, a gate.Addressing) (scope gate.Scope, onlyIfLive bool, drop Reason) {
	if !s.Source.Enabled {
		return "", false, ReasonSourceOff
	}
	if m.Message.ChatType == "p2p" {
		if !s.Source.Listens(gate.DirectChat) {
			return "", false, ReasonNotReceived
		}
		return gate.DirectChat, false, ""
	}
	scope = gate.ChatScope(string(m.Message.ChatID))
	if _, configured := s.Source.Scopes[scope]; configured {
		if !s.Source.Listens(scope) {
			return "", false, ReasonNotReceived
		}
		return scope, !s.Source.Receives(scope).Takes(a), ""
	}
	switch {
	case !s.Source.Listens(gate.OtherChats):
		return "", false, ReasonNotReceived
	case a == gate.NotAddressed:
		return "", false, ReasonNotAddressed
	}
	return gate.OtherChats, false, ""
}

// place sets Thread and Place and returns the Lane. A group message belongs to
// its root's Thread, or is a root itself (TH-2). In a DM a reply belongs to its
// root's Thread; the Thread of any other message is found by the orchestrator,
// so its Lane is the chat.
func (s Setting) place(t *gate.Trigger, m message) (lane string) {
	chat, root := string(m.Message.ChatID), string(m.Message.RootID)
	t.Place = gate.Place{Chat: chat, Root: root, Topic: string(m.Message.ThreadID)}
	if m.Message.ChatType == "p2p" {
		if root != "" {
			t.Thread = s.thread(chat, root)
		}
		return string(s.Config.ID) + "~" + chat
	}
	if root == "" {
		t.Place.Root = t.IDs.Message
	}
	t.Thread = s.thread(chat, t.Place.Root)
	return string(t.Thread)
}

func (s Setting) thread(chat, root string) gate.ThreadID {
	return gate.ThreadID(string(s.Config.ID) + "~" + chat + "~" + root)
}

// keys are both ids: the documentation names either one, in different places
// (facts section 0). A hit on one is a duplicate (TR-1).
func (s Setting) keys(id gate.PlatformIDs) []string {
	keys := []string{gate.MessageKey(s.Config.ID, id.Message)} // as of what we send (TR-3)
	if id.Event != "" {
		keys = append(keys, string(s.Config.ID)+":event:"+id.Event)
	}
	return keys
}

func (s Setting) occurred(env envelope, m message) time.Time {
	for _, at := range [...]text{m.Message.CreateTime, env.Header.CreateTime} {
		if t, ok := instant(at); ok {
			return t
		}
	}
	return s.Now
}

func (s Setting) everyone() string {
	if s.Config.Language == "en" {
		return "all"
	}
	return "所有人"
}

// platformID reports whether s can be part of a Thread id as it stands.
func platformID(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		if !wordByte(s[i]) && s[i] != '-' {
			return false
		}
	}
	return true
}
