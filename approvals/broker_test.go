package approvals_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

var errDown = errors.New("store is down")

// directory is today's lists: sender id → lists.
type directory map[string]gate.Lists

func (d directory) Lists(ctx context.Context, s gate.SourceID, who gate.Sender) gate.Lists {
	return d[string(s)+"/"+who.ID]
}

// desk is a Broker over a memory store, at a time that the test moves.
type desk struct {
	*approvals.Broker
	store *memStore
	lists directory
	now   time.Time
}

func newDesk(edits ...func(*approvals.BrokerConfig)) *desk {
	d := &desk{store: newMemStore(), now: t0, lists: directory{
		"feishu-main/ou_li":   {Allow: gate.Yes},
		"feishu-main/ou_boss": {Approver: gate.Yes},
	}}
	var n atomic.Int64
	c := approvals.BrokerConfig{
		Workspace: "acme", Store: d.store, Directory: d.lists,
		Now:    func() time.Time { return d.now },
		NewID:  func() string { return fmt.Sprint("apr-", n.Add(1)) },
		Logger: slog.New(slog.DiscardHandler),
	}
	for _, e := range edits {
		e(&c)
	}
	d.Broker = approvals.NewBroker(c)
	return d
}

// ask opens a question and says that its card was sent.
func (d *desk) ask(t testing.TB, r approvals.Request) approvals.Question {
	t.Helper()
	q, created, err := d.Open(t.Context(), ticket(), r)
	if err != nil || !created {
		t.Fatalf("Open(…) = created %v, %v", created, err)
	}
	d.show(t, q.ID)
	return d.row(t, q.ID)
}

// show is what the outbox does once a card was sent.
func (d *desk) show(t testing.TB, id approvals.ID) {
	t.Helper()
	q, eff := approvals.Presented(d.row(t, id), shown, d.now)
	if err := d.store.CommitQuestions(t.Context(), approvals.Change{Questions: []approvals.Question{q}, Effects: eff}); err != nil {
		t.Fatal(err)
	}
}

