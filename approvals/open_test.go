package approvals_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

func TestIDFor(t *testing.T) {
	t.Parallel()
	t.Run("DE-3 it is a UUIDv5 and the same everywhere", func(t *testing.T) {
		t.Parallel()
		id := approvals.IDFor("acme", "tkt_1", "req-1")
		u, err := uuid.Parse(string(id))
		if err != nil || u.Version() != 5 || id != approvals.IDFor("acme", "tkt_1", "req-1") {
			t.Errorf("IDFor(…) = %s, %v, want one UUIDv5", id, err)
		}
		if want := approvals.ID("f936d65d-e6f9-5252-98be-46b80a2ea6e8"); id != want {
			t.Errorf("IDFor(…) = %s, want %s as in earlier versions", id, want)
		}
	})
	t.Run("DE-3 no two of workspace, session and key share one", func(t *testing.T) {
		t.Parallel()
		seen := map[approvals.ID][3]string{}
		words := []string{"", "a", "b", "ab", "a/b", "a\x00b"}
		for _, w := range words {
			for _, s := range words {
				for _, r := range words {
					id := approvals.IDFor(w, approvals.SessionID(s), r)
					if o, ok := seen[id]; ok {
						t.Errorf("IDFor(%q, %q, %q) is that of %q", w, s, r, o)
					}
					seen[id] = [3]string{w, s, r}
				}
			}
		}
	})
}

func TestOpenClampsTheTimeout(t *testing.T) {
	t.Parallel()
	slow := approvals.Settings{Timeout: time.Hour, Timeouts: map[gate.SourceID]time.Duration{"feishu-main": 2 * time.Hour}}
	for _, c := range []struct {
		name  string
		asked time.Duration
		cfg   approvals.Settings
		want  time.Duration
	}{
		{"DE-1 the default is 5 minutes", 0, approvals.Settings{}, 5 * time.Minute},
		{"DE-1 the configuration sets the default", 0, approvals.Settings{Timeout: time.Hour}, time.Hour},
		{"CA-1 a Source sets its own", 0, slow, 2 * time.Hour},
		{"DE-2 the asker wants less", time.Minute, slow, time.Minute},
		{"DE-2 at least a second", time.Nanosecond, approvals.Settings{}, time.Second},
		{"DE-2 a negative one is the least", -time.Hour, approvals.Settings{}, time.Second},
		{"DE-2 at most a day", 25 * time.Hour, approvals.Settings{}, 24 * time.Hour},
		{"DE-2 the default is clamped too", 0, approvals.Settings{Timeout: 48 * time.Hour}, 24 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := with(choice(), func(r *approvals.Request) { r.Timeout = c.asked })
			q, eff, err := approvals.Open(r, ticket(), c.cfg, ids, t0)
			if err != nil || !q.Deadline.Equal(at(c.want)) || !eff.Due[0].At.Equal(q.Deadline) {
				t.Errorf("Open(…).Deadline = %s after %s, %v, want %s", q.Deadline, q.Deadline.Sub(t0), err, c.want)
			}
		})
	}
	t.Run("DE-6 a deadline is a whole millisecond, as stores keep it", func(t *testing.T) {
		t.Parallel()
		q, _, _ := approvals.Open(choice(), ticket(), approvals.Settings{}, ids, t0.Add(1234567))
		if q.Deadline.Nanosecond() != 1e6 {
			t.Errorf("Deadline = %s, want no microseconds", q.Deadline)
		}
	})
}

