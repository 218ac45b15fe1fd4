package feishusim

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// Message is a message of a chat: a person's, or one that the app sent.
type Message struct {
	ID   string
	Chat string
	// Root and Parent are set on a reply, Topic in a topic.
	Root, Parent, Topic string
	// Type is the platform's msg_type, Content its JSON.
	Type    string
	Content json.RawMessage
	// By is who said it; FromApp: the app under test did, through the API.
	By      Person
	FromApp bool
	// UUID is what the app sent along.
	UUID      string
	At        time.Time
	Reactions []Reaction
	// Revisions are the contents that a card had before its updates, oldest
	// first.
	Revisions []json.RawMessage
	// Deleted: recalled; replies to it fail (230011).
	Deleted bool

	// mentions, as REST answers have them, and when a text was edited.
	mentions []any
	updated  time.Time
	// patches counts a card's updates through the API; patch is the last.
	patches int
	patch   json.RawMessage
}

// Reaction is an emoji on a message.
type Reaction struct {
	Emoji string
	By    string
}

// IsCard reports whether it is an interactive message.
func (m Message) IsCard() bool { return m.Type == "interactive" }

// Text is all that a reader sees of the message, in order, one piece a line: a
// text, a post's lines, a card's header, Markdown, button labels.
func (m Message) Text() string {
	var v any
	if json.Unmarshal(m.Content, &v) != nil {
		return ""
	}
	var out []string
	collect(v, &out)
	return strings.Join(out, "\n")
}

// visible are the keys whose strings are shown, in the order in which a card's
// objects are walked.
var visible = [...]string{"header", "title", "text", "content", "zh_cn", "en_us", "ja_jp", "user_name", "label", "placeholder", "body", "elements", "columns", "options"}

func collect(v any, out *[]string) {
	switch v := v.(type) {
	case string:
		if v != "" {
			*out = append(*out, v)
		}
	case []any:
		for _, e := range v {
			collect(e, out)
		}
	case map[string]any:
		for _, key := range visible {
			if inner, ok := v[key]; ok {
				collect(inner, out)
			}
		}
	}
}

// Button is something on a card that can be clicked.
type Button struct {
	Label string
	Name  string
	// Value is the callback's value as the card has it.
	Value json.RawMessage
	// Submit: it submits the form around it.
	Submit bool
}

// Buttons lists what can be clicked on a card, in order. A settled card has
// none.
func (m Message) Buttons() []Button {
	var v any
	if !m.IsCard() || json.Unmarshal(m.Content, &v) != nil {
		return nil
	}
	var out []Button
	buttons(v, &out)
	return out
}

func buttons(v any, out *[]Button) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			buttons(e, out)
		}
	case map[string]any:
		if v["tag"] == "button" && v["disabled"] != true {
			*out = append(*out, button(v))
			return
		}
		for _, key := range visible {
			buttons(v[key], out)
		}
	}
}

func button(v map[string]any) Button {
	b := Button{Submit: v["form_action_type"] == "submit"}
	b.Name, _ = v["name"].(string)
	if t, ok := v["text"].(map[string]any); ok {
		b.Label, _ = t["content"].(string)
	}
	behaviors, _ := v["behaviors"].([]any)
	for _, e := range behaviors {
		if how, ok := e.(map[string]any); ok && how["type"] == "callback" {
			b.Value, _ = json.Marshal(how["value"])
		}
	}
	return b
}

// is reports whether the button is meant by its label, its name, or any string
// of its value (an option's id).
func (b Button) is(what string) bool {
	if what == b.Label || what == b.Name {
		return true
	}
	var fields map[string]any
	if json.Unmarshal(b.Value, &fields) != nil {
		return false
	}
	for _, v := range fields {
		if v == what {
			return true
		}
	}
	return false
}

// filled is a form as the client sends it: of what is chosen from a list, the
// value.
func (m Message) filled(fields map[string]string) map[string]string {
	var v any
	if fields == nil || json.Unmarshal(m.Content, &v) != nil {
		return fields
	}
	out := maps.Clone(fields)
	choose(v, out)
	return out
}

func choose(v any, fields map[string]string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			choose(e, fields)
		}
	case map[string]any:
		name, _ := v["name"].(string)
		if value, ok := chosen(v, fields[name]); ok {
			fields[name] = value
		}
		for _, key := range visible {
			choose(v[key], fields)
		}
	}
}

