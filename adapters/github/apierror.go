package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v66/github"

	"github.com/gatehouse-bot/gatehouse/adapters/internal/logs"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// apiError is what went wrong with an API call, without GitHub's text: an
// answer can quote what was sent, or be a whole page.
type apiError struct {
	// status is the answer's, or 0 where there was none.
	status int
	// limited: a rate limit, primary or secondary; after is how long it asks
	// to wait, or 0.
	limited bool
	after   time.Duration
	// signIn: the App's installation gave no token.
	signIn bool
	// why there was no answer, in fixed words, or "".
	why string
}

func (e *apiError) Error() string {
	switch {
	case e.status == 0 && e.why != "":
		return "github does not answer: " + e.why
	case e.status == 0:
		return "github does not answer"
	case e.limited:
		return fmt.Sprintf("github's rate limit (HTTP %d)", e.status)
	case e.signIn:
		return fmt.Sprintf("github gave the installation no token (HTTP %d)", e.status)
	case e.status == http.StatusUnauthorized:
		return "github answered HTTP 401: it does not accept the credentials"
	}
	return fmt.Sprintf("github answered HTTP %d", e.status)
}

// secondaryWait is how long to wait for a secondary limit that names no time
// (facts E2).
const secondaryWait = time.Minute

// said keeps of an error only what may be logged, in one form for all the ways
// in which go-github tells a limit (facts E2: it knows 403 but not 429).
func said(err error) error {
	var (
		own     *apiError
		primary *gh.RateLimitError
		abuse   *gh.AbuseRateLimitError
		answer  *gh.ErrorResponse
		token   *ghinstallation.HTTPError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.As(err, &primary):
		return &apiError{status: statusOf(primary.Response), limited: true, after: until(primary.Rate.Reset.Time)}
	case errors.As(err, &abuse):
		return &apiError{status: statusOf(abuse.Response), limited: true, after: abuseWait(abuse)}
	case errors.As(err, &answer):
		return answered(answer)
	case errors.As(err, &token):
		return &apiError{status: statusOf(token.Response), signIn: true, why: logs.Why(err)}
	}
	return &apiError{why: logs.Why(err)}
}

func statusOf(r *http.Response) int {
	if r == nil {
		return 0
	}
	return r.StatusCode
}

func abuseWait(e *gh.AbuseRateLimitError) time.Duration {
	if e.RetryAfter != nil && *e.RetryAfter > 0 {
		return *e.RetryAfter
	}
	return secondaryWait
}

// answered reads an answer that is no success. A limit is a 429, or a 403 that
// says so by a header or in its message, which may be all there is (facts E2).
func answered(e *gh.ErrorResponse) error {
	out := &apiError{status: statusOf(e.Response)}
	if e.Response == nil {
		return out
	}
	out.after = waitOf(e.Response.Header)
	saysSo := out.after > 0 || strings.Contains(strings.ToLower(e.Message), "rate limit")
	out.limited = out.status == http.StatusTooManyRequests || out.status == http.StatusForbidden && saysSo
	if out.limited && out.after == 0 {
		out.after = secondaryWait
	}
	return out
}

// waitOf is the wait that the headers ask for: Retry-After, else the reset of a
// limit that is used up.
func waitOf(h http.Header) time.Duration {
	if s, err := strconv.Atoi(h.Get("Retry-After")); err == nil && s > 0 {
		return bounded(time.Duration(s) * time.Second)
	}
	if h.Get("X-RateLimit-Remaining") != "0" {
		return 0
	}
	at, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil {
		return 0
	}
	return until(time.Unix(at, 0))
}

func until(at time.Time) time.Duration { return bounded(time.Until(at) + time.Second) }

// bounded keeps a wait between a second and an hour and a bit, which is GitHub's
// longest.
func bounded(d time.Duration) time.Duration {
	return min(max(d, time.Second), 65*time.Minute)
}

const (
	// freshTries: an object may be unknown for some seconds after the event
	// that told of it (facts E2).
	freshTries = 3
	// credentialsWait is how long to leave an operator for new credentials.
	credentialsWait = time.Minute
)

// sendError says to the outbox what it can act on: what cannot be said now is
// kept and retried, what GitHub will never take is dropped with the reason.
// attempts is how often it was tried before.
func sendError(err error, attempts int) *gate.SendError {
	var done *gate.SendError
	if errors.As(err, &done) {
		return done
	}
	err = said(err)
	var e *apiError
	if !errors.As(err, &e) {
		return &gate.SendError{Class: gate.SendRetry, Reason: "stopped while sending", Err: err}
	}
	out := &gate.SendError{Class: gate.SendRetry, Reason: e.Error(), After: e.after}
	switch {
	case e.limited, e.status == 0, e.status >= 500, e.status == http.StatusRequestTimeout, e.status < 300:
	case e.status == http.StatusUnauthorized:
		out.Reason, out.After = "github does not accept the credentials", credentialsWait
	case e.status == http.StatusNotFound && attempts < freshTries:
		out.After = time.Second << attempts
	default:
		out.Class, out.After, out.Reason = gate.SendDropped, 0, e.whyNever()
	}
	return out
}

func (e *apiError) whyNever() string {
	switch {
	case e.signIn:
		return "the App is not installed there any more, or is suspended"
	case e.status < 400:
		return "the repository has moved"
	case e.status == http.StatusForbidden:
		return "github refuses: a permission is missing, or the conversation is locked"
	case e.status == http.StatusNotFound, e.status == http.StatusGone:
		return "it is gone, or the gateway has no access to it"
	case e.status == http.StatusUnprocessableEntity:
		return "github refuses the content"
	}
	return e.Error()
}
