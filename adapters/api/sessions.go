package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// Sessions asks for the sessions and keeps their policies; orchestrator.Service
// is one.
type Sessions interface {
	// Ask opens a question; an *orchestrator.Refused says why it may not.
	Ask(ctx context.Context, id approvals.SessionID, r approvals.Request) (q approvals.Question, created bool, err error)
	// SetApprovals sets a session's own policy (AP-3).
	SetApprovals(ctx context.Context, id approvals.SessionID, p approvals.Policy, by string) error
}

// Broker answers, withdraws and waits for questions; approvals.Broker is one.
type Broker interface {
	Question(ctx context.Context, id approvals.ID) (approvals.Question, error)
	// Wait returns a question that came to its end, or, with the error of ctx,
	// as it stood when ctx ended.
	Wait(ctx context.Context, id approvals.ID) (approvals.Question, error)
	Answer(ctx context.Context, r approvals.AnswerRequest) (approvals.Result, error)
	// Cancel takes one question of a session back.
	Cancel(ctx context.Context, s approvals.SessionID, id approvals.ID, reason string) (approvals.Question, error)
	CancelSession(ctx context.Context, s approvals.SessionID, reason string) ([]approvals.Question, error)
}

// Questions lists what sessions asked; every orchestrator.Store does.
type Questions interface {
	ListQuestions(ctx context.Context, f orchestrator.QuestionFilter, p orchestrator.Page) ([]approvals.Question, string, error)
}

// session returns the session of the path, if the caller may know of it: an
// executor knows those of its own Tickets, and not the main one. ErrNotFound.
func (a *api) session(ctx context.Context, c call) (approvals.SessionID, error) {
	if a.broker == nil {
		return "", errNoDecisions
	}
	if c.id == string(approvals.MainSession) && c.who.role != Executor {
		return approvals.MainSession, nil
	}
	t, err := a.own(ctx, c)
	return approvals.SessionID(t.ID), err
}

// asks returns the session, if the caller asks for it: an orchestrator for the
// main one, an executor for its own, an operator for any.
func (a *api) asks(ctx context.Context, c call) (approvals.SessionID, error) {
	s, err := a.session(ctx, c)
	if err == nil && c.who.role == Orchestrator && s != approvals.MainSession {
		return "", errForbidden
	}
	return s, err
}

