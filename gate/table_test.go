package gate_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

var threeCells = []gate.Cell{gate.ListedUnaddressed, gate.UnlistedAddressed, gate.UnlistedUnaddressed}

func TestCellAvailableIsTheTableOfPage02(t *testing.T) {
	t.Parallel()
	for _, scope := range scopes {
		for column, cell := range threeCells {
			for _, receive := range []gate.Receive{gate.ReceiveOff, mentions, all} {
				src := &gate.Source{Scopes: map[gate.Scope]gate.Receive{scope: receive}}
				needs := available[scope][column]
				want := needs == "yes" && receive != gate.ReceiveOff || needs == "all" && receive == all
				if got := src.CellAvailable(scope, cell); got != want {
					t.Errorf("AD-7 CellAvailable(%s receiving %s, %s) = %t, want %t", scope, receive, cell, got, want)
				}
			}
		}
	}
}

func TestCellAvailableRefuses(t *testing.T) {
	t.Parallel()
	open := &gate.Source{Scopes: map[gate.Scope]gate.Receive{"issues": all, "chat:": all, "odd": 9, "pulls": 9}}
	rows := []struct {
		name  string
		src   *gate.Source
		scope gate.Scope
		cell  gate.Cell
	}{
		{"AD-7 without a source", nil, "issues", gate.UnlistedAddressed},
		{"AD-7 no cell", open, "issues", gate.NoCell},
		{"AD-7 a cell that does not exist", open, "issues", 9},
		{"AD-7 a chat without an id", open, "chat:", gate.UnlistedAddressed},
		{"AD-7 a row that does not exist", open, "odd", gate.UnlistedAddressed},
		{"AD-7 a setting that does not exist", open, "pulls", gate.UnlistedAddressed},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if r.src.CellAvailable(r.scope, r.cell) {
				t.Errorf("CellAvailable(%s, %s) = true, want false", r.scope, r.cell)
			}
		})
	}
}

func TestCheckTable(t *testing.T) {
	t.Parallel()
	feishu := &gate.Source{Platform: gate.Feishu, Scopes: map[gate.Scope]gate.Receive{"chat:oc_a": all, "chat:oc_b": mentions}}
	github := &gate.Source{Platform: gate.GitHub, Scopes: map[gate.Scope]gate.Receive{"issues": all, "pulls": mentions, "ci": all}}
	rows := []struct {
		name  string
		src   *gate.Source
		scope gate.Scope
		cells string
		want  []string
	}{
		{"AD-7 an empty row is fine anywhere", feishu, "issues", "---", nil},
		{"AD-7 all cells of a chat that receives all", feishu, "chat:oc_a", "iei", nil},
		{"AD-7 a chat's cells for remarks need all", feishu, "chat:oc_b", "iei", []string{
			"error chat:oc_b/listed_unaddressed [receive.chats.oc_b: all]", "error chat:oc_b/unlisted_unaddressed [receive.chats.oc_b: all]"}},
		{"AD-7 a chat that is not configured", feishu, "chat:oc_c", "-i-", []string{"error chat:oc_c/unlisted_addressed [receive.chats.oc_c: mentions]"}},
		{"AD-7 other chats need mentions", feishu, "other_chats", "-i-", []string{"error other_chats/unlisted_addressed [receive.other_chats: mentions]"}},
		{"AD-7 other chats have no cell for remarks", feishu, "other_chats", "--i", []string{"error other_chats/unlisted_unaddressed []"}},
		{"AD-7 a DM needs direct", feishu, "direct", "-i-", []string{"error direct/unlisted_addressed [receive.direct: true]"}},
		{"AD-7 a DM has no cell for remarks", feishu, "direct", "i--", []string{"error direct/listed_unaddressed []"}},
		{"AD-7 a Feishu source has no issues", feishu, "issues", "-i-", []string{"error issues/unlisted_addressed []"}},
		{"AD-7 a GitHub source has no chats", github, "chat:oc_a", "-i-", []string{"error chat:oc_a/unlisted_addressed []"}},
		{"AD-7 a GitHub source has no DMs", github, "direct", "-i-", []string{"error direct/unlisted_addressed []"}},
		{"AD-7 a row that no platform has", github, "isues", "-i-", []string{"error isues/unlisted_addressed []"}},
		{"AD-7 without a source nothing can be set", nil, "issues", "-i-", []string{"error issues/unlisted_addressed []"}},
		{"AD-7 a scope of mentions has no cells for remarks", github, "pulls", "-ei", []string{"error pulls/unlisted_unaddressed [receive.pulls: all]"}},
		{"AD-7 a scope that is off", github, "comments", "-e-", []string{"error comments/unlisted_addressed [receive.comments: mentions]"}},
		{"AD-7 explicit for remarks is a warning", github, "issues", "eee", []string{
			"warning issues/listed_unaddressed []", "warning issues/unlisted_unaddressed []"}},
		{"AD-7 explicit where not available is only the error", github, "pulls", "e--", []string{"error pulls/listed_unaddressed [receive.pulls: all]"}},
		{"AD-7 ci can be inferred", github, "ci", "--i", nil},
		{"AD-7 ci cannot be explicit: nobody asked", github, "ci", "--e", []string{"error ci/unlisted_unaddressed []"}},
		{"AD-7 ci has one cell", github, "ci", "ii-", []string{"error ci/listed_unaddressed []", "error ci/unlisted_addressed []"}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			got := faults(gate.CheckTable(r.src, gate.Table{r.scope: row(r.cells)}))
			if !slices.Equal(got, r.want) {
				t.Errorf("CheckTable(%s: %s) = %q, want %q", r.scope, r.cells, got, r.want)
			}
		})
	}
}

