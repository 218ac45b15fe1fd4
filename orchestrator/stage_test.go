package orchestrator_test

import (
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// stageNow is when the Ticket was last active, or the Decision was made.
var stageNow = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

func TestStage(t *testing.T) {
	t.Parallel()
	const m, limit = time.Minute, 30 * time.Minute
	type seqs struct{ seq, delivered, covered int }
	fetched, waits, done := seqs{3, 3, 1}, seqs{3, 2, 2}, seqs{3, 3, 3}
	rows := []struct {
		name     string
		in       seqs
		turn     bool
		report   orchestrator.ReportKind
		question bool
		since    time.Duration
		limit    time.Duration
		want     orchestrator.TicketStage
	}{
		{"an Input that waits under 2 min is queued", waits, false, "", false, 2*m - 1, limit, "queued"},
		{"an Input that is not fetched for 2 min cannot be delivered", waits, false, "", false, 2 * m, limit, "delivery"},
		{"an Input that is not fetched comes before an open question", waits, false, "", true, 2 * m, limit, "delivery"},
		{"an Input that came in an open turn waits for its end (EX-2)", waits, true, "", false, 29 * m, limit, "working"},
		{"an open turn is work", fetched, true, "", false, limit - 1, limit, "working"},
		{"a turn without a sign of life for its limit is stuck", fetched, true, "", false, limit, limit, "delivery"},
		{"an executor's own limit counts", fetched, true, "", false, 5 * m, 5 * m, "delivery"},
		{"without a limit the default is 30 min", fetched, true, "", false, 29 * m, 0, "working"},
		{"without a limit a turn is stuck after 30 min", fetched, true, "", false, 30 * m, -1, "delivery"},
		{"a turn that waits for an answer is parked, not stuck (DE-10)", fetched, true, "", true, 24 * 60 * m, limit, "answer"},
		{"an open question comes before a report", fetched, false, "ready", true, m, limit, "answer"},
		{"ready is for a person to review", fetched, false, "ready", false, m, limit, "review"},
		{"blocked is blocked", fetched, false, "blocked", false, m, limit, "blocked"},
		{"failed is failed", fetched, false, "failed", false, m, limit, "failed"},
		{"a report that wants a person comes before queued", waits, false, "blocked", false, m, limit, "blocked"},
		{"progress in an open turn is work", fetched, true, "progress", false, m, limit, "working"},
		{"waiting is idle in an open turn", done, true, "waiting", false, m, limit, "idle"},
		{"waiting is over when a new Input is delivered", fetched, true, "waiting", false, m, limit, "working"},
		{"a turn that ended is idle", done, false, "", false, 90 * m, limit, "idle"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			tk := orchestrator.Ticket{
				State: orchestrator.TicketActive, Turn: r.turn, ActiveAt: stageNow,
				Seq: r.in.seq, Delivered: r.in.delivered, Covered: r.in.covered,
			}
			if r.report != "" {
				tk.Report = &orchestrator.Report{Kind: r.report, At: stageNow}
			}
			if got := orchestrator.Stage(tk, r.question, 0, stageNow.Add(r.since), r.limit); got != r.want {
				t.Errorf("Stage(%+v, %v) = %s, want %s", tk, r.question, got, r.want)
			}
			tk.State = orchestrator.TicketEnded
			if got := orchestrator.Stage(tk, r.question, 0, stageNow.Add(r.since), r.limit); got != "ended" {
				t.Errorf("Stage of an ended Ticket = %s, want ended", got)
			}
		})
	}
}

func TestStageOfWhatMayNotWork(t *testing.T) {
	t.Parallel()
	const h = time.Hour
	waits := orchestrator.Ticket{State: orchestrator.TicketActive, Seq: 3, Delivered: 2, Covered: 2, ActiveAt: stageNow}
	parked := waits
	parked.Turn, parked.Parked = true, 2
	over := waits
	over.Spent = orchestrator.Spent{Day: "2026-03-01", Ask: "budget_1"}
	with := func(t orchestrator.Ticket, kind orchestrator.ReportKind) orchestrator.Ticket {
		t.Report = &orchestrator.Report{Kind: kind}
		return t
	}
	for _, r := range []struct {
		name     string
		tk       orchestrator.Ticket
		question bool
		place    int
		since    time.Duration
		want     orchestrator.TicketStage
	}{
		{"who waits for a place is queued, however long (EX-5)", waits, false, 2, 12 * h, "queued"},
		{"a parked turn that waits for a place is queued (EX-5)", parked, false, 1, h, "queued"},
		{"a question of its own comes before its place (EX-5)", parked, true, 1, h, "answer"},
		{"a report that wants a person comes before its place", with(waits, "failed"), false, 1, h, "failed"},
		{"a used-up budget is blocked, and no trouble of delivery (EX-5)", over, false, 0, 12 * h, "blocked"},
		{"ready comes before a used-up budget", with(over, "ready"), false, 0, h, "review"},
		{"a used-up budget comes before failed", with(over, "failed"), false, 0, h, "blocked"},
		{"the next day it is blocked no more (EX-5)", over, false, 0, 16 * h, "delivery"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if got := orchestrator.Stage(r.tk, r.question, r.place, stageNow.Add(r.since), 30*time.Minute); got != r.want {
				t.Errorf("Stage(%+v, place %d) = %s, want %s", r.tk, r.place, got, r.want)
			}
		})
	}
}

func TestAttention(t *testing.T) {
	t.Parallel()
	un := func(edit func(*orchestrator.Decision)) *orchestrator.Decision {
		d := orchestrator.Decision{Outcome: orchestrator.Unavailable, At: stageNow}
		if edit != nil {
			edit(&d)
		}
		return &d
	}
	const day = 24 * time.Hour
	rows := []struct {
		name   string
		thread orchestrator.Thread
		age    time.Duration
		want   bool
	}{
		{"EV-9 an unavailable decision asks for a person", orchestrator.Thread{Latest: un(nil)}, day - 1, true},
		{"EV-9 for under 24 hours", orchestrator.Thread{Latest: un(nil)}, day, false},
		{"EV-9 a dismissed one asks no more", orchestrator.Thread{Latest: un(func(d *orchestrator.Decision) { d.Dismissed = true })}, 0, false},
		{"EV-9 another outcome does not ask", orchestrator.Thread{Latest: un(func(d *orchestrator.Decision) { d.Outcome = orchestrator.Ignored })}, 0, false},
		{"EV-9 a Thread without a decision does not ask", orchestrator.Thread{}, 0, false},
		{"EV-9 a queued candidate will be decided", orchestrator.Thread{Latest: un(nil), Queue: []gate.TriggerID{"trg_1"}}, 0, false},
		{"EV-9 so will one under evaluation", orchestrator.Thread{Latest: un(nil), Eval: "evl_1"}, 0, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if got := r.thread.Attention(stageNow.Add(r.age)); got != r.want {
				t.Errorf("Attention(%+v, %v later) = %v, want %v", r.thread, r.age, got, r.want)
			}
		})
	}
}