func TestOpenAsksPeople(t *testing.T) {
	t.Parallel()
	s := ticket()
	s.Guard = approvals.Guard{Kind: "ticket", ID: "tkt_1", Version: 3}
	q, eff, err := approvals.Open(approval(), s, approvals.Settings{}, ids, t0)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("DE-1 the question is open, and its row says so", func(t *testing.T) {
		t.Parallel()
		if q.Status != approvals.StatusOpen || q.Outcome != approvals.NoOutcome || q.Version != 0 || history(q) != "opened" || q.ApprovalID != "apr-1" {
			t.Errorf("Open(…) = %+v", q)
		}
		if q.Session.Guard != (approvals.Guard{}) {
			t.Errorf("Session.Guard = %v, want none in a row", q.Session.Guard)
		}
	})
	t.Run("CA-1 one card goes to the Ticket's thread", func(t *testing.T) {
		t.Parallel()
		want := gate.Outgoing{
			ID: eff.Out[0].ID, Kind: gate.OutCard, Lane: "th_1", Source: "feishu-main", Thread: "th_1", Place: s.Place,
			Message: "om_ask", Question: string(q.ID), Ticket: "tkt_1", Mention: li, CreatedAt: t0,
		}
		if len(eff.Out) != 1 || !reflect.DeepEqual(eff.Out[0], want) {
			t.Errorf("Out = %+v, want %+v", eff.Out, want)
		}
		_, again, _ := approvals.Open(approval(), s, approvals.Settings{}, ids, at(time.Hour))
		if u, err := uuid.Parse(want.ID); err != nil || u.Version() != 5 || again.Out[0].ID != want.ID {
			t.Errorf("ID = %s, then %s, want the same UUIDv5", want.ID, again.Out[0].ID)
		}
	})
	t.Run("DE-6 the deadline is due", func(t *testing.T) {
		t.Parallel()
		want := []approvals.Due{{Kind: approvals.DueDeadline, Key: string(q.ID), At: q.Deadline}}
		if !slices.Equal(eff.Due, want) || len(eff.Cancel) > 0 {
			t.Errorf("Due = %v, want %v", eff.Due, want)
		}
	})
	t.Run("AP-5 it is logged, and asked is in the audit", func(t *testing.T) {
		t.Parallel()
		if got := types(eff.Log); !slices.Equal(got, []string{approvals.RecordOpened, approvals.RecordAsked}) {
			t.Fatalf("Log = %v", got)
		}
		a := eff.Log[1].Data.(approvals.Audit)
		want := approvals.Audit{ApprovalID: "apr-1", Decision: q.ID, Tool: "bash", CallID: "call-1", Reason: "clean build", Requester: li}
		if eff.Log[1].Session != "tkt_1" || !reflect.DeepEqual(a, want) {
			t.Errorf("asked = %+v, want %+v", a, want)
		}
		if _, err := json.Marshal(eff.Log); err != nil {
			t.Errorf("Marshal(Log) = %v", err)
		}
	})
	t.Run("AP-2a the options are the host's two, with no free text", func(t *testing.T) {
		t.Parallel()
		q := open(t, with(approval(), func(r *approvals.Request) { r.AllowFreeText = true }))
		want := []approvals.Option{{ID: "approve", Label: "Approve", Style: "primary"}, {ID: "reject", Label: "Reject", Style: "danger"}}
		if !slices.Equal(q.Options, want) || q.AllowFreeText {
			t.Errorf("Options = %v, AllowFreeText = %v", q.Options, q.AllowFreeText)
		}
	})
	t.Run("AP-1 the row keeps a copy of the operation", func(t *testing.T) {
		t.Parallel()
		r := approval()
		q := open(t, r)
		r.Operation.Tool = "drifted"
		if q.Operation.Tool != "bash" {
			t.Errorf("Operation.Tool = %s", q.Operation.Tool)
		}
	})
	t.Run("AP-5 other kinds have no approval id and no audit", func(t *testing.T) {
		t.Parallel()
		q, eff, _ := approvals.Open(choice(), ticket(), approvals.Settings{}, ids, t0)
		if q.ApprovalID != "" || !slices.Equal(types(eff.Log), []string{approvals.RecordOpened}) {
			t.Errorf("Open(choice) = %q, %v", q.ApprovalID, types(eff.Log))
		}
		if q.Options[1].Label != "blue" {
			t.Errorf("an empty label = %q, want the id", q.Options[1].Label)
		}
	})
}

func TestOpenWithoutAPlace(t *testing.T) {
	t.Parallel()
	t.Run("CA-1 where there is no Source there is no card", func(t *testing.T) {
		t.Parallel()
		q, eff, err := approvals.Open(choice(), approvals.Session{ID: approvals.MainSession}, approvals.Settings{}, ids, t0)
		if err != nil || q.Status != approvals.StatusOpen || len(eff.Out) != 0 || len(eff.Due) != 1 {
			t.Errorf("Open(main) = %v, %+v, %v", q.Status, eff, err)
		}
	})
	t.Run("CA-1 where there is no Thread the card has a lane of its own, and calls nobody", func(t *testing.T) {
		t.Parallel()
		s := approvals.Session{ID: approvals.MainSession, Source: "feishu-main", Place: gate.Place{Chat: "oc_approvals"}, Requester: robot}
		q, eff, _ := approvals.Open(choice(), s, approvals.Settings{}, ids, t0)
		o := eff.Out[0]
		if o.Lane != "question:"+string(q.ID) || o.Ticket != "" || o.Mention.ID != "" {
			t.Errorf("Out = %+v", o)
		}
	})
}

