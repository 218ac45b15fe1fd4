package gate

import (
	"fmt"
	"maps"
	"slices"
)

// spot is the one cell of a table that fits a message.
type spot struct {
	row  Scope
	cell Cell
}

// spotOf picks the cell: by the sender's own listing and the message's own
// addressing (AD-3, AD-5). CI has the one cell of the row `ci`, wherever it
// came from, and nobody else has it; a listed person who addresses the agent
// needs no cell (AD-2); a bot has none (AD-1).
func spotOf(k SenderKind, scope Scope, a Addressing, listed bool) spot {
	switch k {
	case Person:
		if scope != CI {
			return spot{scope, personCell(listed, a.Addresses())}
		}
		return spot{scope, NoCell}
	case NoSender:
		return spot{CI, UnlistedUnaddressed}
	case Bot, Nobody:
		return spot{scope, NoCell}
	}
	return spot{scope, NoCell}
}

func personCell(listed, addressed bool) Cell {
	switch {
	case listed && addressed:
		return NoCell
	case listed:
		return ListedUnaddressed
	case addressed:
		return UnlistedAddressed
	}
	return UnlistedUnaddressed
}

// says is what the table says at a spot. In the row `ci` explicit counts as
// none: nobody asked (AD-7).
func (t Table) says(at spot) Strength {
	switch s := t[at.row].Get(at.cell); s {
	case Inferred:
		return Inferred
	case Explicit:
		if at.row != CI {
			return Explicit
		}
	case None:
	}
	return None
}

// says is what the table says at a spot that the configuration makes
// available, else None (AD-7, PV-5a).
func (s *Source) says(t Table, at spot) Strength {
	if !s.CellAvailable(at.row, at.cell) {
		return None
	}
	return t.says(at)
}

// CellAvailable reports whether the configuration makes the cell available:
// cells for messages that do not address the agent need a scope that receives
// all of them; the others need one that is not off (AD-7). It is false for
// NoCell, for rows that no table has, and without a Source.
func (s *Source) CellAvailable(scope Scope, c Cell) bool {
	need := needs(scope, c)
	if s == nil || need == ReceiveOff {
		return false
	}
	switch s.Receives(scope) {
	case ReceiveAll:
		return true
	case ReceiveMentions:
		return need == ReceiveMentions
	case ReceiveOff:
		return false
	}
	return false
}

// needs is the least that a scope must receive for the cell to mean anything,
// or ReceiveOff when no setting makes it so. A DM always addresses, other_chats
// receives mentions at most, and CI has one cell.
func needs(row Scope, c Cell) Receive {
	switch row {
	case OtherChats, DirectChat:
		return onlyFor(c, UnlistedAddressed, ReceiveMentions)
	case CI:
		return onlyFor(c, UnlistedUnaddressed, ReceiveAll)
	case Issues, Pulls, Comments:
		return leastFor(c)
	}
	if row.Chat() != "" {
		return leastFor(c)
	}
	return ReceiveOff
}

func onlyFor(c, only Cell, r Receive) Receive {
	if c == only {
		return r
	}
	return ReceiveOff
}

func leastFor(c Cell) Receive {
	switch c {
	case UnlistedAddressed:
		return ReceiveMentions
	case ListedUnaddressed, UnlistedUnaddressed:
		return ReceiveAll
	case NoCell:
		return ReceiveOff
	}
	return ReceiveOff
}

// TableFault is something wrong with a cell of an admission table (AD-7).
type TableFault struct {
	Row  Scope
	Cell Cell
	// Warning: the cell works, and is probably not what was meant. Else it is
	// an error.
	Warning bool
	// Setting is the setting of the Source that would enable the cell, as in
	// "receive.issues: all", or "" when none would.
	Setting string
	// Text is the whole in words.
	Text string
}

// CheckTable finds what a Source's configuration makes of its table: cells
// that are set and not available, explicit cells of CI (both errors), and
// explicit cells for people who do not address the agent (a warning). The
// order is that of the rows' names, then of the cells (AD-7).
func CheckTable(src *Source, t Table) []TableFault {
	var faults []TableFault
	for _, row := range slices.Sorted(maps.Keys(t)) {
		for _, c := range [...]Cell{ListedUnaddressed, UnlistedAddressed, UnlistedUnaddressed} {
			if s := t[row].Get(c); s != None {
				faults = append(faults, checkCell(src, row, c, s)...)
			}
		}
	}
	return faults
}

func checkCell(src *Source, row Scope, c Cell, s Strength) []TableFault {
	var faults []TableFault
	available := src.CellAvailable(row, c)
	if !available {
		faults = append(faults, unavailable(src, row, c))
	}
	switch {
	case s != Explicit || c == UnlistedAddressed:
	case row == CI:
		faults = append(faults, TableFault{Row: row, Cell: c, Text: fmt.Sprintf(
			"%s of %s cannot be explicit, since nobody asked: write inferred or none", c, row)})
	case available:
		faults = append(faults, TableFault{Row: row, Cell: c, Warning: true, Text: fmt.Sprintf(
			"%s of %s is explicit: work starts though nobody addressed the agent", c, row)})
	}
	return faults
}

func unavailable(src *Source, row Scope, c Cell) TableFault {
	f := TableFault{Row: row, Cell: c, Setting: settingFor(src, row, c)}
	if f.Setting == "" {
		f.Text = fmt.Sprintf("%s of %s is never available here, whatever is set: write none", c, row)
		return f
	}
	f.Text = fmt.Sprintf("%s of %s is not available: it needs %s", c, row, f.Setting)
	return f
}

// settingFor words the setting that enables a cell as the configuration does
// (page 07), relative to the Source.
func settingFor(src *Source, row Scope, c Cell) string {
	need := needs(row, c)
	switch {
	case need == ReceiveOff || src == nil || !src.Platform.has(row):
		return ""
	case row == DirectChat:
		return "receive.direct: true"
	case row.Chat() != "":
		return "receive.chats." + row.Chat() + ": " + need.String()
	}
	return "receive." + string(row) + ": " + need.String()
}

// has reports whether the platform's Sources have that scope.
func (p Platform) has(row Scope) bool {
	switch row {
	case Issues, Pulls, Comments, CI:
		return p == GitHub
	case OtherChats, DirectChat:
		return p == Feishu
	}
	return p == Feishu && row.Chat() != ""
}
