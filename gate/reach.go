package gate

import "strings"

// PlaceID names a conversation or what it is in: a ThreadID, or the part of one
// before any of its "~". The first part is the whole Source.
type PlaceID string

// Places are what the conversation is in, the whole Source first, itself last;
// of "" there are none.
func (t ThreadID) Places() []PlaceID {
	if t == "" {
		return nil
	}
	var list []PlaceID
	for i, c := range t {
		if c == '~' {
			list = append(list, PlaceID(t[:i]))
		}
	}
	return append(list, PlaceID(t))
}

// Source is the Source that the place is in.
func (p PlaceID) Source() SourceID {
	first, _, _ := strings.Cut(string(p), "~")
	return SourceID(first)
}

// Reached is news of a place: whether the gateway can still speak there (EN-5).
type Reached struct {
	Place PlaceID `json:"place"`
	// Lost is why it cannot; "": it can, perhaps again.
	Lost string `json:"lost,omitempty"`
	// Wide: the place is more than one conversation.
	Wide bool `json:"wide,omitempty"`
}
