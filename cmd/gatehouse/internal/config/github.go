package config

import (
	"encoding/pem"
	"math"
	"path"
	"regexp"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// CIReport is where replies about a failed run go (GH-3).
type CIReport string

// The places.
const (
	ReportToCommit CIReport = "commit"
	ReportToIssue  CIReport = "issue"
)

// GitHub is what a Source of kind github has.
type GitHub struct {
	WebhookSecrets []Secret // any of them verifies (GH-1)
	Login          string   // the agent's account, or the App's slug
	Auth           GitHubAuth
	Receive        GitHubReceive
	CIReportTo     CIReport
}

// GitHubAuth is an App's key or an account's token: exactly one.
type GitHubAuth struct {
	AppID      int
	PrivateKey Secret // PEM
	Token      Secret
}

// GitHubReceive is what of GitHub enters the system.
type GitHubReceive struct {
	Repos                   []string // patterns of owner/repo
	Issues, Pulls, Comments gate.Receive
	CI                      gate.Receive // all or off
	CIEvents                []string
	StatusContexts          []string
	AddressingLabels        []string // GH-10
}

// minWebhookSecret is the shortest that a webhook takes, in bytes (GH-1).
const minWebhookSecret = 16

func newGitHub() *GitHub {
	return &GitHub{
		CIReportTo: ReportToCommit,
		Receive: GitHubReceive{
			Issues: gate.ReceiveMentions, Pulls: gate.ReceiveMentions, Comments: gate.ReceiveMentions,
			CIEvents: []string{"push"},
		},
	}
}

var githubLogin = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*(\[bot\])?$`)

func readGitHub(o *object, g *GitHub) {
	readWebhookSecrets(o, &g.WebhookSecrets)
	o.must("login", "name the agent's account, or the App's slug").match(&g.Login, githubLogin, "a login without @")
	o.must("auth", "write {app_id, private_key_file} or {token}").object(func(o *object) { readGitHubAuth(o, &g.Auth) })
	o.must("receive", "write at least repos").object(func(o *object) { readGitHubReceive(o, &g.Receive) })
	enum(o.key("ci_report_to"), &g.CIReportTo, ReportToCommit, ReportToIssue)
}

// readWebhookSecrets takes a list, or a file with one secret a line: several
// while rotating.
func readWebhookSecrets(o *object, to *[]Secret) {
	const key = "webhook_secrets"
	if o.has(key + "_file") {
		readSecretLines(o, to)
		return
	}
	o.key(key + "_file")
	n := o.must(key, "write a list with a random text of 16 bytes or more")
	n.list(func(item node) {
		var s Secret
		item.noteVars()
		if item.nonEmpty().secret(&s) {
			addWebhookSecret(item, s, to)
		}
	})
	if n.set() && n.value.kind == list && len(n.value.items) == 0 {
		n.fault("is empty; write a random text of %d bytes or more", minWebhookSecret)
	}
}

func readSecretLines(o *object, to *[]Secret) {
	var lines Secret
	n := o.secretNode("webhook_secrets").nonEmpty()
	if !n.secret(&lines) {
		return
	}
	for line := range strings.Lines(lines.Reveal()) {
		if line = strings.TrimSpace(line); line != "" {
			addWebhookSecret(n, NewSecret(line), to)
		}
	}
}

func addWebhookSecret(n node, s Secret, to *[]Secret) {
	if len(s.Reveal()) < minWebhookSecret {
		n.fault("a secret of less than %d bytes can be guessed; write a longer random text", minWebhookSecret)
		return
	}
	*to = append(*to, s)
}

func readGitHubAuth(o *object, a *GitHubAuth) {
	app := o.has("app_id") || o.has("private_key") || o.has("private_key_file")
	if app == (o.has("token") || o.has("token_file")) {
		o.faultKey("want either {app_id, private_key_file} or {token}")
	}
	o.key("app_id").integer(&a.AppID, 1, math.MaxInt32)
	if app && !o.has("app_id") {
		o.missing("app_id", "it is on the App's page")
	}
	if app {
		o.needSecret("private_key", "write private_key_file: and the .pem file of the App")
	}
	if key := o.secretNode("private_key").nonEmpty(); key.secret(&a.PrivateKey) {
		checkPEM(key, a.PrivateKey)
	}
	o.secretNode("token").nonEmpty().secret(&a.Token)
}

func checkPEM(n node, key Secret) {
	if block, _ := pem.Decode([]byte(key.Reveal())); block == nil || !strings.HasSuffix(block.Type, "PRIVATE KEY") {
		n.fault("not a private key; give the App's .pem file as it was downloaded")
	}
}

func readGitHubReceive(o *object, r *GitHubReceive) {
	repos := o.must("repos", `write which repositories: ["acme/*"]`)
	repos.uniqueTexts(&r.Repos, node.repoPattern)
	if repos.set() && repos.value.kind == list && len(repos.value.items) == 0 {
		repos.fault(`is empty; write which repositories: ["acme/*"]`)
	}
	named(o.key("issues"), &r.Issues, "all", "mentions", "off")
	named(o.key("pulls"), &r.Pulls, "all", "mentions", "off")
	named(o.key("comments"), &r.Comments, "all", "mentions", "off")
	named(o.key("ci"), &r.CI, "all", "off")
	o.key("ci_events").texts(&r.CIEvents)
	o.key("status_contexts").texts(&r.StatusContexts)
	o.key("addressing_labels").texts(&r.AddressingLabels)
}

// repoPattern decodes owner/repo, where * stands for any part of a name.
func (n node) repoPattern(to *string) bool {
	if !n.text(to) {
		return false
	}
	_, err := path.Match(*to, "")
	owner, repo, ok := strings.Cut(*to, "/")
	if err != nil || !ok || owner == "" || repo == "" || strings.Contains(repo, "/") {
		n.fault("want owner/repo or owner/*, got %s", n.got())
		return false
	}
	return true
}

func (r GitHubReceive) scopes() map[gate.Scope]gate.Receive {
	return map[gate.Scope]gate.Receive{gate.Issues: r.Issues, gate.Pulls: r.Pulls, gate.Comments: r.Comments, gate.CI: r.CI}
}
