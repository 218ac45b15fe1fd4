package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Asker opens questions; approvals.Broker is one.
type Asker interface {
	Open(ctx context.Context, s approvals.Session, r approvals.Request) (q approvals.Question, created bool, err error)
	Expire(ctx context.Context, id approvals.ID) error
	// MayAnswer tells whether somebody may answer a question, or why not (CA-3).
	MayAnswer(ctx context.Context, q approvals.Question, r approvals.AnswerRequest) (reason string, ok bool)
}

// Opener tells who opened an issue or pull request, and when (SU-9).
type Opener interface {
	// Opened asks the platform. ErrNotFound: no Source has that URL, or the
	// platform knows nothing of it.
	Opened(ctx context.Context, url string) (Opened, error)
}

// ServiceConfig is what a Service needs.
type ServiceConfig struct {
	Store     Store
	Asker     Asker
	Directory approvals.Directory
	// Links may be nil: then nobody has another account (PL-3).
	Links *Links
	// Opener may be nil: then nothing that an Executor opened is believed.
	Opener   Opener
	Sources  map[gate.SourceID]*gate.Source
	Settings Settings
	// Contexts read what was said near a Trigger, by Source (EV-2a). Without one
	// a card has what the gateway itself received.
	Contexts map[gate.SourceID]Context
	// Rereaders read edited messages back, by Source (TR-4). Optional.
	Rereaders map[gate.SourceID]Rereader
	// Redeliverers search for what was missed, by Source (GH-8).
	Redeliverers map[gate.SourceID]Redeliverer
	// Witnesses look at CI, by Source (GH-3). Without one what CI tells is taken
	// as it is.
	Witnesses map[gate.SourceID]Witness
	Now       func() time.Time
	// NewID returns a fresh id with that prefix, growing with time.
	NewID func(prefix string) string
	Log   *slog.Logger
}

// Service carries out what happens: it loads the part of the workspace that
// an event touches, calls one pure transition and commits its Changes, again
// from fresh state when something moved meanwhile.
type Service struct {
	ServiceConfig
	// Calls are those of the main Session.
	Calls Calls
}

// NewService returns a Service over a store.
func NewService(c ServiceConfig) *Service { return &Service{ServiceConfig: c} }

// Receive takes an arrival in (TR-2): when it returns nil the Trigger is
// durable, or was known before (TR-1), or concerns nobody (AD-9).
func (s *Service) Receive(ctx context.Context, a gate.Arrival) error {
	s.stamp(&a.Trigger)
	if s.ancient(a.Trigger) {
		s.Log.InfoContext(ctx, "trigger older than the dedupe life", "source", a.Trigger.Source, "scope", a.Trigger.Scope)
		return nil
	}
	if a.Change.Kind != gate.NoChange {
		if of, err := s.meant(ctx, &a); err != nil || !of {
			return err
		}
	}
	_, err := s.store(ctx, a)
	return err
}

// Replay takes a recorded arrival in though it may be known: as a Trigger of
// its own, marked with the operator who forced it (TR-7). Its age counts for
// nothing, since the operator knows it. NotLive says that it concerns nobody.
func (s *Service) Replay(ctx context.Context, a gate.Arrival, by string) (gate.TriggerID, Receipt, error) {
	s.stamp(&a.Trigger)
	a.Trigger.ReplayedBy = by
	a.Keys = []string{"replay:" + string(a.Trigger.ID)}
	r, err := s.store(ctx, a)
	return a.Trigger.ID, r, err
}

func (s *Service) stamp(t *gate.Trigger) {
	t.ID, t.Workspace, t.ReceivedAt = gate.TriggerID(s.NewID("trg_")), s.Settings.Workspace, s.Now()
}

