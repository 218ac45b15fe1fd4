package check_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// languages are the endings of the READMEs.
var languages = []string{"README.md", "README.zh-CN.md"}

// firstColumn is a code span at the start of a table's row; cells is the rest.
const firstColumn = "(?m)^\\| `([^`]+)` \\|"

// knows reports whether an adapter's code names each of these.
func knows(t *testing.T, adapter string, names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(top, "adapters", adapter, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("adapters/%s has no files: %v", adapter, err)
	}
	var code strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(data)
	}
	for _, name := range names {
		if !strings.Contains(code.String(), `"`+name+`"`) {
			t.Errorf("adapters/%s does not know %q", adapter, name)
		}
	}
}

// section is what stands under a second-level heading, by its number from 0.
func section(t *testing.T, text string, number int) string {
	t.Helper()
	parts := strings.Split(text, "\n## ")
	if len(parts) <= number+1 {
		t.Fatalf("no section %d", number)
	}
	return parts[number+1]
}

// scopes reads a file for the console's batch import.
func scopes(t *testing.T, name string) []string {
	t.Helper()
	var doc struct {
		Scopes struct{ Tenant, User []string } `json:"scopes"`
	}
	d := json.NewDecoder(strings.NewReader(read(t, "deploy", "feishu", name)))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(doc.Scopes.User) > 0 || doc.Scopes.User == nil || !slices.IsSorted(doc.Scopes.Tenant) {
		t.Errorf("%s: want sorted scopes of the tenant, and an empty list of the user", name)
	}
	return doc.Scopes.Tenant
}

func TestFeishuScopesAreExplained(t *testing.T) {
	t.Parallel()
	needed, optional := scopes(t, "scopes.json"), scopes(t, "scopes-optional.json")
	for _, sensitive := range []string{"im:message.group_msg", "contact:user.employee_id:readonly"} {
		if slices.Contains(needed, sensitive) {
			t.Errorf("scopes.json asks for %s, which is not needed", sensitive)
		}
	}
	for _, name := range languages {
		table := section(t, read(t, "deploy", "feishu", name), 0)
		yes := set(table, "(?m)^\\| `([^`]+)` \\| (?:yes|是) \\|")
		all := set(table, firstColumn)
		same(t, name+", scopes that are needed", yes, needed)
		same(t, name+", all scopes", all, slices.Sorted(slices.Values(slices.Concat(needed, optional))))
	}
}

func TestFeishuEventsAreTheAdapters(t *testing.T) {
	t.Parallel()
	var before []string
	for _, name := range languages {
		text := read(t, "deploy", "feishu", name)
		events := append(set(section(t, text, 1), firstColumn), set(section(t, text, 2), firstColumn)...)
		if len(events) != 7 {
			t.Errorf("%s: %d events and callbacks, want 7", name, len(events))
		}
		if before != nil {
			same(t, name+", events", events, before)
		}
		before = events
		knows(t, "feishu", events)
	}
}

type manifest struct {
	Hook struct {
		URL string `json:"url"`
	} `json:"hook_attributes"`
	Permissions map[string]string `json:"default_permissions"`
	Events      []string          `json:"default_events"`
}

func readManifest(t *testing.T) (m manifest) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, "deploy", "github", "app-manifest.json")), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestGitHubManifestIsValid(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("testdata", "app-manifest.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	text := read(t, "deploy", "github", "app-manifest.json")
	valid := func(s string) []string {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(s))
		if err == nil {
			err = schema.Validate(doc)
		}
		if err != nil {
			return []string{err.Error()}
		}
		return nil
	}
	none(t, "app-manifest.json", valid(text))
	finds(t, text, valid, [][3]string{
		{`"issues": "write"`, `"issues": "admin"`, "must be one of"},
		{`"issues": "write"`, `"issue": "write"`, "additional properties"},
		{`"workflow_run"`, `"workflow_runs"`, "must be one of"},
		{`"https://bot.example.com`, `"http://bot.example.com`, "pattern"},
		{`"active": true`, `"secret": "x"`, "additional properties"},
		{`"redirect_url"`, `"redirect_uri"`, "additional properties"},
	})
}

func TestGitHubManifestFitsTheConfiguration(t *testing.T) {
	t.Parallel()
	m := readManifest(t)
	config := switchOn(read(t, "deploy", "gatehouse.yaml"))
	public := set(config, `(?m)^public_url: (\S+)`)
	if want := public[0] + "/webhooks/github-main"; m.Hook.URL != want || !strings.Contains(config, "\n  github-main:\n    kind: github\n") {
		t.Errorf("the webhook is %s, want %s and that source in gatehouse.yaml", m.Hook.URL, want)
	}
	if m.Permissions["contents"] != "read" {
		t.Errorf("contents is %q; the gateway changes no code", m.Permissions["contents"])
	}
	knows(t, "github", m.Events)
}

func TestGitHubManifestIsExplained(t *testing.T) {
	t.Parallel()
	m := readManifest(t)
	for _, name := range languages {
		text := read(t, "deploy", "github", name)
		permissions := section(t, text, 0)
		same(t, name+", permissions", set(permissions, firstColumn), sorted(m.Permissions))
		for permission, access := range m.Permissions {
			if !strings.Contains(permissions, fmt.Sprintf("| `%s` | %s |", permission, access)) {
				t.Errorf("%s: does not say that %s is %s", name, permission, access)
			}
		}
		var events []string
		for _, row := range set(section(t, text, 1), "(?m)^\\| ((?:`[a-z_]+` ?)+)\\|") {
			events = append(events, set(row, "`([a-z_]+)`")...)
		}
		same(t, name+", events", slices.Sorted(slices.Values(events)), m.Events)
	}
}
