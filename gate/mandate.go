package gate

// MandateState is whether a Mandate still stands (RE-4).
type MandateState uint8

// The states of a Mandate. The zero value authorises nothing.
const (
	NoMandate MandateState = iota
	MandateActive
	MandateWithdrawn
	MandateRevoked
)

var mandateStates = names{"", "active", "withdrawn", "revoked"}

func (s MandateState) String() string                { return mandateStates.word(uint8(s)) }
func (s MandateState) MarshalText() ([]byte, error)  { return mandateStates.text(uint8(s)) }
func (s *MandateState) UnmarshalText(b []byte) error { return mandateStates.parse(b, (*uint8)(s)) }

// Mandate is what authorises a Ticket. Accept creates it, a person's stop
// withdraws it, a failed revalidation revokes it; nothing else changes it
// (RE-4).
type Mandate struct {
	State         MandateState `json:"state"`
	Source        SourceID     `json:"source"`
	Scope         Scope        `json:"scope"`
	Thread        ThreadID     `json:"thread"`
	Place         Place        `json:"place"`
	Trigger       TriggerID    `json:"trigger"`
	Sender        Sender       `json:"sender"`
	Addressing    Addressing   `json:"addressing"`
	Listed        bool         `json:"listed"`
	Strength      Strength     `json:"strength"`
	Basis         Basis        `json:"basis"`
	PolicyVersion int          `json:"policy_version"`
	Rules         []string     `json:"rules,omitempty"`
	Executor      string       `json:"executor"`
	RevokedReason string       `json:"revoked_reason,omitempty"`
}

// Stands reports whether the Mandate still authorises its Ticket.
func (m *Mandate) Stands() bool { return m.State == MandateActive }
