package gate

import (
	"slices"
	"strings"
)

// Mode is the acceptance mode: what may become of inferred candidates.
type Mode uint8

// The modes (spec page 03).
const (
	Off Mode = iota
	Observe
	Auto
)

var modes = names{"off", "observe", "auto"}

func (m Mode) String() string                { return modes.word(uint8(m)) }
func (m Mode) MarshalText() ([]byte, error)  { return modes.text(uint8(m)) }
func (m *Mode) UnmarshalText(b []byte) error { return modes.parse(b, (*uint8)(m)) }

// Policy says who may ask for work. Its Version grows with every effective
// change (PV-1).
type Policy struct {
	Version int                       `json:"version"`
	Mode    Mode                      `json:"mode"`
	Rules   []Rule                    `json:"rules,omitempty"`
	Sources map[SourceID]SourcePolicy `json:"sources,omitempty"`
}

// Rule describes one kind of proactive work (RU-5).
type Rule struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Description  string   `json:"description,omitempty"`
	Instructions string   `json:"instructions,omitempty"`
	Enabled      bool     `json:"enabled"`
	Match        string   `json:"match,omitempty"`
	Acknowledge  bool     `json:"acknowledge"`
	Review       Review   `json:"review,omitzero"`
	Executors    []string `json:"executors,omitempty"`
}

// Review names who must approve before what (RU-4).
type Review struct {
	Reviewers []string `json:"reviewers,omitempty"`
	Approvals int      `json:"approvals,omitempty"`
}

// Needed is how many different people must approve: at least one.
func (r Review) Needed() int { return max(r.Approvals, 1) }

// Rule returns the rule with that id; ok is false when there is none.
func (p *Policy) Rule(id string) (r Rule, ok bool) {
	for i := range p.Rules {
		if p.Rules[i].ID == id {
			return p.Rules[i], true
		}
	}
	return Rule{}, false
}

// ReviewOf is what rules ask together: only who is on each list of reviewers,
// and the largest number of approvals. Where no one is on all of them the
// reviewers are NoReviewer. A rule that is not there any more asks nothing.
func (p *Policy) ReviewOf(rules []string) Review {
	var all Review
	for _, id := range rules {
		r, _ := p.Rule(id)
		all.Approvals = max(all.Approvals, r.Review.Approvals)
		switch {
		case len(r.Review.Reviewers) == 0:
		case len(all.Reviewers) == 0:
			all.Reviewers = slices.Clone(r.Review.Reviewers)
		default:
			all.Reviewers = common(all.Reviewers, r.Review.Reviewers)
		}
	}
	return all
}

// NoReviewer is the one entry of a list of reviewers that names nobody.
const NoReviewer = "(nobody)"

func common(a, b []string) []string {
	both := slices.DeleteFunc(slices.Clone(a), func(e string) bool { return !slices.Contains(b, e) })
	if len(both) == 0 {
		return []string{NoReviewer}
	}
	return both
}

// RuleEnabled reports whether the rule exists and is enabled (RV-8).
func (p *Policy) RuleEnabled(id string) bool {
	r, ok := p.Rule(id)
	return ok && r.Enabled
}

// SourcePolicy is one Source's part of the Policy.
type SourcePolicy struct {
	Allow     []string  `json:"allow,omitempty"`
	Bots      []string  `json:"bots,omitempty"`
	Executors Executors `json:"executors,omitzero"`
	Limits    Limits    `json:"limits,omitzero"`
	Table     Table     `json:"admission,omitempty"`
}

// Executors says which executors an explicit request may get (RO-2b). "*" is
// any. Empty lists mean the defaults: any for listed people, "default" for
// others.
type Executors struct {
	Listed   []string `json:"listed,omitempty"`
	Unlisted []string `json:"unlisted,omitempty"`
}

// Limits bound what people who are not listed can start (AD-13). Zero means
// the default.
type Limits struct {
	SenderPerHour      int `json:"sender_per_hour,omitempty"`
	ScopePerHour       int `json:"scope_per_hour,omitempty"`
	ActivePerRequester int `json:"active_per_requester,omitempty"`
	WaitingPerScope    int `json:"waiting_per_scope,omitempty"`
}

// Table is a Source's admission table: a row a receiving scope.
type Table map[Scope]Row

// Row holds the cells of a scope; a cell left out is None.
type Row struct {
	ListedUnaddressed   Strength `json:"listed_unaddressed,omitempty"`
	UnlistedAddressed   Strength `json:"unlisted_addressed,omitempty"`
	UnlistedUnaddressed Strength `json:"unlisted_unaddressed,omitempty"`
}

// Cell names a cell of a row.
type Cell uint8

// The cells. NoCell is the fourth case: a listed person who addresses the
// agent needs none (AD-2).
const (
	NoCell Cell = iota
	ListedUnaddressed
	UnlistedAddressed
	UnlistedUnaddressed
)

var cells = names{"", "listed_unaddressed", "unlisted_addressed", "unlisted_unaddressed"}

func (c Cell) String() string                { return cells.word(uint8(c)) }
func (c Cell) MarshalText() ([]byte, error)  { return cells.text(uint8(c)) }
func (c *Cell) UnmarshalText(b []byte) error { return cells.parse(b, (*uint8)(c)) }

// Get returns what a cell says.
func (r Row) Get(c Cell) Strength {
	switch c {
	case ListedUnaddressed:
		return r.ListedUnaddressed
	case UnlistedAddressed:
		return r.UnlistedAddressed
	case UnlistedUnaddressed:
		return r.UnlistedUnaddressed
	case NoCell:
		return None
	}
	return None
}

// Membership is whether somebody is on a list today. The zero value is No.
// Unknown is a look-up that failed: not listed, but no definite "no" either
// (AD-11, RV-8).
type Membership uint8

// The answers of a list.
const (
	No Membership = iota
	Unknown
	Yes
)

var memberships = names{"no", "unknown", "yes"}

func (m Membership) String() string                { return memberships.word(uint8(m)) }
func (m Membership) MarshalText() ([]byte, error)  { return memberships.text(uint8(m)) }
func (m *Membership) UnmarshalText(b []byte) error { return memberships.parse(b, (*uint8)(m)) }

// Lists is what today's lists say of one sender of one Source, looked up
// before a decision.
type Lists struct {
	Allow    Membership
	Bots     Membership
	Approver Membership
}

// OnList tells whether a list names the sender by an id (AD-11), and which
// entries only a look-up at the platform can tell (groups, departments, teams,
// permissions). It answers Yes or No; an entry that needs a look-up does not
// count here.
func OnList(list []string, s Sender) (m Membership, lookups []string) {
	for _, e := range list {
		switch {
		case NeedsLookup(e):
			lookups = append(lookups, e)
		case entryNames(e, s):
			m = Yes
		}
	}
	return m, lookups
}

// NeedsLookup reports whether only the platform can tell who the entry names.
func NeedsLookup(entry string) bool {
	for _, p := range [...]string{"group:", "department:", "team:", "permission:"} {
		if strings.HasPrefix(entry, p) {
			return true
		}
	}
	return false
}

func entryNames(entry string, s Sender) bool {
	if s.ID == "" {
		return false
	}
	if entry == s.ID || entry == "id:"+s.ID {
		return true
	}
	if isNumber(entry) {
		return false
	}
	for _, a := range s.Aliases {
		if strings.EqualFold(entry, a) {
			return true
		}
	}
	return false
}

// isNumber reports whether an entry is a bare number. That is an id and never
// an alias: anybody can register a login that is somebody's number.
func isNumber(entry string) bool {
	return entry != "" && strings.Trim(entry, "0123456789") == ""
}
