package gate

import (
	"path"
	"slices"
	"strings"
)

// Scope is where in a Source a message was received, in the words of the
// configuration: "chat:oc_…", "other_chats", "direct", "issues", "pulls",
// "comments", "ci".
type Scope string

// The scopes that have one name each; a configured Feishu chat is ChatScope.
const (
	OtherChats Scope = "other_chats"
	DirectChat Scope = "direct"
	Issues     Scope = "issues"
	Pulls      Scope = "pulls"
	Comments   Scope = "comments"
	CI         Scope = "ci"
)

// ChatScope is the scope of a configured Feishu chat.
func ChatScope(chatID string) Scope { return Scope("chat:" + chatID) }

// Chat returns the chat's id of a ChatScope, or "".
func (s Scope) Chat() string {
	id, ok := strings.CutPrefix(string(s), "chat:")
	if !ok {
		return ""
	}
	return id
}

// Receive is what of a scope enters the system. It is Source configuration,
// not Policy (PV-7).
type Receive uint8

// The settings of a scope. A scope that is not configured is ReceiveOff.
const (
	ReceiveOff Receive = iota
	ReceiveMentions
	ReceiveAll
)

var receives = names{"off", "mentions", "all"}

func (r Receive) String() string                { return receives.word(uint8(r)) }
func (r Receive) MarshalText() ([]byte, error)  { return receives.text(uint8(r)) }
func (r *Receive) UnmarshalText(b []byte) error { return receives.parse(b, (*uint8)(r)) }

// Takes reports whether a message with that addressing is received (AD-9).
func (r Receive) Takes(a Addressing) bool {
	switch r {
	case ReceiveAll:
		return true
	case ReceiveMentions:
		return a.Addresses()
	case ReceiveOff:
		return false
	}
	return false
}

// Platform is the kind of a Source.
type Platform string

// The platforms.
const (
	Feishu Platform = "feishu"
	GitHub Platform = "github"
)

// Refusal is how an addressed message that was not admitted is answered
// (OUT-6).
type Refusal string

// The ways to refuse.
const (
	RefuseSilently   Refusal = "none"
	RefuseByReaction Refusal = "reaction"
	RefuseByReply    Refusal = "reply"
)

// Source is the configuration of one connection: what enters the system. Who
// may ask is its Policy (PV-7).
type Source struct {
	ID       SourceID
	Platform Platform
	Enabled  bool
	// Scopes says what is received where; a scope that is missing is off.
	Scopes map[Scope]Receive
	// Repos are the patterns of owner/repo that a GitHub Source is configured
	// for, where * stands for any part of a word; none: it does not matter.
	Repos []string
	// ListedFollowUps: only a listed person's follow-up is owned by the
	// Ticket (follow_ups: listed, SU-2).
	ListedFollowUps bool
	Refusal         Refusal
}

// Receives returns the setting of a scope.
func (s *Source) Receives(scope Scope) Receive { return s.Scopes[scope] }

// Listens reports whether the Source is configured to listen to the scope at
// all, whatever it receives of it.
func (s *Source) Listens(scope Scope) bool { return s != nil && s.Scopes[scope] != ReceiveOff }

// ListensTo reports whether the Source is, by today's configuration, to listen
// to a place where something was received in that scope (RV-1, OUT-3): its chat
// may have got a line of its own since, or lost it, and its repository may have
// been removed.
func (s *Source) ListensTo(scope Scope, p Place) bool {
	if s == nil {
		return false
	}
	own := ChatScope(p.Chat)
	_, named := s.Scopes[own]
	switch {
	case scope == OtherChats && named:
		scope = own
	case scope == own && !named:
		scope = OtherChats
	}
	return s.Listens(scope) && s.takes(p.Chat)
}

// takes reports whether a repository is one of those that are configured.
func (s *Source) takes(repo string) bool {
	return len(s.Repos) == 0 || slices.ContainsFunc(s.Repos, func(pattern string) bool {
		ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(repo))
		return ok && err == nil
	})
}
