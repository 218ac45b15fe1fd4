package githubsim

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"strings"
	"sync"
	"time"
)

// App is the simulated App and, beside it, an ordinary account of the same name.
// Empty fields get a value of their own from New.
type App struct {
	ID   int64
	Slug string
	// Secret signs the webhooks.
	Secret string
	// Token is the ordinary account's.
	Token string
}

// Account is a person, a bot or whatever else GitHub calls a user.
type Account struct {
	ID    int64
	Login string
	// Type is User, Bot, Organization or Mannequin.
	Type string
}

// Repo is a repository.
type Repo struct {
	ID            int64
	Owner, Name   string
	DefaultBranch string
}

// FullName is owner/name.
func (r Repo) FullName() string { return r.Owner + "/" + r.Name }

// Issue is an issue or a pull request.
type Issue struct {
	ID          int64
	Number      int
	Repo        Repo
	By          Account
	Title, Body string
	Pull, Draft bool
	Closed      bool
	Locked      bool
	At, Updated time.Time
	// Edited is when the body was last changed, or zero.
	Edited     time.Time
	Head, Base string
}

// The kinds of comments.
const (
	IssueComment  = "issue_comment"
	ReviewComment = "review_comment"
	CommitComment = "commit_comment"
	Review        = "review"
)

// Comment is something that was said below an issue, a pull request or a commit.
type Comment struct {
	ID   int64
	Kind string
	Repo Repo
	// Issue is the number, or 0 for a comment on the commit SHA.
	Issue int
	SHA   string
	// InReplyTo is the top comment of a review thread, or 0.
	InReplyTo int64
	// InReview is the review that a comment on a diff came with; 0: one of its
	// own.
	InReview int64
	By       Account
	// FromApp: the gateway under test said it, through the API.
	FromApp     bool
	Body        string
	State       string // of a review
	At, Updated time.Time
	// Edited is when the text was last changed, or zero.
	Edited time.Time
}

// Reaction is an emoji on an issue (Kind "issue" and its number) or a comment.
type Reaction struct {
	Kind    string
	ID      int64
	Content string
	By      Account
}

// Sim is a simulated GitHub. Make one with New; it is an http.Handler for the
// API.
type Sim struct {
	app App
	// Now is the platform's clock. Set it before use; it is read under no lock.
	Now func() time.Time
	// Client posts the webhooks. Nil: one with a 5 s timeout.
	Client *http.Client

	key func() *rsa.PrivateKey

	mu        sync.Mutex
	changed   chan struct{}
	ids       int64
	accounts  map[string]Account
	repos     map[string]Repo
	issues    []*Issue
	comments  []*Comment
	commits   map[string]obj
	reactions []Reaction
	tokens    map[string]time.Time // of the installation
	installed int64
	suspended bool // the installation is
	heads     map[int64]string
	runs      []*Run
	attempts  []Attempt
	logs      string
	faults    []*Fault
	calls     []Call
}

// New returns an empty GitHub with that App.
func New(app App) *Sim {
	if app.ID == 0 {
		app.ID = 424242
	}
	fill := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	fill(&app.Slug, "my-bot")
	fill(&app.Secret, "sim-webhook-secret-000000000000")
	fill(&app.Token, "sim-account-token-0000000000000")
	return &Sim{
		app: app, Now: time.Now, changed: make(chan struct{}), ids: 1000, installed: 77,
		accounts: map[string]Account{}, repos: map[string]Repo{}, tokens: map[string]time.Time{}, commits: map[string]obj{}, heads: map[int64]string{},
		key: sync.OnceValue(func() *rsa.PrivateKey {
			key, err := rsa.GenerateKey(rand.Reader, 1024) // small, so that it is quick to make
			if err != nil {
				panic(err)
			}
			return key
		}),
	}
}

// App returns the App with all its fields.
func (s *Sim) App() App { return s.app }

// PrivateKey is the App's key as a PEM.
func (s *Sim) PrivateKey() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(s.key())}))
}

// Self is the ordinary account, whose token is App.Token.
func (s *Sim) Self() Account { return Account{ID: 9001, Login: s.app.Slug, Type: "User"} }

// SelfBot is the App's bot: another account with another id.
func (s *Sim) SelfBot() Account { return Account{ID: 9002, Login: s.app.Slug + "[bot]", Type: "Bot"} }

// Ghost is what GitHub shows for a deleted account.
func (s *Sim) Ghost() Account { return Account{ID: 10137, Login: "ghost", Type: "User"} }

// Person returns the person of that login, who is made at the first call.
func (s *Sim) Person(login string) Account { return s.account(login, "User") }

// Bot returns another App's bot, `slug[bot]`.
func (s *Sim) Bot(slug string) Account { return s.account(slug+"[bot]", "Bot") }

func (s *Sim) account(login, kind string) Account {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.accounts[strings.ToLower(login)]; ok {
		return a
	}
	a := Account{ID: s.id(), Login: login, Type: kind}
	s.accounts[strings.ToLower(login)] = a
	return a
}

// Repo returns the repository owner/name, which is made at the first call. The
// App is installed there.
func (s *Sim) Repo(full string) Repo {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.repos[strings.ToLower(full)]; ok {
		return r
	}
	owner, name, _ := strings.Cut(full, "/")
	r := Repo{ID: s.id(), Owner: owner, Name: name, DefaultBranch: "main"}
	s.repos[strings.ToLower(full)] = r
	return r
}

// Lock closes a conversation to new comments (403).
func (s *Sim) Lock(i Issue) { s.change(i, func(i *Issue) { i.Locked = true }) }

func (s *Sim) change(i Issue, do func(*Issue)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.issue(i.Repo, i.Number); at != nil {
		do(at)
		s.notify()
	}
}

// Wait returns the first state that ok accepts, or the context's error with the
// last state. It is woken by every change.
func (s *Sim) Wait(ctx context.Context, ok func(Snapshot) bool) (Snapshot, error) {
	for {
		s.mu.Lock()
		snap, changed := s.snapshot(), s.changed
		s.mu.Unlock()
		if ok(snap) {
			return snap, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return snap, ctx.Err()
		}
	}
}

// notify wakes the waiting. The lock is held.
func (s *Sim) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// id makes the next id. The lock is held.
func (s *Sim) id() int64 {
	s.ids++
	return s.ids
}

// issue finds one. The lock is held.
func (s *Sim) issue(r Repo, number int) *Issue {
	for _, i := range s.issues {
		if strings.EqualFold(i.Repo.FullName(), r.FullName()) && i.Number == number {
			return i
		}
	}
	return nil
}

// comment finds one of a kind. The lock is held.
func (s *Sim) comment(kind string, id int64) *Comment {
	for _, c := range s.comments {
		if c.Kind == kind && c.ID == id {
			return c
		}
	}
	return nil
}
