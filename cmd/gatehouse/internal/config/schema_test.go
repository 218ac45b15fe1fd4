package config_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
)

func compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("config.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("config.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	var doc any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

func TestSchemaTakesWhatTheDecoderTakes(t *testing.T) {
	t.Parallel()
	s := compile(t)
	for name, text := range map[string]string{
		"full.yaml":    string(testdata(t, "full.yaml")),
		"minimal.yaml": string(testdata(t, "minimal.yaml")),
		"example.yaml": config.Example(),
	} {
		if err := validate(t, s, text); err != nil {
			t.Errorf("%s: %v, want no violation", name, err)
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	s := compile(t)
	const feishu = "kind: feishu, app_id: a, app_secret: b, encrypt_key: c, verification_token: d"
	for name, section := range map[string]string{
		"an unknown key":                   "listn: x",
		"an unknown key further down":      "redis: {uri: x}",
		"a key of the other kind":          "sources: {a: {" + feishu + ", login: x}}",
		"FS-1 a webhook without a key":     "sources: {a: {kind: feishu, app_id: a, app_secret: b, verification_token: d}}",
		"a secret and its file":            "redis: {url: a, url_file: b}",
		"a word that is not in the set":    "language: de",
		"a wrong type":                     "production: perhaps",
		"a source's id with a capital":     "sources: {A: {" + feishu + "}}",
		"an unknown kind":                  "sources: {a: {kind: slack}}",
		"a bad duration":                   "late_after: 2 hours",
		"a bad size":                       "executors: {default: {kind: echo, max_output: 1MB}}",
		"a step that does two things":      "executors: {default: {kind: echo, script: [{say: a, done: b}]}}",
		"an unknown row of the table":      "policy: {sources: {a: {admission: {issue: {}}}}}",
		"both ways to sign in to GitHub":   "sources: {a: {kind: github, webhook_secrets: [x], login: l, receive: {repos: [a/b]}, auth: {app_id: 1, private_key: k, token: t}}}",
		"AD-13 a limit of 0, which is not": "policy: {sources: {a: {limits: {sender_per_hour: 0}}}}",
	} {
		text := "admin: {tokens: [{name: ops, token: x, role: operator}]}\n" + section + "\n"
		if err := validate(t, s, text); err == nil {
			t.Errorf("%s: no violation, want one: %s", name, section)
		}
	}
}

func TestSchemaAndDecoderKnowTheSameKeys(t *testing.T) {
	t.Parallel()
	var doc map[string]any
	if err := json.Unmarshal(config.Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	w := walker{defs: doc["$defs"].(map[string]any), keys: map[string]bool{}}
	w.walk(doc, "")
	_, faults, decoded := config.ParseAll("full.yaml", testdata(t, "full.yaml"), env, readFile)
	if faults.Failed() {
		t.Fatal(faults)
	}
	schema := slices.Sorted(maps.Keys(w.keys))
	for _, key := range decoded {
		if key != "" && !w.keys[key] {
			t.Errorf("the decoder knows %s, the schema does not", key)
		}
	}
	for _, key := range schema {
		if !slices.Contains(decoded, key) {
			t.Errorf("the schema knows %s, the decoder does not", key)
		}
	}
}

func TestNotBuiltNamesKeysThatExist(t *testing.T) {
	t.Parallel()
	_, _, decoded := config.ParseAll("full.yaml", testdata(t, "full.yaml"), env, readFile)
	for _, pattern := range config.NotBuilt() {
		if !slices.Contains(decoded, pattern) {
			t.Errorf("notBuilt has %s, which no configuration has", pattern)
		}
	}
}

// walker collects the patterns of a schema's keys.
type walker struct {
	defs map[string]any
	keys map[string]bool
}

func (w walker) walk(schema map[string]any, at string) {
	if ref, ok := schema["$ref"].(string); ok {
		w.walk(w.defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any), at)
	}
	for _, branch := range []string{"then", "else"} {
		w.step(schema[branch], at)
	}
	w.step(schema["items"], at+"[]")
	w.step(schema["additionalProperties"], at+".*")
	properties, _ := schema["properties"].(map[string]any)
	for name, value := range properties {
		w.step(value, strings.TrimPrefix(at+"."+name, "."))
	}
}

func (w walker) step(schema any, at string) {
	if s, ok := schema.(map[string]any); ok {
		if at != "" {
			w.keys[at] = true
		}
		w.walk(s, at)
	}
}
