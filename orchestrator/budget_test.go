package orchestrator_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func choice(key string) *approvals.Request {
	return &approvals.Request{
		RequestID: key, Kind: approvals.Choice, Prompt: "which?",
		Options: []approvals.Option{{ID: "yes"}, {ID: "no"}}, Timeout: time.Hour,
	}
}

func TestABudgetIsAskedForAnew(t *testing.T) {
	t.Parallel()
	t.Run("work that ended while it was over its budget, and is resumed, asks anew (EX-5, RE-1)", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.f.Settings.Executors = map[string]orchestrator.Bounds{"default": {Budget: orchestrator.Budget{Turns: 1}}}
		d.play("say m1 A lin@; eval A; accept m1; turn t1; idle t1; say m2 A lin; turn t1")
		first := d.s.Tickets["t1"].Spent.Ask
		d.play("report t1 done; say m3 A lin; turn t1")
		tk := d.s.Tickets["t1"]
		if again := tk.Spent.Ask; !tk.Active() || first == "" || again == "" || again == first {
			t.Errorf("ticket is %s, asked %q and then %q; want it to ask twice", tk.State, first, again)
		}
	})
}

// answer gives the only open question of a Ticket an operator's answer.
func (h *house) answer(id gate.TicketID, option string) {
	h.t.Helper()
	list, err := h.store.OpenQuestions(h.t.Context(), approvals.SessionID(id))
	if err != nil || len(list) != 1 {
		h.t.Fatalf("OpenQuestions() = %d, %v; want one", len(list), err)
	}
	_, err = h.broker.Answer(h.t.Context(), approvals.AnswerRequest{
		ID: list[0].ID, OptionID: option, Via: approvals.ViaAPI, Operator: true,
		Who: gate.Sender{Kind: gate.Person, ID: "api:ops"},
	})
	if err != nil {
		h.t.Fatalf("Answer(%s): %v", option, err)
	}
}

func (h *house) spent() orchestrator.Spent { return h.tickets()[0].Spent }