func (s *Service) store(ctx context.Context, a gate.Arrival) (Receipt, error) {
	r, err := s.Store.Receive(ctx, a)
	if err != nil {
		return "", fmt.Errorf("receive trigger: %w", err)
	}
	s.Log.InfoContext(ctx, "trigger received", "source", a.Trigger.Source, "scope", a.Trigger.Scope,
		"thread", a.Trigger.Thread, "trigger", a.Trigger.ID, "receipt", r)
	return r, nil
}

// ancient: older than the life of the dedupe keys, so that nobody can tell a
// duplicate any more; it is treated as one (TR-6).
func (s *Service) ancient(t gate.Trigger) bool {
	return s.Settings.DedupeLife > 0 && !t.OccurredAt.IsZero() && t.ReceivedAt.Sub(t.OccurredAt) > s.Settings.DedupeLife
}

// transition is one pure function with its event bound.
type transition func(State, Facts) Changes

// commitTries bounds how often a commit is tried from fresh state.
const commitTries = 20

// transact loads the neighbourhood of want, calls the transition and commits.
func (s *Service) transact(ctx context.Context, want Want, step transition) error {
	for range commitTries {
		st, facts, err := s.load(ctx, want)
		if err != nil {
			return err
		}
		c := step(st, facts.Facts)
		c.Read = append(c.Read, approvals.Guard{Kind: KindPolicy, Version: facts.version})
		err = s.Store.Commit(ctx, c)
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("commit after %d tries: %w", commitTries, ErrConflict)
}

// facts are Facts with the stored version of the Policy record.
type facts struct {
	Facts
	version int64
}

func (s *Service) load(ctx context.Context, want Want) (State, facts, error) {
	st, err := neighbourhood(ctx, s.Store, want)
	if err != nil {
		return State{}, facts{}, fmt.Errorf("load state: %w", err)
	}
	p, err := s.Store.PolicyInForce(ctx)
	if errors.Is(err, ErrNotFound) {
		// A store that was emptied under us: whoever brought the Policy into
		// force does so again, and the work waits.
		err = fmt.Errorf("no policy is in force: %w", ErrUnavailable)
	}
	if err != nil {
		return State{}, facts{}, fmt.Errorf("load policy: %w", err)
	}
	f := Facts{
		Now: s.Now(), Policy: &p.Policy, Sources: s.Sources, Settings: s.Settings, NewID: s.NewID,
		Pauses: p.Pauses, Lists: s.listsOf(ctx, &st), Linked: s.linkedOf(&st), Usage: map[gate.TriggerID]gate.Usage{},
	}
	for id, m := range st.Messages {
		f.Usage[id], err = s.usageOf(ctx, &m, f.lists(m.Source, m.Sender), f.Now)
		if err != nil {
			return State{}, facts{}, err
		}
	}
	if f.Lines, err = s.linesFor(ctx, &st, f.Now); err != nil {
		return State{}, facts{}, err
	}
	return st, facts{f, p.Version}, nil
}

// listsOf asks the directory about everybody whom a transition may ask about.
func (s *Service) listsOf(ctx context.Context, st *State) map[Who]gate.Lists {
	lists := map[Who]gate.Lists{}
	ask := func(source gate.SourceID, sender gate.Sender) {
		who := WhoIs(source, sender)
		if _, asked := lists[who]; !asked {
			lists[who] = s.Directory.Lists(ctx, source, sender)
		}
	}
	for _, m := range st.Messages {
		ask(m.Source, m.Sender)
	}
	for _, t := range st.Tickets {
		ask(t.Mandate.Source, t.Mandate.Sender)
	}
	return lists
}

// linkedOf finds the other accounts of who said the messages.
func (s *Service) linkedOf(st *State) map[Who][]gate.Account {
	linked := map[Who][]gate.Account{}
	for _, m := range st.Messages {
		if others := s.Links.Of(m.Source, m.Sender); len(others) > 0 {
			linked[WhoIs(m.Source, m.Sender)] = others
		}
	}
	return linked
}

// Arrive carries out Arrive for a message of a claimed inbox partition.
func (s *Service) Arrive(ctx context.Context, id gate.TriggerID, c Claim) error {
	st, err := s.Store.Load(ctx, Want{Messages: []gate.TriggerID{id}})
	if err != nil {
		return fmt.Errorf("load trigger %s: %w", id, err)
	}
	m := st.Messages[id]
	if m.Run != nil && m.Run.Top == "" {
		return s.arriveUnseen(ctx, &m, c)
	}
	if m.Change.Kind != gate.NoChange {
		return s.arriveChange(ctx, &m, c)
	}
	root, err := s.directRoot(ctx, &m)
	if err != nil {
		return err
	}
	named, err := s.commandedOn(ctx, &m)
	if err != nil {
		return err
	}
	judged, err := s.replies(ctx, &m)
	if err != nil {
		return err
	}
	want := Want{Messages: []gate.TriggerID{id, root}, Tickets: named}
	var lost error
	err = s.transact(ctx, want, func(st State, f Facts) Changes {
		if lost = s.bring(ctx, &st, judged); lost != nil {
			return Changes{}
		}
		f.Verdicts = judged
		ch := Arrive(st, id, f)
		ch.Claim, ch.Keep, ch.Took = &c, true, []gate.TriggerID{id}
		return ch
	})
	return errors.Join(lost, err)
}

// directRoot finds the message that a reply in a DM goes back to (TH-2), or "".
func (s *Service) directRoot(ctx context.Context, m *Message) (gate.TriggerID, error) {
	if m.Addressing != gate.Direct || m.Place.Root == "" {
		return "", nil
	}
	root, err := s.Store.Known(ctx, gate.MessageKey(m.Source, m.Place.Root))
	if err != nil && !errors.Is(err, ErrNotFound) {
		return "", fmt.Errorf("find the root of trigger %s: %w", m.ID, err)
	}
	return root, nil
}

// FormEval carries out FormEval.
func (s *Service) FormEval(ctx context.Context, id gate.ThreadID, beside []gate.ThreadID, session string) error {
	return s.transact(ctx, Want{Threads: append([]gate.ThreadID{id}, beside...)}, func(st State, f Facts) Changes {
		ch := FormEval(st, id, beside, session, f)
		ch.Next = time.Time{} // that is for who gives a claim up
		return ch
	})
}

// Route carries out one route item (RO-1).
func (s *Service) Route(ctx context.Context, it Item, r Ruling) (Result, error) {
	// The Eval may have ended by an earlier item of the same call (RO-8, RO-9).
	want := Want{Messages: []gate.TriggerID{it.Trigger}, Tickets: []gate.TicketID{it.Ticket}, Evals: []gate.EvalID{r.Eval}}
	var res Result
	err := s.transact(ctx, want, func(st State, f Facts) Changes {
		var c Changes
		c, res = Route(st, it, r, f)
		return c
	})
	return res, err
}

// AskBack carries out AskBack.
func (s *Service) AskBack(ctx context.Context, id gate.TriggerID, text string) error {
	return s.transact(ctx, Want{Messages: []gate.TriggerID{id}}, func(st State, f Facts) Changes {
		return AskBack(st, id, text, f)
	})
}

// AckNotices carries out AckNotices.
func (s *Service) AckNotices(ctx context.Context, id gate.ThreadID, seen []gate.TriggerID) error {
	return s.transact(ctx, Want{Threads: []gate.ThreadID{id}}, func(st State, f Facts) Changes {
		return AckNotices(st, id, seen, f)
	})
}

// StopByCommand carries out StopByCommand.
func (s *Service) StopByCommand(ctx context.Context, id gate.TicketID, by string) error {
	var refused error
	err := s.transact(ctx, Want{Tickets: []gate.TicketID{id}}, func(st State, f Facts) Changes {
		var c Changes
		c, refused = StopByCommand(st, id, by, f)
		return c
	})
	return errors.Join(refused, err)
}