// row is the stored form.
func (d *desk) row(t testing.TB, id approvals.ID) approvals.Question {
	t.Helper()
	q, err := d.store.Question(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// click is somebody's click on the card.
func click(q approvals.Question, who gate.Sender, option string) approvals.AnswerRequest {
	return approvals.AnswerRequest{
		ID: q.ID, OptionID: option, Via: approvals.ViaCard, Source: "feishu-main", Who: who, Message: &shown,
	}
}

func settings(cfg approvals.Settings) func(*approvals.BrokerConfig) {
	return func(c *approvals.BrokerConfig) { c.Settings = cfg }
}

func TestBrokerOpen(t *testing.T) {
	t.Parallel()
	t.Run("DE-3 one key is one row, with no second card and no second line", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		first := d.ask(t, approval())
		q, created, err := d.Open(t.Context(), ticket(), approval())
		if err != nil || created || q.ID != first.ID || len(d.store.out) != 1 || d.store.lines()[approvals.RecordAsked] != 1 {
			t.Errorf("Open(again) = %s, created %v, %v; out %v, log %v", q.ID, created, err, d.store.out, d.store.lines())
		}
	})
	t.Run("DE-3 also when it was answered", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q := d.ask(t, approval())
		if _, err := d.Answer(t.Context(), click(q, li, "reject")); err != nil {
			t.Fatal(err)
		}
		q, created, err := d.Open(t.Context(), ticket(), approval())
		if err != nil || created || q.Outcome != approvals.Rejected {
			t.Errorf("Open(again) = %s, created %v, %v", q.Outcome, created, err)
		}
	})
	t.Run("DE-3 of another question the first stands, and the row says so", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		d.ask(t, approval())
		q, created, err := d.Open(t.Context(), ticket(), choice())
		if err != nil || created || q.Kind != approvals.Approval {
			t.Errorf("Open(other) = %s, created %v, %v", q.Kind, created, err)
		}
		if got := history(d.row(t, q.ID)); got != "opened presented reopened" {
			t.Errorf("events = %s", got)
		}
	})
	t.Run("DE-5 opened again after its deadline it is timed out", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		d.ask(t, approval())
		d.now = at(time.Hour)
		if q, _, err := d.Open(t.Context(), ticket(), approval()); err != nil || q.Status != approvals.StatusTimedOut {
			t.Errorf("Open(again) = %s, %v", q.Status, err)
		}
	})
	t.Run("DE-3 another replica opened it meanwhile", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		d.store.before = func() { d.ask(t, approval()) }
		q, created, err := d.Open(t.Context(), ticket(), approval())
		if err != nil || created || history(q) != "opened presented" || len(d.store.out) != 1 {
			t.Errorf("Open(…) = %s, created %v, %v", history(q), created, err)
		}
	})
	t.Run("AP-5 each request has a fresh approval id", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		one := d.ask(t, approval())
		two := d.ask(t, with(approval(), func(r *approvals.Request) { r.RequestID = "req-2" }))
		if one.ApprovalID == two.ApprovalID || two.ApprovalID == "" {
			t.Errorf("ApprovalID = %q, %q", one.ApprovalID, two.ApprovalID)
		}
	})
	t.Run("AP-5 a request whose audit cannot be written is an error", func(t *testing.T) {
		t.Parallel()
		for _, cfg := range []approvals.Settings{{}, {Policy: approvals.PolicyNever}} {
			d := newDesk(settings(cfg))
			d.store.fail = errDown
			q, _, err := d.Open(t.Context(), ticket(), approval())
			if !errors.Is(err, errDown) || q.ID != "" || q.Outcome != approvals.NoOutcome {
				t.Errorf("Open(…) = %+v, %v, want no question", q, err)
			}
		}
	})
	t.Run("AP-3 never is rejected at once, in one commit with its audit", func(t *testing.T) {
		t.Parallel()
		d := newDesk(settings(approvals.Settings{Policy: approvals.PolicyNever}))
		q, created, err := d.Open(t.Context(), ticket(), approval())
		n := d.store.lines()
		if err != nil || !created || q.Outcome != approvals.Rejected || d.store.commits != 1 || n[approvals.RecordAsked] != 1 || n[approvals.RecordDecided] != 1 {
			t.Errorf("Open(…) = %s, %v; %d commits, log %v", q.Outcome, err, d.store.commits, n)
		}
	})
	t.Run("DE-2 what is no question opens none", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		_, _, err := d.Open(t.Context(), ticket(), approvals.Request{RequestID: "x", Kind: "poll"})
		if !errors.Is(err, approvals.ErrInvalid) || d.store.commits != 0 {
			t.Errorf("Open(poll) = %v, %d commits", err, d.store.commits)
		}
	})
	t.Run("DE-7 a session that ended meanwhile opens none", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		d.store.guards["tickettkt_1"] = 8
		s := ticket()
		s.Guard = approvals.Guard{Kind: "ticket", ID: "tkt_1", Version: 7}
		if _, _, err := d.Open(t.Context(), s, approval()); !errors.Is(err, approvals.ErrConflict) {
			t.Errorf("Open(…) = %v, want ErrConflict", err)
		}
		s.Guard.Version = 8
		if _, created, err := d.Open(t.Context(), s, approval()); err != nil || !created {
			t.Errorf("Open(…) = created %v, %v", created, err)
		}
	})
	t.Run("DE-8 no more open than allowed; ended ones do not count", func(t *testing.T) {
		t.Parallel()
		d := newDesk(settings(approvals.Settings{MaxOpen: 1}))
		d.ask(t, approval())
		second := with(approval(), func(r *approvals.Request) { r.RequestID = "req-2" })
		if _, _, err := d.Open(t.Context(), ticket(), second); !errors.Is(err, approvals.ErrTooManyOpen) {
			t.Errorf("Open(second) = %v, want ErrTooManyOpen", err)
		}
		withdrawn := with(approval(), func(r *approvals.Request) { r.RequestID, r.Withdrawn = "req-3", true })
		if q, _, err := d.Open(t.Context(), ticket(), withdrawn); err != nil || q.Status != approvals.StatusCancelled {
			t.Errorf("Open(withdrawn) = %s, %v, want it recorded: it takes no room", q.Status, err)
		}
		d.now = at(time.Hour)
		if _, _, err := d.Open(t.Context(), ticket(), second); err != nil {
			t.Errorf("Open(second), the first timed out = %v", err)
		}
	})
}

func TestBrokerAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		kind   approvals.Request
		edit   func(*approvals.AnswerRequest)
		err    error
		stored string // the newest event
	}{
		{"CA-3 the requester, listed today", approval(), func(*approvals.AnswerRequest) {}, nil, "answered"},
		{"CA-3 an approver", approval(), func(r *approvals.AnswerRequest) { r.Who = boss }, nil, "answered"},
		{"CA-3 somebody who is neither", approval(), func(r *approvals.AnswerRequest) { r.Who = eve }, approvals.ErrNotAllowed, "refused"},
		{"CA-3 a bot", approval(), func(r *approvals.AnswerRequest) { r.Who = robot }, approvals.ErrNotAllowed, "refused"},
		{"CA-3 an approver of another Source", approval(), func(r *approvals.AnswerRequest) { r.Who, r.Source = boss, "feishu-2" }, approvals.ErrNotAllowed, "refused"},
		{"CA-3 an operator's token counts as an approver", approval(), func(r *approvals.AnswerRequest) {
			*r = approvals.AnswerRequest{ID: r.ID, OptionID: "approve", Via: approvals.ViaAPI, Operator: true}
		}, nil, "answered"},
		{"CA-6 another message", approval(), func(r *approvals.AnswerRequest) {
			r.Message = &approvals.Message{Source: "feishu-main", Chat: "oc_1", Message: "om_old"}
		}, approvals.ErrWrongCard, "refused"},
		{"CA-6 the message in another chat", approval(), func(r *approvals.AnswerRequest) {
			r.Message = &approvals.Message{Source: "feishu-main", Chat: "oc_2", Message: "om_card"}
		}, approvals.ErrWrongCard, "refused"},
		{"CA-6 the message of another Source", approval(), func(r *approvals.AnswerRequest) {
			r.Message = &approvals.Message{Source: "feishu-2", Chat: "oc_1", Message: "om_card"}
		}, approvals.ErrWrongCard, "refused"},
		{"CA-6 a click that names no message", approval(), func(r *approvals.AnswerRequest) { r.Message = nil }, approvals.ErrWrongCard, "refused"},
		{"CA-6 the message is looked at before the person", approval(), func(r *approvals.AnswerRequest) { r.Who, r.Message = eve, nil }, approvals.ErrWrongCard, "refused"},
		{"CA-7 the reply command names none", approval(), func(r *approvals.AnswerRequest) { r.Via, r.Message = approvals.ViaReply, nil }, nil, "answered"},
		{"DE-4 its own session", approval(), func(r *approvals.AnswerRequest) { r.Session = "tkt_1" }, nil, "answered"},
		{"DE-4 an id of another session", approval(), func(r *approvals.AnswerRequest) { r.Session = "tkt_2" }, approvals.ErrNotFound, "presented"},
		{"DE-4 an unknown option", approval(), func(r *approvals.AnswerRequest) { r.OptionID = "always" }, approvals.ErrInvalid, "presented"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk()
			q := d.ask(t, c.kind)
			r := click(q, li, "approve")
			c.edit(&r)
			var res approvals.Result
			var err error
			synctest.Test(t, func(t *testing.T) { res, err = d.Answer(t.Context(), r) })
			if !errors.Is(err, c.err) || (c.err == nil) != (err == nil) {
				t.Fatalf("Answer(…) = %v, want %v", err, c.err)
			}
			got := d.row(t, q.ID)
			if e := got.Events[len(got.Events)-1]; string(e.Type) != c.stored {
				t.Errorf("events = %s, want %s last", history(got), c.stored)
			}
			if allowed := got.Outcome.Allows(); allowed != (c.err == nil) || res.Question.Outcome != got.Outcome {
				t.Errorf("outcome = %s, result %s beside %v", got.Outcome, res.Question.Outcome, err)
			}
			if errors.Is(err, approvals.ErrNotAllowed) && (res.Reason == "" || res.Question.ID != q.ID) {
				t.Errorf("Answer(…) = %+v, want the reason and the question", res)
			}
		})
	}
	for _, c := range []struct {
		name     string
		recorded time.Duration // after the click
		err      error
	}{
		{"CA-6 a click that comes before its card is recorded waits for that", 300 * time.Millisecond, nil},
		{"CA-6 one whose card is not recorded in time is to be given again", time.Minute, approvals.ErrNotShown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDesk()
				q, _, err := d.Open(t.Context(), ticket(), approval())
				if err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(c.recorded, func() { d.show(t, q.ID) })
				began := time.Now()
				_, err = d.Answer(t.Context(), click(q, li, "approve"))
				if !errors.Is(err, c.err) || (c.err == nil) != d.row(t, q.ID).Outcome.Allows() || time.Since(began) > 2*time.Second {
					t.Errorf("Answer(…) = %v after %v, row %s, want %v within 2 s", err, time.Since(began), history(d.row(t, q.ID)), c.err)
				}
			})
		})
	}
	t.Run("CA-6 the store fails while a click waits for its card", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := newDesk()
			q, _, _ := d.Open(t.Context(), ticket(), approval())
			time.AfterFunc(100*time.Millisecond, func() {
				d.store.mu.Lock()
				defer d.store.mu.Unlock()
				d.store.failReads = errDown
			})
			if _, err := d.Answer(t.Context(), click(q, li, "approve")); !errors.Is(err, errDown) {
				t.Errorf("Answer(…) = %v, want errDown", err)
			}
		})
	})
	t.Run("CA-6 the reason tells another chat from another card", func(t *testing.T) {
		t.Parallel()
		for chat, want := range map[string]string{"oc_2": approvals.ReasonWrongChat, shown.Chat: approvals.ReasonWrongCard} {
			d := newDesk()
			r := click(d.ask(t, approval()), li, "approve")
			m := shown
			if m.Chat = chat; chat == shown.Chat {
				m.Message = "om_other"
			}
			r.Message = &m
			var res approvals.Result
			synctest.Test(t, func(t *testing.T) { res, _ = d.Answer(t.Context(), r) })
			if res.Reason != want {
				t.Errorf("reason = %q, want %q", res.Reason, want)
			}
		}
	})
	t.Run("DE-4 an unknown id is not found", func(t *testing.T) {
		t.Parallel()
		_, err := newDesk().Answer(t.Context(), approvals.AnswerRequest{ID: "nowhere"})
		if !errors.Is(err, approvals.ErrNotFound) {
			t.Errorf("Answer(nowhere) = %v, want ErrNotFound", err)
		}
	})
	t.Run("DE-4 the same again is deduped, another is a conflict, both with the row", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q := d.ask(t, approval())
		mustAnswer(t, d, click(q, li, "approve"))
		res, err := d.Answer(t.Context(), click(q, boss, "approve"))
		if err != nil || !res.Deduped || !res.Question.Answer.By.Same(li) {
			t.Errorf("Answer(same) = %+v, %v", res, err)
		}
		res, err = d.Answer(t.Context(), click(q, boss, "reject"))
		if !errors.Is(err, approvals.ErrAnswered) || !res.Question.Outcome.Allows() || res.Reason != approvals.ReasonAnswered {
			t.Errorf("Answer(other) = %+v, %v", res, err)
		}
		if got := history(d.row(t, q.ID)); got != "opened presented answered deduped conflicted" {
			t.Errorf("DE-9 events = %s", got)
		}
	})
	t.Run("DE-5 CA-9 a click after the deadline is closed, sweeps, and tells the asker", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q := d.ask(t, approval())
		d.now = q.Deadline
		res, err := d.Answer(t.Context(), click(q, li, "approve"))
		if !errors.Is(err, approvals.ErrClosed) || res.Question.Outcome != approvals.Unavailable {
			t.Errorf("Answer(late) = %s, %v", res.Question.Outcome, err)
		}
		id := string(q.ID)
		_, settled := d.store.due[approvals.DueSettled][id]
		_, late := d.store.due[approvals.DueLate][id]
		_, waits := d.store.due[approvals.DueDeadline][id]
		if !settled || !late || waits || d.row(t, q.ID).Status != approvals.StatusTimedOut {
			t.Errorf("due = %v", d.store.due)
		}
	})
	t.Run("CA-3 a refused click changes nothing but the history", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q := d.ask(t, approval())
		if _, err := d.Answer(t.Context(), click(q, eve, "approve")); !errors.Is(err, approvals.ErrNotAllowed) {
			t.Fatal(err)
		}
		got := d.row(t, q.ID)
		if e := got.Events[2]; e.Type != approvals.EventRefused || !e.By.Same(eve) || e.Detail == "" {
			t.Errorf("event = %+v", e)
		}
		got.Events, got.Version = q.Events, q.Version
		if !reflect.DeepEqual(got, q) || len(d.store.out) != 1 {
			t.Errorf("row = %+v, want %+v", got, q)
		}
		mustAnswer(t, d, click(q, li, "approve"))
	})
	t.Run("CA-3 a requester who is not listed today may answer a question, but no approval", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q := d.ask(t, approval())
		colour := d.ask(t, with(choice(), func(r *approvals.Request) { r.RequestID = "req-2" }))
		d.lists["feishu-main/ou_li"] = gate.Lists{}
		if _, err := d.Answer(t.Context(), click(q, li, "approve")); !errors.Is(err, approvals.ErrNotAllowed) {
			t.Errorf("Answer(approval) = %v, want ErrNotAllowed", err)
		}
		mustAnswer(t, d, click(colour, li, "red"))
	})
	t.Run("CA-3 four eyes: not the requester", func(t *testing.T) {
		t.Parallel()
		d := newDesk(settings(approvals.Settings{FourEyes: true}))
		q := d.ask(t, approval())
		if _, err := d.Answer(t.Context(), click(q, li, "approve")); !errors.Is(err, approvals.ErrNotAllowed) {
			t.Errorf("Answer(requester) = %v, want ErrNotAllowed", err)
		}
		mustAnswer(t, d, click(q, boss, "approve"))
	})
	t.Run("DE-2 answerers narrow", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q := d.ask(t, with(approval(), func(r *approvals.Request) { r.Answerers = []string{"approvers"} }))
		if _, err := d.Answer(t.Context(), click(q, li, "approve")); !errors.Is(err, approvals.ErrNotAllowed) {
			t.Errorf("Answer(requester) = %v, want ErrNotAllowed", err)
		}
		mustAnswer(t, d, click(q, boss, "approve"))
	})
	t.Run("PL-3 the requester from a linked account", func(t *testing.T) {
		t.Parallel()
		octo := gate.Sender{Kind: gate.Person, ID: "583231"}
		d := newDesk(func(c *approvals.BrokerConfig) {
			c.Linked = func(gate.SourceID, gate.Sender) []gate.Account {
				return []gate.Account{{Source: "feishu-main", ID: "ou_li"}}
			}
		})
		q := d.ask(t, approval())
		mustAnswer(t, d, approvals.AnswerRequest{ID: q.ID, OptionID: "approve", Via: approvals.ViaGitHub, Source: "github-main", Who: octo})
	})
}

