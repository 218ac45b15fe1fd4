package approvals

import "github.com/gatehouse-bot/gatehouse/gate"

// AnswerRequest is somebody's answer on its way to a Question.
type AnswerRequest struct {
	ID ID
	// Session, when set, must be the question's; else ErrNotFound.
	Session  SessionID
	OptionID string
	Text     string
	Via      Via
	// Source and Who are the authenticated identity (AD-12).
	Source gate.SourceID
	Who    gate.Sender
	// Operator: the answer came with an operator's token (CA-3).
	Operator bool
	// Message is where a card was clicked; it must be one of the question's
	// stored Messages (CA-6). Nil for answers that are not clicks.
	Message *Message
}

// Result is the question after an answer. It is set also beside ErrAnswered,
// ErrClosed and ErrNotAllowed, so that a card can be brought up to date.
type Result struct {
	Question Question
	// Deduped: the same answer had been given before (DE-4).
	Deduped bool
	// Reason is the fixed sentence of a refusal.
	Reason string
}
