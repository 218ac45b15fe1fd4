package approvals_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

var (
	t0    = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	li    = gate.Sender{Kind: gate.Person, ID: "ou_li", Name: "Li"}
	boss  = gate.Sender{Kind: gate.Person, ID: "ou_boss", Name: "Boss"}
	eve   = gate.Sender{Kind: gate.Person, ID: "ou_eve", Name: "Eve"}
	robot = gate.Sender{Kind: gate.Bot, ID: "cli_robot"}

	shown = approvals.Message{Source: "feishu-main", Chat: "oc_1", Message: "om_card"}
)

func at(d time.Duration) time.Time { return t0.Add(d) }

// ticket is a session from Li's message in a Feishu thread.
func ticket() approvals.Session {
	return approvals.Session{
		ID: "tkt_1", Title: "Fix the build", Source: "feishu-main", Thread: "th_1",
		Place: gate.Place{Chat: "oc_1", Root: "om_root"}, Anchor: "om_ask", Requester: li,
	}
}

// approval asks for one operation.
func approval() approvals.Request {
	return approvals.Request{
		RequestID: "req-1", Kind: approvals.Approval,
		Operation: &approvals.Operation{Tool: "bash", CallID: "call-1", Preview: "rm -rf build", Reason: "clean build"},
	}
}

// choice asks for one of two colours, or free text.
func choice() approvals.Request {
	return approvals.Request{
		RequestID: "req-1", Kind: approvals.Choice, Prompt: "Which colour?", AllowFreeText: true,
		Options: []approvals.Option{{ID: "red", Label: "Red"}, {ID: "blue"}},
	}
}

func with(r approvals.Request, edit func(*approvals.Request)) approvals.Request {
	edit(&r)
	return r
}

var ids = approvals.IDs{Workspace: "acme", Approval: "apr-1"}

func open(t testing.TB, r approvals.Request) approvals.Question {
	t.Helper()
	q, _, err := approvals.Open(r, ticket(), approvals.Settings{}, ids, t0)
	if err != nil {
		t.Fatalf("Open(%+v) = %v", r, err)
	}
	return q
}

// openShown is open, and one card of it was sent.
func openShown(t testing.TB, r approvals.Request) approvals.Question {
	t.Helper()
	q, _ := approvals.Presented(open(t, r), shown, at(time.Second))
	return q
}

func pick(option string) approvals.Answer {
	return approvals.Answer{OptionID: option, By: li, Source: "feishu-main", Via: approvals.ViaCard}
}

func say(text string) approvals.Answer {
	return approvals.Answer{Text: text, By: li, Source: "feishu-main", Via: approvals.ViaCard}
}

// history spells a row's events: "opened presented answered deduped+2".
func history(q approvals.Question) string {
	var words []string
	for _, e := range q.Events {
		w := string(e.Type)
		if e.More > 0 {
			w += "+" + strings.Repeat("I", e.More)
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

func dues(list []approvals.Due) (kinds []approvals.DueKind) {
	for _, d := range list {
		kinds = append(kinds, d.Kind)
	}
	slices.Sort(kinds)
	return kinds
}

func types(log []approvals.Record) (names []string) {
	for _, r := range log {
		names = append(names, r.Type)
	}
	return names
}

func contains(t testing.TB, what, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%s = %q, want it to say %q", what, got, want)
	}
}
