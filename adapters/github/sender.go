package github

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Sender says what the gateway says (GH-7). It is safe for concurrent use: what
// one installation creates is created one after another, and below GitHub's
// limits; the outbox keeps the order of a Thread.
type Sender struct {
	bot     *Bot
	answers Answers
	log     *slog.Logger
	// Now is the clock. Optional.
	Now func() time.Time
}

// NewSender returns the Sender of bot's Source.
func NewSender(bot *Bot, answers Answers, log *slog.Logger) *Sender {
	return &Sender{bot: bot, answers: answers, log: log.With("source", bot.cfg.ID), Now: time.Now}
}

// Send makes one Outgoing happen, at least once and effectively once: every
// comment carries a hidden mark of out.ID, which is looked for before it is
// written again (OUT-1, libs T9). Its error is always a *gate.SendError; above
// GitHub's limits it says when to come back and does not wait.
//
// A reply goes where the message was: into the review thread of Place.Topic,
// onto the commit that Place.Root names or into the issue of its report, else into the conversation of that
// number. A reaction goes on out.Message; a review, which takes none, shows it
// on its pull request. A question is a short comment, which is edited when it
// ends.
func (s *Sender) Send(ctx context.Context, out gate.Outgoing) (gate.Sent, error) {
	sent, err := s.send(ctx, out)
	if err != nil {
		return sent, sendError(err, out.Attempts)
	}
	return sent, nil
}

func (s *Sender) send(ctx context.Context, out gate.Outgoing) (gate.Sent, error) {
	switch out.Kind {
	case gate.OutReply:
		return s.reply(ctx, out)
	case gate.OutReact:
		return s.react(ctx, out)
	case gate.OutStatus: // no message of ours offers a button here
		return gate.Sent{}, dropped("comments are not brought up to date")
	case gate.OutCard:
		return s.ask(ctx, out)
	case gate.OutCardUpdate:
		return s.update(ctx, out)
	}
	return gate.Sent{}, dropped("an outgoing of unknown kind")
}

func dropped(reason string) error {
	return &gate.SendError{Class: gate.SendDropped, Reason: reason}
}

// target is where in a repository something is said.
type target struct {
	repo
	// number is the conversation's; a commit has sha instead.
	number int
	sha    string
	// topic is the top comment of a review thread, or 0.
	topic int64
	// report is the commit whose report's issue it is, still without a number.
	report string
}

func targetOf(p gate.Place) (target, error) {
	r, ok := splitRepo(p.Chat)
	if !ok {
		return target{}, dropped("the place names no repository")
	}
	t := target{repo: r}
	if p.Root == reportRoot && validSHA(p.Topic) {
		t.report = p.Topic
		return t, nil
	}
	if validSHA(p.Root) {
		t.sha = p.Root
		return t, nil
	}
	number, err := strconv.Atoi(p.Root)
	if err != nil || number <= 0 {
		return target{}, dropped("the place names no issue, pull request or commit")
	}
	t.number = number
	if t.topic, err = strconv.ParseInt(p.Topic, 10, 64); err != nil {
		t.topic = 0
	}
	return t, nil
}

// reply says a text in as many comments as it takes (OUT-5). The first one is
// the Outgoing's.
func (s *Sender) reply(ctx context.Context, out gate.Outgoing) (gate.Sent, error) {
	to, err := targetOf(out.Place)
	if err != nil {
		return gate.Sent{}, err
	}
	bodies := commentsOf(out)
	if len(bodies) == 0 {
		return gate.Sent{}, dropped("nothing to say")
	}
	c, err := s.bot.api.of(ctx, to.repo)
	if err != nil {
		return gate.Sent{}, err
	}
	leave, err := c.pace.enter(ctx)
	if err != nil {
		return gate.Sent{}, err
	}
	defer leave()
	if to.report != "" {
		if to.number, err = s.reportIssue(ctx, c, to); err != nil {
			return gate.Sent{}, err
		}
	}
	sent, err := s.post(ctx, c, to, out, bodies)
	s.forgetLost(c, to, err)
	if to.topic != 0 && gone(err, out.Attempts) {
		s.log.Warn("the review thread is gone, answering in the conversation", "thread", out.Thread)
		to.topic = 0
		return s.post(ctx, c, to, out, bodies)
	}
	return sent, err
}

