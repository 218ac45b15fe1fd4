package feishusim

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

const maxHistory = 50

// list is a page of a chat's or a topic's messages. Of a topic in a chat only
// the root is the chat's; a topic's cannot be asked for by time.
func (s *Sim) list(c *apiCall) apiReply {
	q := c.r.URL.Query()
	size, from := maxHistory, 0
	if q.Has("page_size") {
		size, _ = strconv.Atoi(q.Get("page_size"))
	}
	if token := q.Get("page_token"); token != "" {
		from, _ = strconv.Atoi(token)
	}
	after, before := seconds(q.Get("start_time")), seconds(q.Get("end_time"))
	topic := q.Get("container_id_type") == "thread"
	if size < 1 || size > maxHistory || topic && (!after.IsZero() || !before.IsZero()) || !topic && q.Get("container_id_type") != "chat" {
		return bad(99992402, "field validation failed")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all, ok := s.history(topic, q.Get("container_id"))
	if !ok {
		return bad(230002, "bot is not in the chat")
	}
	all = slices.DeleteFunc(all, func(m *Message) bool {
		return !after.IsZero() && m.At.Before(after) || !before.IsZero() && m.At.Truncate(time.Second).After(before)
	})
	slices.SortStableFunc(all, func(a, b *Message) int { return a.At.Compare(b.At) })
	if q.Get("sort_type") == "ByCreateTimeDesc" {
		slices.Reverse(all)
	}
	from = min(from, len(all))
	to := min(from+size, len(all))
	items := []any{}
	for _, m := range all[from:to] {
		items = append(items, s.view(m))
	}
	data := map[string]any{"items": items, "has_more": to < len(all)}
	if to < len(all) {
		data["page_token"] = strconv.Itoa(to)
	}
	return apiReply{status: http.StatusOK, msg: "success", data: data}
}

// history is what was said in a chat or a topic; false where the bot is not.
// The lock is held.
func (s *Sim) history(topic bool, id string) (all []*Message, ok bool) {
	for _, m := range s.messages {
		if topic && m.Topic == id || !topic && m.Chat == id && (m.Topic == "" || m.Root == "") {
			all = append(all, m)
		}
	}
	chat := id
	if topic && len(all) > 0 {
		chat = all[0].Chat
	}
	known, there := s.chats[chat]
	return all, there && !known.Gone
}

// OpenTopic makes a topic of a message, as a person can.
func (s *Sim) OpenTopic(message, topic string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.byID[message]; m != nil {
		m.Topic = topic
	}
}

func seconds(s string) time.Time {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(n, 0)
}
