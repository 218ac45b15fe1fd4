package gate

import "time"

// Search asks for the deliveries that a Source's platform could not make
// (GH-8).
type Search struct {
	// Since is how far back to look.
	Since time.Time
	// After is the last attempt that was dealt with, by the hook that it is of:
	// the platform's own count, which no clock moves. Attempts up to it are
	// looked at no more.
	After map[string]int64
}

// Found is what came of a Search.
type Found struct {
	Gap Gap
	// Came is how far it came, by hook; what is beyond is for the next one.
	Came map[string]int64
	// Asked are the GUIDs of the deliveries that are to be made again.
	Asked []string
}

// Gap is what a Search found: deliveries that were missed, between their first
// and their last attempt, and how many of them the platform was asked to make
// again. The others were known, or would come to nothing.
type Gap struct {
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	Found    int       `json:"found"`
	Replayed int       `json:"replayed"`
}
