package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Login binds a login of a list to the account that had it when it was first
// looked up (GH-6). Account is "" where nobody had it.
type Login struct {
	Source gate.SourceID
	// Login is in lower case.
	Login, Account string
}

// LoginBook keeps the bindings of logins. The first one of a login stays.
type LoginBook interface {
	// Logins of a Source: the account by login.
	Logins(ctx context.Context, source gate.SourceID) (map[string]string, error)
}

// Accounts looks a login up at its platform. It returns the account's id, or ""
// if the platform says for certain that nobody has the login.
type Accounts interface {
	Account(ctx context.Context, login string) (id string, err error)
}

// LoginStore is what Logins reads and writes.
type LoginStore interface {
	LoginBook
	Commit(ctx context.Context, c Changes) error
	PolicyInForce(ctx context.Context) (PolicyRecord, error)
}

// How Logins works: it looks at the Policy every loginsPoll, and after a
// failure waits for loginsWait, doubled up to loginsMost. A round ends after
// loginsFails failures.
const (
	loginsPoll  = 5 * time.Second
	loginsWait  = time.Second
	loginsMost  = time.Minute
	loginsFails = 3
)

// Logins knows which accounts the logins of the lists name. A login is looked
// up once, in the background, and bound to the account's id for ever: whoever
// registers it later, after a rename, is not on the list, and the renamed
// account still is (GH-6). Until a login is bound it may be anybody.
type Logins struct {
	store    LoginStore
	lists    map[gate.SourceID][]string
	accounts map[gate.SourceID]Accounts
	now      func() time.Time
	log      *slog.Logger

	kick chan struct{}
	// turn is held by the one who looks up.
	turn   sync.Mutex
	rounds int

	mu    sync.Mutex
	bound map[gate.SourceID]map[string]string
	// wanted are the logins of today's lists.
	wanted map[gate.SourceID][]string
	warned map[Login]bool
	next   map[gate.SourceID]time.Time
	wait   map[gate.SourceID]time.Duration
}

// NewLogins returns Logins that know nothing yet; see Platform and Run. The
// lists are those that the configuration has beside the Policy's.
func NewLogins(store LoginStore, lists map[gate.SourceID][]string, now func() time.Time, log *slog.Logger) *Logins {
	return &Logins{
		store: store, lists: lists, accounts: map[gate.SourceID]Accounts{}, now: now, log: log,
		kick: make(chan struct{}, 1), bound: map[gate.SourceID]map[string]string{},
		wanted: map[gate.SourceID][]string{}, warned: map[Login]bool{},
		next: map[gate.SourceID]time.Time{}, wait: map[gate.SourceID]time.Duration{},
	}
}

// Platform says where the logins of a Source are looked up. Call it before
// anything else; the lists of other Sources have no logins.
func (l *Logins) Platform(source gate.SourceID, a Accounts) { l.accounts[source] = a }

// isLogin reports whether an entry of a list names an account by its login.
func isLogin(entry string) bool {
	return strings.Trim(entry, "0123456789") != "" && !strings.Contains(entry, ":")
}

// Named is the sender under the logins of the list that are bound to the
// account, whatever it is called today. open tells that the list has logins
// that are not bound yet. It calls nobody.
func (l *Logins) Named(source gate.SourceID, who gate.Sender, list []string) (named gate.Sender, open bool) {
	if l.accounts[source] == nil {
		return who, false
	}
	who.Aliases = nil
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range list {
		if !isLogin(e) {
			continue
		}
		id, ok := l.bound[source][strings.ToLower(e)]
		open = open || !ok
		if ok && id != "" && id == who.ID {
			who.Aliases = append(who.Aliases, e)
		}
	}
	if open {
		l.awake()
	}
	return who, open
}

// account is the id that an entry names an account of the Source by; "" where it
// is a login of nobody, or one that is open: not bound yet. It calls nobody.
func (l *Logins) account(source gate.SourceID, entry string) (id string, open bool) {
	if l.accounts[source] == nil || !isLogin(entry) {
		return entry, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	id, ok := l.bound[source][strings.ToLower(entry)]
	if !ok {
		l.awake()
	}
	return id, !ok
}

// awake makes Run look for what is not bound yet.
func (l *Logins) awake() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// Run binds what the lists name, until ctx ends.
func (l *Logins) Run(ctx context.Context) {
	for {
		for _, source := range slices.Sorted(maps.Keys(l.accounts)) {
			_ = l.Bind(ctx, source)
		}
		select {
		case <-ctx.Done():
			return
		case <-l.kick:
			if !l.rest(ctx) {
				return
			}
		case <-time.After(loginsPoll):
		}
	}
}

// rest keeps those who ask from making rounds too often.
func (l *Logins) rest(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(loginsWait / 4):
		return true
	}
}

