package orchestrator

import "github.com/gatehouse-bot/gatehouse/gate"

// Card is what the main Session is told of a candidate (EV-2).
type Card struct {
	Message Message
	// Listed: its sender is on the allow list now.
	Listed bool
	// Tickets are those that have its Thread as their own.
	Tickets []CardTicket
	// Riders are the messages that are one candidate with it (EV-1), in the
	// order in which they came.
	Riders []Message
	Around gate.Surroundings
}

// CardTicket is a Ticket of the candidate's Thread, as it stands now.
type CardTicket struct {
	ID    gate.TicketID
	Title string
	Brief string
	State TicketState
	Stage TicketStage
}

// Markdown is the card for a model: facts in the gateway's words, and what
// people and models wrote in fences that it cannot close (EV-2, PL-4).
func (c *Card) Markdown() string {
	var p page
	m := &c.Message
	p.head(1, "Candidate "+word(string(m.ID)))
	p.say(untrustedRule)
	p.head(2, "Facts")
	p.fact("thread", word(string(m.Thread)))
	p.fact("kind", word(string(m.Kind)))
	p.fact("sender", kindOf(m.Sender)+", "+listed(c.Listed))
	p.fact("addresses the agent", addressing(m.Addressing))
	p.fact("strength", m.Admission.Strength.String())
	p.fact("basis", word(m.Admission.Basis.String()))
	p.fact("reason", m.Admission.Reason)
	p.message(m)
	c.riders(&p)
	c.tickets(&p)
	if len(m.HandBacks) > 0 {
		p.head(2, "Handed back")
		p.handBacks(m)
	}
	p.around(2, &c.Around)
	return p.b.String()
}

// riders lists what is decided with the candidate (EV-1).
func (c *Card) riders(p *page) {
	if len(c.Riders) == 0 {
		return
	}
	p.head(2, "Decided with it")
	p.say("These are one candidate with it: the item on it decides them too.")
	for i := range c.Riders {
		r := &c.Riders[i]
		p.head(3, word(string(r.ID)))
		p.fact("sender", kindOf(r.Sender))
		p.fact("addresses the agent", addressing(r.Addressing))
		p.message(r)
		p.handBacks(r)
	}
}

func (c *Card) tickets(p *page) {
	p.head(2, "Tickets of the thread")
	if len(c.Tickets) == 0 {
		p.say("None.")
	}
	for _, t := range c.Tickets {
		p.say("- " + word(string(t.ID)) + ": " + string(t.State) + ", " + string(t.Stage))
		p.untrusted(t.Brief, [2]string{"title", t.Title})
	}
}

// handBacks are the reasons of the Executors that gave the message back (HB-3).
func (p *page) handBacks(m *Message) {
	for _, b := range m.HandBacks {
		p.say("- handed back by the executor of " + word(string(b.Ticket)))
		p.untrusted(b.Reason)
	}
}

func listed(yes bool) string {
	if yes {
		return "on the allow list"
	}
	return "not on the allow list"
}

func addressing(a gate.Addressing) string {
	switch a {
	case gate.Mention:
		return "yes, by a mention"
	case gate.Direct:
		return "yes, in a direct chat"
	case gate.NotAddressed:
	}
	return "no"
}