func TestLabels(t *testing.T) {
	t.Parallel()
	worded := map[string]approvals.Labels{"zh": {Approve: "可以"}, "en": {Reject: "No way"}}
	for _, c := range []struct {
		name, language  string
		labels          map[string]approvals.Labels
		approve, reject string
	}{
		{"AP-2a English by default", "", nil, "Approve", "Reject"},
		{"AP-2a Chinese", "zh-CN", nil, "批准", "拒绝"},
		{"AP-2a worded by configuration, in part", "ZH", worded, "可以", "拒绝"},
		{"AP-2a worded likewise in English", "en", worded, "Approve", "No way"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := ticket()
			s.Language = c.language
			q, _, _ := approvals.Open(approval(), s, approvals.Settings{Labels: c.labels}, ids, t0)
			if q.Options[0].Label != c.approve || q.Options[1].Label != c.reject {
				t.Errorf("Options = %v, want %s, %s", q.Options, c.approve, c.reject)
			}
		})
	}
}

func TestOpenDecidesAtOnce(t *testing.T) {
	t.Parallel()
	never, ask := approvals.Settings{Policy: approvals.PolicyNever}, approvals.Settings{}
	machine := func(p approvals.Policy, m map[string]string) approvals.Settings {
		return approvals.Settings{Policy: p, Machine: m}
	}
	withdrawn := with(approval(), func(r *approvals.Request) { r.Withdrawn = true })
	for _, c := range []struct {
		name    string
		r       approvals.Request
		session approvals.Policy
		cfg     approvals.Settings
		status  approvals.Status
		outcome approvals.Outcome
		via     approvals.Via
	}{
		{"AP-3 ask asks", approval(), "", ask, "open", "", ""},
		{"AP-3 never rejects, via policy", approval(), "", never, "answered", "rejected", "policy"},
		{"AP-3 never cancels other kinds", choice(), "", never, "cancelled", "", ""},
		{"AP-3 the session's policy comes before the configuration's", approval(), "ask", never, "open", "", ""},
		{"AP-3 likewise for never", approval(), "never", ask, "answered", "rejected", "policy"},
		{"AP-3 an unknown policy is never", approval(), "sometimes", ask, "answered", "rejected", "policy"},
		{"AP-3 never comes before answerers that were put in front", approval(), "", machine("never", map[string]string{"*": "allow_once"}), "answered", "rejected", "policy"},
		{"AP-4 automation allows", approval(), "", machine("", map[string]string{"tkt_*": "allow_once"}), "answered", "allowed_once", "machine"},
		{"AP-4 automation rejects", approval(), "", machine("", map[string]string{"tkt_*": "reject"}), "answered", "rejected", "machine"},
		{"AP-4 of two patterns the rejecting one wins", approval(), "", machine("", map[string]string{"tkt_*": "allow_once", "*": "reject"}), "answered", "rejected", "machine"},
		{"AP-8 an unknown word of automation is never a pass", approval(), "", machine("", map[string]string{"*": "allow_always"}), "answered", "rejected", "machine"},
		{"AP-4 automation passes other sessions on", approval(), "", machine("", map[string]string{"main": "allow_once"}), "open", "", ""},
		{"AP-4 automation has the sessions of an executor", approval(), "", machine("", map[string]string{"executor:cod*": "allow_once"}), "answered", "allowed_once", "machine"},
		{"AP-4 and of no other", approval(), "", machine("", map[string]string{"executor:default": "allow_once"}), "open", "", ""},
		{"AP-4 automation has the sessions of a Source", approval(), "", machine("", map[string]string{"source:feishu-main": "reject"}), "answered", "rejected", "machine"},
		{"AP-4 and of no other Source", approval(), "", machine("", map[string]string{"source:github-main": "allow_once"}), "open", "", ""},
		{"AP-4 automation passes other kinds on", choice(), "", machine("", map[string]string{"*": "allow_once"}), "open", "", ""},
		{"AP-4 a malformed pattern owns nothing", approval(), "", machine("", map[string]string{"[": "allow_once"}), "open", "", ""},
		{"AP-5 withdrawn before it was asked", withdrawn, "", ask, "cancelled", "cancelled", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := ticket()
			s.Policy, s.Executor = c.session, "coder"
			q, eff, err := approvals.Open(c.r, s, c.cfg, ids, t0)
			if err != nil || q.Status != c.status || q.Outcome != c.outcome {
				t.Fatalf("Open(…) = %s, %s, %v, want %s, %s", q.Status, q.Outcome, err, c.status, c.outcome)
			}
			if got := via(q); got != c.via {
				t.Errorf("via = %q, want %q", got, c.via)
			}
			if c.status == approvals.StatusOpen {
				return
			}
			if len(eff.Out) > 0 || !slices.Equal(dues(eff.Due), []approvals.DueKind{approvals.DueSettled}) {
				t.Errorf("effects = %+v, want no card and no deadline", eff)
			}
			n := lines(eff.Log)
			if want := b2i(c.r.Kind == approvals.Approval); n[approvals.RecordAsked] != want || n[approvals.RecordDecided] != want {
				t.Errorf("AP-5 audit = %v, want one asked and one decided", n)
			}
		})
	}
}

