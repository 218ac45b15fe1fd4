package orchestrator

import (
	"errors"
	"strings"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// The reply commands, which count as the click on a card (CA-7, CA-8). A short
// id follows, and after AnswerQuestion the answer.
const (
	ApproveQuestion = "/approve"
	RejectQuestion  = "/reject"
	AnswerQuestion  = "/answer"
)

// minShort is how much of a question's id must be given.
const minShort = 8

// Verdict is whether somebody may answer a question, and why not (CA-3).
type Verdict struct {
	May    bool
	Reason string
}

// saidAnswer is one reply command of a message.
type saidAnswer struct{ word, id, text string }

// answers reads the reply commands of a person's message as it was first said:
// each is the first word of a line that is neither code nor quoted, nor goes on
// from a quote. only: there is nothing else in it.
func (m *Message) answers() (list []saidAnswer, only bool) {
	if m.ReplayedBy != "" || m.Edited || m.Sender.Kind != gate.Person {
		return nil, false
	}
	plain := map[string]bool{}
	for line := range strings.SplitSeq(m.Plain, "\n") {
		plain[strings.TrimSpace(line)] = true
	}
	only, quoted := true, false
	for line := range strings.SplitSeq(m.Text, "\n") {
		bare := strings.TrimSpace(line)
		code := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") || !plain[bare]
		quoted = bare != "" && (quoted || strings.HasPrefix(bare, ">"))
		a, ok := readAnswer(bare)
		switch {
		case ok && !quoted && !code:
			list = append(list, a)
		case bare != "":
			only = false
		}
	}
	return list, only
}

func readAnswer(line string) (a saidAnswer, ok bool) {
	said := strings.Fields(line)
	if len(said) < 2 || len(said[1]) < minShort {
		return saidAnswer{}, false
	}
	a.word, a.id = said[0], strings.ToLower(said[1])
	_, rest, _ := strings.Cut(line, said[1])
	a.text = strings.TrimSpace(rest)
	return a, a.word == ApproveQuestion || a.word == RejectQuestion || a.word == AnswerQuestion
}

// means reports whether the command names the question.
func (a saidAnswer) means(id approvals.ID) bool { return strings.HasPrefix(string(id), a.id) }

// to is the answer that it gives to a question: an option by its id or label,
// else text.
func (a saidAnswer) to(q *approvals.Question) (option, text string) {
	switch a.word {
	case ApproveQuestion:
		return approvals.OptionApprove, ""
	case RejectQuestion:
		return approvals.OptionReject, ""
	}
	for _, o := range q.Options {
		if q.Kind != approvals.Approval && (strings.EqualFold(o.ID, a.text) || strings.EqualFold(o.Label, a.text)) {
			return o.ID, ""
		}
	}
	return "", a.text
}

// replied reports whether the message is nothing but reply commands, which it
// carries out. One with other words in it goes on as any other.
func (w *work) replied(m *Message) bool {
	said, only := m.answers()
	for _, a := range said {
		w.reply(m, a)
	}
	if len(said) == 0 || !only {
		return false
	}
	m.State, m.Why, m.Raw = StateDelivered, "answers to questions that the gateway took (CA-8)", ""
	return true
}

// reply carries out one command: on the open question that it names, else on one
// that came to its end.
func (w *work) reply(m *Message, a saidAnswer) {
	var open, ended []*approvals.Question
	for _, id := range sortedKeys(w.questions) {
		q := w.questions[id]
		switch {
		case !a.means(id) || !w.canReply(m, q):
		case q.Status.Terminal():
			ended = append(ended, q)
		default:
			open = append(open, q)
		}
	}
	switch {
	case len(open) > 1:
		w.whichQuestion(m, a, open)
	case len(open) == 1:
		w.settle(m, a, open[0])
	case len(ended) > 0:
		w.settle(m, a, ended[0])
	default:
		w.notTaken(m, a, w.text(sayNoSuchQuestion, a.id))
	}
}

// canReply: the message is on a Thread of the Ticket that asks, or in a chat
// where the question is shown (CA-8).
func (w *work) canReply(m *Message, q *approvals.Question) bool {
	if _, judged := w.Verdicts[q.ID]; !judged {
		return false
	}
	if t := w.tickets[gate.TicketID(q.Session.ID)]; t != nil && t.owns(m.Thread) {
		return true
	}
	return w.isChat(m) && q.ShownIn(m.Source, m.Place.Chat)
}

// isChat: what Place.Chat names is one conversation.
func (w *work) isChat(m *Message) bool {
	src := w.Sources[m.Source]
	return src != nil && src.Platform == gate.Feishu
}

func (w *work) settle(m *Message, a saidAnswer, q *approvals.Question) {
	via := approvals.ViaGitHub
	if w.isChat(m) {
		via = approvals.ViaReply
	}
	if v := w.Verdicts[q.ID]; !v.May {
		refused, effects := approvals.Refused(*q, m.Sender, via, v.Reason, w.Now)
		*q = refused
		w.c.Add(effects)
		w.notTaken(m, a, w.text(sayMayNotAnswer, q.ID.Short()))
		return
	}
	given := approvals.Answer{By: m.Sender, Source: m.Source, Via: via, Linked: w.Linked[WhoIs(m.Source, m.Sender)]}
	given.OptionID, given.Text = a.to(q)
	res, effects, err := approvals.Settle(*q, given, w.Now)
	if !errors.Is(err, approvals.ErrInvalid) {
		*q = res.Question
		w.c.Add(effects)
	}
	switch {
	case err == nil:
		w.react(m, gate.ReactReceived, intent("answer taken", string(m.ID)))
	case errors.Is(err, approvals.ErrInvalid):
		w.notTaken(m, a, w.text(sayInvalidAnswer, q.ID.Short()))
	default:
		w.notTaken(m, a, w.text(sayTooLate, q.ID.Short()))
	}
}

// whichQuestion asks for a longer id, if the sender may answer one of them.
func (w *work) whichQuestion(m *Message, a saidAnswer, open []*approvals.Question) {
	var ids []string
	may := false
	for _, q := range open {
		ids = append(ids, "`"+string(q.ID)+"`")
		may = may || w.Verdicts[q.ID].May
	}
	if !may {
		w.notTaken(m, a, w.text(sayMayNotAnswer, a.id))
		return
	}
	w.say(m.reply(), "", w.text(sayWhichQuestion, strings.Join(ids, ", ")), intent("which question", string(m.ID), a.id))
}

// notTaken says that a command was refused, as the Source refuses (OUT-6).
func (w *work) notTaken(m *Message, a saidAnswer, text string) {
	id := intent("answer refused", string(m.ID), a.id)
	switch w.Sources[m.Source].Refusal {
	case gate.RefuseByReaction:
		w.react(m, gate.ReactRefused, id)
	case gate.RefuseByReply:
		w.say(m.reply(), "", text, id)
	case gate.RefuseSilently:
	}
}
