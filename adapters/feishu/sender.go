package feishu

import (
	"log/slog"
)

// Sender says what the gateway says.
type Sender struct {
	bot     *Bot
	answers Answers
	log     *slog.Logger
}

// NewSender returns the Sender of bot's Source.
func NewSender(bot *Bot, answers Answers, log *slog.Logger) *Sender {
	return &Sender{bot: bot, answers: answers, log: log}
}