// Bind makes a round: it looks up the logins of the Source's lists that are not
// bound yet, unless a failure is too young. Its error is the store's; a look-up
// that fails leaves the login unbound.
func (l *Logins) Bind(ctx context.Context, source gate.SourceID) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	wanted, err := l.today(ctx, source)
	if err != nil {
		return err
	}
	if len(l.missing(source, wanted)) == 0 {
		return nil
	}
	if err := l.read(ctx, source); err != nil {
		return err
	}
	missing := l.missing(source, wanted)
	if len(missing) == 0 || l.now().Before(l.next[source]) {
		return nil
	}
	// Those that fail again and again do not keep the others from their turn.
	l.rounds++
	first := l.rounds % len(missing)
	missing = slices.Concat(missing[first:], missing[:first])
	failed := 0
	for _, login := range missing {
		if failed == loginsFails {
			break
		}
		id, err := l.accounts[source].Account(ctx, login)
		if err != nil {
			failed++
			l.log.WarnContext(ctx, "look up a login of the lists; it is on no list until then", "source", source, "login", login, "err", err)
			continue
		}
		if err := l.store.Commit(ctx, Changes{Logins: []Login{{Source: source, Login: login, Account: id}}}); err != nil {
			return fmt.Errorf("bind login: %w", err)
		}
	}
	l.pause(source, failed > 0)
	return l.read(ctx, source)
}

// pause says when the next look-up may be.
func (l *Logins) pause(source gate.SourceID, failed bool) {
	if !failed {
		delete(l.next, source)
		delete(l.wait, source)
		return
	}
	l.wait[source] = min(max(loginsWait, 2*l.wait[source]), loginsMost)
	l.next[source] = l.now().Add(l.wait[source])
}

// today finds the logins of the Source's lists.
func (l *Logins) today(ctx context.Context, source gate.SourceID) ([]string, error) {
	p, err := l.store.PolicyInForce(ctx)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("read the lists: %w", err)
	}
	sp := p.Policy.Sources[source]
	var wanted []string
	for _, e := range slices.Concat(sp.Allow, sp.Bots, l.lists[source]) {
		if isLogin(e) {
			wanted = append(wanted, strings.ToLower(e))
		}
	}
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wanted[source] = wanted
	if err != nil {
		return nil, fmt.Errorf("read the lists: %w", err)
	}
	return wanted, nil
}

func (l *Logins) missing(source gate.SourceID, wanted []string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(wanted), func(login string) bool {
		_, ok := l.bound[source][login]
		return ok
	})
}

// read takes over what the store knows, and warns of logins that name nobody.
func (l *Logins) read(ctx context.Context, source gate.SourceID) error {
	bound, err := l.store.Logins(ctx, source)
	if err != nil {
		return fmt.Errorf("read logins: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bound[source] = bound
	for _, login := range l.wanted[source] {
		key := Login{Source: source, Login: login}
		if id, ok := bound[login]; ok && id == "" && !l.warned[key] {
			l.warned[key] = true
			l.log.WarnContext(ctx, "a login of the lists had no account when it was looked up, and names nobody; write the account's number instead",
				"source", source, "login", login)
		}
	}
	return nil
}

// Trouble lists the logins of a Source's lists that are not bound yet, and
// those that name nobody.
func (l *Logins) Trouble(source gate.SourceID) (open, nobody []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, login := range l.wanted[source] {
		switch id, ok := l.bound[source][login]; {
		case !ok:
			open = append(open, login)
		case id == "":
			nobody = append(nobody, login)
		}
	}
	return open, nobody
}

// ByLogin is a sender for a look at the lists without the platform: under the
// logins that are bound to the account, and under its own name where that is
// bound to nobody else. It is no basis for admitting anybody.
func ByLogin(bound map[string]string, who gate.Sender) gate.Sender {
	who.Aliases = nil
	for login, id := range bound {
		if id != "" && id == who.ID {
			who.Aliases = append(who.Aliases, login)
		}
	}
	name := strings.ToLower(who.Name)
	if _, taken := bound[name]; name != "" && !taken {
		who.Aliases = append(who.Aliases, name)
	}
	slices.Sort(who.Aliases)
	return who
}
