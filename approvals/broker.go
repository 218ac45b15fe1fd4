package approvals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// How often a transition is tried again from fresh state. Each conflict means
// that somebody else's commit succeeded. A line of history gives up first, so
// that a storm of clicks that change nothing does not outlast the one that
// does.
const (
	maxTries = 32
	maxNotes = 8
)

// BrokerConfig is what a Broker works with. Workspace, Store and Directory are
// needed; the rest has defaults.
type BrokerConfig struct {
	Workspace string
	Store     Store
	Directory Directory
	Settings  Settings
	// Linked tells which accounts the configuration or an operator bound to
	// one (PL-3); nil: none.
	Linked func(source gate.SourceID, who gate.Sender) []gate.Account
	// Named is somebody under the entries of a list that name them by what only
	// a look-up can tell, such as a login (GH-6); nil: nobody is.
	Named func(source gate.SourceID, who gate.Sender, list []string) gate.Sender
	// Now and NewID are the clock and the source of fresh approval ids.
	Now    func() time.Time
	NewID  func() string
	Logger *slog.Logger
}

// Broker opens questions, takes their answers and waits for them. It decides
// nothing: it loads a Question, calls one of the pure transitions and commits
// the new state with its effects in one step, again from fresh state on a
// conflict. Any number of Brokers may share a Store.
type Broker struct {
	workspace string
	store     Store
	directory Directory
	settings  Settings
	linked    func(gate.SourceID, gate.Sender) []gate.Account
	named     func(gate.SourceID, gate.Sender, []string) gate.Sender
	now       func() time.Time
	newID     func() string
	log       *slog.Logger
	waiters   *waiters
	openings  openings
}

// NewBroker returns a Broker.
func NewBroker(c BrokerConfig) *Broker {
	b := &Broker{
		workspace: c.Workspace, store: c.Store, directory: c.Directory, settings: c.Settings,
		linked: c.Linked, named: c.Named, now: c.Now, newID: c.NewID,
		log: cmp.Or(c.Logger, slog.New(slog.DiscardHandler)), waiters: newWaiters(),
	}
	if b.linked == nil {
		b.linked = func(gate.SourceID, gate.Sender) []gate.Account { return nil }
	}
	if b.named == nil {
		b.named = func(_ gate.SourceID, who gate.Sender, _ []string) gate.Sender { return who }
	}
	if b.now == nil {
		b.now = time.Now
	}
	if b.newID == nil {
		b.newID = uuid.NewString
	}
	return b
}

// Open asks a session's question. created is false where the key was used
// before: then the first question is returned as it stands, untouched, with no
// second card (DE-3). The commit holds the audit lines too, so that one that
// fails leaves no question (AP-5).
//
// It returns ErrInvalid for a request that breaks DE-2, ErrTooManyOpen (DE-8),
// and ErrConflict when the session's Guard is not the stored version any more:
// the caller loads the session and tries again.
func (b *Broker) Open(ctx context.Context, s Session, r Request) (q Question, created bool, err error) {
	id := IDFor(b.workspace, s.ID, r.RequestID)
	q, err = b.store.Question(ctx, id)
	switch {
	case err == nil:
		return b.reopen(ctx, q, s, r)
	case !errors.Is(err, ErrNotFound):
		return Question{}, false, fmt.Errorf("load question %s: %w", id, err)
	}
	q, err = b.create(ctx, s, r)
	if errors.Is(err, ErrConflict) {
		// Another replica may have opened it first; else it is the Guard.
		if first, again := b.store.Question(ctx, id); again == nil {
			return b.reopen(ctx, first, s, r)
		}
	}
	if err != nil {
		return Question{}, false, fmt.Errorf("open question %s: %w", id, err)
	}
	return q, true, nil
}

func (b *Broker) create(ctx context.Context, s Session, r Request) (Question, error) {
	ids := IDs{Workspace: b.workspace, Approval: b.newID()}
	q, eff, err := Open(r, s, b.settings, ids, b.now())
	if err != nil {
		return Question{}, err
	}
	if err := b.room(ctx, q); err != nil {
		return Question{}, err
	}
	if err := b.commit(ctx, Change{Questions: []Question{q}, Guard: s.Guard, Effects: eff}); err != nil {
		return Question{}, err
	}
	b.log.InfoContext(ctx, "open question", "question", q.ID, "session", s.ID, "kind", q.Kind, "status", q.Status)
	b.countOpening(ctx, s.ID)
	return q, nil
}

// room refuses a question beyond what the session may have open (DE-8). One
// that is decided at once takes no room. Two at one time may both find the
// last place: the limit is against bugs, not exact.
func (b *Broker) room(ctx context.Context, q Question) error {
	if b.settings.MaxOpen <= 0 || q.Status.Terminal() {
		return nil
	}
	open, err := b.store.OpenQuestions(ctx, q.Session.ID)
	if err != nil {
		return fmt.Errorf("list open questions: %w", err)
	}
	n := 0
	for _, o := range open {
		if !AsOf(o, b.now()).Status.Terminal() {
			n++
		}
	}
	if n < b.settings.MaxOpen {
		return nil
	}
	b.log.WarnContext(ctx, "refuse question", "session", q.Session.ID, "open", n, "reason", "too many open")
	return ErrTooManyOpen
}

func (b *Broker) reopen(ctx context.Context, q Question, s Session, r Request) (Question, bool, error) {
	q, err := b.change(ctx, q, func(q Question, now time.Time) (Question, Effects, bool) {
		q, eff, other := Reopen(q, r, s, b.settings, now)
		return q, eff, other
	})
	if err != nil {
		return q, false, err
	}
	q, err = b.timedOut(ctx, q)
	return q, false, err
}

// transition is a pure step on one question; changed is false when there is
// nothing to commit.
type transition func(q Question, now time.Time) (next Question, eff Effects, changed bool)

// change commits a transition, from fresh state as often as the row changed
// meanwhile, and returns the question as it came to be. The error is
// ErrConflict only after maxTries; the question is then as it would be. A mere
// line of history that loses maxNotes races is left out: who clicks in a storm
// still gets the verdict, which the line cannot change.
func (b *Broker) change(ctx context.Context, q Question, step transition) (Question, error) {
	for try := 1; ; try++ {
		next, eff, changed := step(q, b.now())
		if !changed {
			return next, nil
		}
		err := b.commit(ctx, Change{Questions: []Question{next}, Effects: eff})
		switch {
		case err == nil:
			return next, nil
		case !errors.Is(err, ErrConflict), try == maxTries:
			return next, fmt.Errorf("commit question %s: %w", q.ID, err)
		case try >= maxNotes && onlyNoted(q, next, eff):
			b.log.WarnContext(ctx, "note event", "question", q.ID, "err", err)
			return next, nil
		}
		if q, err = b.load(ctx, q.ID); err != nil {
			return next, err
		}
	}
}

// commit stores a change and wakes who waits for its questions here.
func (b *Broker) commit(ctx context.Context, c Change) error {
	if err := b.store.CommitQuestions(ctx, c); err != nil {
		return err
	}
	for _, q := range c.Questions {
		if q.Status.Terminal() {
			b.waiters.wake(q.ID)
		}
	}
	return nil
}

func (b *Broker) load(ctx context.Context, id ID) (Question, error) {
	q, err := b.store.Question(ctx, id)
	if err != nil {
		return Question{}, fmt.Errorf("load question %s: %w", id, err)
	}
	return q, nil
}
