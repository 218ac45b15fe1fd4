package orchestrator

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Verb is what an Executor does (spec page 04).
type Verb string

// The verbs of POST /v1/tickets/{id}/actions. VerbAsk opens a question and is
// handled by the Service with the broker.
const (
	VerbAck      Verb = "ack"
	VerbReply    Verb = "reply"
	VerbHandBack Verb = "hand_back"
	VerbReport   Verb = "report"
	VerbTurnEnd  Verb = "turn_end"
	VerbAsk      Verb = "ask"
	VerbOpened   Verb = "opened"
	VerbFollow   Verb = "follow"
	VerbUnfollow Verb = "unfollow"
)

// Command is one action of an Executor. Key makes it act once (AC-1).
type Command struct {
	Verb Verb
	Key  string
	// Inputs are the ones it is about. Named are ids of more; the Service puts
	// what they name into Inputs.
	Inputs []Input
	Named  []string
	// Thread is the one that is followed or left, or, for a hand-back, whose
	// messages all are handed back (HB-2).
	Thread gate.ThreadID
	// URL is of what was opened; Opened is what the platform says of it, and
	// nil where it cannot be asked (SU-9).
	URL    string
	Opened *Opened
	Text   string
	Reason string
	Kind   ReportKind
	Final  bool
	// Upto is the last Input that a report or turn end covers; 0: the last
	// delivered before the first action of this turn.
	Upto int
	// Tokens are those used that no earlier Report or turn end told of (EX-5).
	Tokens int64
	Ask    *approvals.Request
}

// Performed is what an action did.
type Performed struct {
	OK bool `json:"ok"`
	// Note says why an allowed action had no effect (HB-4).
	Note     string       `json:"note,omitempty"`
	Question approvals.ID `json:"question,omitempty"`
	Deduped  bool         `json:"deduped,omitempty"`
	Error    *ActError    `json:"error,omitempty"`
}

// ActError is a refused action (AC-1).
type ActError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// The codes of refused actions.
const (
	ActTicketEnded   = "ticket_ended"
	ActNotOwned      = "not_owned"
	ActUnknownInput  = "unknown_input"
	ActMissingField  = "missing_field"
	ActUnknownAction = "unknown_action"
	// ActThreadNotAllowed: SU-5a, SU-9.
	ActThreadNotAllowed = "thread_not_allowed"
)

func refusedAct(code, message string) Performed {
	return Performed{Error: &ActError{Code: code, Message: message}}
}

// Perform does one action of a Ticket's Executor. A refused one changes
// nothing.
func Perform(s State, id gate.TicketID, cmd Command, f Facts) (Changes, Performed) {
	w := begin(s, f)
	t := w.tickets[id]
	if t == nil || !t.Active() {
		return Changes{}, refusedAct(ActTicketEnded, "the ticket has ended; stop working on it")
	}
	if t.Upto == 0 {
		t.Upto = t.Delivered
	}
	p := w.perform(t, cmd)
	if p.Error != nil {
		return Changes{}, p
	}
	if p.Note == "" {
		t.ActedAt, t.ActiveAt = w.Now, w.Now
	}
	if cmd.Key != "" {
		result, _ := json.Marshal(p)
		w.c.Acts = append(w.c.Acts, Act{Ticket: id, Key: cmd.Key, Result: result})
	}
	return w.done(), p
}

func (w *work) perform(t *Ticket, cmd Command) Performed {
	switch cmd.Verb {
	case VerbAck:
		return w.ack(t, cmd)
	case VerbReply:
		return w.answer(t, cmd)
	case VerbHandBack:
		return w.handBack(t, cmd)
	case VerbReport:
		return w.report(t, cmd)
	case VerbTurnEnd:
		w.use(t, cmd.Tokens)
		w.turnEnd(t, upto(t, cmd))
		return Performed{OK: true}
	case VerbOpened:
		return w.opened(t, cmd)
	case VerbFollow:
		return w.readAlong(t, cmd)
	case VerbUnfollow:
		return w.leave(t, cmd)
	case VerbAsk:
	}
	if cmd.Verb == "" {
		return refusedAct(ActMissingField, "say which action it is")
	}
	return refusedAct(ActUnknownAction, "use ack, reply, hand_back, report, turn_end, opened, follow, unfollow or ask")
}

