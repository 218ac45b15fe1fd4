package config

import (
	"path"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// ApprovalPolicy is what becomes of a request for approval (AP-3).
type ApprovalPolicy string

// The policies.
const (
	Ask   ApprovalPolicy = "ask"
	Never ApprovalPolicy = "never"
)

// MachineOutcome is the answer of the machine answerer (AP-4).
type MachineOutcome string

// The machine's answers.
const (
	AllowOnce MachineOutcome = "allow_once"
	Reject    MachineOutcome = "reject"
)

// Approvals is the part of questions to people (page 06).
type Approvals struct {
	Policy            ApprovalPolicy
	Timeout           time.Duration // DE-2
	Approvers         map[gate.SourceID][]string
	Chat              Chat          // CA-1
	FourEyes          bool          // CA-3
	MaxOpenPerSession int           // 0: no limit (DE-8)
	Machine           []MachineRule // of those that fit, one that rejects wins (AP-4)
}

// Chat is where questions go that have no chat of their own. The zero Chat is
// nowhere.
type Chat struct {
	Source gate.SourceID
	ChatID string
}

// MachineRule gives the sessions of a pattern to automation.
type MachineRule struct {
	// Session is a pattern as path.Match reads it: of a session's id (a Ticket's,
	// or main), of executor:NAME or of source:ID.
	Session string
	Outcome MachineOutcome
}

// The bounds of a question's time (DE-2).
const (
	minQuestion = time.Second
	maxQuestion = 24 * time.Hour
)

func readApprovals(n node, to *Approvals) {
	n.object(func(o *object) {
		enum(o.key("policy"), &to.Policy, Ask, Never)
		o.key("timeout").duration(&to.Timeout, minQuestion, maxQuestion)
		o.key("approvers").entries(func(id string, list node) {
			to.Approvers[gate.SourceID(id)] = list.people(gate.SourceID(id))
		})
		o.key("chat").object(func(o *object) { readChat(o, &to.Chat) })
		o.key("four_eyes").boolean(&to.FourEyes)
		o.key("max_open_per_session").integer(&to.MaxOpenPerSession, 0, 1_000_000)
		o.key("machine").entries(func(session string, answer node) { readMachine(session, answer, &to.Machine) })
	})
}

// people decodes a list of people or bots of a Source, which stands under the
// Source's id.
func (n node) people(id gate.SourceID) []string {
	if !n.knownSource(string(id), n.key) {
		return nil
	}
	return n.entriesOf(id)
}

func (n node) entriesOf(id gate.SourceID) (all []string) {
	n.uniqueTexts(&all, func(item node, s *string) bool { return item.entry(id, s) })
	return all
}

func readChat(o *object, to *Chat) {
	var id string
	source := o.must("source", "name a Feishu source")
	o.must("chat_id", "write the chat's id, oc_…").text(&to.ChatID)
	if !source.text(&id) || !source.knownSource(id, source.value) {
		return
	}
	to.Source = gate.SourceID(id)
	if src := o.d.refs.sources[to.Source]; src != nil && src.Platform != gate.Feishu {
		source.fault("%s has no chats; name a Feishu source", source.got())
	}
}

func readMachine(session string, n node, to *[]MachineRule) {
	if _, err := path.Match(session, ""); err != nil || session == "" {
		n.faultKey("no pattern; write main, tkt_*, executor:NAME or source:ID")
	} else {
		n.automated(session)
	}
	rule := MachineRule{Session: session}
	enum(n, &rule.Outcome, AllowOnce, Reject)
	*to = append(*to, rule)
}

// automated refuses a pattern that can name nothing that is configured: a typing
// error would leave people to be asked for what was given to automation.
func (n node) automated(pattern string) {
	if strings.ContainsAny(pattern, "*?[\\") {
		return
	}
	name, isExecutor := strings.CutPrefix(pattern, "executor:")
	id, isSource := strings.CutPrefix(pattern, "source:")
	switch {
	case isExecutor && !n.d.refs.executors[name]:
		n.faultKey("%s is no executor; %s", quote(name), configured(name, sortedKeys(n.d.refs.executors), "executors"))
	case isSource:
		n.knownSource(id, n.key)
	case !isExecutor && pattern != "main" && !strings.HasPrefix(pattern, "tkt_"):
		n.faultKey("names no session; write main, tkt_*, executor:NAME or source:ID")
	}
}
