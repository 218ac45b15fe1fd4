package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// What this package itself refuses.
var (
	errNoRoute      = errors.New("no such route")
	errWrongMethod  = errors.New("method not allowed")
	errWrongHost    = errors.New("wrong host")
	errUnauthorized = errors.New("no token, or an unknown one")
	errForbidden    = errors.New("role may not call this")
	errPlatform     = errors.New("the platform failed")
	errBadQuery     = errors.New("bad query")
	errNotReady     = errors.New("not ready")
	errPanic        = errors.New("panic")
	errMedia        = errors.New("body is not JSON by its content type")
	errBadBody      = errors.New("bad body")
	errBodyTooLarge = errors.New("body too large")

	errNoDecisions    = errors.New("no broker is wired")
	errTooManyStreams = errors.New("too many event streams")

	errNoIfMatch     = errors.New("no If-Match")
	errInvalidPolicy = errors.New("invalid policy")
)

// badQuery is an errBadQuery. It is the sentence that the caller gets: what is
// wanted, never what came.
type badQuery string

func (q badQuery) Error() string        { return "bad query: " + string(q) }
func (q badQuery) Is(target error) bool { return target == errBadQuery }

// wrongMethod is an errWrongMethod, with the methods that the path has.
type wrongMethod struct{ allow string }

func (m wrongMethod) Error() string        { return "method not allowed; " + m.allow + " are" }
func (m wrongMethod) Is(target error) bool { return target == errWrongMethod }

// problem is what outsiders hear of an error (RFC 9457).
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   string `json:"code"`
	Detail string `json:"detail"`

	// Faults are all that is wrong with a Policy.
	Faults []string `json:"faults,omitempty"`

	retryAfter int // seconds; 0: trying again does not help
}

// answers is the one table from errors to outside answers (convention 1). The
// first line that matches counts; what stands on none is ours to mend.
var answers = []struct {
	err        error
	status     int
	code       string
	detail     string
	retryAfter int
}{
	{errUnauthorized, 401, "unauthorized", "This call needs a bearer token of this gateway.", 0},
	{errForbidden, 403, "forbidden", "The token's role may not make this call.", 0},
	{errNoRoute, 404, "unknown_route", "There is no such call.", 0},
	{errWrongMethod, 405, "method_not_allowed", "This call has no such method; the Allow header names those it has.", 0},
	{errWrongHost, 421, "wrong_host", "This gateway does not answer to that Host.", 0},
	{errPlatform, 502, "platform", "The platform refused, or did not answer; the log says how.", 0},
	{errBadQuery, 400, "invalid", "A parameter of the query is not valid.", 0},
	{errMedia, 415, "unsupported_media_type", "Send JSON, as application/json.", 0},
	{errBadBody, 400, "invalid_json", "The body is not one well-formed JSON value of the right shape.", 0},
	{errBodyTooLarge, 413, "too_large", "The body is too large.", 0},
	{errTooManyStreams, 429, "too_many_streams", "Too many read the events at a time; try again.", 5},

	{errNoIfMatch, 428, "if_match_required", "Name the version that the edit started from: If-Match with the ETag of GET /v1/policy.", 0},
	{orchestrator.ErrOutdated, 412, "outdated", "The policy changed since that version; read it again.", 0},
	{errInvalidPolicy, 422, "invalid_policy", "The policy is not valid; faults names every mistake. Nothing was changed.", 0},

	{orchestrator.ErrNotFound, 404, "not_found", "There is no such object, or it is not yours.", 0},
	{approvals.ErrNotFound, 404, "not_found", "There is no such object, or it is not yours.", 0},
	{approvals.ErrInvalid, 400, "invalid", "The request is not valid.", 0},
	{approvals.ErrAnswered, 409, "conflict", "The question was answered otherwise.", 0},
	{approvals.ErrClosed, 409, "closed", "The question is closed.", 0},
	{approvals.ErrNotAllowed, 403, "not_allowed", "You may not answer this question.", 0},
	{approvals.ErrWrongCard, 403, "wrong_card", "This is not the question's card.", 0},
	{approvals.ErrTooManyOpen, 429, "too_many_open", "The session has too many open questions.", 30},

	{orchestrator.ErrUnavailable, 503, "store_unavailable", "The store cannot be reached; try again.", 5},
	{orchestrator.ErrConflict, 503, "busy", "Others changed the same object; try again.", 1},
	{orchestrator.ErrLostClaim, 503, "busy", "Others changed the same object; try again.", 1},
	{orchestrator.ErrNewer, 503, "newer_version", "A newer gateway wrote this object; update this one.", 0},
	{errNoDecisions, 503, "no_decisions", "This gateway asks nobody; see GET /v1/capabilities.", 0},
	{errNotReady, 503, "not_ready", "The gateway takes no work now.", 5},
	{context.DeadlineExceeded, 503, "timeout", "The answer took too long; try again.", 5},
	{context.Canceled, 503, "cancelled", "The call was given up.", 0},
}

func problemOf(err error) problem {
	var refused *orchestrator.Refused
	if errors.As(err, &refused) {
		return newProblem(http.StatusConflict, refused.Code, refused.Why)
	}
	for _, a := range answers {
		if errors.Is(err, a.err) {
			p := newProblem(a.status, a.code, a.detail)
			p.retryAfter = a.retryAfter
			var q badQuery
			if errors.As(err, &q) {
				p.Detail = string(q)
			}
			var why approvals.Invalid
			if errors.As(err, &why) {
				p.Detail = string(why)
			}
			var wrong invalidPolicy
			if errors.As(err, &wrong) {
				p.Faults = wrong
			}
			return p
		}
	}
	return newProblem(http.StatusInternalServerError, "internal", "Something went wrong here; the log says what.")
}

func newProblem(status int, code, detail string) problem {
	return problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

// headers sets what goes with some answers.
func (p problem) headers(h http.Header, err error) {
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="gatehouse"`)
	}
	var m wrongMethod
	if errors.As(err, &m) {
		h.Set("Allow", m.allow)
	}
}
