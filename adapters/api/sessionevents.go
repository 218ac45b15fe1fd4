package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// streamSession is GET /v1/sessions/{id}/events?format=ag-ui: the session's
// events of the workspace's stream, or what they are to an AG-UI client.
func (a *api) streamSession(ctx context.Context, c call) (any, error) {
	format, err := oneOf(c.query, "format", "ag-ui")
	if err != nil {
		return nil, err
	}
	s, err := a.session(ctx, c)
	if err != nil {
		return nil, err
	}
	last := c.body.r.Header.Get(lastEventID)
	if format == "ag-ui" {
		return a.streamAGUI(ctx, s, last)
	}
	if !cursor(last) {
		return nil, errBadEventID
	}
	return a.follow(ctx, last, func(_ context.Context, at string, l approvals.Record) ([]byte, error) {
		if l.Session != s {
			return nil, nil
		}
		return eventFrame(at, l)
	}, nil)
}

func (a *api) streamAGUI(ctx context.Context, s approvals.SessionID, last string) (any, error) {
	g, after := agui{thread: string(s)}, ""
	if last != "" {
		var err error
		if g, after, err = resumeAGUI(string(s), last); err != nil {
			return nil, err
		}
	}
	show := func(ctx context.Context, at string, l approvals.Record) ([]byte, error) {
		if l.Session != s {
			return nil, nil
		}
		open, err := a.openOf(ctx, s)
		if err != nil {
			return nil, err
		}
		var events []aguiEvent
		g, events = g.step(at, l, open, a.now())
		return g.frames(at, events)
	}
	// Who comes anew is first told what is open.
	greet := func(ctx context.Context, at string) ([]byte, error) {
		open, err := a.openOf(ctx, s)
		if err != nil || last != "" || len(open) == 0 {
			return nil, err
		}
		var events []aguiEvent
		g, events = g.asked(at, open, a.now())
		return g.frames(at, events)
	}
	return a.follow(ctx, after, show, greet)
}

// openOf are the open questions of a session as of now, oldest first.
func (a *api) openOf(ctx context.Context, s approvals.SessionID) ([]approvals.Question, error) {
	found, _, err := a.questions.ListQuestions(ctx, orchestrator.QuestionFilter{Session: s, Status: approvals.StatusOpen}, orchestrator.Page{Limit: maxLimit})
	if err != nil {
		return nil, fmt.Errorf("list questions of %s: %w", s, err)
	}
	open := a.of(found, approvals.StatusOpen)
	slices.Reverse(open)
	return open, nil
}

// runInput is what an AG-UI client sends to start a run, as far as it counts
// here.
type runInput struct {
	ThreadID string        `json:"threadId"`
	RunID    string        `json:"runId"`
	Resume   []resumeEntry `json:"resume"`
}

type resumeEntry struct {
	InterruptID approvals.ID `json:"interruptId"`
	Status      string       `json:"status"`
	Payload     struct {
		OptionID string `json:"optionId"`
		Text     string `json:"text"`
	} `json:"payload"`
}

// runAGUI is POST /v1/sessions/{id}/run, the end of an AG-UI client's HttpAgent.
// The resume entries answer, or take back, what interrupted the last run; then
// the run goes on until the next question, or until the Ticket rests or ends. A
// next run that leaves an interrupt open is refused (AP-9).
func (a *api) runAGUI(ctx context.Context, c call) (any, error) {
	s, err := a.session(ctx, c)
	if err != nil {
		return nil, err
	}
	var in runInput
	if err := c.body.json(&in); err != nil {
		return nil, err
	}
	if in.ThreadID == "" || in.RunID == "" {
		return nil, approvals.Invalid("threadId, runId: are missing")
	}
	open, err := a.openOf(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := addressed(open, in.Resume); err != nil {
		return nil, err
	}
	for _, e := range in.Resume {
		if err := a.resumeWith(ctx, c, s, e); err != nil {
			return nil, fmt.Errorf("resume %s: %w", e.InterruptID, err)
		}
	}
	return a.streaming(func(st *stream) { st.runAGUI(s, agui{thread: in.ThreadID, run: in.RunID}) })
}

// addressed refuses a resume that leaves an interrupt open.
func addressed(open []approvals.Question, resume []resumeEntry) error {
	for _, q := range open {
		if len(resume) > 0 && !slices.ContainsFunc(resume, func(e resumeEntry) bool { return e.InterruptID == q.ID }) {
			return &orchestrator.Refused{Code: "interrupts_open", Why: "resolve or cancel every open interrupt; " + string(q.ID) + " is one"}
		}
	}
	return nil
}

func (a *api) resumeWith(ctx context.Context, c call, s approvals.SessionID, e resumeEntry) error {
	switch e.Status {
	case "resolved":
		_, err := a.broker.Answer(ctx, c.answer(s, e.InterruptID, e.Payload.OptionID, e.Payload.Text))
		return err
	case "cancelled":
		_, err := a.broker.Cancel(ctx, s, e.InterruptID, "withdrawn by api:"+c.who.name)
		return err
	}
	return approvals.Invalid("resume: a status is resolved or cancelled")
}

// runAGUI writes a run until it is over.
func (s *stream) runAGUI(session approvals.SessionID, g agui) {
	g, begin := g.start(g.run, s.a.now(), nil)
	for ok := s.events(begin); ok; ok = s.write([]byte(stillHere)) {
		var end []aguiEvent
		err := s.a.until(s.ctx, heartbeatEvery, func() (bool, error) {
			var err error
			end, err = s.a.runOver(s.ctx, session, g)
			return len(end) > 0, err
		})
		select {
		case <-s.a.draining:
			end = append(end, aguiEvent{Type: "RUN_ERROR", Message: "The gateway stops; run again.", Code: "draining"})
		default:
		}
		if len(end) > 0 || err != nil || s.ctx.Err() != nil {
			s.events(end[:min(len(end), 1)])
			return
		}
	}
}

// runOver is how a session's run ends now; nothing while it goes on. The main
// Session works out of sight: its run is over when nothing is open.
func (a *api) runOver(ctx context.Context, s approvals.SessionID, g agui) (end []aguiEvent, err error) {
	open, err := a.openOf(ctx, s)
	if err != nil {
		return nil, err
	}
	if len(open) > 0 {
		_, end = g.interrupt(open, a.now(), nil)
		return end, nil
	}
	id := gate.TicketID(s)
	st, err := a.records.Load(ctx, orchestrator.Want{Tickets: []gate.TicketID{id}})
	t := st.Tickets[id]
	switch {
	case err != nil:
	case t.End != nil:
		_, end = g.over(string(t.End.Reason), a.now(), nil)
	case !t.Turn && t.Seq == t.Delivered:
		_, end = g.finish(&aguiOutcome{Type: "success"}, a.now(), nil)
	}
	return end, err
}

func (s *stream) events(list []aguiEvent) (ok bool) {
	var text strings.Builder
	for _, e := range list {
		data, err := json.Marshal(e)
		if err != nil {
			return false
		}
		fmt.Fprintf(&text, "data: %s\n\n", data)
	}
	return s.write([]byte(text.String()))
}
