package gate

import "time"

// Quote is something that was said near a Trigger. All of it is untrusted.
type Quote struct {
	// Message is the platform's id, as in PlatformIDs, or "".
	Message string
	Sender  Sender
	// Own: the agent itself said it.
	Own   bool
	Title string
	Text  string
	URL   string
	At    time.Time
	// Edited: its text was changed after the Trigger. What it reads now is not
	// told (GH-5); Text is what it read before, where that is known, else "".
	Edited bool
	// Cut: Text is only its beginning.
	Cut bool
}

// Part is a part of Surroundings.
type Part string

// The parts of Surroundings.
const (
	PartOpening   Part = "opening"
	PartRepliedTo Part = "replied_to"
	PartEarlier   Part = "earlier"
)

// Unread says that a part could not be read, or not all of it, and why, in
// words of our own.
type Unread struct {
	Part Part
	Why  string
}

// Surroundings are a Thread as of a Trigger's time (EV-2a): how it began, nil
// where the Trigger itself is that; what the Trigger replies to; and earlier
// messages, oldest first. What could not be read is named in Unread.
type Surroundings struct {
	Opening   *Quote
	RepliedTo *Quote
	Earlier   []Quote
	Unread    []Unread
}
