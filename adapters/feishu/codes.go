package feishu

import (
	"context"
	"errors"
	"net/http"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// class is what to do about an answer (facts D.3).
type class uint8

const (
	classNone     class = iota // no error
	classRetry                 // wait, then the same again with the same uuid
	classToken                 // once more, with a new token
	classOperator              // an operator must act; again does not help
	classGone                  // the chat is gone or closed to the bot
	classAnchor                // the message replied to is gone: to the chat instead, once
	classNoTopic               // no topics here: again without the flag
	classContent               // the content is refused: degrade, once
	classTooLate               // the card cannot be updated any more
)

// The calls whose codes differ from the others'.
const (
	callReply = "reply"
	callPatch = "update card"
)

// classes names what a code means for a call (facts D.3). Codes that mean
// something else at another endpoint are told apart by it (facts section 0);
// one that is missing is retried.
func classes(call string, code int) (class, string) {
	switch {
	case call == callReply && code == 230072:
		return classAnchor, "an aggregated message cannot be replied to"
	case call == callReply && code == 230075:
		return classGone, "the chat is encrypted"
	}
	switch code {
	case 99991400, 230020, 11232, 11233:
		return classRetry, "rate limit"
	case 230049:
		return classRetry, "the message is still being sent"
	case 99991663, 99991661, 99991664, 99991671:
		return classToken, "the token is not valid"
	case 230006:
		return classOperator, "the bot ability is off: enable it and publish a version"
	case 99991672, 99991679, 230027:
		return classOperator, "a permission scope is missing: grant it and publish a version"
	case 99991668:
		return classOperator, "the token is of the wrong kind"
	case 10003, 10014:
		return classOperator, "app id or app secret is wrong"
	case 230002:
		return classGone, "the bot is not in the chat"
	case 232009:
		return classGone, "the chat was dissolved"
	case 230013, 230029, 230038, 230018, 230034:
		return classGone, "the target cannot be reached"
	case 230035:
		return classGone, "the bot may not speak in the chat"
	case 230053:
		return classGone, "the person stopped the bot"
	case 230011, 230110, 231003:
		return classAnchor, "the message was recalled or deleted"
	case 230019, 230050, 230111:
		return classAnchor, "the topic or message is gone"
	case 230071:
		return classNoTopic, "the chat has no topics"
	case 230025:
		return classContent, "the content is too long"
	case 230022, 230028:
		return classContent, "the content was refused by a content check"
	case 230099, 230001, 230054, 230055, 11310, 200621, 200861, 200570, 100290:
		return classContent, "the content was refused"
	case 231001:
		return classContent, "the emoji was refused"
	case 231002:
		return classGone, "the bot may not react there"
	case 99992361, 99992351, 99992354:
		return classGone, "an id belongs to another app or is malformed"
	case 230031:
		return classTooLate, "the card is older than 14 days"
	case 230072, 230075:
		return classTooLate, "the message cannot be changed any more"
	}
	return classRetry, unknownCode
}

// unknownCode is all that can be said of a code that is not in the table.
const unknownCode = "feishu answered with an error"

// classOf classifies an error of an API call.
func classOf(err error) class {
	var e *apiError
	switch {
	case err == nil:
		return classNone
	case !errors.As(err, &e):
		return classRetry
	case e.status == http.StatusTooManyRequests:
		return classRetry
	case e.code == 0 && e.status == http.StatusRequestEntityTooLarge:
		return classContent
	}
	c, _ := classes(e.call, e.code)
	return c
}

// sendError says to the outbox what it can act on. What cannot be said to the
// platform now is kept and retried; what it will never take is dropped with the
// reason.
func sendError(err error) error {
	if err == nil {
		return nil
	}
	out := &gate.SendError{Class: gate.SendDropped, Reason: "feishu does not answer", Err: err}
	var e *apiError
	var u *unreachable
	switch {
	case errors.As(err, &e):
		_, out.Reason = classes(e.call, e.code)
		out.After = e.after
	case errors.As(err, &u):
		out.Reason = u.Error()
	}
	switch classOf(err) {
	case classRetry, classToken, classNone:
		out.Class = gate.SendRetry
	case classOperator, classGone, classAnchor, classNoTopic, classContent, classTooLate:
		out.After = 0
	}
	if errors.Is(err, context.Canceled) {
		out.Reason = "stopped while sending"
	}
	return out
}
