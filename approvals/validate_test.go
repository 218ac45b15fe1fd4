package approvals_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

type edit = func(*approvals.Request)

func options(n int) (list []approvals.Option) {
	for i := range n {
		list = append(list, approvals.Option{ID: fmt.Sprint("o", i)})
	}
	return list
}

func TestOpenRefusesWhatIsNoQuestion(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("x", n+1) }
	for _, c := range []struct {
		name, says string
		r          approvals.Request
	}{
		{"DE-2 a request has a key", "requestId: is missing", with(choice(), func(r *approvals.Request) { r.RequestID = " " })},
		{"DE-2 a key is short", "requestId: 257 bytes", with(choice(), func(r *approvals.Request) { r.RequestID = long(approvals.MaxWord) })},
		{"DE-2 a kind is one of three", `kind: "poll"`, with(choice(), func(r *approvals.Request) { r.Kind = "poll" })},
		{"DE-2 a prompt is at most 16 KiB", "prompt: 16385 bytes", with(choice(), func(r *approvals.Request) { r.Prompt = long(approvals.MaxPrompt) })},
		{"DE-2 a question asks something", "prompt: is missing", with(choice(), func(r *approvals.Request) { r.Prompt = "\n" })},
		{"DE-2 a question can be answered", "options: at least one", with(choice(), func(r *approvals.Request) { r.Options, r.AllowFreeText = nil, false })},
		{"DE-2 options are at most 20", "options: 21", with(choice(), func(r *approvals.Request) { r.Options = options(21) })},
		{"DE-2 option ids are unique", "options[1].id", with(choice(), func(r *approvals.Request) { r.Options[1].ID = "red" })},
		{"DE-2 option ids are not empty", "options[1].id: is missing", with(choice(), func(r *approvals.Request) { r.Options[1].ID = "" })},
		{"DE-2 option ids are words, since a card's buttons carry them", "options[1].id: has characters", with(choice(), func(r *approvals.Request) { r.Options[1].ID = "a\nb" })},
		{"DE-2 labels are short", "options[0].label", with(choice(), func(r *approvals.Request) { r.Options[0].Label = long(approvals.MaxWord) })},
		{"DE-2 descriptions are short", "options[0].description", with(choice(), func(r *approvals.Request) { r.Options[0].Description = long(approvals.MaxDescription) })},
		{"DE-2 a recommendation is an option", "recommendation", with(choice(), func(r *approvals.Request) { r.Recommendation = "green" })},
		{"DE-2 an approval recommends one of the host's", "recommendation", with(approval(), func(r *approvals.Request) { r.Recommendation = "always" })},
		{"DE-2 answerers are words", "answerers[0]: is missing", with(choice(), func(r *approvals.Request) { r.Answerers = []string{""} })},
		{"DE-2 answerers are at most 50", "answerers: 51", with(choice(), func(r *approvals.Request) { r.Answerers = make([]string, 51) })},
		{"AP-1 only an approval has an operation", "operation: only", with(choice(), func(r *approvals.Request) { r.Operation = &approvals.Operation{} })},
		{"AP-1 an approval has an operation", "operation: an approval", with(approval(), func(r *approvals.Request) { r.Operation = nil })},
		{"AP-1 an operation names its tool", "operation.tool", with(approval(), func(r *approvals.Request) { r.Operation.Tool = "" })},
		{"AP-1 an operation says why", "operation.reason: is missing", with(approval(), func(r *approvals.Request) { r.Operation.Reason = "" })},
		{"AP-1 a reason is short", "operation.reason: 4097", with(approval(), func(r *approvals.Request) { r.Operation.Reason = long(approvals.MaxReason) })},
		{"AP-1 a preview is bounded", "operation.preview", with(approval(), func(r *approvals.Request) { r.Operation.Preview = long(approvals.MaxPreview) })},
		{"AP-1 a call id is short", "operation.callId", with(approval(), func(r *approvals.Request) { r.Operation.CallID = long(approvals.MaxWord) })},
		{"AP-2a options sent by the asker are refused", "options: an approval", with(approval(), func(r *approvals.Request) { r.Options = options(1) })},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			q, eff, err := approvals.Open(c.r, ticket(), approvals.Settings{}, ids, t0)
			if !errors.Is(err, approvals.ErrInvalid) {
				t.Fatalf("Open(…) = %v, want ErrInvalid", err)
			}
			contains(t, "error", err.Error(), c.says)
			if q.ID != "" || len(eff.Out)+len(eff.Due)+len(eff.Log) > 0 {
				t.Errorf("Open(…) = %+v, %+v, want nothing", q, eff)
			}
		})
	}
	t.Run("DE-2 a question has a session", func(t *testing.T) {
		t.Parallel()
		_, _, err := approvals.Open(choice(), approvals.Session{}, approvals.Settings{}, ids, t0)
		contains(t, "error", fmt.Sprint(err), "session: is missing")
	})
}

