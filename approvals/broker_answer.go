package approvals

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// Answer gives a question somebody's answer. Of many at one time, on many
// replicas, exactly one wins (DE-4). It is durable before Answer returns. It
// refuses with
//
//   - ErrNotFound: no such question, or one of another session;
//   - ErrWrongCard: a click that comes from no stored message (CA-6), and
//     ErrNotShown where none is stored yet;
//   - ErrNotAllowed: this person may not answer (CA-3). This and the wrong card
//     are recorded, and nothing else changes;
//   - ErrClosed, ErrAnswered and ErrInvalid as Settle says.
//
// Any other error means that the answer may not have been stored: it can be
// given again.
func (b *Broker) Answer(ctx context.Context, r AnswerRequest) (Result, error) {
	q, err := b.load(ctx, r.ID)
	if err != nil {
		return Result{}, err
	}
	if r.Session != "" && r.Session != q.Session.ID {
		return Result{}, fmt.Errorf("answer question %s: %w", r.ID, ErrNotFound)
	}
	if q, err = b.shown(ctx, q, r); err != nil {
		return Result{}, err
	}
	if reason, ok := fromCard(q, r); !ok {
		return b.refuse(ctx, q, r, reason, ErrWrongCard)
	}
	// What the verdict reads of a question never changes, so it is asked once.
	if reason, ok := b.MayAnswer(ctx, q, r); !ok {
		return b.refuse(ctx, q, r, reason, ErrNotAllowed)
	}
	return b.settle(ctx, q, r)
}

// How long a click waits for the record of its card: people click as soon as
// they see it, which may be before the sender had the platform's answer. The
// platform gives a click three seconds.
const (
	shownPatience = time.Second
	shownPoll     = 50 * time.Millisecond
)

// shown returns the question once the clicked message is one of its stored
// ones, or is not within a moment. ErrNotShown says that it still may
// become one: the question is not known to be shown anywhere.
func (b *Broker) shown(ctx context.Context, q Question, r AnswerRequest) (Question, error) {
	for waited := time.Duration(0); ; waited += shownPoll {
		if _, ok := fromCard(q, r); ok || r.Message == nil || AsOf(q, b.now()).Status.Terminal() {
			return q, nil
		}
		if waited >= shownPatience {
			break
		}
		pause(ctx, nil, shownPoll)
		next, err := b.load(ctx, q.ID)
		if err != nil {
			return q, err
		}
		q = next
	}
	if len(q.Messages) > 0 {
		return q, nil
	}
	return q, fmt.Errorf("answer question %s: %w", q.ID, ErrNotShown)
}

// MayAnswer asks today's lists, then the gate (CA-3).
func (b *Broker) MayAnswer(ctx context.Context, q Question, r AnswerRequest) (reason string, ok bool) {
	a := gate.Answerer{Source: r.Source, Who: r.Who, Operator: r.Operator}
	if r.Source != "" {
		a.Lists = b.directory.Lists(ctx, r.Source, r.Who)
		a.Linked = b.linked(r.Source, r.Who)
		a.Who = b.named(r.Source, r.Who, slices.Concat(q.Answerers, q.Review.Reviewers))
	}
	rules := gate.AnswerRules{
		Approval: q.Kind == Approval, RequesterSource: q.Session.Source, Requester: q.Session.Requester,
		Answerers: q.Answerers, Reviewers: q.Review.Reviewers, FourEyes: b.settings.FourEyes,
	}
	if rules.Approval && q.Session.Source != "" {
		rules.RequesterListed = b.directory.Lists(ctx, q.Session.Source, q.Session.Requester).Allow
	}
	return gate.MayAnswer(a, rules)
}

func (b *Broker) refuse(ctx context.Context, q Question, r AnswerRequest, reason string, refusal error) (Result, error) {
	q, err := b.change(ctx, q, func(q Question, now time.Time) (Question, Effects, bool) {
		q, eff := Refused(q, r.Who, r.Via, reason, now)
		return q, eff, true
	})
	if err != nil {
		return Result{}, err
	}
	b.log.InfoContext(ctx, "refuse answer", "question", q.ID, "source", r.Source, "sender", r.Who.ID, "reason", reason)
	return Result{Question: q, Reason: reason}, fmt.Errorf("answer question %s: %w", q.ID, refusal)
}

func (b *Broker) settle(ctx context.Context, q Question, r AnswerRequest) (Result, error) {
	var res Result
	var refusal error
	given := Answer{OptionID: r.OptionID, Text: r.Text, By: r.Who, Source: r.Source, Via: r.Via, Linked: b.linked(r.Source, r.Who)}
	_, err := b.change(ctx, q, func(q Question, now time.Time) (_ Question, eff Effects, _ bool) {
		res, eff, refusal = Settle(q, given, now)
		return res.Question, eff, noted(refusal)
	})
	if err != nil {
		return Result{}, err
	}
	b.log.InfoContext(ctx, "settle question", "question", q.ID, "via", r.Via, "sender", r.Who.ID,
		"status", res.Question.Status, "deduped", res.Deduped, "reason", res.Reason)
	if refusal != nil {
		return res, fmt.Errorf("answer question %s: %w", q.ID, refusal)
	}
	return res, nil
}
