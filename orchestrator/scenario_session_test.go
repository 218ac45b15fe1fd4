package orchestrator_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// givenVerbs say what the main Session was given.
var givenVerbs = []verb{
	{"the main session is given {words}", func(p *play, a []string) error { return p.isGiven(a[0]) }},
	{"the main session knows the rules {words} in mode {who} of version {n}", func(p *play, a []string) error {
		rec, err := p.store.PolicyInForce(p.ctx())
		if err != nil {
			return err
		}
		s, ids := orchestrator.SectionOf(&rec.Policy), []string{}
		for _, r := range s.Rules {
			ids = append(ids, r.ID)
		}
		return same("it knows", fmt.Sprintf("%s, %s of %d", strings.Join(ids, ", "), s.Mode, s.Version), fmt.Sprintf("%s, %s of %s", a[0], a[1], a[2]))
	}},
	{"with {m} comes what was said: {words}", func(p *play, a []string) error {
		m, err := p.message(a[0])
		if err != nil {
			return err
		}
		return same("it comes with", nearby(p.svc().Around(p.ctx(), []orchestrator.Message{m})[0]), a[1])
	}},
}

// sessionVerbs are what the main Session does when it is an agent of its own.
// It takes what waits for it before each of them.
var sessionVerbs = []verb{
	{"{m} became {t}", func(p *play, a []string) error { return p.became(a[0], a[1]) }},
	{"the main session starts again", func(p *play, _ []string) error {
		p.given, p.news = map[string]gate.EvalID{}, nil
		return p.take(true)
	}},
	{"the main session dies", func(p *play, _ []string) error {
		p.given, p.news = map[string]gate.EvalID{}, nil
		return nil
	}},
	{"the main session acknowledges {m}", func(p *play, a []string) error {
		m, err := p.message(a[0])
		if err != nil {
			return err
		}
		return p.svc().AckNoticesOf(p.ctx(), []gate.TriggerID{m.ID})
	}},
	{"the main session notes {text} to {t}", func(p *play, a []string) error {
		it := orchestrator.Item{Action: orchestrator.ActNote, Ticket: p.tickets[a[1]], Text: a[0]}
		return p.send(it, orchestrator.Ruling{PolicyVersion: p.under}, "")
	}},
	{"the main session judges (only )?that {rules} match(?:es)? {m} and {words}", func(p *play, a []string) error {
		return p.judge(a[2], a[1], a[0] != "", a[3])
	}},
	{"the evaluation of {m} fails", func(p *play, a []string) error {
		if err := p.take(false); err != nil {
			return err
		}
		p.news = nil
		return p.svc().FailEval(p.ctx(), p.given[a[0]], "the model's answers stayed invalid")
	}},
	{"the main session {words} under version {n}", func(p *play, a []string) error {
		version, err := strconv.Atoi(a[1])
		if err != nil {
			return err
		}
		it, as, err := p.item(a[0], "")
		if err != nil {
			return err
		}
		return p.send(it, orchestrator.Ruling{PolicyVersion: version}, as)
	}},
	{"the main session {words}", func(p *play, a []string) error {
		if err := p.take(false); err != nil {
			return err
		}
		it, as, err := p.item(a[0], "")
		if err != nil {
			return err
		}
		return p.send(it, p.ruling(it), as)
	}},
}

// take takes all that waits for the main Session.
func (p *play) take(fresh bool) error {
	for {
		h, ok, err := p.svc().Next(p.ctx(), "main", fresh, 0)
		fresh = false
		if err != nil || !ok {
			return err
		}
		p.under = h.PolicyVersion
		for _, m := range h.Candidates {
			p.given[m.IDs.Message] = h.Eval.ID
			p.hear(m, m.Admission.Strength.String(), h)
		}
		for _, m := range h.Notices {
			p.hear(m, "a notice", h)
		}
	}
}

// hear notes what the main Session was given, as a story says it: "m1
// (explicit)", "m2 (inferred, again)", "m3 (explicit, with t1)".
func (p *play) hear(m orchestrator.Message, what string, h orchestrator.Handout) {
	if h.Redelivered {
		what += ", again"
	}
	var with []gate.TicketID
	for _, t := range h.Tickets {
		with = append(with, t.ID)
	}
	if list := p.nameAll(with); list != "" {
		what += ", with " + list
	}
	for _, r := range h.Riders[m.ID] {
		what += ", and " + r.IDs.Message
	}
	for _, back := range m.HandBacks {
		what += fmt.Sprintf(", %s gave it back: %s", p.nameOf(back.Ticket), back.Reason)
	}
	text := fmt.Sprintf("%s (%s)", m.IDs.Message, what)
	if !slices.Contains(p.news, text) {
		p.news = append(p.news, text)
	}
}

