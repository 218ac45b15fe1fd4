package feishu

import (
	"encoding/json"
	"strings"
)

// ownMark stands for the bot's own mention while a text is put together. It
// cannot be in a text: NUL is taken out of everything that comes in.
const ownMark = "\x00"

// mention is one entry of a message's mentions.
type mention struct {
	openID string
	name   string
}

// people resolves the placeholders of a message (facts B.2).
type people struct {
	byKey map[string]mention
	// bot is the app's own open_id, "" while it is unknown.
	bot string
	// everyone is how an @all reads.
	everyone string

	atBot, atAll bool
}

func newPeople(raw json.RawMessage, bot, everyone string) *people {
	p := &people{byKey: map[string]mention{}, bot: bot, everyone: everyone}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return p
	}
	for _, one := range list {
		key, m, ok := readMention(one)
		if ok {
			p.byKey[key] = m
			p.atBot = p.atBot || p.isBot(m.openID)
		}
	}
	return p
}

// readMention reads one entry. Its id is an object in events and a string in
// REST answers (facts B.1).
func readMention(raw json.RawMessage) (key string, m mention, ok bool) {
	var in struct {
		Key  text            `json:"key"`
		Name text            `json:"name"`
		ID   json.RawMessage `json:"id"`
	}
	if json.Unmarshal(raw, &in) != nil || in.Key == "" {
		return "", mention{}, false
	}
	var ids struct {
		OpenID text `json:"open_id"`
	}
	if json.Unmarshal(in.ID, &ids) != nil {
		var id text
		_ = json.Unmarshal(in.ID, &id)
		ids.OpenID = id
	}
	return string(in.Key), mention{openID: string(ids.OpenID), name: oneLine(string(in.Name), nameRunes)}, true
}

// isBot never holds while the bot's open_id is unknown (FS-2).
func (p *people) isBot(openID string) bool { return p.bot != "" && openID == p.bot }

// resolve replaces the placeholders in a text message: whole tokens only, since
// @_user_1 is a prefix of @_user_10. A placeholder without an entry was typed
// by a person and stays.
func (p *people) resolve(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "@_")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		token := placeholder(s[i:])
		b.WriteString(p.say(token))
		s = s[i+len(token):]
	}
}

// placeholder returns the longest token at the start of s, which starts with
// "@_": letters, then for "@_user_" its digits.
func placeholder(s string) string {
	const user, all = "@_user_", "@_all"
	if strings.HasPrefix(s, user) {
		n := len(user)
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		return s[:n]
	}
	if strings.HasPrefix(s, all) && (len(s) == len(all) || !wordByte(s[len(all)])) {
		return all
	}
	return s[:2]
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// say returns how a token reads, and notes who was mentioned.
func (p *people) say(token string) string {
	if token == "@_all" {
		p.atAll = true
		return "@" + p.everyone
	}
	m, ok := p.byKey[token]
	if !ok {
		return token
	}
	return p.name(m)
}

func (p *people) name(m mention) string {
	if p.isBot(m.openID) {
		return ownMark + m.name + ownMark
	}
	return "@" + m.name
}

// at reads a post's at node. Its user_id is a placeholder; @_all or all for
// everyone; and, where mentions is empty, sometimes the open_id itself, which
// counts only if it is the bot's own (facts B.3). The shown name never counts.
func (p *people) at(userID, shown string) string {
	switch {
	case userID == "@_all" || userID == "all":
		p.atAll = true
		return "@" + p.everyone
	case p.isBot(userID):
		p.atBot = true
		return p.name(mention{openID: userID, name: shown})
	}
	if m, ok := p.byKey[userID]; ok {
		return p.name(m)
	}
	return "@" + shown
}

// settleOwn removes the bot's own mention from the start of a text and shows it
// as a name elsewhere (FS-2).
func settleOwn(s string) string {
	for {
		s = strings.TrimLeft(s, " \t\r\n\u00a0")
		rest, ok := strings.CutPrefix(s, ownMark)
		if !ok {
			break
		}
		_, s, _ = strings.Cut(rest, ownMark)
	}
	parts := strings.Split(s, ownMark)
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "@" + parts[i]
	}
	s = strings.Join(parts, "")
	return strings.TrimRight(s, " \t\r\n\u00a0")
}
