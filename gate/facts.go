package gate

// cond is a set of facts about a message, a bit each. The lines of page 02 are
// written in them (lines.go), and nothing else decides an admission.
type cond uint16

const (
	// received: there are a Policy and a Source that receives some of the scope.
	received cond = 1 << iota
	// receivesAll: the scope receives all messages.
	receivesAll
	fromPerson
	fromBot
	// fromCI: there is no sender, which is CI only.
	fromCI
	// listed: on the list of its kind, the allow list or the bot list.
	listed
	// unsure: that list could not be read; never together with listed.
	unsure
	// addresses: mention or direct. An @all is not addressing (AD-6a); the
	// Source decides that, and the text is not read here.
	addresses
	// ownThread: own to a Ticket whose Mandate stands. The other Standings
	// give no follow-up strength (AD-4).
	ownThread
	cellExplicit
	cellInferred
	// modeOff: the mode is neither observe nor auto.
	modeOff
)

// facts is all that the lines look at: the conditions and the cell of the
// table that fits the message.
type facts struct {
	is cond
	at spot
}

// look gathers the facts. Without a Trigger, a Source or a Policy there are
// none, and the first line refuses.
func look(t *Trigger, src *Source, p *Policy, st Standing, l Lists) facts {
	if t == nil || src == nil || p == nil {
		return facts{}
	}
	is := receiveFacts(src.Receives(t.Scope)) | senderFacts(t.Sender.Kind, l)
	if t.Addressing.Addresses() {
		is |= addresses
	}
	if st == Own {
		is |= ownThread
	}
	if p.Mode != Observe && p.Mode != Auto {
		is |= modeOff
	}
	at := spotOf(t.Sender.Kind, t.Scope, t.Addressing, is&listed != 0)
	return facts{is: is | cellFacts(src.says(p.Sources[t.Source].Table, at)), at: at}
}

func receiveFacts(r Receive) cond {
	switch r {
	case ReceiveAll:
		return received | receivesAll
	case ReceiveMentions:
		return received
	case ReceiveOff:
		return 0
	}
	return 0
}

func senderFacts(k SenderKind, l Lists) cond {
	switch k {
	case Person:
		return fromPerson | listFacts(l.Allow)
	case Bot:
		return fromBot | listFacts(l.Bots)
	case NoSender:
		return fromCI
	case Nobody:
		return 0
	}
	return 0
}

// listFacts fails closed: an unknown membership is not listed (AD-11).
func listFacts(m Membership) cond {
	switch m {
	case Yes:
		return listed
	case Unknown:
		return unsure
	case No:
		return 0
	}
	return 0
}

func cellFacts(s Strength) cond {
	switch s {
	case Explicit:
		return cellExplicit
	case Inferred:
		return cellInferred
	case None:
	}
	return 0
}
