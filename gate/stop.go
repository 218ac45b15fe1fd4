package gate

// StopClick is somebody's click on the Stop button of a Ticket's message (ST-2).
type StopClick struct {
	Ticket TicketID
	// Source and Who are the authenticated identity (AD-12).
	Source SourceID
	Who    Sender
	// Chat and Message are where it was clicked.
	Chat    string
	Message string
}

// StopResult is what a click on a Stop button came to.
type StopResult string

// The results. The zero value is none of them: nobody knows.
const (
	StopDone StopResult = "stopped"
	// StopLate: the Ticket had ended.
	StopLate       StopResult = "ended"
	StopNotAllowed StopResult = "not_allowed"
	// StopWrongCard: the message is not the one that tells of the Ticket.
	StopWrongCard StopResult = "wrong_card"
	// StopNotShown: it is not known yet which message that is.
	StopNotShown StopResult = "not_shown"
	StopUnknown  StopResult = "unknown"
)

// StopAnswer is the result, and what the message tells now: nothing where it is
// not to be touched.
type StopAnswer struct {
	Result StopResult
	Notice Outgoing
}