func mustAnswer(t *testing.T, d *desk, r approvals.AnswerRequest) {
	t.Helper()
	if res, err := d.Answer(t.Context(), r); err != nil || res.Question.Status != approvals.StatusAnswered {
		t.Errorf("Answer(%s by %s) = %s, %v, want answered", r.OptionID, r.Who.ID, res.Question.Status, err)
	}
}

func TestBrokerTriesAgain(t *testing.T) {
	t.Parallel()
	t.Run("RS-4 a conflict is tried again from fresh state", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q := d.ask(t, approval())
		d.store.before = func() { mustAnswer(t, d, click(q, boss, "reject")) }
		res, err := d.Answer(t.Context(), click(q, li, "approve"))
		if !errors.Is(err, approvals.ErrAnswered) || res.Question.Outcome != approvals.Rejected {
			t.Errorf("Answer(…) = %s, %v, want the other's answer", res.Question.Outcome, err)
		}
	})
	t.Run("RS-4 an answer that loses every race is an error, not an answer", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q := d.ask(t, approval())
		d.store.fail = approvals.ErrConflict
		res, err := d.Answer(t.Context(), click(q, li, "approve"))
		if !errors.Is(err, approvals.ErrConflict) || res.Question.Outcome.Allows() {
			t.Errorf("Answer(…) = %+v, %v", res, err)
		}
	})
	t.Run("DE-4 a verdict that changes nothing needs no line in the history", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q := d.ask(t, approval())
		mustAnswer(t, d, click(q, li, "approve"))
		d.store.fail = approvals.ErrConflict
		if res, err := d.Answer(t.Context(), click(q, li, "approve")); err != nil || !res.Deduped {
			t.Errorf("Answer(same) = %+v, %v", res, err)
		}
		if _, err := d.Answer(t.Context(), click(q, li, "reject")); !errors.Is(err, approvals.ErrAnswered) {
			t.Errorf("Answer(other) = %v", err)
		}
		if _, err := d.Answer(t.Context(), click(q, eve, "reject")); !errors.Is(err, approvals.ErrNotAllowed) {
			t.Errorf("Answer(eve) = %v", err)
		}
		if got, created, err := d.Open(t.Context(), ticket(), choice()); err != nil || created || got.ID != q.ID {
			t.Errorf("Open(other) = %v, %v", created, err)
		}
	})
	t.Run("RS-9 a store that is down answers nothing", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q := d.ask(t, approval())
		d.store.fail = errDown
		_, err := d.Answer(t.Context(), click(q, li, "approve"))
		_, refused := d.Answer(t.Context(), click(q, eve, "approve"))
		if !errors.Is(err, errDown) || !errors.Is(refused, errDown) {
			t.Errorf("Answer(…) = %v, %v, want the cause", err, refused)
		}
		if _, err := d.CancelSession(t.Context(), "tkt_1", "stopped"); !errors.Is(err, errDown) {
			t.Errorf("CancelSession(…) = %v, want the cause", err)
		}
	})
}

