package config

import (
	"slices"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// references are the names that other sections refer to, as far as they are
// decoded.
type references struct {
	sources    map[gate.SourceID]*gate.Source // nil: it is there, but of no known kind
	executors  map[string]bool
	secretVars map[string]bool // variables that hold secrets
	childVars  []node          // variables that children of the gateway get
}

func newReferences() references {
	return references{
		sources:    map[gate.SourceID]*gate.Source{},
		executors:  map[string]bool{},
		secretVars: map[string]bool{},
	}
}

// knownSource reports whether a Source of that id is configured, and complains
// at v when not.
func (n node) knownSource(id string, v *value) bool {
	if _, ok := n.d.refs.sources[gate.SourceID(id)]; ok {
		return true
	}
	n.faultAt(v, "%s is no source; %s", quote(id), configured(id, sortedKeys(n.d.refs.sources), "sources"))
	return false
}

// executor decodes the name of an executor.
func (n node) executor(to *string) bool {
	var s string
	if !n.text(&s) {
		return false
	}
	if !n.d.refs.executors[s] {
		n.fault("%s is no executor; %s", n.got(), configured(s, sortedKeys(n.d.refs.executors), "executors"))
		return false
	}
	*to = s
	return true
}

// configured tells what a wrong name could be instead.
func configured(wrong string, known []string, section string) string {
	if len(known) == 0 {
		return "add it under " + section + ", or remove it here"
	}
	return didYouMean(wrong, known)
}

// form is a kind of entry that a list of people or bots may have.
type form struct {
	prefix string
	rest   func(string) bool
}

// The entries that name somebody (AD-11).
var (
	feishuEntries = []form{
		{"ou_", some}, {"cli_", some}, {"union:", some}, {"user:", some}, {"group:", some}, {"department:", some},
	}
	githubEntries = []form{
		{"id:", digits}, {"team:", team}, {"permission:", permission}, {"", login},
	}
)

const (
	feishuForms = "ou_…, cli_… (a bot), union:on_…, user:…, group:… or department:…"
	githubForms = "a login, id:583231, team:org/team or permission:write (read, triage, write, maintain, admin)"
)

// entry decodes one entry of a list of people or bots of a Source.
func (n node) entry(id gate.SourceID, to *string) bool {
	var s string
	if !n.text(&s) {
		return false
	}
	src := n.d.refs.sources[id]
	if src == nil {
		return false
	}
	forms, want := feishuEntries, feishuForms
	if src.Platform == gate.GitHub {
		forms, want = githubEntries, githubForms
	}
	for _, f := range forms {
		if rest, ok := strings.CutPrefix(s, f.prefix); ok && f.rest(rest) {
			*to = s
			return true
		}
	}
	n.fault("%s names nobody on %s; write %s", n.got(), src.Platform, want)
	return false
}

func some(s string) bool { return s != "" && !strings.ContainsAny(s, " \t\n") }

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func team(s string) bool {
	org, slug, ok := strings.Cut(s, "/")
	return ok && login(org) && plainName.MatchString(slug)
}

func permission(s string) bool {
	return slices.Contains([]string{"read", "triage", "write", "maintain", "admin"}, s)
}

func login(s string) bool { return githubLogin.MatchString(s) }

// checkChildren sees to it that no variable with a secret of the gateway is
// handed to an agent (EX-6).
func (d *decoder) checkChildren() {
	for _, n := range d.refs.childVars {
		if v := n.value.text; d.refs.secretVars[v] || strings.HasPrefix(v, "GATEHOUSE_") {
			n.fault("%s is the gateway's own; remove it, an agent must not have its secrets", n.got())
		}
	}
}
