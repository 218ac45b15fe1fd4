package api

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
)

// aguiVersion is the version of the AG-UI protocol that is spoken here.
const aguiVersion = "1.0"

// aguiEvent is an event of the AG-UI protocol: RUN_STARTED, RUN_FINISHED or
// RUN_ERROR.
type aguiEvent struct {
	Type            string       `json:"type"`
	Timestamp       int64        `json:"timestamp,omitempty"` // ms
	ThreadID        string       `json:"threadId,omitempty"`
	RunID           string       `json:"runId,omitempty"`
	ProtocolVersion string       `json:"protocolVersion,omitempty"`
	Outcome         *aguiOutcome `json:"outcome,omitempty"`
	Message         string       `json:"message,omitempty"`
	Code            string       `json:"code,omitempty"`
}

type aguiOutcome struct {
	Type       string          `json:"type"`
	Interrupts []aguiInterrupt `json:"interrupts,omitempty"`
}

// aguiInterrupt is a question as an AG-UI client is told of it (AP-9).
type aguiInterrupt struct {
	ID             string         `json:"id"`
	Reason         string         `json:"reason"`
	Message        string         `json:"message"`
	ToolCallID     string         `json:"toolCallId,omitempty"`
	ResponseSchema map[string]any `json:"responseSchema"`
	ExpiresAt      time.Time      `json:"expiresAt"`
	Metadata       map[string]any `json:"metadata"`
}

// interruptOf maps a question (AP-9). The metadata is the question itself.
func interruptOf(q *approvals.Question) aguiInterrupt {
	i := aguiInterrupt{
		ID: string(q.ID), Reason: reasonOf(q), Message: q.Prompt, ResponseSchema: responseSchema(q),
		ExpiresAt: q.Deadline.UTC(), Metadata: map[string]any{"decision": questionOf(*q)},
	}
	if q.Operation != nil {
		i.ToolCallID = q.Operation.CallID
		if i.Message == "" {
			i.Message = q.Operation.Reason
		}
	}
	return i
}

func reasonOf(q *approvals.Question) string {
	switch {
	case q.Kind == approvals.Approval:
		return "tool_call"
	case q.AllowFreeText:
		return "input_required"
	}
	return "confirmation"
}

// responseSchema is what the payload of a resume entry looks like.
func responseSchema(q *approvals.Question) map[string]any {
	fields := map[string]any{}
	if len(q.Options) > 0 {
		ids := make([]string, len(q.Options))
		for i, o := range q.Options {
			ids[i] = o.ID
		}
		fields["optionId"] = map[string]any{"enum": ids}
	}
	if q.AllowFreeText {
		fields["text"] = map[string]any{"type": "string"}
	}
	return map[string]any{"type": "object", "properties": fields, "minProperties": 1}
}

// agui is how far a client of a session's AG-UI events got: the run that is
// open, or the interrupts that it waits for.
type agui struct {
	thread string
	run    string
	waits  []string
}

// step is what a line of the event log, at a cursor, means for the client, when
// these questions of the session are open. A run ends with the questions that
// are open, and the next starts only when none that the client knows is (AP-9).
func (g agui) step(cursor string, l approvals.Record, open []approvals.Question, now time.Time) (agui, []aguiEvent) {
	switch l.Type {
	case "ticket.accepted", "ticket.resumed":
		if g.run == "" && len(g.waits) == 0 {
			return g.start(cursor, now, nil)
		}
	case "ticket.ended":
		return g.ended(l, now)
	case approvals.RecordOpened, approvals.RecordAnswered, approvals.RecordTimedOut, approvals.RecordCancelled:
		return g.asked(cursor, open, now)
	}
	return g, nil
}

// asked follows the questions of the session. Of one that is over by now the
// client is told nothing.
func (g agui) asked(cursor string, open []approvals.Question, now time.Time) (agui, []aguiEvent) {
	before := len(g.waits)
	g.waits = slices.DeleteFunc(slices.Clone(g.waits), func(id string) bool {
		return !slices.ContainsFunc(open, func(q approvals.Question) bool { return string(q.ID) == id })
	})
	var events []aguiEvent
	switch {
	case len(g.waits) > 0 || before == 0 && len(open) == 0:
		return g, nil
	case g.run == "":
		g, events = g.start(cursor, now, nil)
	}
	if len(open) == 0 {
		return g, events
	}
	return g.interrupt(open, now, events)
}

func (g agui) start(run string, now time.Time, before []aguiEvent) (agui, []aguiEvent) {
	g.run = run
	return g, append(before, aguiEvent{
		Type: "RUN_STARTED", Timestamp: now.UnixMilli(), ThreadID: g.thread, RunID: run, ProtocolVersion: aguiVersion,
	})
}

func (g agui) interrupt(open []approvals.Question, now time.Time, before []aguiEvent) (agui, []aguiEvent) {
	o := &aguiOutcome{Type: "interrupt"}
	for i := range open {
		g.waits = append(g.waits, string(open[i].ID))
		o.Interrupts = append(o.Interrupts, interruptOf(&open[i]))
	}
	return g.finish(o, now, before)
}

func (g agui) finish(o *aguiOutcome, now time.Time, before []aguiEvent) (agui, []aguiEvent) {
	e := aguiEvent{Type: "RUN_FINISHED", Timestamp: now.UnixMilli(), ThreadID: g.thread, RunID: g.run, Outcome: o}
	g.run = ""
	return g, append(before, e)
}

// ended is the end of a Ticket, by the reason that its event gives.
func (g agui) ended(l approvals.Record, now time.Time) (agui, []aguiEvent) {
	if g.run == "" {
		return g, nil
	}
	data, _ := l.Data.(map[string]any)
	return g.over(fmt.Sprint(data["reason"]), now, nil)
}

// over ends the run of a Ticket that ended for a reason.
func (g agui) over(reason string, now time.Time, before []aguiEvent) (agui, []aguiEvent) {
	switch reason {
	case "completed":
		return g.finish(&aguiOutcome{Type: "success"}, now, before)
	case "failed":
		g.run = ""
		return g, append(before, aguiEvent{Type: "RUN_ERROR", Timestamp: now.UnixMilli(), Message: "The ticket failed.", Code: "failed"})
	}
	return g.finish(&aguiOutcome{Type: "cancelled"}, now, before)
}

// aguiID is the form of an event's id: the cursor of the log, and how far the
// client got.
var aguiID = regexp.MustCompile(`^([0-9-]{1,64})~([0-9-]{0,64})~([0-9a-f,-]*)$`)

func (g agui) id(cursor string) string {
	return cursor + "~" + g.run + "~" + strings.Join(g.waits, ",")
}

// resumeAGUI reads an event's id back.
func resumeAGUI(session, id string) (g agui, cursor string, err error) {
	m := aguiID.FindStringSubmatch(id)
	if m == nil {
		return g, "", badQuery("Last-Event-ID is the id of an event of this stream.")
	}
	g = agui{thread: session, run: m[2]}
	if m[3] != "" {
		g.waits = strings.Split(m[3], ",")
	}
	return g, m[1], nil
}

// frames writes events of one step in one piece, with the id behind the last.
func (g agui) frames(cursor string, events []aguiEvent) ([]byte, error) {
	var all []byte
	for i, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		if i == len(events)-1 {
			all = fmt.Appendf(all, "id: %s\n", g.id(cursor))
		}
		all = fmt.Appendf(all, "data: %s\n\n", data)
	}
	return all, nil
}