// TestAnswersOnTheirWay are caught by the deadline between the look at the
// clock and the commit, while somebody reads.
func TestAnswersOnTheirWay(t *testing.T) {
	t.Parallel()
	reads := map[string]func(d *desk, q approvals.Question) (approvals.Question, error){
		"Question": func(d *desk, q approvals.Question) (approvals.Question, error) { return d.Question(t.Context(), q.ID) },
		"Wait":     func(d *desk, q approvals.Question) (approvals.Question, error) { return d.Wait(t.Context(), q.ID) },
		"Open": func(d *desk, _ approvals.Question) (approvals.Question, error) {
			q, _, err := d.Open(t.Context(), ticket(), approval())
			return q, err
		},
	}
	for name, read := range reads {
		t.Run("who reads that it timed out is right for ever (DE-1, DE-5): "+name, func(t *testing.T) {
			t.Parallel()
			d := newDesk()
			q := d.ask(t, approval())
			d.store.before = func() {
				d.now = q.Deadline
				if got, err := read(d, q); err != nil || got.Outcome != approvals.Unavailable {
					t.Errorf("%s(…) = %s, %v, want timed out", name, got.Status, err)
				}
			}
			res, err := d.Answer(t.Context(), click(q, li, "approve"))
			if !errors.Is(err, approvals.ErrClosed) || d.row(t, q.ID).Outcome != approvals.Unavailable {
				t.Errorf("Answer(…) = %s, %v, want it too late", res.Question.Status, err)
			}
		})
	}
	t.Run("a time-out that cannot be stored is told to nobody (DE-5, RS-9)", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q := d.ask(t, approval())
		d.now, d.store.fail = q.Deadline, errDown
		if _, err := d.Question(t.Context(), q.ID); !errors.Is(err, errDown) {
			t.Errorf("Question(…) = %v, want the cause", err)
		}
	})
}