// chosen is the value of the option that a list shows so.
func chosen(list map[string]any, shown string) (value string, ok bool) {
	options, _ := list["options"].([]any)
	for _, e := range options {
		o, _ := e.(map[string]any)
		text, _ := o["text"].(map[string]any)
		if text["content"] == shown {
			value, ok = o["value"].(string)
			return value, ok
		}
	}
	return "", false
}

// Call is an API call that came in.
type Call struct {
	// Name is token, bot, create, reply, patch, react, get or unknown.
	Name   string
	Path   string
	UUID   string
	Status int
	Code   int
}

// Snapshot is the state at one moment. It shares nothing with the Sim.
type Snapshot struct {
	// Messages are all, oldest first, people's included.
	Messages []Message
	Calls    []Call
}

// Sent are the app's own messages, oldest first.
func (s Snapshot) Sent() []Message {
	return slices.DeleteFunc(slices.Clone(s.Messages), func(m Message) bool { return !m.FromApp })
}

// Cards are the app's own cards, oldest first, as they look now.
func (s Snapshot) Cards() []Message {
	return slices.DeleteFunc(s.Sent(), func(m Message) bool { return !m.IsCard() })
}

// Message returns one by its id.
func (s Snapshot) Message(id string) (Message, bool) {
	i := slices.IndexFunc(s.Messages, func(m Message) bool { return m.ID == id })
	if i < 0 {
		return Message{}, false
	}
	return s.Messages[i], true
}

// Named are the calls of one name.
func (s Snapshot) Named(name string) []Call {
	return slices.DeleteFunc(slices.Clone(s.Calls), func(c Call) bool { return c.Name != name })
}

// Snapshot returns the state now.
func (s *Sim) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshot()
}

func (s *Sim) snapshot() Snapshot {
	out := Snapshot{Calls: slices.Clone(s.calls)}
	for _, m := range s.messages {
		c := *m
		c.Reactions, c.Revisions = slices.Clone(m.Reactions), slices.Clone(m.Revisions)
		out.Messages = append(out.Messages, c)
	}
	return out
}

// Messages are what the app sent, oldest first.
func (s *Sim) Messages() []Message { return s.Snapshot().Sent() }

// Cards are the cards that the app sent, oldest first, as they look now.
func (s *Sim) Cards() []Message { return s.Snapshot().Cards() }

// Message returns one by its id; the zero Message if there is none.
func (s *Sim) Message(id string) Message {
	m, _ := s.Snapshot().Message(id)
	return m
}

// Recall marks a message as recalled: replies to it fail.
func (s *Sim) Recall(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.byID[id]; m != nil {
		m.Deleted = true
		s.notify()
	}
}

// Recalled marks a message as recalled and returns the event that says so.
func (s *Sim) Recalled(id string) Event {
	s.Recall(id)
	m := s.Message(id)
	return s.NewEvent("im.message.recalled_v1", map[string]any{
		"message_id": id, "chat_id": m.Chat, "recall_time": milli(s.Now()), "recall_type": "message_owner",
	})
}

// Edited gives a text message another text, in which @name mentions as in Say,
// and returns the event that says so. The event has no text: it is to be read
// back.
func (s *Sim) Edited(id, said string) Event {
	s.mu.Lock()
	marked, mentions := s.mark(said)
	m := s.byID[id]
	content, err := json.Marshal(map[string]string{"text": marked})
	if m == nil || err != nil {
		s.mu.Unlock()
		return Event{}
	}
	m.Content, m.mentions, m.updated = content, restMentions(mentions), s.Now()
	s.notify()
	chat := m.Chat
	s.mu.Unlock()
	return s.NewEvent("im.message.updated_v1", map[string]any{
		"message": map[string]any{"message_id": id, "chat_id": chat, "update_time": milli(s.Now())},
	})
}

// restMentions are mentions as REST answers have them: the id is a string.
func restMentions(in []any) []any {
	var out []any
	for _, one := range in {
		m, _ := one.(map[string]any)
		ids, _ := m["id"].(map[string]any)
		out = append(out, map[string]any{"key": m["key"], "name": m["name"], "id": ids["open_id"], "id_type": "open_id"})
	}
	return out
}

// add stores a message. The lock is held.
func (s *Sim) add(m *Message) {
	s.messages = append(s.messages, m)
	s.byID[m.ID] = m
	s.notify()
}
