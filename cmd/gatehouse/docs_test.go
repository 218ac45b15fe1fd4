package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
)

// moduleRoot is the top folder, seen from this package.
const moduleRoot = "../.."

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pages are the READMEs and everything under docs, in one language.
func pages(t *testing.T, readme, folder string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(moduleRoot, folder, "*.md"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no pages in %s: %v", folder, err)
	}
	return append([]string{filepath.Join(moduleRoot, readme)}, list...)
}

func english(t *testing.T) []string { t.Helper(); return pages(t, "README.md", "docs") }
func chinese(t *testing.T) []string { t.Helper(); return pages(t, "README.zh-CN.md", "docs/zh") }

func TestDocsLinksResolve(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, page := range append(english(t), chinese(t)...) {
		for _, m := range link.FindAllStringSubmatch(readText(t, page), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: link to %s: %v", page, m[1], err)
			} else if anchor != "" && !slices.Contains(anchors(readText(t, target)), anchor) {
				t.Errorf("%s: link to %s: no such heading", page, m[1])
			}
		}
	}
}

// anchors are the headings of a page as the platform makes ids of them.
func anchors(text string) (list []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		list = append(list, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, m[1]))
	}
	return list
}

// Both languages have the same pages, with the same skeleton.
func TestDocsAreTheSameInBothLanguages(t *testing.T) {
	t.Parallel()
	en, zh := english(t), chinese(t)
	if len(en) != len(zh) {
		t.Fatalf("pages in English: %q\npages in Chinese: %q", en, zh)
	}
	for i := range en {
		if i > 0 && filepath.Base(en[i]) != filepath.Base(zh[i]) {
			t.Fatalf("%s stands beside %s", en[i], zh[i])
		}
		if a, b := skeleton(readText(t, en[i])), skeleton(readText(t, zh[i])); a != b {
			t.Errorf("%s is %s\n%s is %s", en[i], a, zh[i], b)
		}
	}
}

// skeleton counts headings, table rows, list items and code blocks.
func skeleton(text string) string {
	count := func(pattern string) int { return len(regexp.MustCompile("(?m)"+pattern).FindAllString(text, -1)) }
	return fmt.Sprintf("%d headings, %d rows, %d items, %d code lines", count(`^##+ `), count(`^\|`), count(`^(\*|\d+\.) `), count("^```"))
}

// Every key of the schema stands in the table of both languages, with its
// default.
func TestDocsNameEveryKeyOfTheConfiguration(t *testing.T) {
	t.Parallel()
	keys := schemaKeys(t)
	if len(keys) < 100 {
		t.Fatalf("the schema has %d keys: %v", len(keys), keys)
	}
	for _, page := range []string{"docs/configuration.md", "docs/zh/configuration.md"} {
		rows := keyRows(t, page)
		for key, def := range keys {
			row, ok := rows[key]
			switch {
			case !ok:
				t.Errorf("%s does not have the key %s", page, key)
			case def != "" && row.def != "`"+def+"`":
				t.Errorf("%s: %s has the default %s, want `%s`", page, key, row.def, def)
			}
		}
		for key := range rows {
			if _, ok := keys[key]; !ok {
				t.Errorf("%s has the key %s, which the schema does not", page, key)
			}
		}
	}
}

// row is a line of the table of keys.
type row struct{ def, text string }

// keyRows are the lines of the tables of keys, by key.
func keyRows(t *testing.T, page string) map[string]row {
	t.Helper()
	rows := map[string]row{}
	for line := range strings.Lines(readText(t, filepath.Join(moduleRoot, page))) {
		cells := strings.Split(line, " | ")
		if len(cells) < 3 || !strings.HasPrefix(line, "| `") {
			continue
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[0], -1) {
			rows[m[1]] = row{strings.TrimSpace(cells[1]), strings.Join(cells[2:], " | ")}
		}
	}
	return rows
}

