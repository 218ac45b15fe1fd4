package feishusim

import (
	"encoding/json"
	"fmt"
	"net/url"
)

type sendBody struct {
	ReceiveID     string `json:"receive_id"`
	Type          string `json:"msg_type"`
	Content       string `json:"content"`
	UUID          string `json:"uuid"`
	ReplyInThread bool   `json:"reply_in_thread"`
}

func (s *Sim) create(c *apiCall) apiReply {
	var in sendBody
	if json.Unmarshal(c.body, &in) != nil {
		return bad(230001, "invalid request")
	}
	c.uuid = in.UUID
	if fault := s.checkContent(in); fault != nil {
		return *fault
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, ok := s.receiver(c.r.URL.Query(), in.ReceiveID)
	if !ok || chat.Gone {
		return bad(230002, "bot is not in the chat")
	}
	return s.once("create", in, func() *Message {
		return &Message{Chat: chat.ID}
	})
}

// receiver finds the chat that is meant. The lock is held.
func (s *Sim) receiver(q url.Values, id string) (Chat, bool) {
	switch q.Get("receive_id_type") {
	case "chat_id":
		c, ok := s.chats[id]
		return c, ok
	case "open_id":
		for _, p := range s.people {
			if p.OpenID == id {
				c := Chat{ID: "oc_" + digest("dm", p.OpenID), Name: p.Name, Direct: true}
				s.chats[c.ID] = c
				return c, true
			}
		}
	}
	return Chat{}, false
}

func (s *Sim) reply(c *apiCall) apiReply {
	var in sendBody
	if json.Unmarshal(c.body, &in) != nil {
		return bad(230001, "invalid request")
	}
	c.uuid = in.UUID
	if fault := s.checkContent(in); fault != nil {
		return *fault
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	to := s.byID[c.r.PathValue("id")]
	switch {
	case to == nil:
		return bad(230001, "no such message")
	case to.Deleted:
		return bad(230011, "the message was recalled")
	case s.chats[to.Chat].Gone:
		return bad(230002, "bot is not in the chat")
	case in.ReplyInThread && to.Topic == "" && (s.chats[to.Chat].NoTopics || s.chats[to.Chat].Direct):
		return bad(230071, "no replies in threads here")
	}
	return s.once("reply", in, func() *Message { return s.replyTo(to, in.ReplyInThread) })
}

// replyTo makes a reply of a message, opening a topic if asked. The lock is held.
func (s *Sim) replyTo(to *Message, inThread bool) *Message {
	root := to
	if to.Root != "" && s.byID[to.Root] != nil {
		root = s.byID[to.Root]
	}
	if inThread && root.Topic == "" {
		root.Topic = s.id("omt_")
	}
	m := &Message{Chat: to.Chat, Root: root.ID, Parent: to.ID}
	if inThread || to.Topic != "" {
		m.Topic = root.Topic
	}
	return m
}

// once sends, or answers what the uuid did within the last hour. The lock is
// held.
func (s *Sim) once(call string, in sendBody, make func() *Message) apiReply {
	if done, ok := s.byUUID[in.UUID]; ok && in.UUID != "" && s.Now().Sub(done.at) < uuidLife {
		return good(s.view(s.byID[done.message]))
	}
	m := make()
	m.ID, m.Type, m.Content, m.UUID = s.id("om_"), in.Type, json.RawMessage(in.Content), in.UUID
	m.By, m.FromApp, m.At = s.Self(), true, s.Now()
	if in.UUID != "" {
		s.byUUID[in.UUID] = remembered{message: m.ID, at: m.At}
	}
	s.add(m)
	return good(s.view(m))
}

// view is a message as REST answers show it. A recalled one keeps its place
// and loses its text.
func (s *Sim) view(m *Message) map[string]any {
	v := map[string]any{
		"message_id": m.ID, "chat_id": m.Chat, "msg_type": m.Type, "deleted": m.Deleted, "updated": len(m.Revisions) > 0,
		"create_time": milli(m.At), "update_time": milli(m.At), "body": map[string]any{"content": string(m.Content)}, "sender": s.author(m),
	}
	if !m.updated.IsZero() {
		v["updated"], v["update_time"] = true, milli(m.updated)
	}
	if len(m.mentions) > 0 {
		v["mentions"] = m.mentions
	}
	if m.Deleted {
		v["body"] = map[string]any{"content": "This message was recalled"}
	}
	for key, value := range map[string]string{"root_id": m.Root, "parent_id": m.Parent, "thread_id": m.Topic} {
		if value != "" {
			v[key] = value
		}
	}
	return v
}

// author is a sender as REST names them: a bot by its App ID.
func (s *Sim) author(m *Message) map[string]any {
	switch {
	case m.FromApp:
		return map[string]any{"id": s.app.ID, "id_type": "app_id", "sender_type": "app", "tenant_key": s.app.Tenant}
	case m.By.Bot:
		return map[string]any{"id": "cli_" + digest("app", m.By.Name)[:16], "id_type": "app_id", "sender_type": "app", "tenant_key": m.By.Tenant}
	}
	return map[string]any{"id": m.By.OpenID, "id_type": "open_id", "sender_type": "user", "tenant_key": m.By.Tenant}
}

func (s *Sim) get(c *apiCall) apiReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.byID[c.r.PathValue("id")]
	if m == nil {
		return bad(230001, "no such message")
	}
	if s.chats[m.Chat].Gone {
		return bad(230002, "bot is not in the chat")
	}
	return good(map[string]any{"items": []any{s.view(m)}})
}

func (s *Sim) patch(c *apiCall) apiReply {
	var in struct {
		Content string `json:"content"`
	}
	if json.Unmarshal(c.body, &in) != nil {
		return bad(230001, "invalid request")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.byID[c.r.PathValue("id")]
	switch {
	case m == nil || !m.FromApp || !m.IsCard():
		return bad(230001, "not a card of this app")
	case m.Deleted:
		return bad(230011, "the message was recalled")
	case s.Now().Sub(m.At) > cardLife:
		return bad(230031, "the card is too old")
	}
	if fault := s.cards.check(in.Content); fault != nil {
		return *fault
	}
	m.patches, m.patch = m.patches+1, json.RawMessage(in.Content)
	s.revise(m, m.patch)
	return good(map[string]any{})
}

// revise replaces a card's content. The lock is held.
func (s *Sim) revise(m *Message, content json.RawMessage) {
	m.Revisions = append(m.Revisions, m.Content)
	m.Content, m.updated = content, s.Now()
	s.notify()
}

func (s *Sim) react(c *apiCall) apiReply {
	var in struct {
		Type struct {
			Emoji string `json:"emoji_type"`
		} `json:"reaction_type"`
	}
	if json.Unmarshal(c.body, &in) != nil || in.Type.Emoji == "" {
		return bad(231001, "reaction type is invalid")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.byID[c.r.PathValue("id")]
	switch {
	case m == nil:
		return bad(230001, "no such message")
	case m.Deleted:
		return bad(231003, "the message is not found")
	}
	mine := Reaction{Emoji: in.Type.Emoji, By: s.app.BotOpenID}
	for _, r := range m.Reactions {
		if r == mine {
			return good(map[string]any{"reaction_id": reactionID(m, mine)})
		}
	}
	m.Reactions = append(m.Reactions, mine)
	s.notify()
	return good(map[string]any{"reaction_id": reactionID(m, mine)})
}

func reactionID(m *Message, r Reaction) string { return digest("reaction", m.ID, fmt.Sprint(r)) }
