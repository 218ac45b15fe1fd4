package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Handout is an Eval as the driver sees it: its candidates, the notices of the
// Thread that was claimed, and the Tickets that have one of its Threads as their
// own. A Thread whose Eval goes by another one has only its notices.
type Handout struct {
	// Thread is the one that was claimed.
	Thread        Thread
	Eval          *Eval // nil: only notices
	PolicyVersion int
	Policy        *gate.Policy
	// Listed are the candidates and notices whose senders are on today's allow
	// list.
	Listed     map[gate.TriggerID]bool
	Candidates []Message
	// Riders are what is one candidate with one of them (EV-1).
	Riders  map[gate.TriggerID][]Message
	Notices []Message
	Tickets []Ticket
	// Redelivered: the session had it before (EV-5).
	Redelivered bool
}

// ErrEvaluation: the driver was asked and its answers stayed invalid (EV-5).
var ErrEvaluation = errors.New("evaluation failed")

// Driver decides candidates in the place of the main Session (DR-1).
type Driver interface {
	// Consider returns items for the candidates and notices. Candidates
	// without an item stay undecided. An error that is ErrEvaluation says that
	// the evaluation failed; any other, that the driver was not reached (EV-5).
	Consider(ctx context.Context, h Handout) ([]Routed, error)
}

// Routed is an item with the evaluation that it came out of, if any.
type Routed struct {
	Item
	Evaluated bool
	Verdicts  []RuleVerdict
	// Ask, when set, decides nothing: it is said where the Trigger was said.
	Ask string
}

// Considerer hands Evals to a driver in this process and routes its answer.
type Considerer struct {
	Service *Service
	Driver  Driver
	// Session is the driver's name in the Evals that it holds.
	Session string
}

// Handle takes one Thread's candidates and notices through the driver. A crash
// in between loses nothing: the Eval stays under way on the Thread and is
// considered again (EV-7).
func (c *Considerer) Handle(ctx context.Context, claim Claim) error {
	id := gate.ThreadID(claim.Key)
	beside, err := c.Service.beside(ctx, claim)
	if err != nil {
		return err
	}
	if err := c.Service.FormEval(ctx, id, beside, c.Session); err != nil {
		return fmt.Errorf("form eval of %s: %w", id, err)
	}
	for left := 1; left > 0; {
		var err error
		if left, err = c.consider(ctx, id); err != nil {
			return err
		}
	}
	return c.Service.considered(ctx, claim)
}

// consider takes one hand-out through the driver. It returns how many
// candidates the driver left for the next one, which it sees the effect of this
// one in; 0 when this one had none.
func (c *Considerer) consider(ctx context.Context, id gate.ThreadID) (left int, err error) {
	h, err := c.Service.handout(ctx, id)
	if err != nil {
		return 0, err
	}
	items, err := c.Driver.Consider(ctx, h)
	if err != nil {
		return 0, c.unconsidered(ctx, h, err)
	}
	c.Service.Calls.mark(c.Service.Now())
	for _, it := range items {
		if err := c.carryOut(ctx, h, it); err != nil {
			return 0, err
		}
	}
	if err := c.Service.AckNotices(ctx, id, ids(h.Notices)); err != nil {
		return 0, fmt.Errorf("acknowledge notices: %w", err)
	}
	return c.Service.undecided(ctx, h)
}

// unconsidered ends what the driver could not consider. An evaluation that
// failed is recorded; a driver that was not reached has not been given the
// Eval, and the claim is tried again with back-off (EV-5).
func (c *Considerer) unconsidered(ctx context.Context, h Handout, cause error) error {
	cause = fmt.Errorf("consider %s: %w", h.Thread.ID, cause)
	switch {
	case h.Eval == nil:
		return cause
	case errors.Is(cause, ErrEvaluation):
		c.Service.Log.WarnContext(ctx, "evaluation failed", "eval", h.Eval.ID, "thread", h.Thread.ID, "err", cause)
		if err := c.Service.FailEval(ctx, h.Eval.ID, "the evaluation failed"); err != nil {
			return fmt.Errorf("record failed eval %s: %w", h.Eval.ID, err)
		}
		return nil
	}
	if err := c.Service.returnEval(context.WithoutCancel(ctx), h.Eval.ID); err != nil {
		return errors.Join(cause, err)
	}
	return cause
}

// Handlers are those of the three lines (EV-1).
func (c *Considerer) Handlers() map[approvals.DueKind]Handler {
	all := map[approvals.DueKind]Handler{}
	for _, line := range EvalLines() {
		all[line] = c.Service.Unpaused(c.Handle)
	}
	return all
}

func (c *Considerer) carryOut(ctx context.Context, h Handout, it Routed) error {
	if it.Ask != "" {
		return c.Service.AskBack(ctx, it.Trigger, it.Ask)
	}
	return c.route(ctx, h, it)
}

