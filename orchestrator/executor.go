package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// TurnInput is an Input with the row that it points to.
type TurnInput struct {
	Input
	Message  *Message
	Question *approvals.Question
	// Around reads what was said near the message that started the Ticket, as
	// of its time (EV-2a). It is set on that Input, the first, and nil else.
	Around func(context.Context) gate.Surroundings
}

// Turn is what an embedded Executor is given: all Inputs that no Report or
// turn end covers yet, oldest first, those of an interrupted turn again. So an
// Executor that gives its actions keys can start over at any time (AC-2).
type Turn struct {
	Ticket Ticket
	Inputs []TurnInput
	// Act does an action (Service.Act).
	Act func(ctx context.Context, cmd Command) (Performed, error)
	// Question returns the latest state of a question that was asked. A turn
	// that saw one open, and returns, waits for its answer.
	Question func(ctx context.Context, id approvals.ID) (approvals.Question, error)
	// open are the questions that the turn saw open when it looked last.
	open *questionSet
}

// Executor is an agent in this process that does Tickets' work. Turn returns
// when it has nothing more to do for now; an error has the turn run again.
type Executor interface {
	Turn(ctx context.Context, t Turn) error
}

// Runner runs the turns of the embedded Executors.
type Runner struct {
	Service   *Service
	Executors map[string]Executor
}

// Handle runs turns of one Ticket until it has nothing left to hand over. A
// Ticket of a remote Executor is left to that Executor.
func (r *Runner) Handle(ctx context.Context, c Claim) error {
	id := gate.TicketID(c.Key)
	for {
		t, asking, err := r.Service.turnOf(ctx, id)
		if err != nil {
			return err
		}
		ex := r.Executors[t.Executor]
		if ex == nil || !t.Active() || t.Delivered == t.Seq && (!t.Turn || asking && t.Parked == t.Delivered) {
			err := r.Service.giveUp(ctx, c, approvals.Guard{Kind: KindTicket, ID: c.Key, Version: t.Version})
			if errors.Is(err, ErrConflict) {
				continue
			}
			return err
		}
		opened, err := r.turn(ctx, id, ex)
		switch {
		case err != nil:
			return fmt.Errorf("turn of %s: %w", id, err)
		case opened:
			continue
		}
		if err := r.Service.wait(ctx, c); !errors.Is(err, ErrConflict) {
			return err
		}
	}
}

// queuedAgain is when a Ticket that waits for a place looks again, if nobody
// who gave one up let it in.
const queuedAgain = 2 * time.Second

// wait keeps the work of a Ticket due that may not be set to work now (EX-5):
// until somebody lets it in, or the next day. ErrConflict: look again.
func (s *Service) wait(ctx context.Context, c Claim) error {
	t, err := s.ticket(ctx, gate.TicketID(c.Key))
	if err != nil {
		return err
	}
	next := s.Now().Add(queuedAgain)
	if t.blocked(s.Now()) {
		next = tomorrow(s.Now())
		if err := s.askBudget(ctx, t); err != nil {
			return err
		}
	}
	read := approvals.Guard{Kind: KindTicket, ID: c.Key, Version: t.Version}
	return s.Store.Commit(ctx, Changes{Claim: &c, Next: next, Read: []approvals.Guard{read}})
}

// askBudget asks the approvers whether a Ticket may go on whose budget is used
// up (EX-5). Asking again changes nothing (DE-3). ErrConflict: the Ticket is not
// as it was read.
func (s *Service) askBudget(ctx context.Context, t Ticket) error {
	_, _, err := s.Asker.Open(ctx, t.session(s.Settings.Language), overBudget(&t, s.Settings, s.Now()))
	if errors.Is(err, approvals.ErrTooManyOpen) {
		s.Log.WarnContext(ctx, "ask about a budget", "ticket", t.ID, "err", err)
		return nil
	}
	return err
}

// turn opens the turn, if it may, runs the Executor, and ends the turn unless it
// waits for an answer: then it stays open until that comes (AP-7, DE-10).
func (r *Runner) turn(ctx context.Context, id gate.TicketID, ex Executor) (opened bool, err error) {
	_, t, err := r.Service.take(ctx, id)
	if err != nil || !t.works() {
		return !t.Active(), err
	}
	return true, r.run(ctx, id, ex)
}