// schemaKeys are the keys of the JSON schema with their defaults. An item of a
// list has no line of its own, unless it is an object.
func schemaKeys(t *testing.T) map[string]string {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(config.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	w := schemaWalk{defs: root["$defs"].(map[string]any), keys: map[string]string{}}
	w.object("", root)
	return w.keys
}

type schemaWalk struct {
	defs map[string]any
	keys map[string]string
}

func (w schemaWalk) object(path string, n map[string]any) {
	for name, v := range asMap(n["properties"]) {
		w.key(strings.TrimPrefix(path+"."+name, "."), asMap(v))
	}
	if each := asMap(n["additionalProperties"]); each != nil {
		w.key(path+".*", each)
	}
	if item := w.resolve(asMap(n["items"])); item["properties"] != nil || asMap(item["additionalProperties"]) != nil {
		w.object(path+"[]", item)
	}
	w.branch(path, n["then"])
	w.branch(path, n["else"])
}

// branch reads what only one kind of a Source has.
func (w schemaWalk) branch(path string, n any) {
	if m := asMap(n); m != nil {
		w.object(path, w.resolve(m))
	}
}

func (w schemaWalk) key(path string, n map[string]any) {
	n = w.resolve(n)
	if old := w.keys[path]; old == "" {
		w.keys[path] = defaultText(n["default"])
	}
	w.object(path, n)
}

// resolve follows a $ref; what stands beside it counts.
func (w schemaWalk) resolve(n map[string]any) map[string]any {
	ref, ok := n["$ref"].(string)
	if !ok {
		return n
	}
	merged := map[string]any{}
	for k, v := range asMap(w.defs[strings.TrimPrefix(ref, "#/$defs/")]) {
		merged[k] = v
	}
	for k, v := range n {
		merged[k] = v
	}
	return merged
}

func asMap(v any) map[string]any { m, _ := v.(map[string]any); return m }

func defaultText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if v != "" {
			return v
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// What the pages show as configuration, policy and executors is accepted.
func TestDocsExamplesAreAccepted(t *testing.T) {
	t.Parallel()
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```")
	for _, page := range append(english(t), chinese(t)...) {
		for _, m := range block.FindAllStringSubmatch(readText(t, page), -1) {
			if f := acceptExample(m[1]); len(f) > 0 {
				t.Errorf("%s shows\n%s\n%v", page, m[1], f)
			}
		}
	}
}

const exampleBase = `
admin: {tokens: [{name: ops, token: 0123456789abcdef, role: operator}]}
sources:
  feishu-main:
    kind: feishu
    app_id: cli_a
    app_secret: s
    encrypt_key: k
    verification_token: v
    receive: {chats: {oc_team: all, oc_support: mentions}}
`

// acceptExample puts an example where its first line says that it belongs.
func acceptExample(text string) config.Faults {
	first, _, _ := strings.Cut(text, "\n")
	switch first {
	case "# gatehouse.yaml":
		return parseExample(text)
	case "# policy", "# executors":
		return parseExample(exampleBase + "\n" + strings.TrimPrefix(first, "# ") + ":\n  " + strings.ReplaceAll(text, "\n", "\n  "))
	}
	return config.Faults{{Text: "begins with none of # gatehouse.yaml, # policy, # executors"}}
}

func parseExample(text string) config.Faults {
	set := func(string) (string, bool) { return "0123456789abcdef", true }
	key := func(string) ([]byte, error) {
		return []byte("-----BEGIN RSA PRIVATE KEY-----\nAA==\n-----END RSA PRIVATE KEY-----\n"), nil
	}
	_, faults := config.Parse("example.yaml", []byte(text), set, key)
	return faults
}

// The configuration that is shipped as an example is accepted too.
func TestDocsExampleFileIsAccepted(t *testing.T) {
	t.Parallel()
	if f := parseExample(config.Example()); len(f) > 0 {
		t.Error(f)
	}
}
