package storetest

import (
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func questionPromises() []promise {
	return []promise{
		{"DE-1 a question comes back as it was committed", questionRoundTrip},
		{"DE-1 an unknown question is not found", questionUnknown},
		{"DE-1 open questions of a session are listed oldest first", questionsOpen},
		{"LI questions of a session are listed newest first, closed or not, and by status", listsQuestions},
		{"DE-4 of two answers to one version the second is a conflict", answersConflict},
		{"DE-1 a question that was settled is open no more, one that was reopened is", questionReopens},
		{"RS-4 the guard of a change refuses when its record moved", questionGuard},
		{"RS-4 a question loads with its ticket, while it is open", questionLoads},
		{"DE-6 a question and its deadline are committed together, or neither", questionDeadline},
	}
}

func ask(q ...approvals.Question) approvals.Change { return approvals.Change{Questions: q} }

func (b *bench) commitQuestions(c approvals.Change, want error) {
	b.t.Helper()
	b.equal("CommitQuestions", b.CommitQuestions(b.ctx(), c), want)
}

func (b *bench) question(id approvals.ID) approvals.Question {
	b.t.Helper()
	q, err := b.Question(b.ctx(), id)
	b.equal("Question error", err, nil)
	return q
}

func (b *bench) open(session approvals.SessionID) []approvals.Question {
	b.t.Helper()
	qs, err := b.OpenQuestions(b.ctx(), session)
	b.equal("OpenQuestions error", err, nil)
	return qs
}

func questionRoundTrip(t *testing.T, b *bench) {
	q := newQuestion("q1", "main")
	q.Options = []approvals.Option{{ID: "a", Label: "A"}}
	q.Events = []approvals.Event{{Type: approvals.EventOpened, At: start, By: gate.Sender{Kind: gate.Person, ID: "ou_1"}}}
	q.Answer = &approvals.Answer{OptionID: "a", Via: approvals.ViaCard, At: start}
	q.Review = gate.Review{Reviewers: []string{"ou_1", "ou_2"}, Approvals: 2}
	q.Approved = []approvals.Answer{{OptionID: "approve", By: gate.Sender{Kind: gate.Person, ID: "ou_2"}, Source: "feishu", Via: approvals.ViaCard, At: start}}
	b.commitQuestions(ask(q), nil)
	q.Version = 1
	b.equal("Question", b.question("q1"), q)
}

func questionUnknown(t *testing.T, b *bench) {
	_, err := b.Question(b.ctx(), "q1")
	b.equal("Question", err, approvals.ErrNotFound)
	b.equal("OpenQuestions", len(b.open("main")), 0)
}

func questionsOpen(t *testing.T, b *bench) {
	one, two, three := newQuestion("q1", "main"), newQuestion("q2", "main"), newQuestion("q0", "main")
	two.CreatedAt, three.CreatedAt = after(-time.Second), after(-time.Second)
	closed := newQuestion("q4", "main")
	closed.Status = approvals.StatusCancelled
	b.commitQuestions(ask(one, two, three, closed, newQuestion("q5", "tkt_1")), nil)
	got := ids(b.open("main"), func(q approvals.Question) string { return string(q.ID) })
	b.equal("OpenQuestions", got, []string{"q0", "q2", "q1"})
	b.equal("Depths", b.depths(), orchestrator.Depths{Questions: 4})
}

func listsQuestions(t *testing.T, b *bench) {
	var all []approvals.Question
	for i, id := range []approvals.ID{"q1", "q2", "q3"} {
		q := newQuestion(id, "tkt_1")
		q.CreatedAt = after(time.Duration(i) * time.Second)
		all = append(all, q)
	}
	b.commitQuestions(ask(append(all, newQuestion("q4", "main"))...), nil)
	closed := b.question("q2")
	closed.Status = approvals.StatusAnswered
	b.commitQuestions(ask(closed), nil)
	list := func(f orchestrator.QuestionFilter, p orchestrator.Page) ([]string, string) {
		t.Helper()
		f.Session = "tkt_1"
		qs, next, err := b.ListQuestions(b.ctx(), f, p)
		b.equal("ListQuestions error", err, nil)
		return ids(qs, func(q approvals.Question) string { return string(q.ID) }), next
	}
	first, next := list(orchestrator.QuestionFilter{}, orchestrator.Page{Limit: 2})
	b.equal("first page", first, []string{"q3", "q2"})
	rest, end := list(orchestrator.QuestionFilter{}, orchestrator.Page{Limit: 2, Cursor: next})
	b.equal("second page", rest, []string{"q1"})
	b.equal("end", end, "")
	open, _ := list(orchestrator.QuestionFilter{Status: approvals.StatusOpen}, orchestrator.Page{})
	b.equal("open", open, []string{"q3", "q1"})
}

func answersConflict(t *testing.T, b *bench) {
	b.commitQuestions(ask(newQuestion("q1", "main")), nil)
	q := b.question("q1")
	q.Status, q.Answer = approvals.StatusAnswered, &approvals.Answer{OptionID: "yes"}
	b.commitQuestions(ask(q), nil)
	q.Answer = &approvals.Answer{OptionID: "no"}
	b.commitQuestions(ask(q), approvals.ErrConflict)
	b.equal("Answer", b.question("q1").Answer.OptionID, "yes")
}

func questionReopens(t *testing.T, b *bench) {
	b.commitQuestions(ask(newQuestion("q1", "main")), nil)
	q := b.question("q1")
	q.Status = approvals.StatusTimedOut
	b.commitQuestions(ask(q), nil)
	b.equal("OpenQuestions", len(b.open("main")), 0)
	b.equal("Depths", b.depths(), orchestrator.Depths{})
	q.Version, q.Status = 2, approvals.StatusOpen
	b.commitQuestions(ask(q), nil)
	b.equal("OpenQuestions", len(b.open("main")), 1)
}

func questionGuard(t *testing.T, b *bench) {
	b.commit(orchestrator.Changes{Tickets: []orchestrator.Ticket{newTicket("tkt_1")}})
	c := ask(newQuestion("q1", "tkt_1"))
	c.Guard = approvals.Guard{Kind: orchestrator.KindTicket, ID: "tkt_1", Version: 1}
	b.commitQuestions(c, nil)
	tk := newTicket("tkt_1")
	tk.Version = 1
	b.commit(orchestrator.Changes{Tickets: []orchestrator.Ticket{tk}})
	c.Questions[0].ID = "q2"
	b.commitQuestions(c, approvals.ErrConflict)
	_, err := b.Question(b.ctx(), "q2")
	b.equal("Question", err, approvals.ErrNotFound)
}

func questionLoads(t *testing.T, b *bench) {
	q := newQuestion("q1", "tkt_1")
	closed := newQuestion("q2", "tkt_1")
	closed.Status = approvals.StatusAnswered
	b.commitQuestions(ask(q, closed, newQuestion("q3", "tkt_2")), nil)
	want := orchestrator.Want{Tickets: []gate.TicketID{"tkt_1"}}
	b.equal("without", len(b.load(want).Questions), 0)
	want.Questions = true
	q.Version = 1
	b.equal("with", b.load(want).Questions, map[approvals.ID]approvals.Question{"q1": q})
}

func questionDeadline(t *testing.T, b *bench) {
	deadline := approvals.Due{Kind: approvals.DueDeadline, Key: "q1", At: after(5 * time.Minute)}
	c := ask(newQuestion("q1", "main"))
	c.Due = []approvals.Due{deadline}
	b.commitQuestions(c, nil)
	again := ask(newQuestion("q1", "main"))
	again.Due = []approvals.Due{{Kind: approvals.DueSettled, Key: "q1", At: start}}
	again.Cancel = []approvals.Due{deadline}
	b.commitQuestions(again, approvals.ErrConflict)
	b.nothing(after(time.Minute), approvals.DueSettled)
	b.equal("key", b.claim(after(5*time.Minute), approvals.DueDeadline).Key, "q1")
}
