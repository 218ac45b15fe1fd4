package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// Lists is what the lists are read from; every orchestrator.Store is one. A
// cursor that is none of its own is approvals.ErrInvalid.
type Lists interface {
	ListMessages(ctx context.Context, f orchestrator.MessageFilter, p orchestrator.Page) ([]orchestrator.Message, string, error)
	ListTickets(ctx context.Context, f orchestrator.TicketFilter, p orchestrator.Page) ([]orchestrator.Ticket, string, error)
	ListDecisions(ctx context.Context, f orchestrator.DecisionFilter, p orchestrator.Page) ([]orchestrator.Decision, string, error)
	ListThreads(ctx context.Context, p orchestrator.Page) ([]orchestrator.Thread, string, error)
	Depths(ctx context.Context) (orchestrator.Depths, error)
}

// Records is what single objects are read from; every orchestrator.Store is
// one.
type Records interface {
	// Load reads the records named; those that do not exist are left out.
	Load(ctx context.Context, w orchestrator.Want) (orchestrator.State, error)
}

// Config is what the handler works with. Lists, Records, Now and Log are
// needed; without the rest it refuses more, never less.
type Config struct {
	Lists   Lists
	Records Records
	// Journal is the event log. Nil: there is no stream of it.
	Journal Journal
	// Desk is where Tickets are worked on. Nil: those calls are not ready.
	Desk Desk
	// Sessions, Broker and Questions are what the calls on questions need
	// (page 06); without all three those are not there, and the capabilities say
	// so.
	Sessions  Sessions
	Broker    Broker
	Questions Questions
	// Wake returns a channel that receives when something may have happened,
	// until ctx ends; orchestrator.Queue has one. Nil: waits only poll.
	Wake func(ctx context.Context) <-chan struct{}
	// Draining is closed when the gateway drains: then nobody waits any more.
	Draining <-chan struct{}
	// Main routes candidates. Nil: its calls are 404. External says that an
	// agent from outside takes them; else next is refused.
	Main     MainSession
	External bool
	// Again is what operators do about Evals. Nil: 404.
	Again Again
	// Redeliverer searches for missed deliveries. Nil: 404.
	Redeliverer Redeliverer
	// Replayer takes recorded bodies in again. Nil: 404.
	Replayer Replayer
	// Status returns the health entries. The gateway is healthy when there
	// are some and all of them are ok.
	Status func(ctx context.Context) []Entry
	// Ready returns nil while the store answers and the gateway does not
	// drain. Nil is not ready.
	Ready func(ctx context.Context) error
	// Tokens are all that open the listener.
	Tokens []Token
	// Hosts are the names it answers to beside the loopback's: the listen
	// address and the public URL, each as configured.
	Hosts []string
	// TurnTimeout is an executor's turn_timeout; not positive, or nil: 30 min.
	TurnTimeout func(executor string) time.Duration
	// Policy, Versions, Pauser and ParsePolicy are what the calls on the Policy
	// and on pauses need; without them those are 404.
	Policy      Policies
	Versions    Versions
	Pauser      Pauser
	ParsePolicy ParsePolicy
	// Metrics answers GET /metrics. Nil: 404.
	Metrics http.Handler
	Now     func() time.Time
	Log     *slog.Logger
}

// api is the handler.
type api struct {
	lists       Lists
	records     Records
	journal     Journal
	streams     chan struct{} // one element a stream
	desk        Desk
	sessions    Sessions
	broker      Broker
	questions   Questions
	wake        func(context.Context) <-chan struct{}
	draining    <-chan struct{}
	main        MainSession
	external    bool
	judge       Again
	replayer    Replayer
	redeliverer Redeliverer
	status      func(context.Context) []Entry
	ready       func(context.Context) error
	turnTimeout func(string) time.Duration
	metrics     http.Handler
	policy      Policies
	versions    Versions
	pauser      Pauser
	parsePolicy ParsePolicy
	table       table
	tokens      keyring
	hosts       hosts
	now         func() time.Time
	log         *slog.Logger
}

// New returns the admin listener's handler.
func New(c Config) http.Handler {
	a := &api{
		lists: c.Lists, records: c.Records, status: c.Status, ready: c.Ready, turnTimeout: c.TurnTimeout, metrics: c.Metrics,
		policy: c.Policy, versions: c.Versions, pauser: c.Pauser, parsePolicy: c.ParsePolicy,
		journal: c.Journal, streams: make(chan struct{}, maxStreams), desk: c.Desk, wake: c.Wake, draining: c.Draining,
		main: c.Main, external: c.External, judge: c.Again, replayer: c.Replayer, redeliverer: c.Redeliverer,
		table: newTable(routes()), tokens: newKeyring(c.Tokens), hosts: newHosts(c.Hosts), now: c.Now, log: c.Log,
	}
	if c.Sessions != nil && c.Questions != nil {
		a.sessions, a.broker, a.questions = c.Sessions, c.Broker, c.Questions
	}
	if a.status == nil {
		a.status = func(context.Context) []Entry { return nil }
	}
	if a.wake == nil {
		a.wake = func(context.Context) <-chan struct{} { return nil }
	}
	if a.ready == nil {
		a.ready = func(context.Context) error { return errNotReady }
	}
	if a.turnTimeout == nil {
		a.turnTimeout = func(string) time.Duration { return 0 }
	}
	return a
}
