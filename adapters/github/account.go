package github

import (
	"strconv"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

const (
	botSuffix = "[bot]"
	// ghostID is the account that GitHub shows for deleted ones (facts C1).
	ghostID = 10137
	// The two accounts of Copilot, whose login has no suffix (facts C1).
	copilotAgent    = 198982749
	copilotReviewer = 175728472
)

// sender tells who an account is (GH-6, facts C2): nobody, a bot or a person.
// Whether it is ourselves is asked before (Setting.isOwn). author_association
// is not read at all: it is wrong for private members and for forks' friends.
// The login is a name to show and no id: it can be another account's tomorrow.
func (a *account) sender(via *app) gate.Sender {
	if a == nil || a.ID <= 0 || a.ID == ghostID || strings.EqualFold(a.Login, "ghost") {
		return gate.Sender{}
	}
	s := gate.Sender{Kind: gate.Person, ID: strconv.FormatInt(a.ID, 10), Name: a.Login}
	if a.isBot() || via != nil {
		s.Kind = gate.Bot
	}
	return s
}

// isBot never looks at what is left when "[bot]" is taken off: a person can own
// that login (facts C2).
func (a *account) isBot() bool {
	switch {
	case a.Type != "User", strings.HasSuffix(strings.ToLower(a.Login), botSuffix):
		return true
	}
	return a.ID == copilotAgent || a.ID == copilotReviewer || strings.EqualFold(a.Login, "copilot")
}

func (a *account) is(id int64) bool { return a != nil && id != 0 && a.ID == id }

// same reports whether both are one known account.
func (a *account) same(b *account) bool { return a != nil && b.is(a.ID) }
