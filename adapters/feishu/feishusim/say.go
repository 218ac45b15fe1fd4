package feishusim

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Event is a webhook body on its way: plaintext, not yet sealed. Delivering it
// again is a redelivery: same event id, same message id.
type Event struct {
	// ID is the event id, Message the message id if it is about one.
	ID      string
	Type    string
	Message string
	// Body is the plaintext JSON.
	Body []byte
}

// Option changes what Say says.
type Option func(*saying)

type saying struct {
	replyTo string
	kind    string
	content any
	at      time.Time
}

// ReplyTo makes it a reply: in the topic of that message if it is in one, else
// a quote.
func ReplyTo(messageID string) Option { return func(s *saying) { s.replyTo = messageID } }

// As sends another message type with that content (a value that is marshalled,
// or a string that is taken as it is). The text of Say is then only read for
// mentions.
func As(kind string, content any) Option {
	return func(s *saying) { s.kind, s.content = kind, content }
}

// At is when it is said; else now.
func At(t time.Time) Option { return func(s *saying) { s.at = t } }

// Say puts a person's message into a chat and returns its event. In the text,
// "@name" mentions a known account, "@bot" the app's own bot, "@all" everyone.
func (s *Sim) Say(chat Chat, by Person, said string, opts ...Option) Event {
	w := saying{kind: "text"}
	for _, o := range opts {
		o(&w)
	}
	if w.at.IsZero() {
		w.at = s.Now()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	marked, mentions := s.mark(said)
	content := w.contentOf(marked)
	m := &Message{Chat: chat.ID}
	if to := s.byID[w.replyTo]; to != nil {
		m = s.replyTo(to, false)
	}
	m.ID, m.Type, m.Content, m.By, m.At = s.id("om_"), w.kind, json.RawMessage(content), by, w.at
	m.mentions = restMentions(mentions)
	s.add(m)
	return s.event("im.message.receive_v1", m.ID, milli(w.at), messageEvent(chat, m, content, mentions))
}

func (w saying) contentOf(text string) string {
	switch c := w.content.(type) {
	case nil:
		b, _ := json.Marshal(map[string]string{"text": text})
		return string(b)
	case string:
		return c
	default:
		b, err := json.Marshal(c)
		if err != nil {
			panic(fmt.Sprintf("feishusim: content of a message: %v", err))
		}
		return string(b)
	}
}

// mark replaces @names by the platform's placeholders. The lock is held.
func (s *Sim) mark(said string) (marked string, mentions []any) {
	known := []Person{s.Self()}
	for _, p := range s.people {
		known = append(known, p)
	}
	// Longer names first, so that "@Ann Lee" is not read as "@Ann".
	sort.Slice(known, func(i, j int) bool {
		if len(known[i].Name) != len(known[j].Name) {
			return len(known[i].Name) > len(known[j].Name)
		}
		return known[i].Name < known[j].Name
	})
	said = strings.ReplaceAll(said, "@all", "@_all")
	if s.app.BotName != "bot" {
		said = strings.ReplaceAll(said, "@bot", "@"+s.app.BotName)
	}
	for _, p := range known {
		for strings.Contains(said, "@"+p.Name) {
			key := fmt.Sprintf("@_user_%d", len(mentions)+1)
			said = strings.Replace(said, "@"+p.Name, key, 1)
			mentions = append(mentions, mentionOf(key, p))
		}
	}
	return said, mentions
}

func mentionOf(key string, p Person) map[string]any {
	kind := "user"
	if p.Bot {
		kind = "bot"
	}
	return map[string]any{"key": key, "id": idsOf(p), "mentioned_type": kind, "name": p.Name, "tenant_key": p.Tenant}
}

func idsOf(p Person) map[string]any {
	return map[string]any{"open_id": p.OpenID, "union_id": p.UnionID, "user_id": p.UserID}
}

func messageEvent(chat Chat, m *Message, content string, mentions []any) map[string]any {
	kind := "user"
	if m.By.Bot {
		kind = "bot"
	}
	chatType := "group"
	if chat.Direct {
		chatType = "p2p"
	}
	msg := map[string]any{
		"message_id": m.ID, "chat_id": m.Chat, "chat_type": chatType, "message_type": m.Type, "content": content,
		"create_time": milli(m.At), "update_time": milli(m.At),
	}
	for key, value := range map[string]string{"root_id": m.Root, "parent_id": m.Parent, "thread_id": m.Topic} {
		if value != "" {
			msg[key] = value
		}
	}
	if len(mentions) > 0 {
		msg["mentions"] = mentions
	}
	return map[string]any{
		"sender":  map[string]any{"sender_id": idsOf(m.By), "sender_type": kind, "tenant_key": m.By.Tenant},
		"message": msg,
	}
}

// NewEvent is an event of any other type with a fresh id.
func (s *Sim) NewEvent(eventType string, event any) Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.event(eventType, "", milli(s.Now()), event)
}

// event wraps into the 2.0 envelope. The lock is held.
func (s *Sim) event(eventType, message, created string, event any) Event {
	id := s.id("")
	body, err := json.Marshal(map[string]any{
		"schema": "2.0",
		"header": map[string]any{
			"event_id": id, "event_type": eventType, "create_time": created,
			"token": s.app.Token, "app_id": s.app.ID, "tenant_key": s.app.Tenant,
		},
		"event": event,
	})
	if err != nil {
		panic(fmt.Sprintf("feishusim: event %s: %v", eventType, err))
	}
	return Event{ID: id, Type: eventType, Message: message, Body: body}
}

func milli(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }
