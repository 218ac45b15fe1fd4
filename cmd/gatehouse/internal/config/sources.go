package config

import (
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Source is one connection to a platform: what enters the system (PV-7).
// Exactly one of Feishu and GitHub is set.
type Source struct {
	ID               gate.SourceID
	Enabled          bool
	BaseURL          string
	ListedFollowUps  bool // follow_ups: listed (SU-2)
	Refusal          gate.Refusal
	ApprovalsTimeout time.Duration // CA-1
	Feishu           *Feishu
	GitHub           *GitHub
}

// Platform tells which of the two the Source is.
func (s *Source) Platform() gate.Platform {
	if s.GitHub != nil {
		return gate.GitHub
	}
	return gate.Feishu
}

// Gate is what package gate knows of the Source.
func (s *Source) Gate() *gate.Source {
	g := &gate.Source{
		ID: s.ID, Platform: s.Platform(), Enabled: s.Enabled,
		ListedFollowUps: s.ListedFollowUps, Refusal: s.Refusal,
	}
	switch g.Platform {
	case gate.GitHub:
		g.Scopes, g.Repos = s.GitHub.Receive.scopes(), s.GitHub.Receive.Repos
	case gate.Feishu:
		g.Scopes = s.Feishu.Receive.scopes()
	}
	return g
}

func readSources(n node, c *Config) {
	n.entries(func(id string, entry node) {
		if !sourceID.MatchString(id) {
			entry.faultKey("want an id of small letters, digits and -, such as feishu-main")
		}
		n.d.refs.sources[gate.SourceID(id)] = nil
		entry.object(func(o *object) { readSource(o, gate.SourceID(id), c) })
	})
}

// readSource decodes what the kind knows. Of an unknown kind nothing is known,
// so its keys are left alone.
func readSource(o *object, id gate.SourceID, c *Config) {
	var kind gate.Platform
	s := Source{ID: id, Enabled: true, Refusal: gate.RefuseByReaction}
	enum(o.must("kind", "write feishu or github"), &kind, gate.Feishu, gate.GitHub)
	switch kind {
	case gate.Feishu:
		s.BaseURL, s.ApprovalsTimeout = "https://open.feishu.cn", 0 // approvals.timeout, filled in later
		s.Feishu = newFeishu()
		readFeishu(o, s.Feishu)
	case gate.GitHub:
		s.BaseURL, s.ApprovalsTimeout = "https://api.github.com", maxQuestion
		s.GitHub = newGitHub()
		readGitHub(o, s.GitHub)
	default:
		o.known = append(o.known, o.written()...)
		return
	}
	readEverySource(o, &s)
	o.d.refs.sources[id] = s.Gate()
	c.Sources = append(c.Sources, s)
}

// readEverySource decodes what both kinds have.
func readEverySource(o *object, s *Source) {
	o.key("enabled").boolean(&s.Enabled)
	o.key("base_url").url(&s.BaseURL)
	if w, ok := o.key("follow_ups").word("all", "listed"); ok {
		s.ListedFollowUps = w == "listed"
	}
	enum(o.key("refusal"), &s.Refusal, gate.RefuseSilently, gate.RefuseByReaction, gate.RefuseByReply)
	o.key("approvals_timeout").duration(&s.ApprovalsTimeout, minQuestion, maxQuestion)
}
