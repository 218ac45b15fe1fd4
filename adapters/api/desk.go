package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// Desk is where Tickets are worked on from afar; orchestrator.Service is one.
type Desk interface {
	// Read hands Inputs over; ErrNotFound.
	Read(ctx context.Context, id gate.TicketID, r orchestrator.Reading) (orchestrator.Handed, error)
	// Act does one action of the Ticket's executor.
	Act(ctx context.Context, id gate.TicketID, cmd orchestrator.Command) (orchestrator.Performed, error)
	// StopByCommand stops a Ticket at once (ST-2); ErrNotFound.
	StopByCommand(ctx context.Context, id gate.TicketID, by string) error
	// Unsubscribe ends any Subscription (SU-5a); ErrNotFound.
	Unsubscribe(ctx context.Context, id gate.TicketID, thread gate.ThreadID, by string) error
	// Places says at which place Tickets wait for their executor (EX-5).
	Places(ctx context.Context, tickets []orchestrator.Ticket) (map[gate.TicketID]int, error)
}

// own returns a Ticket that the caller may know of; ErrNotFound.
func (a *api) own(ctx context.Context, c call) (orchestrator.Ticket, error) {
	if a.desk == nil {
		return orchestrator.Ticket{}, errNotReady
	}
	id := gate.TicketID(c.id)
	return loaded(ctx, a, c.id, orchestrator.Want{Tickets: []gate.TicketID{id}},
		func(s *orchestrator.State) (orchestrator.Ticket, bool) {
			t, ok := s.Tickets[id]
			return t, ok && c.who.sees(t.Executor)
		})
}

type inputs struct {
	Items  []input      `json:"items"`
	Ticket inputsTicket `json:"ticket"`
}

type inputsTicket struct {
	State orchestrator.TicketState `json:"state"`
	End   *end                     `json:"end"` // null: active
}

// readInputs is GET /v1/tickets/{id}/inputs?wait=&after=&unacked=. Reading is
// the delivery. The answer waits for something to read, or the Ticket's end
// (AC-2); what an executor is to read again is there or not, and waits for
// nothing.
func (a *api) readInputs(ctx context.Context, c call) (any, error) {
	wait, err := c.query.wait()
	if err != nil {
		return nil, err
	}
	r, err := reading(c.query)
	if err != nil {
		return nil, err
	}
	t, err := a.own(ctx, c)
	if err != nil {
		return nil, err
	}
	var h orchestrator.Handed
	err = a.until(ctx, wait, func() (bool, error) {
		h, err = a.desk.Read(ctx, t.ID, r)
		return len(h.Inputs) > 0 || !h.Ticket.Active() || r.Unacked, err
	})
	if err != nil {
		return nil, fmt.Errorf("read inputs of %s: %w", t.ID, err)
	}
	return inputsOf(ctx, &h), nil
}

// reading reads which Inputs are asked for.
func reading(q query) (r orchestrator.Reading, err error) {
	if r.Unacked, _, err = q.flag("unacked"); err != nil {
		return r, err
	}
	after := q.get("after")
	if after == "" {
		return r, nil
	}
	r.After, err = strconv.Atoi(after)
	r.Again = true
	if err != nil || r.After < 0 || r.Unacked {
		return r, badQuery("after is the seq of an input, and goes without unacked.")
	}
	return r, nil
}

// until asks until it is done, the wait is over, or the gateway drains. Who
// waits is woken by what happens here, and looks every half second for what
// happens elsewhere.
func (a *api) until(ctx context.Context, wait time.Duration, done func() (bool, error)) error {
	if wait <= 0 {
		_, err := done()
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	woken := a.wake(ctx)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-a.draining:
			return nil
		case <-woken:
		case <-tick.C:
		}
	}
}

// lookEvery bounds how late a wait sees what another replica did.
const lookEvery = 500 * time.Millisecond

// acting is the body of POST /v1/tickets/{id}/actions.
type acting struct {
	Action orchestrator.Verb `json:"action"`
	Key    string            `json:"key"`
	Input  string            `json:"input"`
	Inputs []string          `json:"inputs"`
	Text   string            `json:"text"`
	Reason string            `json:"reason"`
	Kind   string            `json:"kind"` // of a report, or of a question
	Final  bool              `json:"final"`
	Upto   int               `json:"upto"`
	Tokens int64             `json:"tokens"`
	Thread gate.ThreadID     `json:"thread"`
	URL    string            `json:"url"`
	asking
}

// asking are the fields of a question, but its kind (DE-2).
type asking struct {
	RequestID      string               `json:"requestId"`
	Prompt         string               `json:"prompt"`
	Options        []approvals.Option   `json:"options"`
	Recommendation string               `json:"recommendation"`
	AllowFreeText  bool                 `json:"allowFreeText"`
	TimeoutMS      int64                `json:"timeoutMs"`
	Answerers      []string             `json:"answerers"`
	Operation      *approvals.Operation `json:"operation"`
}