func TestOpenTakesTheBounds(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]approvals.Request{
		"DE-2 twenty options":        with(choice(), func(r *approvals.Request) { r.Options = options(approvals.MaxOptions) }),
		"DE-2 a prompt of 16 KiB":    with(choice(), func(r *approvals.Request) { r.Prompt = strings.Repeat("x", approvals.MaxPrompt) }),
		"DE-2 free text alone":       with(choice(), func(r *approvals.Request) { r.Options = nil }),
		"DE-2 options alone":         with(choice(), func(r *approvals.Request) { r.AllowFreeText = false }),
		"DE-2 a clarification":       with(choice(), func(r *approvals.Request) { r.Kind = approvals.Clarification }),
		"DE-2 a recommendation":      with(choice(), func(r *approvals.Request) { r.Recommendation = "blue" }),
		"AP-2a the host's, likewise": with(approval(), func(r *approvals.Request) { r.Recommendation = "approve" }),
		"AP-1 no prompt of its own":  approval(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if q := open(t, r); q.Status != approvals.StatusOpen {
				t.Errorf("Open(…).Status = %s, want open", q.Status)
			}
		})
	}
}

func TestAnswerersThatCanMatchNobodyAreInvalid(t *testing.T) {
	t.Parallel()
	known := []string{"ou_boss"}
	for _, c := range []struct {
		name      string
		list      []string
		requester gate.Sender
		cfg       approvals.Settings
		ok        bool
	}{
		{"DE-2 no list narrows nothing", nil, li, approvals.Settings{Approvers: known}, true},
		{"DE-2 approvers always match: an operator is one", []string{"approvers"}, gate.Sender{}, approvals.Settings{Approvers: []string{}}, true},
		{"DE-2 the requester is a person", []string{"requester"}, li, approvals.Settings{}, true},
		{"CA-3 the requester is a bot", []string{"requester"}, robot, approvals.Settings{}, false},
		{"CA-3 there is no requester", []string{"requester"}, gate.Sender{}, approvals.Settings{}, false},
		{"CA-3 four eyes exclude the requester", []string{"requester"}, li, approvals.Settings{FourEyes: true}, false},
		{"CA-3 four eyes exclude the requester's id", []string{"ou_li"}, li, approvals.Settings{FourEyes: true}, false},
		{"DE-2 one possible entry is enough", []string{"requester", "approvers"}, robot, approvals.Settings{}, true},
		{"DE-2 the requester's id", []string{"id:ou_li"}, li, approvals.Settings{Approvers: known}, true},
		{"DE-2 an approver's id", []string{"id:ou_boss"}, li, approvals.Settings{Approvers: known}, true},
		{"DE-2 neither approver nor requester", []string{"ou_eve"}, li, approvals.Settings{Approvers: known}, false},
		{"DE-2 no approvers at all", []string{"ou_eve"}, li, approvals.Settings{Approvers: []string{}}, false},
		{"DE-2 approvers are not known here", []string{"ou_eve"}, li, approvals.Settings{}, true},
		{"DE-2 a group of approvers may hold anybody", []string{"ou_eve"}, li, approvals.Settings{Approvers: []string{"group:g_1"}}, true},
		{"DE-2 another form may be the same person", []string{"583231"}, li, approvals.Settings{Approvers: []string{"octocat"}}, true},
		{"DE-2 the same form is another person", []string{"583231"}, li, approvals.Settings{Approvers: []string{"583232"}}, false},
		{"DE-2 logins ignore case", []string{"OctoCat"}, li, approvals.Settings{Approvers: []string{"octocat"}}, true},
		{"DE-2 a group is no answerer: only ids are compared", []string{"group:g_1"}, li, approvals.Settings{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := ticket()
			s.Requester = c.requester
			r := with(choice(), func(r *approvals.Request) { r.Answerers = c.list })
			_, _, err := approvals.Open(r, s, c.cfg, ids, t0)
			if (err == nil) != c.ok || (err != nil && !errors.Is(err, approvals.ErrInvalid)) {
				t.Errorf("Open(answerers %q) = %v, want ok %v", c.list, err, c.ok)
			}
		})
	}
}