func TestBrokerWithoutReads(t *testing.T) {
	t.Parallel()
	d := newDesk(settings(approvals.Settings{MaxOpen: 5}))
	q := d.ask(t, approval())
	d.store.failReads = errDown
	calls := map[string]func() error{
		"Open":          func() error { _, _, err := d.Open(t.Context(), ticket(), approval()); return err },
		"Answer":        func() error { _, err := d.Answer(t.Context(), click(q, li, "approve")); return err },
		"Question":      func() error { _, err := d.Question(t.Context(), q.ID); return err },
		"Wait":          func() error { _, err := d.Wait(t.Context(), q.ID); return err },
		"Expire":        func() error { return d.Expire(t.Context(), q.ID) },
		"Cancel":        func() error { _, err := d.Cancel(t.Context(), "tkt_1", q.ID, "x"); return err },
		"CancelSession": func() error { _, err := d.CancelSession(t.Context(), "tkt_1", "x"); return err },
	}
	for name, call := range calls {
		t.Run("RS-9 an error is no answer: "+name, func(t *testing.T) {
			if err := call(); !errors.Is(err, errDown) {
				t.Errorf("%s(…) = %v, want the cause", name, err)
			}
		})
	}
	t.Run("RS-4 a row that cannot be read again after a conflict", func(t *testing.T) {
		d := newDesk()
		q := d.ask(t, approval())
		d.store.fail = approvals.ErrConflict
		d.store.before = func() { d.store.failReads = errDown }
		if _, err := d.Answer(t.Context(), click(q, li, "approve")); !errors.Is(err, errDown) {
			t.Errorf("Answer(…) = %v, want the cause", err)
		}
	})
}