// request is a question as the agent states it: the host did not see the call
// that it may be about (AP-1).
func (b *asking) request(k approvals.Kind) *approvals.Request {
	return &approvals.Request{
		RequestID: b.RequestID, Kind: k, Prompt: b.Prompt, Options: b.Options,
		Recommendation: b.Recommendation, AllowFreeText: b.AllowFreeText, Answerers: b.Answerers,
		Timeout: timeout(b.TimeoutMS), Operation: b.Operation, AsStated: true,
	}
}

// maxKey bounds an action's key, in bytes, maxNamed the Inputs it names, and
// maxTokens the tokens that it says were used.
const (
	maxKey    = 256
	maxNamed  = 1000
	maxTokens = 1_000_000_000
)

func (b *acting) command() (orchestrator.Command, error) {
	cmd := orchestrator.Command{
		Verb: b.Action, Key: b.Key, Named: b.Inputs, Text: b.Text, Reason: b.Reason, Kind: orchestrator.ReportKind(b.Kind),
		Final: b.Final, Upto: b.Upto, Tokens: b.Tokens, Thread: b.Thread, URL: b.URL,
	}
	if b.Input != "" {
		cmd.Named = append([]string{b.Input}, cmd.Named...)
	}
	switch {
	case len(b.Key) > maxKey:
		return cmd, approvals.Invalid(fmt.Sprintf("key: %d bytes, at most %d", len(b.Key), maxKey))
	case len(cmd.Named) > maxNamed:
		return cmd, approvals.Invalid(fmt.Sprintf("inputs: %d, at most %d", len(cmd.Named), maxNamed))
	case b.Thread != "" && !sound(string(b.Thread)):
		return cmd, approvals.Invalid("thread: is the id of a thread")
	case b.Upto < 0:
		return cmd, approvals.Invalid("upto: is the seq of an input")
	case b.Tokens < 0 || b.Tokens > maxTokens:
		return cmd, approvals.Invalid(fmt.Sprintf("tokens: %d, from 0 to %d", b.Tokens, maxTokens))
	}
	if b.Action == orchestrator.VerbAsk {
		cmd.Ask, cmd.Kind = b.request(), ""
	}
	return cmd, nil
}

// request is the question of the action ask; the key and the text may stand in
// for what they are here. Nothing to ask by is nothing asked.
func (b *acting) request() *approvals.Request {
	r := b.asking.request(approvals.Kind(b.Kind))
	if r.RequestID == "" {
		r.RequestID = b.Key
	}
	if r.Prompt == "" {
		r.Prompt = b.Text
	}
	if r.RequestID == "" || r.Kind == "" {
		return nil
	}
	return r
}

// timeout reads milliseconds; what is beyond any bound is clamped later (DE-2).
func timeout(ms int64) time.Duration {
	return time.Duration(min(max(ms, 0), (48*time.Hour).Milliseconds())) * time.Millisecond
}

// act is POST /v1/tickets/{id}/actions. A refusal is an answer, not a problem:
// {"ok": false, "error": {code, message}} (AC-1).
func (a *api) act(ctx context.Context, c call) (any, error) {
	t, err := a.own(ctx, c)
	if err != nil {
		return nil, err
	}
	var body acting
	if err := c.body.json(&body); err != nil {
		return nil, err
	}
	cmd, err := body.command()
	if err != nil {
		return nil, err
	}
	done, err := a.desk.Act(ctx, t.ID, cmd)
	if err != nil {
		return nil, fmt.Errorf("act on %s: %w", t.ID, err)
	}
	return done, nil
}

// stopTicket is POST /v1/tickets/{id}/stop (ST-2); the answer is the Ticket.
func (a *api) stopTicket(ctx context.Context, c call) (any, error) {
	t, err := a.own(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := a.desk.StopByCommand(ctx, t.ID, "api:"+c.who.name); err != nil {
		return nil, fmt.Errorf("stop %s: %w", t.ID, err)
	}
	return a.getTicket(ctx, c)
}

// unsubscribe is DELETE /v1/tickets/{id}/subscriptions/{thread} (SU-5a).
func (a *api) unsubscribe(ctx context.Context, c call) (any, error) {
	t, err := a.own(ctx, c)
	if err != nil {
		return nil, err
	}
	if !sound(c.thread) {
		return nil, orchestrator.ErrNotFound
	}
	if err := a.desk.Unsubscribe(ctx, t.ID, gate.ThreadID(c.thread), "api:"+c.who.name); err != nil {
		return nil, fmt.Errorf("unsubscribe %s: %w", t.ID, err)
	}
	return answered{http.StatusNoContent, nil}, nil
}
