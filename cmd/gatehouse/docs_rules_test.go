package main_test

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// specRule is a rule of the specification. One that has no test says why in its
// note.
type specRule struct {
	id, title, titleZh string
	note, noteZh       string
}

// specPage is a page of rules.
type specPage struct {
	name, nameZh string
	rules        []specRule
}

// shownProofs is how many tests the table names of a rule.
const shownProofs = 4

// TestDocsRules: docs/rules.md lists the rules with the tests that prove them,
// as they are. No rule of pages 01 to 05 is without one, but those that say why.
//
//	GATEHOUSE_UPDATE_DOCS=1 go test ./cmd/gatehouse -run DocsRules
func TestDocsRules(t *testing.T) {
	t.Parallel()
	pages := readRules(t, "testdata/rules.txt")
	found := findProofs(t)
	for _, p := range pages[:5] {
		for _, r := range p.rules {
			proven := slices.ContainsFunc(found[r.id], func(p proof) bool { return p.rank < saidSo })
			if !proven && r.note == "" {
				t.Errorf("no test names %s (%s)", r.id, r.title)
			}
		}
	}
	for file, page := range map[string]string{"docs/rules.md": rulesPage(pages, found), "docs/zh/rules.md": rulesPageZh(pages, found)} {
		path := filepath.Join(moduleRoot, file)
		if os.Getenv("GATEHOUSE_UPDATE_DOCS") == "1" {
			if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if readText(t, path) != page {
			t.Errorf("%s is not what the tests say: run this test with GATEHOUSE_UPDATE_DOCS=1", file)
		}
	}
}

// readRules reads the list of rules.
func readRules(t *testing.T, path string) (pages []specPage) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(readText(t, path)))
	for lines.Scan() {
		part := strings.Split(lines.Text(), " | ")
		mark, first, _ := strings.Cut(part[0], " ")
		switch {
		case mark == "" || mark == "#":
		case mark == "==" && len(part) == 2:
			pages = append(pages, specPage{name: first, nameZh: part[1]})
		case mark == "!" && len(part) == 3:
			rules := pages[len(pages)-1].rules
			i := slices.IndexFunc(rules, func(r specRule) bool { return r.id == first })
			rules[i].note, rules[i].noteZh = part[1], part[2]
		case ruleID.MatchString(mark) && first == "" && len(part) == 3:
			page := &pages[len(pages)-1]
			page.rules = append(page.rules, specRule{id: mark, title: part[1], titleZh: part[2]})
		default:
			t.Fatalf("%s: what is %q?", path, lines.Text())
		}
	}
	return pages
}

const (
	rulesHead = `# Rules

[中文](zh/rules.md)

The gateway keeps to a numbered specification. This page lists its rules, in short, with tests that name each: a scenario, a test by its name, or a test that
names the rule where it fails. The list is made from the tests (` + "`GATEHOUSE_UPDATE_DOCS=1 go test ./cmd/gatehouse -run DocsRules`" + `) and checked in CI, so that
no rule of pages 01 to 05 is without a test. A few are shown. Scenarios are in ` + "`orchestrator/testdata/scenarios`" + ` and read like the specification; one is
run by its name: ` + "`go test ./orchestrator -run 'Scenarios/EN-2'`" + `.
`
	rulesHeadZh = `# 规则

[English](../rules.md)

网关遵守一份编号的规范。本页简要列出其规则，以及点名每条规则的测试：场景、以规则命名的测试，或失败时报出规则的测试。列表由测试生成
（` + "`GATEHOUSE_UPDATE_DOCS=1 go test ./cmd/gatehouse -run DocsRules`" + `）并在 CI 中检查，因此第 01 至 05 页没有缺少测试的规则。每条只列出几个。场景在
` + "`orchestrator/testdata/scenarios`" + `，读起来像规范本身；按名字运行：` + "`go test ./orchestrator -run 'Scenarios/EN-2'`" + `。
`
)

func rulesPage(pages []specPage, found map[string][]proof) string {
	return rulesTable(rulesHead, "| rule | what it says | tests |", "no test yet", pages, found, func(p *specPage) string { return p.name },
		func(r *specRule) (string, string) { return r.title, r.note })
}

func rulesPageZh(pages []specPage, found map[string][]proof) string {
	return rulesTable(rulesHeadZh, "| 规则 | 内容 | 测试 |", "还没有测试", pages, found, func(p *specPage) string { return p.nameZh },
		func(r *specRule) (string, string) { return r.titleZh, r.noteZh })
}

func rulesTable(head, columns, none string, pages []specPage, found map[string][]proof,
	nameOf func(*specPage) string, words func(*specRule) (title, note string),
) string {
	var b strings.Builder
	b.WriteString(head)
	for i := range pages {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n|---|---|---|\n", nameOf(&pages[i]), columns)
		for j := range pages[i].rules {
			r := &pages[i].rules[j]
			title, note := words(r)
			cells := proofCells(found[r.id])
			if note != "" {
				cells = append(cells, note)
			}
			if len(cells) == 0 {
				cells = append(cells, none)
			}
			tests := strings.Join(cells, "<br>")
			fmt.Fprintf(&b, "| %s | %s | %s |\n", r.id, title, tests)
		}
	}
	return b.String()
}

// proofCells names a few tests of a rule: all scenarios, and tests of as many
// files as can be.
func proofCells(all []proof) (cells []string) {
	files := map[string]bool{}
	for _, p := range all {
		if files[p.file] || p.rank > aScenario && len(cells) >= shownProofs {
			continue
		}
		files[p.file] = true
		text := strings.TrimSpace("`" + p.file + "` " + strings.NewReplacer("|", "\\|", "`", "'", "<", "&lt;").Replace(p.test))
		cells = append(cells, text)
	}
	return cells
}

// Every rule that a test names is one of the list.
func TestDocsRulesNameOnlyRules(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, p := range readRules(t, "testdata/rules.txt") {
		for _, r := range p.rules {
			if known[r.id] {
				t.Errorf("%s stands twice in the list", r.id)
			}
			known[r.id] = true
		}
	}
	if len(known) < 180 {
		t.Errorf("the list has %d rules", len(known))
	}
	prefixes := map[string]bool{}
	for id := range known {
		prefixes[id[:strings.Index(id, "-")]] = true
	}
	for _, id := range slices.Sorted(maps.Keys(findProofs(t))) {
		if prefixes[id[:strings.Index(id, "-")]] && !known[id] {
			t.Errorf("a test names %s, which is no rule", id)
		}
	}
}