func TestBrokerEnds(t *testing.T) {
	t.Parallel()
	t.Run("DE-6 early, late and twice are harmless", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q := d.ask(t, approval())
		if err := d.Expire(t.Context(), q.ID); !errors.Is(err, approvals.ErrEarly) || d.row(t, q.ID).Status != approvals.StatusOpen {
			t.Errorf("Expire(early) = %v", err)
		}
		d.now = q.Deadline.Add(time.Hour)
		for range 3 {
			if err := d.Expire(t.Context(), q.ID); err != nil {
				t.Errorf("Expire(…) = %v", err)
			}
		}
		if n := d.store.lines(); n[approvals.RecordTimedOut] != 1 || n[approvals.RecordDecided] != 1 {
			t.Errorf("log = %v", n)
		}
		if err := d.Expire(t.Context(), "gone"); err != nil {
			t.Errorf("Expire(gone) = %v", err)
		}
	})
	t.Run("DE-6 an answered question does not time out", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q := d.ask(t, approval())
		mustAnswer(t, d, click(q, li, "approve"))
		d.now = q.Deadline
		if err := d.Expire(t.Context(), q.ID); err != nil || !d.row(t, q.ID).Outcome.Allows() {
			t.Errorf("Expire(answered) = %v, %s", err, d.row(t, q.ID).Outcome)
		}
	})
	t.Run("AP-6 a withdrawn request is cancelled at once, and a late answer dropped", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q := d.ask(t, approval())
		got, err := d.Cancel(t.Context(), "tkt_1", q.ID, "turn cancelled")
		if err != nil || got.Outcome != approvals.Cancelled {
			t.Errorf("Cancel(…) = %s, %v", got.Outcome, err)
		}
		if _, err := d.Answer(t.Context(), click(q, li, "approve")); !errors.Is(err, approvals.ErrClosed) {
			t.Errorf("Answer(late) = %v, want ErrClosed", err)
		}
		if got, err := d.Cancel(t.Context(), "tkt_1", q.ID, "again"); err != nil || got.Status != approvals.StatusCancelled {
			t.Errorf("Cancel(again) = %s, %v", got.Status, err)
		}
	})
	t.Run("AP-6 nobody withdraws another session's, or what is not there", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q := d.ask(t, approval())
		_, other := d.Cancel(t.Context(), "tkt_2", q.ID, "x")
		_, unknown := d.Cancel(t.Context(), "tkt_1", "nowhere", "x")
		if !errors.Is(other, approvals.ErrNotFound) || !errors.Is(unknown, approvals.ErrNotFound) {
			t.Errorf("Cancel(…) = %v, %v, want ErrNotFound", other, unknown)
		}
	})
	t.Run("DE-7 a cancelled session has no open question, in one commit", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		one := d.ask(t, approval())
		two := d.ask(t, with(choice(), func(r *approvals.Request) { r.RequestID = "req-2" }))
		before := d.store.commits
		got, err := d.CancelSession(t.Context(), "tkt_1", "stopped")
		if err != nil || len(got) != 2 || d.store.commits != before+1 {
			t.Errorf("CancelSession(…) = %d, %v in %d commits", len(got), err, d.store.commits-before)
		}
		for _, id := range []approvals.ID{one.ID, two.ID} {
			if q := d.row(t, id); q.Status != approvals.StatusCancelled {
				t.Errorf("%s is %s", id, q.Status)
			}
		}
		if got, err := d.CancelSession(t.Context(), "tkt_1", "stopped"); err != nil || len(got) != 0 {
			t.Errorf("CancelSession(again) = %d, %v", len(got), err)
		}
	})
	t.Run("DE-7 one that was answered meanwhile keeps its answer", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q := d.ask(t, approval())
		two := d.ask(t, with(choice(), func(r *approvals.Request) { r.RequestID = "req-2" }))
		d.store.before = func() { mustAnswer(t, d, click(q, li, "approve")) }
		got, err := d.CancelSession(t.Context(), "tkt_1", "stopped")
		if err != nil || len(got) != 1 || got[0].ID != two.ID || !d.row(t, q.ID).Outcome.Allows() {
			t.Errorf("CancelSession(…) = %d, %v", len(got), err)
		}
	})
}

