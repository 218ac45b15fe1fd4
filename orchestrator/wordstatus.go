package orchestrator

import (
	"slices"
	"strings"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// maxStatus is how many Tickets one answer tells of.
const maxStatus = 20

// status tells the sender of the active Tickets that they asked for: where each
// stands, and who it waits for (OUT-7). Where others read along, Tickets of
// another chat or repository are only counted.
func (w *work) status(m *Message, c command) string {
	var lines []string
	more := 0
	for _, id := range sortedKeys(w.tickets) {
		t := w.tickets[id]
		switch {
		case !c.about(m, t):
		case !w.public(m, t) || len(lines) == maxStatus:
			more++
		default:
			lines = append(lines, w.statusOf(m, t))
		}
	}
	if more > 0 {
		lines = append(lines, w.text(sayMoreTasks, more))
	}
	if len(lines) == 0 {
		return w.text(sayNoTasks)
	}
	return strings.Join(lines, "\n")
}

func (w *work) statusOf(m *Message, t *Ticket) string {
	var waits []string
	asks, line := false, w.Lines[t.Executor]
	for _, id := range sortedKeys(w.questions) {
		q := w.questions[id]
		if q.Session.ID == approvals.SessionID(t.ID) && !q.Status.Terminal() {
			waits = append(waits, "\n  - "+w.waitsFor(m, t, q))
			asks = asks || !OfBudget(*q)
		}
	}
	stage := w.stageWord(Stage(*t, asks, line.Place(t.ID), w.Now, 0))
	return "- `" + t.Short() + "` " + t.Title + ": " + stage + strings.Join(waits, "")
}

// waitsFor says who may answer a question (CA-3).
func (w *work) waitsFor(m *Message, t *Ticket, q *approvals.Question) string {
	_, you := gate.MayAnswer(w.answerer(m), gate.AnswerRules{
		Approval: q.Kind == approvals.Approval, RequesterSource: t.Mandate.Source, Requester: t.Mandate.Sender,
		RequesterListed: w.lists(t.Mandate.Source, t.Mandate.Sender).Allow, Answerers: q.Answerers, FourEyes: w.Settings.FourEyes,
	})
	approvers := len(q.Answerers) == 0 || slices.Contains(q.Answerers, gate.AnswererApprovers)
	switch {
	case you && approvers:
		return w.text(sayWaitsForBoth, q.ID.Short())
	case you:
		return w.text(sayWaitsForYou, q.ID.Short())
	case approvers:
		return w.text(sayWaitsForApprovers, q.ID.Short())
	}
	return w.text(sayWaitsForOthers, q.ID.Short())
}

// stageWords are the stages of active Tickets as people read them.
var stageWords = map[string]map[TicketStage]string{
	"zh": {
		StageDelivery: "执行方没有响应", StageAnswer: "等待答复", StageReview: "等您查看", StageBlocked: "受阻",
		StageFailed: "失败，等您处理", StageQueued: "排队中", StageIdle: "空闲", StageWorking: "进行中",
	},
	"en": {
		StageDelivery: "its executor does not respond", StageAnswer: "waits for an answer", StageReview: "ready for you to look at",
		StageBlocked: "blocked", StageFailed: "failed, and waits for you", StageQueued: "queued", StageIdle: "idle", StageWorking: "under way",
	},
}

func (w *work) stageWord(s TicketStage) string {
	words, ok := stageWords[w.Settings.Language]
	if !ok {
		words = stageWords["en"]
	}
	return words[s]
}