func TestBudget(t *testing.T) {
	t.Parallel()
	over := func(h *house) { // the budget of two turns is used up, and a third message waits
		for _, text := range []string{"one", "two", "three"} {
			h.say(words{from: listed, text: text, mention: text == "one", root: "om_1", id: map[string]string{"one": "om_1"}[text]})
			h.settle()
		}
	}
	stories := []struct {
		name string
		play func(t *testing.T, h *house)
	}{
		{"at the limit the Ticket is blocked, the approvers are asked, and Inputs wait (EX-5)", func(_ *testing.T, h *house) {
			h.see("over", "blocked 0")
			q := h.question()
			if q.Kind != approvals.Choice || len(q.Answerers) != 1 || q.Answerers[0] != gate.AnswererApprovers || !orchestrator.OfBudget(q) {
				t.Errorf("asked %s of %v, want a choice of the approvers", q.Kind, q.Answerers)
			}
			if tk := h.ticket(); tk.Delivered != 2 || tk.Seq != 3 {
				t.Errorf("%d of %d inputs were handed over, want 2 of 3", tk.Delivered, tk.Seq)
			}
		}},
		{"a person's new message does not lift it, and asks nobody twice (EX-5)", func(_ *testing.T, h *house) {
			h.say(words{from: listed, text: "four", root: "om_1"})
			time.Sleep(10 * time.Minute)
			h.see("told again", "blocked 0")
			h.question()
		}},
		{"go on grants another day's portion, and what waited is handed over (EX-5)", func(t *testing.T, h *house) {
			h.answer(h.ticket().ID, orchestrator.BudgetGoOn)
			h.settle()
			h.see("granted", "idle 0")
			if s := h.spent(); s.Turns != 3 || s.Grants != 1 {
				t.Errorf("spent %+v, want 3 turns with one grant", s)
			}
			for _, text := range []string{"four", "five"} {
				h.say(words{from: listed, text: text, root: "om_1"})
				h.settle()
			}
			h.see("the second portion is used up too", "blocked 0")
			h.question()
		}},
		{"stop ends it as that person's manual stop (EX-5, ST-2)", func(t *testing.T, h *house) {
			h.answer(h.ticket().ID, orchestrator.BudgetStop)
			h.settle()
			tk := h.tickets()[0] // what waited goes to the gate (EN-2)
			if tk.End == nil || tk.End.Reason != orchestrator.EndManualStop || tk.End.By != "api:ops" || tk.Mandate.State != gate.MandateWithdrawn {
				t.Errorf("ended %+v with mandate %s, want a manual stop by api:ops", tk.End, tk.Mandate.State)
			}
		}},
		{"without an answer it is blocked until tomorrow, then it goes on (EX-5)", func(t *testing.T, h *house) {
			at := time.Now().UTC()
			midnight := time.Date(at.Year(), at.Month(), at.Day()+1, 0, 0, 0, 0, time.UTC)
			q := h.question()
			if !q.Deadline.Equal(midnight) {
				t.Errorf("the question waits until %v, want %v", q.Deadline, midnight)
			}
			time.Sleep(time.Until(midnight) - time.Second)
			h.see("just before midnight", "blocked 0")
			h.settle()
			h.see("just after midnight", "idle 0")
			if s := h.spent(); s.Turns != 1 || s.Grants != 0 || s.Ask != "" {
				t.Errorf("spent %+v on the new day, want one turn", s)
			}
			if q, err := h.broker.Question(t.Context(), q.ID); err != nil || !q.Status.Terminal() {
				t.Errorf("question is %s, %v; want it closed", q.Status, err)
			}
		}},
		{"a question that is cancelled leaves it blocked (EX-5)", func(t *testing.T, h *house) {
			if _, err := h.broker.CancelSession(t.Context(), approvals.SessionID(h.ticket().ID), "an operator"); err != nil {
				t.Fatal(err)
			}
			h.settle()
			h.see("cancelled", "blocked 0")
		}},
		{"a larger budget lets it go on and takes the question back (EX-5)", func(t *testing.T, h *house) {
			q := h.question()
			h.bounded(orchestrator.Bounds{Budget: orchestrator.Budget{Turns: 9}})
			h.say(words{from: listed, text: "four", root: "om_1"})
			h.settle()
			h.see("allowed again", "idle 0")
			if q, err := h.broker.Question(t.Context(), q.ID); err != nil || q.Status != approvals.StatusCancelled {
				t.Errorf("question is %s, %v; want cancelled", q.Status, err)
			}
		}},
		{"an Executor cannot ask under the gateway's own keys (EX-5, DE-3)", func(t *testing.T, h *house) {
			p, err := h.svc.Act(t.Context(), h.ticket().ID, orchestrator.Command{Verb: orchestrator.VerbAsk, Ask: choice(h.spent().Ask)})
			if err != nil || p.Error == nil || p.Error.Code != orchestrator.ActInvalid {
				t.Errorf("Act(ask) = %+v, %v; want invalid", p, err)
			}
		}},
	}
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t).bounded(orchestrator.Bounds{MaxConcurrent: 1, Budget: orchestrator.Budget{Turns: 2, Time: time.Hour}})
				h.runner.Executors["default"] = quiet{}
				h.run()
				over(h)
				s.play(t, h)
			})
		})
	}
}

// quiet is an Executor that ends each turn at once.
type quiet struct{}

func (quiet) Turn(context.Context, orchestrator.Turn) error { return nil }

func TestRemoteBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := remoteHouse(t, orchestrator.Bounds{Budget: orchestrator.Budget{Time: time.Hour}}, 1)
		h.reads(0)
		time.Sleep(time.Hour)
		h.say(words{from: listed, text: "more", root: "om_0"})
		h.settle()
		if n := h.reads(0); n != 0 {
			t.Errorf("read %d inputs over the budget, want none (EX-5)", n)
		}
		h.reads(0)
		h.see("its hour is over", "blocked 0")
		if s := h.spent(); s.Worked < time.Hour || !s.Since.IsZero() {
			t.Errorf("spent %+v; want an hour, and its turn parked", s)
		}
		h.answer(h.ticket().ID, orchestrator.BudgetGoOn)
		h.settle()
		if n := h.reads(0); n != 1 {
			t.Errorf("read %d inputs after the grant, want 1 (EX-5)", n)
		}
	})
}

func TestDaysOfABudget(t *testing.T) {
	t.Parallel()
	t.Run("a turn over midnight counts on each day what falls into it (EX-5)", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.f.Settings.Executors = map[string]orchestrator.Bounds{"default": {Budget: orchestrator.Budget{Time: 4 * time.Hour}}}
		d.play("say m1 A lin@; eval A; accept m1")
		d.f.Now = time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC)
		d.play("turn t1")
		d.f.Now = time.Date(2026, 3, 2, 1, 0, 0, 0, time.UTC)
		d.play("idle t1")
		if s := d.s.Tickets["t1"].Spent; s.Day != "2026-03-02" || s.Worked != time.Hour+time.Second || s.Turns != 0 {
			t.Errorf("spent %+v, want an hour of 2 March", s)
		}
	})
}

func TestTokensOfABudget(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name    string
		budget  orchestrator.Budget
		script  string
		tokens  int64
		blocked bool
	}{
		{"reports and a turn's end add up, and at the limit it is blocked (EX-5)", orchestrator.Budget{Tokens: 9}, "report t1 progress tokens=4; report t1 ready tokens=3; idle t1 tokens=2; say m2 A lin; turn t1", 9, true},
		{"below the limit it goes on (EX-5)", orchestrator.Budget{Tokens: 9}, "idle t1 tokens=8; say m2 A lin; turn t1", 8, false},
		{"a turn that is open is given no more at the limit (EX-5)", orchestrator.Budget{Tokens: 9}, "report t1 progress tokens=9; say m2 A lin; turn t1", 9, true},
		{"0 is no limit, and they are counted beside another one (EX-5)", orchestrator.Budget{Turns: 9}, "idle t1 tokens=1000; say m2 A lin; turn t1", 1000, false},
		{"without any budget nothing is counted (EX-5)", orchestrator.Budget{}, "idle t1 tokens=1000; say m2 A lin; turn t1", 0, false},
		{"a refused report counts nothing (EX-5, AC-1)", orchestrator.Budget{Tokens: 9}, "report t1 odd tokens=9; idle t1; say m2 A lin; turn t1", 0, false},
		{"no other action counts, nor less than none (EX-5)", orchestrator.Budget{Tokens: 9}, "ack t1 m1 tokens=9; report t1 progress tokens=-9; idle t1; say m2 A lin; turn t1", 0, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.f.Settings.Executors = map[string]orchestrator.Bounds{"default": {Budget: r.budget}}
			d.play("say m1 A lin@; eval A; accept m1; turn t1;" + r.script)
			if s := d.s.Tickets["t1"].Spent; s.Tokens != r.tokens || (s.Ask != "") != r.blocked {
				t.Errorf("spent %+v, want %d tokens, blocked: %v", s, r.tokens, r.blocked)
			}
		})
	}
	t.Run("each day begins with none (EX-5)", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.f.Settings.Executors = map[string]orchestrator.Bounds{"default": {Budget: orchestrator.Budget{Tokens: 9}}}
		d.play("say m1 A lin@; eval A; accept m1; turn t1; report t1 progress tokens=8")
		d.f.Now = d.f.Now.AddDate(0, 0, 1)
		d.play("idle t1 tokens=2; say m2 A lin; turn t1")
		if s := d.s.Tickets["t1"].Spent; s.Tokens != 2 || s.Turns != 1 || s.Ask != "" {
			t.Errorf("spent %+v, want what the new day used", s)
		}
	})
}
