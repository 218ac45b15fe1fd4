package github

import (
	"net/http"
	"net/url"
)

// What tests look at from outside.
var (
	CutMention      = cutMention
	CommentsOf      = commentsOf
	QuestionComment = questionComment
	Signature       = signature
	EventHeader     = eventHeaders
	Mark            = mark
)

// MaxBody is the limit of a delivery's body.
const MaxBody = maxBody

// NewFence is the innermost transport for a host.
func NewFence(base http.RoundTripper, to *url.URL) http.RoundTripper {
	return &fence{base: base, to: to}
}