// post writes the comments that are not there yet. The turn is held.
func (s *Sender) post(ctx context.Context, c *conn, to target, out gate.Outgoing, bodies []string) (gate.Sent, error) {
	there := map[string]gate.Sent{}
	if s.mayBeThere(out) {
		var err error
		if there, err = s.find(ctx, c, to, out); err != nil {
			return gate.Sent{}, fmt.Errorf("look for what was said: %w", err)
		}
	}
	var first gate.Sent
	for i, body := range bodies {
		m := mark(out.ID, i)
		sent, ok := there[m]
		if !ok {
			sent, ok = s.bot.said.get(m)
		}
		if !ok {
			var err error
			if sent, err = s.create(ctx, c, to, m, body); err != nil {
				return first, fmt.Errorf("say part %d of %d: %w", i+1, len(bodies), err)
			}
		}
		if i == 0 {
			first = sent
		}
	}
	return first, nil
}

// Promptly: a row that is sent for the first time is this young. An older one
// may have been sent by a process that died before it could say so; its row is
// claimed again when the lease runs out, so this must be shorter than a lease.
const Promptly = 3 * time.Second

// mayBeThere reports whether the comment could have been written before.
func (s *Sender) mayBeThere(out gate.Outgoing) bool {
	return out.Attempts > 0 || s.Now().Sub(out.CreatedAt) > Promptly
}

func (s *Sender) create(ctx context.Context, c *conn, to target, m, body string) (gate.Sent, error) {
	if wait := c.pace.take(s.Now()); wait > 0 {
		return gate.Sent{}, paced(wait)
	}
	sent, err := c.comment(ctx, to, body+"\n\n"+m)
	if err == nil {
		s.bot.said.add(m, sent)
	}
	return sent, err
}

func paced(wait time.Duration) error {
	return &gate.SendError{Class: gate.SendRetry, After: wait, Reason: "kept below github's limit on new content"}
}

// forgetLost makes the next try look the installation up again, when it gave no
// token.
func (s *Sender) forgetLost(c *conn, to target, err error) {
	var e *apiError
	if c.installation != 0 && errors.As(said(err), &e) && e.signIn {
		s.bot.api.forget(to.owner)
	}
}

// gone reports whether there is nothing any more to answer below: GitHub refuses
// such a thread, or does not know it after some tries.
func gone(err error, attempts int) bool {
	var e *apiError
	if err == nil || !errors.As(said(err), &e) {
		return false
	}
	return e.status == http.StatusUnprocessableEntity || e.status == http.StatusNotFound && attempts >= freshTries
}

// react puts an emoji on a message; GitHub takes a repeated one for the same.
func (s *Sender) react(ctx context.Context, out gate.Outgoing) (gate.Sent, error) {
	content := contentOf(out.Reaction)
	kind, id, ok := parseMessage(out.Message)
	if !ok || content == "" {
		return gate.Sent{}, dropped("no message or no emoji to react with")
	}
	to, err := targetOf(out.Place)
	if err != nil {
		return gate.Sent{}, err
	}
	c, err := s.bot.api.of(ctx, to.repo)
	if err != nil {
		return gate.Sent{}, err
	}
	leave, err := c.pace.enter(ctx)
	if err != nil {
		return gate.Sent{}, err
	}
	defer leave()
	if wait := c.pace.take(s.Now()); wait > 0 {
		return gate.Sent{}, paced(wait)
	}
	err = c.reaction(ctx, to, kind, id, content)
	s.forgetLost(c, to, err)
	return gate.Sent{}, err
}

// contentOf is GitHub's name of a reaction (OUT-4, OUT-6, GH-7).
func contentOf(r gate.Reaction) string {
	switch r {
	case gate.ReactReceived:
		return "eyes"
	case gate.ReactDone:
		return "rocket"
	case gate.ReactRefused, gate.ReactFailed:
		return "confused"
	}
	return ""
}

// mentionOf is the login that an Outgoing calls, or "".
func mentionOf(s gate.Sender) string {
	if s.Kind != gate.Person || !validLogin(s.Name) {
		return ""
	}
	return s.Name
}

// nothing but spaces, marks or what renders to nothing is no comment: GitHub
// refuses it.
func blank(s string) bool { return strings.Trim(s, " \t\r\n\u00a0"+hush) == "" }
