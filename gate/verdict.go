package gate

import (
	"fmt"
	"strings"
)

// Strength is how strongly a Trigger asks for work. The values grow.
type Strength uint8

// The strengths (spec page 02).
const (
	None Strength = iota
	Inferred
	Explicit
)

var strengths = names{"none", "inferred", "explicit"}

func (s Strength) String() string                { return strengths.word(uint8(s)) }
func (s Strength) MarshalText() ([]byte, error)  { return strengths.text(uint8(s)) }
func (s *Strength) UnmarshalText(b []byte) error { return strengths.parse(b, (*uint8)(s)) }

// BasisKind is which line of the policy admitted a Trigger.
type BasisKind uint8

// The lines that can admit.
const (
	NoBasis BasisKind = iota
	AllowList
	FollowUp
	FollowUpUnlisted
	BotList
	TableCell
)

var basisKinds = names{"", "allow_list", "follow_up", "follow_up_unlisted", "bot_list", "cell"}

// Basis is the line of the policy that admitted a Trigger, as recorded in
// Mandate and Decision. Row and Cell are set for a TableCell only. On the wire
// it is one word: "allow_list", "cell:<row>/<cell>".
type Basis struct {
	Kind BasisKind
	Row  Scope
	Cell Cell
}

func (b Basis) String() string {
	if b.Kind == TableCell {
		return "cell:" + string(b.Row) + "/" + b.Cell.String()
	}
	return basisKinds.word(uint8(b.Kind))
}

// MarshalText gives the wire word. A Basis that UnmarshalText would refuse has
// none.
func (b Basis) MarshalText() ([]byte, error) {
	if b.Kind == TableCell {
		if b.Row == "" || b.Cell == NoCell {
			return nil, fmt.Errorf("basis %q names no cell", b)
		}
		if _, err := cells.text(uint8(b.Cell)); err != nil {
			return nil, err
		}
		return []byte(b.String()), nil
	}
	return basisKinds.text(uint8(b.Kind))
}

// UnmarshalText reads the wire word, and leaves b as it is when it is none.
func (b *Basis) UnmarshalText(text []byte) error {
	rest, isCell := strings.CutPrefix(string(text), "cell:")
	if isCell {
		return b.parseCell(rest)
	}
	var k BasisKind
	if err := basisKinds.parse(text, (*uint8)(&k)); err != nil {
		return err
	}
	if k == TableCell {
		return fmt.Errorf("basis %q names no cell", text)
	}
	*b = Basis{Kind: k}
	return nil
}

// parseCell reads "<row>/<cell>". A row is taken as it is: one that the
// configuration no longer has was once a basis.
func (b *Basis) parseCell(s string) error {
	cut := strings.LastIndexByte(s, '/')
	row := s[:max(cut, 0)]
	var c Cell
	if err := c.UnmarshalText([]byte(s[cut+1:])); err != nil {
		return err
	}
	if row == "" || c == NoCell {
		return fmt.Errorf("basis %q names no cell", "cell:"+s)
	}
	*b = Basis{Kind: TableCell, Row: Scope(row), Cell: c}
	return nil
}

// Standing is what Tickets stand on a Thread for the purpose of AD-3 and AD-4.
// The values grow: one Ticket whose Mandate stands outweighs the others.
type Standing uint8

// The standings.
const (
	// NoTicket: no Ticket has the Thread.
	NoTicket Standing = iota
	// ContextOnly: Tickets only follow it (AD-4).
	ContextOnly
	// OwnGone: own to Tickets that were all stopped by a person or revoked (AD-4).
	OwnGone
	// Own: own to at least one Ticket whose Mandate still stands (AD-3).
	Own
)

var standings = names{"none", "context", "gone", "own"}

func (s Standing) String() string                { return standings.word(uint8(s)) }
func (s Standing) MarshalText() ([]byte, error)  { return standings.text(uint8(s)) }
func (s *Standing) UnmarshalText(b []byte) error { return standings.parse(b, (*uint8)(s)) }

// Verdict is the gate's answer with its reason: a fixed sentence that tests
// and logs can name, and the rule that decided. The zero Verdict admits
// nothing.
type Verdict struct {
	Strength Strength `json:"strength"`
	Basis    Basis    `json:"basis"`
	Rule     string   `json:"rule"`
	Reason   string   `json:"reason"`
}

// Admitted reports whether the Trigger is a Candidate.
func (v Verdict) Admitted() bool { return v.Strength != None }