// ack takes Inputs up: they are dealt with, so an end does not release them.
func (w *work) ack(t *Ticket, cmd Command) Performed {
	if len(cmd.Inputs) == 0 {
		return refusedAct(ActMissingField, "say which input is taken up")
	}
	for _, in := range cmd.Inputs {
		t.dealt(in.Seq)
	}
	return Performed{OK: true}
}

func (t *Ticket) dealt(seq int) {
	t.Held = slices.DeleteFunc(t.Held, func(h Held) bool { return h.Seq == seq })
	if seq > t.Covered && !slices.Contains(t.Acked, seq) {
		t.Acked = append(t.Acked, seq)
	}
}

// says reports whether there is a text to say; platforms take no blank one.
func (cmd Command) says() bool { return strings.TrimSpace(cmd.Text) != "" }

// answer says something in the Thread of the Input that it answers, else in
// the Mandate's (OUT-2).
func (w *work) answer(t *Ticket, cmd Command) Performed {
	if !cmd.says() {
		return refusedAct(ActMissingField, "a reply needs a text")
	}
	to := t.home()
	if len(cmd.Inputs) > 0 {
		to = w.where(t, cmd.Inputs[0])
	}
	w.relay(to, t, cmd.Text, w.rowID(t, cmd), false)
	for _, in := range cmd.Inputs {
		t.dealt(in.Seq)
	}
	return Performed{OK: true}
}

// where is the Thread of an Input's message, if it is one of the Ticket's own.
func (w *work) where(t *Ticket, in Input) destination {
	if m := w.messages[in.Trigger]; m != nil && t.owns(m.Thread) {
		return m.reply()
	}
	return t.home()
}

// rowID is the id of the outbox row that an action makes: the same for the
// same key.
func (w *work) rowID(t *Ticket, cmd Command) string {
	if cmd.Key == "" {
		return intent("act", string(t.ID), w.NewID("act_"))
	}
	return intent("act", string(t.ID), cmd.Key)
}

// handBack gives owned messages back, each once (HB-1, HB-2). What the Ticket
// does not own queues nothing, and is refused as not_owned (HB-4).
func (w *work) handBack(t *Ticket, cmd Command) Performed {
	if cmd.Reason == "" {
		return refusedAct(ActMissingField, "say why the message is handed back")
	}
	if len(cmd.Inputs) == 0 && cmd.Thread == "" {
		return refusedAct(ActMissingField, "say which input is handed back, or a thread to hand back all of it")
	}
	if cmd.Thread != "" && !t.owns(cmd.Thread) {
		return refusedAct(ActThreadNotAllowed, "it is none of the ticket's own threads")
	}
	given, before := 0, cmd.Thread != ""
	for _, in := range cmd.Inputs {
		if m := w.messages[in.Trigger]; m != nil && w.giveBack(t, m, cmd.Reason) {
			given++
			t.dealt(in.Seq)
		} else if m != nil && m.givenBackBy(t.ID) {
			before = true
		}
	}
	switch {
	case given > 0:
		return Performed{OK: true}
	case before:
		return Performed{OK: true, Note: "it was handed back before, or nothing is owned there; nothing was queued"}
	}
	return refusedAct(ActNotOwned, "the ticket does not own it; nothing was queued")
}

// givenBackBy reports whether the Ticket handed the message back (HB-1).
func (m *Message) givenBackBy(id gate.TicketID) bool {
	return slices.ContainsFunc(m.HandBacks, func(h HandBack) bool { return h.Ticket == id })
}

func (w *work) giveBack(t *Ticket, m *Message, reason string) bool {
	before := len(m.Owners)
	m.Owners = drop(m.Owners, t.ID)
	if len(m.Owners) == before {
		return false
	}
	t.forget(m.ID)
	m.HandBacks = append(m.HandBacks, HandBack{Ticket: t.ID, Reason: oneLine(reason, 500)})
	if !w.owned(m) {
		w.rejudge(m)
	}
	return true
}

