package orchestrator

import (
	"strconv"
	"strings"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Prompt is what an Executor is told with an Input.
type Prompt struct {
	Input HandedInput
	// Ticket is shown with the first Input: what the work is.
	Ticket *Ticket
	// Around is what was said near the message, with the first Input (EV-2a).
	Around *gate.Surroundings
}

// Markdown is the Input for a model: facts in the gateway's words, the
// operator's rules, and what people and models wrote in fences that it cannot
// close (PL-4).
func (x *Prompt) Markdown() string {
	var p page
	in := &x.Input
	p.head(1, "Input "+strconv.Itoa(in.Seq)+" of "+word(string(in.Ticket)))
	p.say(untrustedRule)
	x.work(&p)
	p.head(2, "What came")
	p.fact("input", word(in.ID))
	p.fact("kind", kindOfInput(&in.Input))
	if in.Message != nil {
		p.fact("trigger", word(string(in.Message.ID)))
		p.fact("thread", word(string(in.Message.Thread)))
		p.fact("sender", in.sender())
	}
	x.body(&p)
	p.around(2, x.Around)
	return p.b.String()
}

// work is what the Ticket is about, what the operators say to it, and the
// rules that started it (RU-3).
func (x *Prompt) work(p *page) {
	if x.Ticket != nil {
		p.head(2, "The work")
		p.untrusted(x.Ticket.Brief, [2]string{"title", x.Ticket.Title})
	}
	if x.Input.Instructions != "" {
		p.head(2, "Instructions")
		p.say(visible(x.Input.Instructions))
	}
	for i := range x.Input.Rules {
		r := &x.Input.Rules[i]
		p.rule(r.ID, r.Name, r.Instructions)
		p.review(r.Review)
	}
}

// review says who answers the approvals that are asked for the work (RU-4).
func (p *page) review(r gate.Review) {
	if len(r.Reviewers) > 0 {
		p.say("\nThe approvals that you ask for this work are given by " + visible(strings.Join(r.Reviewers, ", ")) + "; needed: " + strconv.Itoa(r.Needed()) + ".")
	}
}

// rule is what an operator wrote for the work: it is an instruction.
func (p *page) rule(id, name, text string) {
	p.head(2, "Rule "+word(id)+" "+oneLine(visible(name), 200))
	p.say(visible(text))
}

// body is what came with the Input.
func (x *Prompt) body(p *page) {
	in := &x.Input
	switch in.Kind {
	case InputMessage, InputContext:
		p.fact("note", in.Note) // the gateway's own: edited, taken back
		if in.Message != nil {
			p.message(in.Message)
		}
	case InputNote:
		p.untrusted(in.Note)
	case InputPolicyChanged:
		p.policy(in.Policy)
	case InputAnswer:
		p.answer(in.Question)
	}
}

// sender says what the sender is as of now (SU-1).
func (in *HandedInput) sender() string {
	is := []string{kindOf(in.Message.Sender), listed(in.Lists.Allow == gate.Yes)}
	if in.Requester {
		is = append(is, "who asked for this work")
	}
	if in.Lists.Approver == gate.Yes {
		is = append(is, "an approver")
	}
	return strings.Join(is, ", ")
}

func kindOfInput(in *Input) string {
	switch in.Kind {
	case InputMessage:
		if in.Owned {
			return "a message that is yours to deal with"
		}
		return "a message"
	case InputContext:
		return "context: to be known, not to be answered"
	case InputNote:
		return "a note of the main session: to be known"
	case InputPolicyChanged:
		return "the policy changed"
	case InputAnswer:
		return "the answer to your question"
	}
	return word(string(in.Kind))
}

// policy says what the step to the Policy in force means for the Ticket (PV-4).
func (p *page) policy(c *gate.PolicyChange) {
	if c == nil {
		return
	}
	p.fact("requester", c.Requester)
	p.fact("mode", c.Mode)
	for i := range c.Rules {
		r := &c.Rules[i]
		if r.Gone {
			p.fact("rule "+word(r.ID), "it does not apply any more")
			continue
		}
		p.rule(r.ID, r.Name, r.Text)
		p.review(r.Review)
	}
}

// answer is the end of a question that the Executor asked (DE-10).
func (p *page) answer(q *approvals.Question) {
	if q == nil {
		return
	}
	p.fact("question", word(q.RequestID))
	p.fact("status", string(q.Status))
	if q.Kind == approvals.Approval {
		p.fact("outcome", string(approvals.OutcomeOf(*q)))
	}
	if a := q.Answer; a != nil {
		p.fact("option", word(a.OptionID))
		p.untrusted(a.Text, [2]string{"from", a.By.Name})
	}
}