// TestConcurrentAnswers is DE-4 on two replicas: sixty-four people click at one
// time.
func TestConcurrentAnswers(t *testing.T) {
	t.Parallel()
	t.Run("DE-4 CA-5 of many answers on two replicas exactly one wins", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		q := d.ask(t, approval())
		other := approvals.NewBroker(approvals.BrokerConfig{
			Workspace: "acme", Store: d.store, Directory: d.lists, Now: func() time.Time { return t0 },
		})
		results := race(64, func(i int) string {
			b := []*approvals.Broker{d.Broker, other}[i%2]
			res, err := b.Answer(t.Context(), click(q, li, []string{"approve", "reject"}[i/2%2]))
			switch {
			case err == nil && !res.Deduped:
				return "won " + string(res.Question.Outcome)
			case err == nil:
				return "deduped " + string(res.Question.Outcome)
			case errors.Is(err, approvals.ErrAnswered):
				return "conflict " + string(res.Question.Outcome)
			}
			return err.Error()
		})
		outcome := string(d.row(t, q.ID).Outcome)
		want := map[string]int{"won " + outcome: 1, "deduped " + outcome: 31, "conflict " + outcome: 32}
		if !reflect.DeepEqual(results, want) {
			t.Errorf("Answer(…) = %v, want %v", results, want)
		}
		n := d.store.lines()
		if n[approvals.RecordAnswered] != 1 || n[approvals.RecordDecided] != 1 || len(d.store.out) != 2 {
			t.Errorf("log %v, out %v", n, d.store.out)
		}
	})
	t.Run("DE-3 of many that open one key on two replicas exactly one creates", func(t *testing.T) {
		t.Parallel()
		d := newDesk()
		other := approvals.NewBroker(approvals.BrokerConfig{Workspace: "acme", Store: d.store, Directory: d.lists})
		results := race(32, func(i int) string {
			_, created, err := []*approvals.Broker{d.Broker, other}[i%2].Open(t.Context(), ticket(), with(approval(), func(r *approvals.Request) { r.Timeout = time.Hour }))
			return fmt.Sprint(created, " ", err)
		})
		if want := map[string]int{"true <nil>": 1, "false <nil>": 31}; !reflect.DeepEqual(results, want) || len(d.store.out) != 1 {
			t.Errorf("Open(…) = %v, want %v; out %v", results, want, d.store.out)
		}
	})
}

// race runs f n times at one time and counts what it says.
func race(n int, f func(i int) string) map[string]int {
	said := make([]string, n)
	var start, done sync.WaitGroup
	start.Add(1)
	for i := range n {
		done.Go(func() {
			start.Wait()
			said[i] = f(i)
		})
	}
	start.Done()
	done.Wait()
	counts := map[string]int{}
	for _, s := range said {
		counts[strings.TrimSpace(s)]++
	}
	return counts
}