// forget takes a message that the Ticket owns no more from its books. Its
// result does not go to that message's Thread any more (OUT-2).
func (t *Ticket) forget(id gate.TriggerID) {
	t.Held = slices.DeleteFunc(t.Held, func(h Held) bool { return h.Trigger == id })
	if t.LastOwned != id {
		return
	}
	t.LastOwned = ""
	if n := len(t.Held); n > 0 {
		t.LastOwned = t.Held[n-1].Trigger
	}
}

// report records what the Executor says of its work. done ends the Ticket as
// completed, failed with final as failed.
func (w *work) report(t *Ticket, cmd Command) Performed {
	switch cmd.Kind {
	case ReportProgress, ReportWaiting, ReportReady, ReportBlocked, ReportFailed, ReportDone:
	default:
		return refusedAct(ActMissingField, "kind is progress, waiting, ready, blocked, failed or done")
	}
	w.use(t, cmd.Tokens)
	t.cover(upto(t, cmd))
	t.Report, t.ActiveAt = &Report{Kind: cmd.Kind, Text: cmd.Text, At: w.Now}, w.Now
	if cmd.Kind != ReportWaiting {
		t.Former = nil
	}
	final := cmd.Kind == ReportDone || cmd.Kind == ReportFailed && cmd.Final
	w.sayReport(t, cmd, final)
	switch {
	case !final:
	case cmd.Kind == ReportDone:
		w.end(t, EndCompleted, "executor", "")
		w.showEnd(t, gate.ReactDone)
	default:
		w.end(t, EndFailed, "executor", "")
		w.showEnd(t, gate.ReactFailed)
	}
	return Performed{OK: true}
}

// sayReport says a Report in the Mandate's Thread; the final one also in that
// of the last owned message, if it is another (OUT-2). Progress edits the
// message that told of the acceptance, where there is one (OUT-4).
func (w *work) sayReport(t *Ticket, cmd Command, final bool) {
	switch {
	case !cmd.says() || t.muted(cmd.Kind):
		return
	case cmd.Kind == ReportProgress && t.Notice != nil:
		w.retell(t, gate.Sender{})
		return
	}
	id := w.rowID(t, cmd)
	w.relay(t.home(), t, cmd.Text, id, final)
	last := w.messages[t.LastOwned]
	if final && last != nil && last.Thread != t.Mandate.Thread && t.owns(last.Thread) {
		w.relay(last.reply(), t, cmd.Text, intent(id, "last"), final)
	}
}

func upto(t *Ticket, cmd Command) int {
	if cmd.Upto > 0 {
		return cmd.Upto
	}
	return t.Upto
}

// turnEnd says that the Executor is idle. Open approvals are cancelled (AP-7).
// A resumed Ticket that had nothing to report goes back to its former end
// (RE-1b).
func (w *work) turnEnd(t *Ticket, upto int) {
	t.cover(upto)
	t.Turn, t.Upto = false, 0
	w.cancelQuestions(t, "turn ended", func(q *approvals.Question) bool { return q.Kind == approvals.Approval })
	if t.Former != nil && t.Seq == t.Delivered {
		former := *t.Former
		w.end(t, former.Reason, former.By, "")
		t.End = &former
		return
	}
	if t.Seq > t.Delivered {
		w.due(DueTurn, string(t.ID))
	}
}

// AnswerArrived gives a Ticket the end of a question that it asked (DE-10), or
// that the host asked about its budget (EX-5). A Ticket that has ended gets
// nothing.
func AnswerArrived(s State, id gate.TicketID, q approvals.Question, f Facts) Changes {
	w := begin(s, f)
	t := w.tickets[id]
	switch {
	case t == nil || !t.Active():
	case OfBudget(q):
		w.budgetAnswered(t, q)
	default:
		w.input(t, Input{Kind: InputAnswer, Question: q.ID})
		t.ActedAt = w.Now // its turn was parked, not silent
	}
	return w.done()
}

// Note gives an active Ticket a line to read (RO-9a, CA-9).
func Note(s State, id gate.TicketID, text string, f Facts) Changes {
	w := begin(s, f)
	if t := w.tickets[id]; t != nil && t.Active() {
		w.input(t, Input{Kind: InputNote, Note: text})
	}
	return w.done()
}
