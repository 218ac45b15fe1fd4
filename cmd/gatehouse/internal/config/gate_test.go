package config_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
	"github.com/gatehouse-bot/gatehouse/gate"
)

func fullConfig(t *testing.T) *config.Config {
	t.Helper()
	c, faults, _ := config.ParseAll("full.yaml", testdata(t, "full.yaml"), env, readFile)
	if faults.Failed() {
		t.Fatal(faults)
	}
	return c
}

func TestSourceOfTheGate(t *testing.T) {
	t.Parallel()
	c := fullConfig(t)
	for id, want := range map[gate.SourceID]*gate.Source{
		"feishu-main": {
			ID: "feishu-main", Platform: gate.Feishu, Enabled: true, ListedFollowUps: true, Refusal: gate.RefuseByReply,
			Scopes: map[gate.Scope]gate.Receive{
				"chat:oc_aaa": gate.ReceiveAll, "chat:oc_bbb": gate.ReceiveMentions,
				gate.OtherChats: gate.ReceiveMentions, gate.DirectChat: gate.ReceiveAll,
			},
		},
		"github-main": {
			ID: "github-main", Platform: gate.GitHub, ListedFollowUps: true, Refusal: gate.RefuseSilently,
			Repos: []string{"acme/*", "octo/site"},
			Scopes: map[gate.Scope]gate.Receive{
				gate.Issues: gate.ReceiveAll, gate.Pulls: gate.ReceiveMentions, gate.Comments: gate.ReceiveOff, gate.CI: gate.ReceiveAll,
			},
		},
	} {
		if got := c.Source(id).Gate(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v, want %+v", id, got, want)
		}
	}
	if got := c.Source("nowhere"); got != nil {
		t.Errorf("Source(nowhere) = %+v, want nil", got)
	}
}

func TestParsePolicyReadsWhatTheFileSays(t *testing.T) {
	t.Parallel()
	c := fullConfig(t)
	_, section, _ := strings.Cut(string(testdata(t, "full.yaml")), "\npolicy:\n")
	section, _, _ = strings.Cut(section, "\notlp:")
	p, faults := config.ParsePolicyAll(c, "f", []byte(section))
	if faults.Failed() || !reflect.DeepEqual(p, c.Policy) {
		t.Errorf("ParsePolicy = %+v, %v, want %+v", p, faults, c.Policy)
	}
}

// emptyPolicy is the fault of a text without a Policy: it takes nobody's rights
// away (PV-6).
const emptyPolicy = "PUT:1:1: is empty; write the policy, or {} for one that admits nobody"

func TestParsePolicy(t *testing.T) {
	t.Parallel()
	c := fullConfig(t)
	for text, want := range map[string]string{
		`{"mode": "auto", "sources": {"github-main": {"allow": ["octocat"]}}}`: "",
		`{}`:                            "",
		``:                              emptyPolicy,
		" \n# a body that never came\n": emptyPolicy,
		`{"mode": "auto",
		  "sources": {"github-main": {"admission": {"pulls": {"listed_unaddressed": "inferred"}}}}}`: "PUT:2:79: listed_unaddressed of pulls is not available: it needs receive.pulls: all; set it under sources.github-main, or write none here",
		`rules: [{id: a, instructions: "echo ${OPS_TOKEN}"}]`: "",
		`rules: [{id: a, match: 'kid == "issue"'}]`:           "PUT:1:24: rules[0].match: at 1:1: undeclared reference to 'kid' (did you mean 'kind'?); docs/configuration.md lists what an expression can say",
		`rules: [{id: a, executors: [nobody]}]`:               `PUT:1:29: rules[0].executors[0]: "nobody" is no executor; write coder or default`,
		`sources: {github-mian: {}}`:                          `PUT:1:11: sources.github-mian: "github-mian" is no source; did you mean "github-main"?`,
		`mode: on`:                                            `PUT:1:7: mode: want off, observe or auto, got "on"`,
		`{`:                                                   `PUT:1:1: not YAML: did not find expected node content; mind indentation, colons and quotes`,
		`sources: {github-main: {bots: ["permission:read", "team:a/b"]}}`: "PUT:1:32: sources.github-main.bots[0]: \"permission:read\" is not built yet (planned): remove it for now\nPUT:1:51: sources.github-main.bots[1]: \"team:a/b\" is not built yet (planned): remove it for now",
	} {
		p, faults := c.ParsePolicy("PUT", []byte(text))
		if got := faults.Error(); got != want {
			t.Errorf("ParsePolicy(%s): %s, want %s", text, got, want)
		}
		if faults.Failed() && !reflect.DeepEqual(p, gate.Policy{}) {
			t.Errorf("ParsePolicy(%s) = %+v, want the Policy that admits nobody", text, p)
		}
	}
	p, _ := c.ParsePolicy("PUT", []byte(`rules: [{id: a, instructions: "echo ${OPS_TOKEN}"}]`))
	if got := p.Rules[0].Instructions; got != "echo ${OPS_TOKEN}" {
		t.Errorf("instructions are %q, want the variable untouched", got)
	}
}
