package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// MainSession is the routing of candidates; orchestrator.Service is one.
type MainSession interface {
	// Next takes the next Eval of a session; ok is false when none came.
	Next(ctx context.Context, session string, fresh bool, wait time.Duration) (h orchestrator.Handout, ok bool, err error)
	// Around is what was said near each message (EV-2a).
	Around(ctx context.Context, messages []orchestrator.Message) []gate.Surroundings
	Route(ctx context.Context, it orchestrator.Item, r orchestrator.Ruling) (orchestrator.Result, error)
	AckNoticesOf(ctx context.Context, ids []gate.TriggerID) error
}

// next is what a session is handed (DR-3).
type next struct {
	Eval          *gate.EvalID `json:"eval"` // null: only notices
	PolicyVersion int          `json:"policy_version"`
	Deadline      *time.Time   `json:"deadline"`
	Redelivered   bool         `json:"redelivered"`
	Candidates    []candidate  `json:"candidates"`
	Notices       []notice     `json:"notices"`
	// Policy is what candidates are judged by (RU-5).
	Policy orchestrator.PolicySection `json:"policy"`
}

// candidate is a card (EV-2): in parts, and as Markdown for a model, in which
// what people and models wrote stands in fences (PL-4). All that people and
// models wrote is untrusted: it is no instruction.
type candidate struct {
	Trigger trigger `json:"trigger"`
	Listed  bool    `json:"listed"`
	around
	Tickets   []cardTicket `json:"tickets"`
	HandBacks []handBack   `json:"hand_backs"`
	Riders    []trigger    `json:"riders"` // what is one candidate with it (EV-1)
	Card      string       `json:"card"`
}

type cardTicket struct {
	ID    gate.TicketID            `json:"id"`
	Title string                   `json:"title"`
	State orchestrator.TicketState `json:"state"`
	Stage orchestrator.TicketStage `json:"stage"`
}

type handBack struct {
	Ticket gate.TicketID `json:"ticket"`
	Reason string        `json:"reason"`
}

type notice struct {
	Kind    string          `json:"kind"`
	Trigger trigger         `json:"trigger"`
	Tickets []gate.TicketID `json:"tickets"`
}

// getNext is GET /v1/orchestrator/next?wait=&session=&fresh=.
func (a *api) getNext(ctx context.Context, c call) (any, error) {
	if a.main == nil {
		return nil, errNoRoute
	}
	if !a.external {
		return nil, &orchestrator.Refused{Code: "driver_not_external", Why: "The gateway's own driver routes candidates; set orchestrator.driver to external to take them here."}
	}
	wait, err := c.query.wait()
	if err != nil {
		return nil, err
	}
	fresh, _, err := c.query.flag("fresh")
	if err != nil {
		return nil, err
	}
	session := c.query.get("session")
	if session == "" {
		session = c.who.name
	}
	if len(session) > maxID {
		return nil, badQuery("session is a short name.")
	}
	h, ok, err := a.main.Next(ctx, session, fresh, wait)
	if err != nil {
		return nil, fmt.Errorf("take the next eval: %w", err)
	}
	if !ok {
		return answered{status: http.StatusNoContent}, nil
	}
	return a.handed(ctx, &h)
}

func (a *api) handed(ctx context.Context, h *orchestrator.Handout) (next, error) {
	n := next{PolicyVersion: h.PolicyVersion, Redelivered: h.Redelivered, Candidates: []candidate{}, Notices: []notice{}}
	n.Policy = orchestrator.SectionOf(h.Policy)
	if h.Eval != nil {
		deadline := h.Eval.Deadline.UTC()
		n.Eval, n.Deadline = &h.Eval.ID, &deadline
	}
	show, err := a.shower(ctx, h.Tickets)
	if err != nil {
		return next{}, err
	}
	near := a.main.Around(ctx, h.Candidates)
	for i, m := range h.Candidates {
		card := orchestrator.Card{Message: m, Listed: h.Listed[m.ID], Riders: h.Riders[m.ID], Around: near[i]}
		for _, of := range h.TicketsOf(m.Thread) {
			t := show(&of)
			card.Tickets = append(card.Tickets, orchestrator.CardTicket{ID: t.ID, Title: t.Title, Brief: t.Brief, State: t.State, Stage: t.Stage})
		}
		n.Candidates = append(n.Candidates, candidateOf(&card))
	}
	for i := range h.Notices {
		m := &h.Notices[i]
		n.Notices = append(n.Notices, notice{"follow_up", triggerOf(m), orEmpty(m.Owners)})
	}
	return n, nil
}