// openQuestion is POST /v1/sessions/{id}/decisions: 201, or 200 where the key
// was used before (DE-3).
func (a *api) openQuestion(ctx context.Context, c call) (any, error) {
	s, err := a.asks(ctx, c)
	if err != nil {
		return nil, err
	}
	var body struct {
		Kind approvals.Kind `json:"kind"`
		asking
	}
	if err := c.body.json(&body); err != nil {
		return nil, err
	}
	q, created, err := a.sessions.Ask(ctx, s, *body.request(body.Kind))
	if err != nil {
		return nil, noTurn(err, body.Kind)
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return answered{status, questionOf(q)}, nil
}

// noTurn: for an approval a Ticket that ended has no open turn (AP-7).
func noTurn(err error, k approvals.Kind) error {
	var r *orchestrator.Refused
	if k == approvals.Approval && errors.As(err, &r) && r.Code == orchestrator.ActTicketEnded {
		return &orchestrator.Refused{Code: orchestrator.ActNoOpenTurn, Why: r.Why}
	}
	return err
}

// listQuestions is GET /v1/sessions/{id}/decisions?status=, the last asked
// first.
func (a *api) listQuestions(ctx context.Context, c call) (any, error) {
	p, err := c.query.page()
	if err != nil {
		return nil, err
	}
	status, err := oneOf(c.query, "status", approvals.StatusOpen, approvals.StatusAnswered, approvals.StatusTimedOut, approvals.StatusCancelled)
	if err != nil {
		return nil, err
	}
	s, err := a.session(ctx, c)
	if err != nil {
		return nil, err
	}
	f := orchestrator.QuestionFilter{Session: s, Status: status}
	if status == approvals.StatusTimedOut { // stored as open until a sweeper has run
		f.Status = ""
	}
	found, next, err := a.questions.ListQuestions(ctx, f, p)
	if err != nil {
		return nil, fmt.Errorf("list questions of %s: %w", s, err)
	}
	return listOf(a.of(found, status), next, showQuestion), nil
}

// of keeps the questions of a status, as of now: one whose deadline has passed
// is open for nobody (DE-5).
func (a *api) of(all []approvals.Question, s approvals.Status) (some []approvals.Question) {
	for _, q := range all {
		if q = approvals.AsOf(q, a.now()); s == "" || q.Status == s {
			some = append(some, q)
		}
	}
	return some
}

func showQuestion(q *approvals.Question) question { return questionOf(*q) }

// getQuestion is GET /v1/sessions/{id}/decisions/{decisionId}?wait=. With wait the
// answer comes when the question comes to its end (DE-10).
func (a *api) getQuestion(ctx context.Context, c call) (any, error) {
	wait, err := c.query.wait()
	if err != nil {
		return nil, err
	}
	q, err := a.questionOfPath(ctx, c)
	if err != nil {
		return nil, err
	}
	if wait > 0 && !q.Status.Terminal() {
		q, err = a.awaited(ctx, wait, q)
	}
	if err != nil {
		return nil, err
	}
	return questionOf(q), nil
}

// awaited is the question at its end, or as it is when the wait is over or the
// gateway drains.
func (a *api) awaited(ctx context.Context, wait time.Duration, q approvals.Question) (approvals.Question, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	go func() {
		select {
		case <-a.draining:
			cancel()
		case <-ctx.Done():
		}
	}()
	later, err := a.broker.Wait(ctx, q.ID)
	switch {
	case err == nil:
		return later, nil
	case ctx.Err() != nil:
		return q, nil
	}
	return q, err
}

// questionOfPath returns the question that the path names. ErrNotFound, also for
// one of another session.
func (a *api) questionOfPath(ctx context.Context, c call) (approvals.Question, error) {
	s, err := a.session(ctx, c)
	if err != nil {
		return approvals.Question{}, err
	}
	if !sound(string(c.decision)) {
		return approvals.Question{}, approvals.ErrNotFound
	}
	q, err := a.broker.Question(ctx, c.decision)
	if err == nil && q.Session.ID != s {
		err = approvals.ErrNotFound
	}
	return q, err
}

// answerQuestion is POST /v1/sessions/{id}/decisions/{decisionId}. The operator
// answers by the token's name. State comes first: a question that came to its
// end is so also for an answer that cannot be read (DE-4).
func (a *api) answerQuestion(ctx context.Context, c call) (any, error) {
	q, err := a.questionOfPath(ctx, c)
	if err != nil {
		return nil, err
	}
	var body struct {
		OptionID string `json:"optionId"`
		Text     string `json:"text"`
	}
	unread := c.body.json(&body)
	if unread != nil && (!errors.Is(unread, errBadBody) || !q.Status.Terminal()) {
		return nil, unread
	}
	r, err := a.broker.Answer(ctx, c.answer(q.Session.ID, q.ID, body.OptionID, body.Text))
	if err != nil {
		return nil, err
	}
	shown := questionOf(r.Question)
	shown.Deduped = r.Deduped
	return shown, nil
}

// answer is the caller's, an operator's, by the token's name (CA-3).
func (c call) answer(s approvals.SessionID, id approvals.ID, option, text string) approvals.AnswerRequest {
	return approvals.AnswerRequest{
		ID: id, Session: s, OptionID: option, Text: text, Via: approvals.ViaAPI, Operator: true,
		Who: gate.Sender{Kind: gate.Person, ID: c.who.name, Name: c.who.name},
	}
}

// cancelQuestions is POST /v1/sessions/{id}/cancel: all open questions of the
// session, in one step (DE-7). The answer lists them as they came to be.
func (a *api) cancelQuestions(ctx context.Context, c call) (any, error) {
	s, err := a.asks(ctx, c)
	if err != nil {
		return nil, err
	}
	closed, err := a.broker.CancelSession(ctx, s, "withdrawn by "+"api:"+c.who.name)
	if err != nil {
		return nil, fmt.Errorf("cancel questions of %s: %w", s, err)
	}
	return listOf(closed, "", showQuestion), nil
}

// setApprovals is POST /v1/sessions/{id}/policy (AP-3).
func (a *api) setApprovals(ctx context.Context, c call) (any, error) {
	s, err := a.session(ctx, c)
	if err != nil {
		return nil, err
	}
	var body struct {
		Policy approvals.Policy `json:"policy"`
	}
	if err := c.body.json(&body); err != nil {
		return nil, err
	}
	if err := a.sessions.SetApprovals(ctx, s, body.Policy, "api:"+c.who.name); err != nil {
		return nil, fmt.Errorf("set the policy of %s: %w", s, err)
	}
	return sessionPolicy{s, body.Policy}, nil
}

type sessionPolicy struct {
	Session approvals.SessionID `json:"session"`
	Policy  approvals.Policy    `json:"policy"`
}
