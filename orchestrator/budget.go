package orchestrator

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Budget is what a Ticket may use a day; 0 is no bound (EX-5). A day is one of
// UTC, so that it is the same on every replica.
type Budget struct {
	// Turns counts how often its Executor was set to work. An answer that a turn
	// waited for begins the next (DE-10).
	Turns int
	// Time is how long turns may be open. One that waits for an answer takes none.
	Time time.Duration
	// Tokens is how many its Executor may report that it used. One that reports
	// none is not bound by them.
	Tokens int64
}

func (b Budget) none() bool { return b.Turns <= 0 && b.Time <= 0 && b.Tokens <= 0 }

// Spent is what a Ticket has used of its budget.
type Spent struct {
	// Day is the one that is counted, as 2006-01-02.
	Day    string        `json:"day,omitempty"`
	Turns  int           `json:"turns,omitempty"`
	Worked time.Duration `json:"worked,omitempty"`
	Tokens int64         `json:"tokens,omitempty"`
	// Since is when it was set to work; zero: it does not work now.
	Since time.Time `json:"since,omitzero"`
	// Grants is how often a person let it go on for another day's portion.
	Grants int `json:"grants,omitempty"`
	// Ask is the request id of the question whether it may go on: it is blocked
	// until the answer, or the end of the day.
	Ask string `json:"ask,omitempty"`
}

// midnight is the begin of a time's day.
func midnight(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour) }

// on is what counts on the day of now: each day begins with nothing.
func (s Spent) on(now time.Time) Spent {
	day := now.UTC().Format(time.DateOnly)
	if s.Day == day {
		return s
	}
	fresh := Spent{Day: day}
	if !s.Since.IsZero() {
		fresh.Since = midnight(now)
	}
	return fresh
}

func (s Spent) begin(now time.Time) Spent {
	s = s.on(now)
	s.Turns, s.Since = s.Turns+1, now
	return s
}

func (s Spent) end(now time.Time) Spent {
	s = s.on(now)
	s.Worked, s.Since = s.worked(now), time.Time{}
	return s
}

// worked is how long it has worked on the day that is counted.
func (s Spent) worked(now time.Time) time.Duration {
	if s.Since.IsZero() {
		return s.Worked
	}
	return s.Worked + max(0, now.Sub(s.Since))
}

// usedUp reports whether the day's budget, with what was granted on top, is
// used up for a Ticket that is set to work, or, where it works, given more.
func (b Budget) usedUp(s Spent, works bool, now time.Time) bool {
	portions := 1 + s.Grants
	return b.Turns > 0 && !works && s.Turns >= b.Turns*portions ||
		b.Time > 0 && s.worked(now) >= b.Time*time.Duration(portions) ||
		b.Tokens > 0 && s.Tokens >= b.Tokens*int64(portions)
}

// use counts the tokens that a Report or a turn end says were used, on the day
// that says so (EX-5).
func (w *work) use(t *Ticket, tokens int64) {
	if tokens <= 0 || w.Settings.Executors[t.Executor].Budget.none() {
		return
	}
	t.Spent = t.Spent.on(w.Now)
	t.Spent.Tokens += tokens
}

// blocked reports whether the Ticket waits for a person, or tomorrow, since its
// budget is used up.
func (t *Ticket) blocked(now time.Time) bool { return t.Spent.on(now).Ask != "" }

// affords reports whether the Ticket may be given something to do. Where it
// may not it is blocked, and its turn parks.
func (w *work) affords(t *Ticket) bool {
	b := w.Settings.Executors[t.Executor].Budget
	spent := t.Spent.on(w.Now)
	if !b.usedUp(spent, t.works(), w.Now) {
		w.unblock(t)
		return true
	}
	if spent.Ask == "" {
		spent.Ask = w.NewID(askBudget)
		w.log("ticket.budget", approvals.SessionID(t.ID), map[string]any{
			"ticket": t.ID, "turns": spent.Turns, "minutes": int(spent.worked(w.Now).Minutes()), "tokens": spent.Tokens,
		})
	}
	t.Spent = spent
	if t.Turn {
		t.Parked = t.Delivered
	}
	return false
}

// unblock takes the question back where the budget allows it again: another
// day has begun, or the configuration allows more.
func (w *work) unblock(t *Ticket) {
	if t.Spent.Ask == "" {
		return
	}
	t.Spent.Ask = ""
	w.cancelQuestions(t, "the budget allows it again", func(q *approvals.Question) bool { return OfBudget(*q) })
}

// askBudget begins the request id of the host's question about a budget. An
// Executor can ask none under it.
const askBudget = "budget_"

// OfBudget reports whether the host asks whether a Ticket may go on (EX-5).
func OfBudget(q approvals.Question) bool { return strings.HasPrefix(q.RequestID, askBudget) }

// The options of that question.
const (
	BudgetGoOn = "go_on"
	BudgetStop = "stop"
)

// overBudget is what the approvers are asked. It waits until the end of the
// day: then the Ticket goes on by itself.
func overBudget(t *Ticket, s Settings, now time.Time) approvals.Request {
	w := work{Facts: Facts{Settings: s}}
	b := s.Executors[t.Executor].Budget
	return approvals.Request{
		RequestID: t.Spent.Ask, Kind: approvals.Choice,
		Prompt: w.text(sayBudget, strconv.Itoa(b.Turns), strconv.Itoa(int(b.Time.Minutes())), strconv.FormatInt(b.Tokens, 10)),
		Options: []approvals.Option{
			{ID: BudgetGoOn, Label: w.text(sayBudgetGoOn), Style: "primary"},
			{ID: BudgetStop, Label: w.text(sayBudgetStop), Style: "danger"},
		},
		Answerers: []string{gate.AnswererApprovers},
		Timeout:   tomorrow(now).Sub(now),
	}
}

func tomorrow(now time.Time) time.Time { return midnight(now).Add(24 * time.Hour) }

// budgetAnswered carries out what was answered: another day's portion, or a
// stop by that person. Else the Ticket stays blocked until tomorrow.
func (w *work) budgetAnswered(t *Ticket, q approvals.Question) {
	if a := q.Answer; a != nil && a.OptionID == BudgetStop {
		w.sayStop(t)
		w.endByPerson(t, EndManualStop, cmp.Or(a.By.Name, a.By.ID), "")
		return
	}
	if q.Answer != nil && q.RequestID == t.Spent.Ask {
		t.Spent.Grants, t.Spent.Ask = t.Spent.Grants+1, ""
	}
	w.due(DueTurn, string(t.ID))
}
