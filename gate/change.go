package gate

// ChangeKind is what somebody did to a message that was said before. The zero
// value is none: the arrival is the message itself.
type ChangeKind string

// The changes of a message. They mean the same on every platform (TR-4, TR-4a).
const (
	NoChange ChangeKind = ""
	// ChangeEdit: its author gave it another text.
	ChangeEdit ChangeKind = "edit"
	// ChangeRecall: it was recalled or deleted, by whomever.
	ChangeRecall ChangeKind = "recall"
	// ChangeReach is of no message: there is news of where the gateway can
	// speak, and nothing else.
	ChangeReach ChangeKind = "reach"
	// ChangePassed is of no message: the Trigger's Run is green (GH-3).
	ChangePassed ChangeKind = "passed"
)

// Change makes an Arrival news of a message that was said before: the one with
// the Trigger's Source and IDs.Message. Of an edit the Trigger is the message as
// it reads now; of a recall it only names it.
type Change struct {
	Kind ChangeKind `json:"kind,omitempty"`
	// Adds: the author added the mention of the agent by this edit (GH-5).
	Adds bool `json:"adds,omitempty"`
	// Reread: the platform told only that there was an edit; what it reads now
	// is to be had from the platform (FS-4).
	Reread bool `json:"reread,omitempty"`
	// Reach is news of places (EN-5); it can come with a recall.
	Reach []Reached `json:"reach,omitempty"`
}
