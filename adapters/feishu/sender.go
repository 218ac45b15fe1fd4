package feishu

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Sender says what the gateway says (FS-5). It is safe for concurrent use; the
// outbox keeps the order.
type Sender struct {
	bot     *Bot
	answers Answers
	log     *slog.Logger
}

// NewSender returns the Sender of bot's Source.
func NewSender(bot *Bot, answers Answers, log *slog.Logger) *Sender {
	return &Sender{bot: bot, answers: answers, log: log.With("source", bot.cfg.ID)}
}

// Send makes one Outgoing happen, at least once, and within an hour effectively
// once: every create and reply carries a uuid derived from out.ID (OUT-1, facts
// D.1). After that hour the platform no longer knows the uuid, and a row whose
// first try took effect unseen may be said twice. Its error is always a
// *gate.SendError.
//
// A reply goes to out.Message, else to the Place's root, else into the chat. If
// what it should reply to is gone, it goes to the chat once and says so; a
// content that is refused is degraded once, down to plain text. A question's
// card, or its update, shows the question's state at the time of sending.
func (s *Sender) Send(ctx context.Context, out gate.Outgoing) (gate.Sent, error) {
	sent, err := s.send(ctx, out)
	if err == nil {
		return sent, nil
	}
	var done *gate.SendError
	if errors.As(err, &done) {
		return sent, done
	}
	return sent, sendError(err)
}

func (s *Sender) send(ctx context.Context, out gate.Outgoing) (gate.Sent, error) {
	switch out.Kind {
	case gate.OutReply:
		return s.reply(ctx, out)
	case gate.OutCard:
		return s.card(ctx, out)
	case gate.OutCardUpdate:
		return s.update(ctx, out)
	case gate.OutStatus:
		return s.status(ctx, out)
	case gate.OutReact:
		return s.react(ctx, out)
	}
	return gate.Sent{}, dropped("an outgoing of unknown kind")
}

func dropped(reason string) error {
	return &gate.SendError{Class: gate.SendDropped, Reason: reason}
}

// reply says a Markdown text, in as many messages as it takes (OUT-5). The
// first one is the Outgoing's.
func (s *Sender) reply(ctx context.Context, out gate.Outgoing) (gate.Sent, error) {
	parts := splitReply(out.Text)
	if len(parts) == 0 {
		return gate.Sent{}, dropped("nothing to say")
	}
	var first gate.Sent
	for i, part := range parts {
		mention := out.Mention
		if i > 0 {
			mention = gate.Sender{}
		}
		forms := replyForms(part, wordsOf(s.bot.cfg.Language).anchorGone, mention)
		if out.Stop && len(parts) == 1 {
			forms = append([]form{{kind: "interactive", content: string(noticeCard(s.bot.cfg, out))}}, forms...)
		}
		sent, err := s.post(ctx, targetOf(out), partUUID(out.ID, i), forms)
		if err != nil {
			return first, fmt.Errorf("send part %d of %d: %w", i+1, len(parts), err)
		}
		if i == 0 {
			first = sent
		}
	}
	return first, nil
}

// card asks a question; where the card is refused, as text with a reply command
// (CA-7).
func (s *Sender) card(ctx context.Context, out gate.Outgoing) (gate.Sent, error) {
	q, err := s.question(ctx, out)
	if err != nil {
		return gate.Sent{}, err
	}
	content := string(Card(s.bot.cfg, q, append([]gate.Sender{out.Mention}, out.Others...)...))
	return s.post(ctx, targetOf(out), partUUID(out.ID, 0), []form{
		{kind: "interactive", content: content}, textForm(questionText(s.bot.cfg, q), out.Mention),
	})
}

// update brings a card up to date. A message that is no card, since the
// question had to be asked as text, has nothing to be updated.
func (s *Sender) update(ctx context.Context, out gate.Outgoing) (gate.Sent, error) {
	if out.Message == "" {
		return gate.Sent{}, dropped("no card to update")
	}
	q, err := s.question(ctx, out)
	if err != nil {
		return gate.Sent{}, err
	}
	return gate.Sent{}, s.patch(ctx, out.Message, string(Card(s.bot.cfg, q)))
}

func (s *Sender) question(ctx context.Context, out gate.Outgoing) (approvals.Question, error) {
	q, err := s.answers.Question(ctx, approvals.ID(out.Question))
	switch {
	case errors.Is(err, approvals.ErrNotFound):
		return q, dropped("the question does not exist any more")
	case err != nil:
		return q, &gate.SendError{Class: gate.SendRetry, Reason: "the question cannot be read", Err: err}
	}
	return q, nil
}

// react puts an emoji on a message; the platform takes a repeated one for the
// same.
func (s *Sender) react(ctx context.Context, out gate.Outgoing) (gate.Sent, error) {
	if out.Reaction == gate.ReactDone || out.Reaction == gate.ReactFailed {
		return gate.Sent{}, nil // the answer shows it
	}
	emoji := emojiOf(out.Reaction)
	if out.Message == "" || emoji == "" {
		return gate.Sent{}, dropped("no message or no emoji to react with")
	}
	return gate.Sent{}, s.addReaction(ctx, out.Message, emoji)
}

// emojiOf is the platform's emoji_type for a meaning.
func emojiOf(r gate.Reaction) string {
	switch r {
	case gate.ReactReceived:
		return "OnIt"
	case gate.ReactRefused:
		return "CrossMark"
	case gate.ReactDone, gate.ReactFailed: // the reply shows the result
	}
	return ""
}
