package feishusim

// RemoveBot takes the bot out of a chat: what it sends there is refused from
// now on.
func (s *Sim) RemoveBot(c Chat, by Person) Event {
	return s.reach(c, by, true, "im.chat.member.bot.deleted_v1")
}

// AddBot brings it back.
func (s *Sim) AddBot(c Chat, by Person) Event {
	return s.reach(c, by, false, "im.chat.member.bot.added_v1")
}

// Disband ends a chat for everybody.
func (s *Sim) Disband(c Chat, by Person) Event {
	return s.reach(c, by, true, "im.chat.disbanded_v1")
}

func (s *Sim) reach(c Chat, by Person, gone bool, eventType string) Event {
	c.Gone = gone
	s.SetChat(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.event(eventType, "", milli(s.Now()), map[string]any{
		"chat_id": c.ID, "name": c.Name, "operator_id": idsOf(by), "external": false, "operator_tenant_key": by.Tenant,
	})
}