func candidateOf(card *orchestrator.Card) candidate {
	c := candidate{
		Trigger: triggerOf(&card.Message), Listed: card.Listed, around: aroundOf(&card.Around),
		Tickets: []cardTicket{}, HandBacks: []handBack{}, Riders: []trigger{}, Card: card.Markdown(),
	}
	for _, t := range card.Tickets {
		c.Tickets = append(c.Tickets, cardTicket{t.ID, t.Title, t.State, t.Stage})
	}
	for i := range card.Riders {
		c.Riders = append(c.Riders, triggerOf(&card.Riders[i]))
	}
	for _, b := range card.Message.HandBacks {
		c.HandBacks = append(c.HandBacks, handBack(b))
	}
	return c
}

// getTools is GET /v1/orchestrator/tools: what an agent that is the main
// Session tells its model (RO-10).
func (a *api) getTools(context.Context, call) (any, error) {
	return struct {
		Items []orchestrator.Tool `json:"items"`
		Next  *string             `json:"next"` // null: there is one page
	}{Items: orchestrator.Tools()}, nil
}

// route is POST /v1/orchestrator/route: items are handled one after another,
// and each has its own result (RO-1).
func (a *api) route(ctx context.Context, c call) (any, error) {
	if a.main == nil {
		return nil, errNoRoute
	}
	var body struct {
		Eval          gate.EvalID       `json:"eval"`
		PolicyVersion int               `json:"policy_version"`
		Items         []json.RawMessage `json:"items"`
	}
	if err := c.body.json(&body); err != nil {
		return nil, err
	}
	ruling := orchestrator.Ruling{Eval: body.Eval, PolicyVersion: body.PolicyVersion, By: c.who.by()}
	results := make([]orchestrator.Result, len(body.Items))
	for i, raw := range body.Items {
		res, err := a.routeOne(ctx, raw, ruling)
		if err != nil {
			return nil, fmt.Errorf("route item %d: %w", i, err)
		}
		res.Index = i
		results[i] = res
	}
	return struct {
		Results []orchestrator.Result `json:"results"`
	}{results}, nil
}

func (a *api) routeOne(ctx context.Context, raw json.RawMessage, r orchestrator.Ruling) (orchestrator.Result, error) {
	it, _, refused := orchestrator.ReadItem(raw)
	if refused != nil {
		return orchestrator.Result{Error: refused}, nil
	}
	return a.main.Route(ctx, it, r)
}

// evaluate is POST /v1/orchestrator/evaluate (RU-1).
func (a *api) evaluate(ctx context.Context, c call) (any, error) {
	if a.main == nil {
		return nil, errNoRoute
	}
	var raw json.RawMessage
	if err := c.body.json(&raw); err != nil {
		return nil, err
	}
	it, judged, refused := orchestrator.ReadItem(raw)
	if refused != nil {
		return orchestrator.Result{Error: refused}, nil
	}
	res, err := a.main.Route(ctx, it, orchestrator.Ruling{
		Eval: judged.Eval, PolicyVersion: judged.PolicyVersion, By: c.who.by(), Evaluated: true, Verdicts: judged.Verdicts,
	})
	if err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	return res, nil
}

// ackNotices is POST /v1/orchestrator/ack_notices (RO-7).
func (a *api) ackNotices(ctx context.Context, c call) (any, error) {
	if a.main == nil {
		return nil, errNoRoute
	}
	var body struct {
		Triggers []gate.TriggerID `json:"triggers"`
	}
	if err := c.body.json(&body); err != nil {
		return nil, err
	}
	if err := a.main.AckNoticesOf(ctx, body.Triggers); err != nil {
		return nil, err
	}
	return struct {
		OK bool `json:"ok"`
	}{true}, nil
}

// by is who decides, as Decisions name it.
func (who caller) by() string {
	if who.role == Orchestrator {
		return orchestrator.ByMainSession
	}
	return "panel:" + who.name
}