func (r *Runner) run(ctx context.Context, id gate.TicketID, ex Executor) error {
	s := r.Service
	turn, err := s.turnInputs(ctx, id)
	if err != nil {
		return err
	}
	if len(turn.Inputs) > 0 {
		if err := ex.Turn(ctx, turn); err != nil {
			return err
		}
	}
	t, asking, err := s.turnOf(ctx, id)
	switch {
	case err != nil || !t.Active():
		return err
	case asking || turn.open.some(): // the answer may have come when it was leaving
		return s.park(ctx, id, turn.Ticket.Delivered)
	}
	_, err = s.Act(ctx, id, Command{Verb: VerbTurnEnd, Upto: turn.Ticket.Delivered})
	return err
}

// park records that the Executor is done with what it was given and waits for
// an answer. A process that dies before that leaves an interrupted turn, which
// is run again.
func (s *Service) park(ctx context.Context, id gate.TicketID, upto int) error {
	return s.transact(ctx, Want{Tickets: []gate.TicketID{id}}, func(st State, f Facts) Changes {
		return Park(st, id, upto, f)
	})
}

// turnOf reads a Ticket; asking says that a question of it is open, which keeps
// its turn open (AP-7).
func (s *Service) turnOf(ctx context.Context, id gate.TicketID) (t Ticket, asking bool, err error) {
	st, err := s.Store.Load(ctx, Want{Tickets: []gate.TicketID{id}, Questions: true})
	if err != nil {
		return Ticket{}, false, fmt.Errorf("load ticket %s: %w", id, err)
	}
	return st.Tickets[id], len(st.Questions) > 0, nil
}

// turnInputs gathers what the open turn hands over.
func (s *Service) turnInputs(ctx context.Context, id gate.TicketID) (Turn, error) {
	st, err := s.Store.Load(ctx, Want{Tickets: []gate.TicketID{id}})
	if err != nil {
		return Turn{}, fmt.Errorf("load ticket %s: %w", id, err)
	}
	t := st.Tickets[id]
	inputs, err := s.Store.Inputs(ctx, id, t.Covered)
	if err != nil {
		return Turn{}, fmt.Errorf("load inputs of %s: %w", id, err)
	}
	turn := s.newTurn(t)
	for _, in := range inputs {
		if in.Seq > t.Delivered {
			break
		}
		full, err := s.resolve(ctx, in)
		if err != nil {
			return Turn{}, err
		}
		turn.Inputs = append(turn.Inputs, full)
	}
	turn.Inputs = s.surround(&t, t.kept(turn.Inputs))
	return turn, nil
}

// newTurn is a turn that remembers which questions it saw open.
func (s *Service) newTurn(t Ticket) Turn {
	turn := Turn{Ticket: t, open: &questionSet{}}
	turn.Act = func(ctx context.Context, cmd Command) (Performed, error) { return s.Act(ctx, t.ID, cmd) }
	turn.Question = func(ctx context.Context, id approvals.ID) (approvals.Question, error) {
		q, err := s.Store.Question(ctx, id)
		turn.open.put(id, err == nil && !q.Status.Terminal())
		return q, err
	}
	return turn
}

// questionSet is a set of questions that several goroutines may use.
type questionSet struct {
	mu  sync.Mutex
	ids map[approvals.ID]bool
}

func (s *questionSet) put(id approvals.ID, in bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil {
		s.ids = map[approvals.ID]bool{}
	}
	s.ids[id] = in
}

func (s *questionSet) some() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(slices.Collect(maps.Values(s.ids)), true)
}

// resolve reads the row that an Input points to.
func (s *Service) resolve(ctx context.Context, in Input) (TurnInput, error) {
	full := TurnInput{Input: in}
	if in.Trigger != "" {
		st, err := s.Store.Load(ctx, Want{Messages: []gate.TriggerID{in.Trigger}})
		if err != nil {
			return full, fmt.Errorf("load trigger %s: %w", in.Trigger, err)
		}
		if m, ok := st.Messages[in.Trigger]; ok {
			full.Message = &m
		}
	}
	if in.Question != "" {
		q, err := s.Store.Question(ctx, in.Question)
		if err != nil {
			return full, fmt.Errorf("load question %s: %w", in.Question, err)
		}
		full.Question = &q
	}
	return full, nil
}