func (c *Considerer) route(ctx context.Context, h Handout, it Routed) error {
	r := Ruling{PolicyVersion: h.PolicyVersion, By: ByMainSession, Evaluated: it.Evaluated, Verdicts: it.Verdicts}
	if h.Eval != nil {
		r.Eval = h.Eval.ID
	}
	res, err := c.Service.Route(ctx, it.Item, r)
	if err != nil {
		return fmt.Errorf("route %s: %w", it.Trigger, err)
	}
	log := c.Service.Log.With("trigger", it.Trigger, "action", it.Action, "ticket", res.Ticket, "decision", res.Decision)
	if res.Error != nil {
		log.WarnContext(ctx, "route refused", "reason", res.Error.Code)
		return c.settle(ctx, it, r, res.Error)
	}
	log.InfoContext(ctx, "routed")
	return nil
}

// settle gives a candidate whose item was refused for good a visible end
// (OUT-6). The other refusals mean that it is decided, gone, or comes again.
func (c *Considerer) settle(ctx context.Context, it Routed, r Ruling, why *RouteError) error {
	switch why.Code {
	case CodeExecutorNotAllowed, CodeNeedsNewAccept, CodeSenderNotListed, CodeUnknownTicket, CodeMissingField:
	default:
		return nil
	}
	end := Item{Trigger: it.Trigger, Action: ActIgnore, Reason: string(why.Code)}
	if _, err := c.Service.Route(ctx, end, r); err != nil {
		return fmt.Errorf("settle %s: %w", it.Trigger, err)
	}
	return nil
}

func ids(messages []Message) []gate.TriggerID {
	list := make([]gate.TriggerID, len(messages))
	for i, m := range messages {
		list[i] = m.ID
	}
	return list
}

// handout reads what a driver needs to decide a Thread's candidates.
func (s *Service) handout(ctx context.Context, id gate.ThreadID) (Handout, error) {
	st, f, err := s.load(ctx, Want{Threads: []gate.ThreadID{id}})
	if err != nil {
		return Handout{}, err
	}
	th := st.Threads[id]
	h := Handout{Thread: th, PolicyVersion: f.Policy.Version, Policy: f.Policy, Listed: map[gate.TriggerID]bool{}, Riders: map[gate.TriggerID][]Message{}}
	threads := []gate.ThreadID{id}
	if e, ok := st.Evals[th.Eval]; ok && e.Thread == id {
		threads = e.Threads()
		h.Eval, h.PolicyVersion = &e, e.PolicyVersion
		h.Candidates = pick(st.Messages, e.Undecided)
		for _, m := range h.Candidates {
			h.Listed[m.ID] = f.lists(m.Source, m.Sender).Allow == gate.Yes
			on := st.Threads[m.Thread]
			h.Riders[m.ID] = riders(st.Messages, &on, &m)
		}
	}
	h.Notices = pick(st.Messages, th.Notices)
	for _, m := range h.Notices {
		h.Listed[m.ID] = f.lists(m.Source, m.Sender).Allow == gate.Yes
	}
	for _, id := range sortedKeys(st.Tickets) {
		if t := st.Tickets[id]; slices.ContainsFunc(threads, t.owns) {
			h.Tickets = append(h.Tickets, t)
		}
	}
	return h, nil
}

// undecided counts the candidates of a hand-out that still need an item, or 0
// if none of them was decided.
func (s *Service) undecided(ctx context.Context, h Handout) (int, error) {
	if h.Eval == nil {
		return 0, nil
	}
	now, err := s.handout(ctx, h.Thread.ID)
	if err != nil || now.Eval == nil || now.Eval.ID != h.Eval.ID || len(now.Candidates) >= len(h.Candidates) {
		return 0, err
	}
	return len(now.Candidates), nil
}

func pick(all map[gate.TriggerID]Message, ids []gate.TriggerID) []Message {
	var list []Message
	for _, id := range ids {
		if m, ok := all[id]; ok {
			list = append(list, m)
		}
	}
	return list
}

// considerAgain is how long candidates that the driver left undecided wait.
const considerAgain = 5 * time.Second

// considered gives the claim of a Thread up, or keeps it due when candidates
// or notices came meanwhile.
func (s *Service) considered(ctx context.Context, c Claim) error {
	id := gate.ThreadID(c.Key)
	for range commitTries {
		st, err := s.Store.Load(ctx, Want{Threads: []gate.ThreadID{id}})
		if err != nil {
			return fmt.Errorf("load thread %s: %w", id, err)
		}
		th := st.Threads[id]
		waiting, err := s.Store.Load(ctx, Want{Messages: th.Queue})
		if err != nil {
			return fmt.Errorf("load queue of %s: %w", id, err)
		}
		ch := Changes{Claim: &c, Read: []approvals.Guard{{Kind: KindThread, ID: c.Key, Version: th.Version}}}
		switch {
		case th.Eval != "":
			ch.Next = s.Now().Add(considerAgain)
		case len(th.Notices) > 0:
			ch.Next = s.Now()
		default:
			ch.Next = ready(th.Queue, s.Now(), func(id gate.TriggerID) time.Time { return waiting.Messages[id].Until })
		}
		if err = s.Store.Commit(ctx, ch); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("give up thread %s: %w", id, ErrConflict)
}
