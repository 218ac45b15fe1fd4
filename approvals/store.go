package approvals

import (
	"context"
	"errors"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// What callers branch on. Each is one line of DE-4.
var (
	ErrNotFound = errors.New("no such question")
	// ErrAnswered: the question was answered otherwise (409 conflict).
	ErrAnswered = errors.New("answered otherwise")
	// ErrClosed: timed out or cancelled (409 closed).
	ErrClosed = errors.New("question is closed")
	// ErrInvalid: unknown option, unwanted text, empty answer, bad question (400).
	ErrInvalid = errors.New("invalid")
	// ErrNotAllowed: this person may not answer (CA-3).
	ErrNotAllowed = errors.New("may not answer")
	// ErrWrongCard: the click did not come from a stored message of the question (CA-6).
	ErrWrongCard = errors.New("wrong card")
	// ErrNotShown: the click came from where the question may be shown, but that is not recorded yet; again may help.
	ErrNotShown = errors.New("not known to be shown yet")
	// ErrTooManyOpen: the session has as many open questions as the
	// configuration allows (429, DE-8).
	ErrTooManyOpen = errors.New("too many open questions")
	// ErrEarly: the deadline is still to come; the due work is to be kept.
	ErrEarly = errors.New("deadline is still to come")
	// ErrConflict: a stored record changed since it was read; load and try again.
	ErrConflict = errors.New("record changed meanwhile")
)

// Change is one atomic commit: the questions' new state, and its effects. The
// store refuses the whole with ErrConflict if a Version or the Guard is not
// the stored one.
type Change struct {
	Questions []Question
	Guard     Guard
	Effects
}

// Store keeps questions.
type Store interface {
	// Question loads one; ErrNotFound when there is none.
	Question(ctx context.Context, id ID) (Question, error)
	// OpenQuestions lists the open ones of a session, oldest first.
	OpenQuestions(ctx context.Context, session SessionID) ([]Question, error)
	// CommitQuestions stores a Change, or nothing.
	CommitQuestions(ctx context.Context, c Change) error
}

// Directory tells who is on today's lists of a Source (AD-11). It fails
// closed: what cannot be looked up is Unknown.
type Directory interface {
	Lists(ctx context.Context, source gate.SourceID, who gate.Sender) gate.Lists
}