func via(q approvals.Question) approvals.Via {
	if q.Answer == nil {
		return ""
	}
	return q.Answer.Via
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestReopen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		first approvals.Request
		then  edit
		other bool
	}{
		{"DE-3 the same question", choice(), func(*approvals.Request) {}, false},
		{"DE-3 the same approval", approval(), func(*approvals.Request) {}, false},
		{"DE-3 the same for another time", choice(), func(r *approvals.Request) { r.Timeout = time.Hour }, false},
		{"DE-3 another kind", choice(), func(r *approvals.Request) { r.Kind = approvals.Clarification }, true},
		{"DE-3 another prompt", choice(), func(r *approvals.Request) { r.Prompt = "Which size?" }, true},
		{"DE-3 another option", choice(), func(r *approvals.Request) { r.Options = options(2) }, true},
		{"DE-3 another recommendation", choice(), func(r *approvals.Request) { r.Recommendation = "red" }, true},
		{"DE-3 without free text", choice(), func(r *approvals.Request) { r.AllowFreeText = false }, true},
		{"DE-3 other answerers", choice(), func(r *approvals.Request) { r.Answerers = []string{"requester"} }, true},
		{"DE-3 another operation", approval(), func(r *approvals.Request) { r.Operation.Preview = "rm -rf /" }, true},
		{"DE-3 what is no question is another one", approval(), func(r *approvals.Request) { r.Operation = nil }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			q := open(t, c.first)
			got, eff, other := approvals.Reopen(q, with(again(c.first), c.then), ticket(), approvals.Settings{}, at(time.Second))
			if other != c.other || len(eff.Out)+len(eff.Due)+len(eff.Log) > 0 {
				t.Errorf("Reopen(…) = %v, %+v, want %v and no effects", other, eff, c.other)
			}
			if want := map[bool]string{false: "opened", true: "opened reopened"}[c.other]; history(got) != want {
				t.Errorf("events = %s, want %s", history(got), want)
			}
			got.Events = q.Events
			if !reflect.DeepEqual(got, q) {
				t.Errorf("Reopen(…) touched the first question: %+v", got)
			}
		})
	}
	t.Run("DE-3 other words of the host are no other question", func(t *testing.T) {
		t.Parallel()
		s := ticket()
		s.Language = "zh"
		if _, _, other := approvals.Reopen(open(t, approval()), approval(), s, approvals.Settings{}, t0); other {
			t.Error("Reopen(…) = other")
		}
	})
	t.Run("DE-5 another question after the deadline finds the first timed out", func(t *testing.T) {
		t.Parallel()
		q, eff, _ := approvals.Reopen(open(t, choice()), approval(), ticket(), approvals.Settings{}, at(time.Hour))
		if history(q) != "opened timed_out reopened" || len(eff.Due) != 1 {
			t.Errorf("Reopen(…) = %s, %+v", history(q), eff)
		}
	})
}

// again is a request that shares no memory with the first.
func again(r approvals.Request) approvals.Request {
	r.Options = slices.Clone(r.Options)
	if r.Operation != nil {
		op := *r.Operation
		r.Operation = &op
	}
	return r
}

func TestSetPolicy(t *testing.T) {
	t.Parallel()
	t.Run("AP-3 setting it is one recorded write", func(t *testing.T) {
		t.Parallel()
		r, err := approvals.SetPolicy("tkt_1", approvals.PolicyNever, "ops", t0)
		want := approvals.Record{Type: "approval/policy", At: t0, Session: "tkt_1", Data: approvals.PolicyChange{Policy: "never", By: "ops"}}
		if err != nil || !reflect.DeepEqual(r, want) {
			t.Errorf("SetPolicy(…) = %+v, %v, want %+v", r, err, want)
		}
	})
	t.Run("AP-3 another word is refused", func(t *testing.T) {
		t.Parallel()
		if _, err := approvals.SetPolicy("tkt_1", "always", "ops", t0); !errors.Is(err, approvals.ErrInvalid) {
			t.Errorf("SetPolicy(always) = %v, want ErrInvalid", err)
		}
	})
}
