package orchestrator

import (
	"strconv"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Notice is the message that told of a Ticket's acceptance: with a Stop button
// while it is active, edited as the work goes on and ends (OUT-4, ST-2).
type Notice struct {
	Chat    string `json:"chat"`
	Message string `json:"message"`
	// Edits counts them, so that each is a row of its own.
	Edits int `json:"edits,omitempty"`
}

// noticeDelay keeps an edit behind the answer to whatever click on the message
// is under way: Feishu undoes one that comes before.
const noticeDelay = 3500 * time.Millisecond

// announce says that work was taken up (OUT-4), with a Stop button where the
// platform has any.
func (w *work) announce(t *Ticket) {
	o := t.home().outgoing(gate.OutReply, intent("accepted", string(t.ID)), w.Now)
	o.Text, o.Ticket = w.text(sayAccepted, t.Short(), t.Title), t.ID
	src := w.Sources[t.Mandate.Source]
	o.Stop = src != nil && src.Platform == gate.Feishu
	w.c.Out = append(w.c.Out, o)
}

// retell brings the Ticket's message up to date, and shows who stopped it.
func (w *work) retell(t *Ticket, by gate.Sender) {
	if t.Notice == nil {
		return
	}
	o := w.edition(t)
	o.Mention = by
	w.c.Out = append(w.c.Out, o)
}

// edition is the row that edits the Ticket's message.
func (w *work) edition(t *Ticket) gate.Outgoing {
	at := *t.Notice
	at.Edits++
	t.Notice = &at
	o := gate.Outgoing{
		ID: intent("notice", string(t.ID), at.Message, strconv.Itoa(at.Edits)), Kind: gate.OutStatus, Lane: "notice:" + at.Message,
		Source: t.Mandate.Source, Thread: t.Mandate.Thread, Place: gate.Place{Chat: at.Chat}, Message: at.Message,
		Ticket: t.ID, CreatedAt: w.Now, NotBefore: w.Now.Add(noticeDelay), Text: w.stands(t), Stop: t.Active(),
	}
	if t.Active() && t.Report != nil && t.Report.Kind == ReportProgress {
		o.Progress = t.Report.Text
	}
	return o
}

// stands is how a Ticket stands, in the gateway's words.
func (w *work) stands(t *Ticket) string {
	switch {
	case t.Active():
		return w.text(sayAccepted, t.Short(), t.Title)
	case t.End.ByPerson():
		return w.text(sayStopped, t.Short(), t.Title)
	case t.End != nil && t.End.Reason == EndFailed:
		return w.text(sayFailed, t.Short(), t.Title)
	}
	return w.text(sayCompleted, t.Short(), t.Title)
}

// Noticed records which message tells of a Ticket. One that ended meanwhile has
// it edited at once. The same message again changes nothing.
func Noticed(t Ticket, sent gate.Sent, s Settings, now time.Time) (_ Ticket, edits []gate.Outgoing, changed bool) {
	if t.Notice != nil && t.Notice.Message == sent.Message {
		return t, nil, false
	}
	w := work{Facts: Facts{Now: now, Settings: s}}
	t.Notice = &Notice{Chat: sent.Chat, Message: sent.Message}
	if !t.Active() {
		w.retell(&t, gate.Sender{})
	}
	return t, w.c.Out, true
}
