package feishusim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// App is the simulated app. Empty fields get a value of their own from New.
type App struct {
	ID, Secret string
	// EncryptKey and Token are what webhooks are encrypted, signed and marked
	// with.
	EncryptKey, Token string
	Tenant            string
	BotOpenID         string
	BotName           string
}

// Person is an account: a person, or another app's bot.
type Person struct {
	Name                    string
	OpenID, UnionID, UserID string
	// Tenant is the person's own; it differs from App.Tenant for an external
	// person.
	Tenant string
	Bot    bool
}

// Chat is a group or a DM.
type Chat struct {
	ID, Name string
	// Direct is a DM.
	Direct bool
	// NoTopics: replies in a topic are refused (230071).
	NoTopics bool
	// Gone: the bot is not in it (230002).
	Gone bool
}

// Sim is a simulated Feishu. Make one with New; it is an http.Handler for the
// API.
type Sim struct {
	app App
	mux *http.ServeMux
	// Now is the platform's clock. Set it before use; it is read under no lock.
	Now func() time.Time
	// Client posts the webhooks. Nil: one with a 5 s timeout.
	Client *http.Client

	mu       sync.Mutex
	changed  chan struct{}
	ids      int
	people   map[string]Person
	chats    map[string]Chat
	messages []*Message
	byID     map[string]*Message
	byUUID   map[string]remembered
	tokens   map[string]time.Time
	faults   []*Fault
	calls    []Call
	cards    *cardCheck
}

// remembered is what a uuid has already done.
type remembered struct {
	message string
	at      time.Time
}

// New returns an empty platform with that app.
func New(app App) *Sim {
	fill := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	fill(&app.ID, "cli_a0000000000000sim")
	fill(&app.Secret, "sim-app-secret-0000000000000000")
	fill(&app.EncryptKey, "sim-encrypt-key-000000000000")
	fill(&app.Token, "sim-verification-token-0000000")
	fill(&app.Tenant, "sim0000000000tenant")
	fill(&app.BotOpenID, "ou_simbot00000000000000000000000000")
	fill(&app.BotName, "bot")
	s := &Sim{
		app: app, Now: time.Now, changed: make(chan struct{}),
		people: map[string]Person{}, chats: map[string]Chat{}, byID: map[string]*Message{},
		byUUID: map[string]remembered{}, tokens: map[string]time.Time{},
		cards: newCardCheck(),
	}
	s.mux = s.routes()
	return s
}

// App returns the app with all its fields.
func (s *Sim) App() App { return s.app }

// Self is the app's own bot as an account: to be mentioned, or to echo.
func (s *Sim) Self() Person {
	return Person{Name: s.app.BotName, OpenID: s.app.BotOpenID, UnionID: "on_" + tail(s.app.BotOpenID), Tenant: s.app.Tenant, Bot: true}
}

// Person returns the person of that name, who is made at the first call.
func (s *Sim) Person(name string) Person { return s.account(name, Person{}) }

// Outsider is a person of another tenant.
func (s *Sim) Outsider(name string) Person {
	return s.account(name, Person{Tenant: "another00000000tenant"})
}

// Bot returns another app's bot of that name.
func (s *Sim) Bot(name string) Person { return s.account(name, Person{Bot: true}) }

func (s *Sim) account(name string, p Person) Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.people[name]; ok {
		return known
	}
	p.Name = name
	p.OpenID, p.UnionID = "ou_"+digest("person", name), "on_"+digest("union", name)
	if !p.Bot {
		p.UserID = digest("user", name)[:8]
	}
	if p.Tenant == "" {
		p.Tenant = s.app.Tenant
	}
	s.people[name] = p
	return p
}

// Group returns the group chat of that name, which is made at the first call.
func (s *Sim) Group(name string) Chat {
	return s.chat(Chat{ID: "oc_" + digest("chat", name), Name: name})
}

// DM returns the direct chat of a person and the bot.
func (s *Sim) DM(p Person) Chat {
	return s.chat(Chat{ID: "oc_" + digest("dm", p.OpenID), Name: p.Name, Direct: true})
}

func (s *Sim) chat(c Chat) Chat {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.chats[c.ID]; ok {
		return known
	}
	s.chats[c.ID] = c
	return c
}

// SetChat changes what a chat allows (NoTopics, Gone).
func (s *Sim) SetChat(c Chat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[c.ID] = c
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
func (s *Sim) id(prefix string) string {
	s.ids++
	return prefix + digest(prefix, s.app.ID, fmt.Sprint(s.ids))
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

func tail(id string) string {
	if len(id) > 3 {
		return id[3:]
	}
	return id
}
