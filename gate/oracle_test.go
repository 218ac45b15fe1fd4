package gate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// available is the table of page 02, as it is printed there: the columns are
// "listed, not addressing", "not listed, addressing" and "not listed, not
// addressing". The columns of `ci` are those of no sender.
var available = map[gate.Scope][3]string{
	"chat:oc_1":   {"all", "yes", "all"},
	"other_chats": {"–", "yes", "–"},
	"direct":      {"–", "yes", "–"},
	"issues":      {"all", "yes", "all"},
	"pulls":       {"all", "yes", "all"},
	"comments":    {"all", "yes", "all"},
	"ci":          {"–", "–", "all"},
}

// oracle is page 02 written a second time, as naively as it reads.
func oracle(p point) (strength, basis string) {
	if p.receive == gate.ReceiveOff || p.kind == gate.Nobody {
		return "none", ""
	}
	addresses := p.addressing == gate.Mention || p.addressing == gate.Direct

	// AD-1
	if p.kind == gate.Bot {
		if p.bots == gate.Yes && (addresses || p.receive == gate.ReceiveAll) {
			return unlessOff(p, "inferred", "bot_list")
		}
		return "none", ""
	}
	// CI: the row's one cell, never explicit.
	if p.kind == gate.NoSender {
		if p.receive == gate.ReceiveAll && p.cells.UnlistedUnaddressed == gate.Inferred {
			return unlessOff(p, "inferred", "cell:ci/unlisted_unaddressed")
		}
		return "none", ""
	}
	isListed := p.allow == gate.Yes
	// AD-2
	if isListed && addresses {
		return "explicit", "allow_list"
	}
	cell, says := tableSays(p, isListed, addresses)
	// AD-3; AD-4 is that no other standing counts.
	if p.standing == gate.Own {
		if isListed {
			return "explicit", "follow_up"
		}
		if says == "explicit" {
			return "explicit", cell
		}
		return unlessOff(p, "inferred", "follow_up_unlisted")
	}
	// AD-5
	switch says {
	case "explicit":
		return "explicit", cell
	case "inferred":
		return unlessOff(p, "inferred", cell)
	}
	return "none", ""
}

// unlessOff is AD-6.
func unlessOff(p point, strength, basis string) (string, string) {
	if p.mode == gate.Off {
		return "none", ""
	}
	return strength, basis
}

func tableSays(p point, isListed, addresses bool) (basis, says string) {
	column, name, value := 2, "unlisted_unaddressed", p.cells.UnlistedUnaddressed
	if addresses {
		column, name, value = 1, "unlisted_addressed", p.cells.UnlistedAddressed
	}
	if isListed {
		column, name, value = 0, "listed_unaddressed", p.cells.ListedUnaddressed
	}
	switch {
	case p.scope == gate.CI:
		return "", "none"
	case available[p.scope][column] == "yes",
		available[p.scope][column] == "all" && p.receive == gate.ReceiveAll:
		return "cell:" + string(p.scope) + "/" + name, value.String()
	}
	return "", "none"
}

func TestAdmitIsPage02(t *testing.T) {
	everywhere(t, every, func(in *input) error {
		v := in.admit()
		strength, basis := oracle(in.point)
		if v.Strength.String() != strength || v.Basis.String() != basis {
			return fmt.Errorf("Admit(%s) = %s, want %s %s", in, show(v), strength, basis)
		}
		return nil
	})
}

func TestNoVerdictIsWithoutRuleAndReason(t *testing.T) {
	everywhere(t, ownList, func(in *input) error {
		v := in.admit()
		switch {
		case v.Rule == "" || v.Reason == "":
			return fmt.Errorf("Admit(%s) = %s, want a rule and a reason", in, show(v))
		case strings.ToLower(v.Reason[:1]) != v.Reason[:1] || strings.HasSuffix(v.Reason, "."):
			return fmt.Errorf("Admit(%s) = %s, want a lower case sentence", in, show(v))
		case v.Admitted() != (v.Basis != gate.Basis{}):
			return fmt.Errorf("Admit(%s) = %s, want a basis exactly when admitted", in, show(v))
		}
		return nil
	})
}

func TestAnUnknownListIsSaidInTheReason(t *testing.T) {
	everywhere(t, ownList, func(in *input) error {
		if in.allow != gate.Unknown || in.kind != gate.Person {
			return nil
		}
		v := in.admit()
		in.lists.Allow = gate.No
		as := in.admit()
		if v.Strength != as.Strength || v.Basis != as.Basis || v.Rule != as.Rule {
			return fmt.Errorf("AD-11 Admit(%s) = %s, want as for not listed: %s", in, show(v), show(as))
		}
		in.lists.Allow = gate.Yes
		said := strings.HasSuffix(v.Reason, gate.MembershipUnknown)
		if other := in.admit(); !said && (other.Strength != v.Strength) {
			return fmt.Errorf("AD-11 Admit(%s) = %s, want the reason to say that the list is unknown", in, show(v))
		}
		return nil
	})
}