func faults(fs []gate.TableFault) []string {
	var words []string
	for _, f := range fs {
		kind := "error"
		if f.Warning {
			kind = "warning"
		}
		if f.Text == "" {
			kind = "silent"
		}
		words = append(words, fmt.Sprintf("%s %s/%s [%s]", kind, f.Row, f.Cell, f.Setting))
	}
	return words
}

func TestCheckTableNamesRowCellAndSetting(t *testing.T) {
	t.Parallel()
	src := &gate.Source{Platform: gate.GitHub, Scopes: map[gate.Scope]gate.Receive{"issues": mentions}}
	fs := gate.CheckTable(src, gate.Table{"issues": row("i--")})
	want := "listed_unaddressed of issues is not available: it needs receive.issues: all"
	if len(fs) != 1 || fs[0].Text != want {
		t.Errorf("AD-7 CheckTable(…) = %+v, want %q", fs, want)
	}
}

func TestCheckTableHasAnOrder(t *testing.T) {
	t.Parallel()
	table := gate.Table{"pulls": row("ii-"), "ci": row("--e"), "issues": row("--i"), "comments": row("i--")}
	src := &gate.Source{Platform: gate.GitHub}
	want := []string{
		"error ci/unlisted_unaddressed [receive.ci: all]", "error ci/unlisted_unaddressed []",
		"error comments/listed_unaddressed [receive.comments: all]", "error issues/unlisted_unaddressed [receive.issues: all]",
		"error pulls/listed_unaddressed [receive.pulls: all]", "error pulls/unlisted_addressed [receive.pulls: mentions]",
	}
	for range 20 {
		if got := faults(gate.CheckTable(src, table)); !slices.Equal(got, want) {
			t.Fatalf("AD-7 CheckTable(…) = %q, want %q", got, want)
		}
	}
}

// A cell that is set is either available or a fault: none is ignored silently.
func TestNoCellIsIgnoredSilently(t *testing.T) {
	t.Parallel()
	for _, scope := range scopes {
		for _, receive := range []gate.Receive{gate.ReceiveOff, mentions, all} {
			src := &gate.Source{Scopes: map[gate.Scope]gate.Receive{scope: receive}}
			for i, cells := range []string{"i--", "-i-", "--i"} {
				fs := gate.CheckTable(src, gate.Table{scope: row(cells)})
				if src.CellAvailable(scope, threeCells[i]) != (len(fs) == 0) {
					t.Errorf("AD-7 CheckTable(%s receiving %s: %s) = %v, want a fault exactly when not available", scope, receive, cells, fs)
				}
			}
		}
	}
}
