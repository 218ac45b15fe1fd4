package approvals

import (
	"cmp"
	"path"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// The bounds of a question's life (DE-2).
const (
	DefaultTimeout = 5 * time.Minute
	MinTimeout     = time.Second
	MaxTimeout     = 24 * time.Hour
)

// Policy is what happens to a session's questions before anybody is asked.
type Policy string

// The policies (AP-3). "" leaves it to the next level: the configuration, and
// there PolicyAsk. Any other word counts as PolicyNever.
const (
	PolicyAsk   Policy = "ask"
	PolicyNever Policy = "never"
)

// Labels are the host's words for the two options of an approval (AP-2a).
type Labels struct {
	Approve string
	Reject  string
}

// Settings is the configuration of questions. The zero value asks people,
// waits five minutes and is worded by the host.
type Settings struct {
	Policy Policy
	// Timeout is the default life of a question; Timeouts are those of
	// sessions from a Source (CA-1).
	Timeout  time.Duration
	Timeouts map[gate.SourceID]time.Duration
	// FourEyes: the requester does not answer (CA-3).
	FourEyes bool
	// MaxOpen refuses more open questions of one session; 0 does not (DE-8).
	MaxOpen int
	// Labels word the two options by language, "zh" or "en"; empty words are
	// the host's.
	Labels map[string]Labels
	// Approvers are the entries of all Sources' approver lists, with the
	// linked identities. They serve only to refuse an answerers list that can
	// match nobody (DE-2); nil: not known here.
	Approvers []string
	// Rooms are where questions go that have no chat of their own; Cardless are
	// the Sources where no card can be shown (CA-1).
	Rooms    Rooms
	Cardless map[gate.SourceID]bool
	// Machine answers the approvals of sessions that a pattern (path.Match)
	// names, by the session's id, "executor:" and the name of its executor, or
	// "source:" and the Source that it came from: "allow_once" allows, every
	// other word rejects (AP-4).
	Machine map[string]string
}

// policy returns the one in force for a session (AP-3).
func (c Settings) policy(s Session) Policy {
	if cmp.Or(s.Policy, c.Policy, PolicyAsk) == PolicyAsk {
		return PolicyAsk
	}
	return PolicyNever
}

// timeout returns how long a question waits: what the asker wants, else the
// Source's, else the default, within the bounds (DE-2).
func (c Settings) timeout(asked time.Duration, source gate.SourceID) time.Duration {
	t := cmp.Or(asked, c.Timeouts[source], c.Timeout, DefaultTimeout)
	return min(max(t, MinTimeout), MaxTimeout)
}

// options are the two options of an approval in the session's language (AP-2a).
func (c Settings) options(language string) []Option {
	host, own := Labels{Approve: "Approve", Reject: "Reject"}, c.Labels["en"]
	if strings.HasPrefix(strings.ToLower(language), "zh") {
		host, own = Labels{Approve: "批准", Reject: "拒绝"}, c.Labels["zh"]
	}
	return []Option{
		{ID: OptionApprove, Label: cmp.Or(own.Approve, host.Approve), Style: "primary"},
		{ID: OptionReject, Label: cmp.Or(own.Reject, host.Reject), Style: "danger"},
	}
}

// machine returns the option that automation gives an approval of the
// session; ok is false when people are to be asked (AP-4). Of several
// patterns that match, one that does not allow wins.
func (c Settings) machine(s Session) (option string, ok bool) {
	option = OptionApprove
	for pattern, word := range c.Machine {
		if !s.matches(pattern) {
			continue
		}
		ok = true
		if word != "allow_once" {
			option = OptionReject
		}
	}
	return option, ok
}

// matches reports whether a pattern names the session. A malformed one names
// none.
func (s Session) matches(pattern string) bool {
	for _, name := range [...]string{string(s.ID), "executor:" + s.Executor, "source:" + string(s.Source)} {
		if match, err := path.Match(pattern, name); match && err == nil {
			return true
		}
	}
	return false
}
