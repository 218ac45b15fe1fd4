package github

// What tests look at from outside.
var (
	CutMention  = cutMention
	CommentsOf  = commentsOf
	Signature   = signature
	EventHeader = eventHeaders
	Mark        = mark
)

// MaxBody is the limit of a delivery's body.
const MaxBody = maxBody