// isGiven says what the main Session was given since it last did something.
func (p *play) isGiven(want string) error {
	if err := p.take(false); err != nil {
		return err
	}
	got := "nothing"
	if len(p.news) > 0 {
		got = strings.Join(p.news, "; ")
	}
	if err := same("the main session is given", got, want); err != nil {
		return err
	}
	p.news = nil
	return nil
}

// nearby tells Surroundings: "it began with m1, earlier m2, m3".
func nearby(s gate.Surroundings) string {
	list := []string{}
	if s.Opening != nil {
		list = append(list, "it began with "+s.Opening.Message)
	}
	for i, q := range s.Earlier {
		list = append(list, map[bool]string{true: "earlier "}[i == 0]+q.Message)
	}
	return strings.Join(list, ", ")
}

// item reads what is done with a message: "accepts m1 as t1 [with coder]",
// "attaches m1 to t1", "stops t1 by m1", "ignores m1 [saying "no"]", "requeues
// m1". Behind "judges …" the message is "it".
func (p *play) item(words, it string) (item orchestrator.Item, as string, err error) {
	if it != "" {
		words = strings.ReplaceAll(words+" ", " it ", " "+it+" ")
	}
	words, said, _ := strings.Cut(strings.TrimSpace(words), " saying ")
	w := append(strings.Fields(words), "", "", "", "", "")
	item.PublicReason, item.Reason = strings.Trim(said, `"`), "as the story has it"
	name := w[1]
	switch w[0] {
	case "accepts":
		item.Action, item.Title, as = orchestrator.ActAccept, "the work of "+name, w[3]
		item.Executor = w[5]
	case "attaches":
		item.Action, item.Ticket = orchestrator.ActAttach, p.tickets[w[3]]
	case "stops":
		item.Action, item.Ticket, name = orchestrator.ActStop, p.tickets[w[1]], w[3]
	case "ignores":
		item.Action = orchestrator.ActIgnore
	case "requeues":
		item.Action = orchestrator.ActRequeue
	default:
		return item, "", fmt.Errorf("the main session cannot: %s", words)
	}
	m, err := p.message(name)
	item.Trigger = m.ID
	return item, as, err
}

// ruling is that of the Eval in which the main Session was given the message.
func (p *play) ruling(it orchestrator.Item) orchestrator.Ruling {
	r := orchestrator.Ruling{By: orchestrator.ByMainSession, Eval: p.given[p.messageName(it.Trigger)]}
	if r.Eval == "" {
		r.PolicyVersion = p.under
	}
	return r
}

// judge sends an evaluation: the rules that match (nothing is no rule), and what
// is done with the message. "only" leaves the other rules unjudged.
func (p *play) judge(name, rules string, only bool, words string) error {
	if err := p.take(false); err != nil {
		return err
	}
	it, as, err := p.item(words, name)
	if err != nil {
		return err
	}
	r := p.ruling(it)
	r.Evaluated = true
	match := names(rules)
	for _, rule := range p.set.policy.Rules {
		if yes := slices.Contains(match, rule.ID); yes || rule.Enabled && !only {
			r.Verdicts = append(r.Verdicts, orchestrator.RuleVerdict{Rule: rule.ID, Match: yes, Reason: "seen"})
		}
	}
	return p.send(it, r, as)
}

// send routes the item; a new Ticket gets its name.
func (p *play) send(it orchestrator.Item, r orchestrator.Ruling, as string) error {
	p.news, r.By = nil, orchestrator.ByMainSession
	res, err := p.svc().Route(p.ctx(), it, r)
	switch {
	case err != nil:
		return err
	case res.Error != nil:
		return refusal{string(res.Error.Code), res.Error.Message}
	case as != "" && as != "nothing" && res.Ticket == "":
		return errors.New("no ticket began")
	case as == "nothing" && res.Ticket != "":
		return errors.New("a ticket began")
	case as != "" && as != "nothing":
		p.tickets[as] = res.Ticket
	}
	return nil
}

// same compares what is with what a line says.
func same(what, got, want string) error {
	if got != want {
		return fmt.Errorf("%s %s, want %s", what, got, want)
	}
	return nil
}

// became gives the Ticket that a built-in main Session made of a message its
// name.
func (p *play) became(message, name string) error {
	all, err := p.decisions(message)
	if err != nil {
		return err
	}
	for _, d := range all {
		if d.Outcome == orchestrator.Accepted {
			p.tickets[name] = d.Ticket
			return nil
		}
	}
	return fmt.Errorf("it was %s", outcomes(all))
}
