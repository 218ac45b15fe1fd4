package orchestrator_test

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// messageVerbs say what became of messages, and what people heard.
var messageVerbs = []verb{
	{"{m} is not stored", func(p *play, a []string) error {
		m, err := p.message(a[0])
		switch _, said := p.said[a[0]]; {
		case !said:
			return err
		case err == nil && m.State != orchestrator.StateDropped:
			return fmt.Errorf("it is %s", m.State)
		}
		return nil
	}},
	{"{m} is owned by {ts}", func(p *play, a []string) error {
		m, err := p.message(a[0])
		if err == nil {
			err = same(a[0]+" is owned by", p.nameAll(m.Owners), a[1])
		}
		if err == nil && m.State != orchestrator.StateOwned && m.State != orchestrator.StateWaiting {
			err = fmt.Errorf("%s is %s", a[0], m.State)
		}
		return err
	}},
	{"{m} is not admitted, by {words}", func(p *play, a []string) error {
		m, err := p.state(a[0], orchestrator.StateNotAdmitted)
		if err != nil {
			return err
		}
		if !strings.Contains(m.Admission.Reason+" "+m.Admission.Rule+" "+m.Why, a[1]) {
			return fmt.Errorf("the reason is %s (%s)", m.Admission.Reason, m.Admission.Rule)
		}
		return nil
	}},
	{"{m} has no strength, by {words}", func(p *play, a []string) error {
		m, err := p.message(a[0])
		if err == nil && (m.Admission.Admitted() || !strings.Contains(m.Admission.Reason, a[1])) {
			err = fmt.Errorf("it is %s: %s", m.Admission.Strength, m.Admission.Reason)
		}
		return err
	}},
	{"{m} is not admitted", func(p *play, a []string) error {
		_, err := p.state(a[0], orchestrator.StateNotAdmitted)
		return err
	}},
	{"{m} is (received|delivered|waiting|queued|evaluating|decided|recalled|dropped|owned)", func(p *play, a []string) error {
		_, err := p.state(a[0], orchestrator.MessageState(a[1]))
		return err
	}},
	{"{m} is (explicit|inferred) by {word}", func(p *play, a []string) error {
		m, err := p.message(a[0])
		if err != nil {
			return err
		}
		return same(a[0]+" is", m.Admission.Strength.String()+" by "+m.Admission.Basis.String(), a[1]+" by "+a[2])
	}},
	{"{m} (?:was|is decided) {words}", func(p *play, a []string) error {
		all, err := p.decisions(a[0])
		if err != nil {
			return err
		}
		return same(a[0]+" was", outcomes(all), a[1])
	}},
	{"{m} has no decision", func(p *play, a []string) error {
		all, err := p.decisions(a[0])
		if err != nil {
			return err
		}
		return same(a[0]+" was", outcomes(all), "")
	}},
	{"the decision of {m} is by {word} under version {n}", func(p *play, a []string) error {
		all, err := p.decisions(a[0])
		if err != nil || len(all) == 0 {
			return errors.Join(err, errors.New("there is none"))
		}
		d := all[len(all)-1]
		return same("it is by", d.Basis.String()+" under version "+strconv.Itoa(d.PolicyVersion), a[1]+" under version "+a[2])
	}},
	{"{m} reads {text}", func(p *play, a []string) error {
		m, err := p.message(a[0])
		if err != nil {
			return err
		}
		return same(a[0]+" reads", strconv.Quote(m.Text), strconv.Quote(a[1]))
	}},
	{"the thread of {m} is (that|another than that) of {m}", func(p *play, a []string) error {
		of, err := p.message(a[0])
		if err != nil {
			return err
		}
		m, err := p.message(a[2])
		if err == nil && (of.Thread == m.Thread) != (a[1] == "that") {
			err = fmt.Errorf("they are %s and %s", of.Thread, m.Thread)
		}
		return err
	}},
	{"the thread of {m} (wants|does not want) attention", func(p *play, a []string) error {
		th, err := p.thread(a[0])
		if err == nil && th.Attention(time.Now()) != (a[1] == "wants") {
			err = fmt.Errorf("its latest decision is %+v", th.Latest)
		}
		return err
	}},
	{"{n} decisions are unresolved", func(p *play, a []string) error {
		n, err := p.svc().Unresolved(p.ctx())
		if err != nil {
			return err
		}
		return same("unresolved are", strconv.Itoa(n), a[0])
	}},
	{"{m} and {m} are in (one eval|different evals)", func(p *play, a []string) error {
		one, other := p.given[a[0]], p.given[a[1]]
		if one == "" || (one == other) != (a[2] == "one eval") {
			return fmt.Errorf("they are in %s and %s", one, other)
		}
		return nil
	}},
	{"{m} gets a receipt", func(p *play, a []string) error { return p.reacted(a[0], gate.ReactReceived, true) }},
	{"{m} gets no receipt", func(p *play, a []string) error { return p.reacted(a[0], gate.ReactReceived, false) }},
	{"{m} is refused by a reaction", func(p *play, a []string) error { return p.reacted(a[0], gate.ReactRefused, true) }},
	{"{m} is not answered", func(p *play, a []string) error { return p.reacted(a[0], gate.ReactRefused, false) }},
	{"{m} shows that the work is {who}", func(p *play, a []string) error { return p.reacted(a[0], gate.Reaction(a[1]), true) }},
	{"(feishu|github) hears {text}[ in the thread of {m}]", func(p *play, a []string) error { return p.hears(a[0], a[1], a[2]) }},
	{"(feishu|github) hears nothing more", func(p *play, a []string) error {
		if left := p.unheard(a[0]); len(left) > 0 {
			return fmt.Errorf("it heard %s", left[0].Text)
		}
		return nil
	}},
}

// state checks where a message is.
func (p *play) state(name string, want orchestrator.MessageState) (orchestrator.Message, error) {
	m, err := p.message(name)
	if err == nil {
		err = same(name+" is", string(m.State), string(want))
	}
	return m, err
}

// outcomes are a message's Decisions in their order: "unavailable, accepted",
// "observed accept", "ignored from its card".
func outcomes(all []orchestrator.Decision) string {
	var list []string
	for _, d := range all {
		word := string(d.Outcome)
		if d.Would != "" {
			word += " " + string(d.Would)
		}
		if d.IgnoredFromCard {
			word += " from its card"
		}
		list = append(list, word)
	}
	return strings.Join(list, ", ")
}

func (p *play) reacted(name string, r gate.Reaction, want bool) error {
	if _, err := p.message(name); err != nil {
		return err
	}
	is := slices.ContainsFunc(p.on[p.said[name].Trigger.Source].all(), func(o gate.Outgoing) bool {
		return o.Kind == gate.OutReact && o.Message == name && o.Reaction == r
	})
	if is != want {
		return fmt.Errorf("the reaction %s is there: %v, want %v", r, is, want)
	}
	return nil
}

// unheard are the replies that no line asked about yet.
func (p *play) unheard(source string) []gate.Outgoing {
	return slices.DeleteFunc(p.on[gate.SourceID(source)].all(), func(o gate.Outgoing) bool {
		return o.Kind != gate.OutReply || p.heard[o.ID]
	})
}

// hears: the platform was told the text, in which * stands for anything, in that
// thread if one is named, and no line asked about that one yet.
func (p *play) hears(source, text, thread string) error {
	var in orchestrator.Message
	if thread != "" {
		var err error
		if in, err = p.message(thread); err != nil {
			return err
		}
	}
	want := p.fill(text)
	for _, o := range p.unheard(source) {
		said := strings.NewReplacer("`", "", "/", "|").Replace(o.Text)
		if is, err := path.Match(want, said); is && err == nil && (thread == "" || o.Thread == in.Thread) {
			p.heard[o.ID] = true
			return nil
		}
	}
	return fmt.Errorf("nobody says %q there", want)
}

// ticketVerbs say what became of Tickets, questions and the Policy.
var ticketVerbs = []verb{
	{"there (?:is|are) {n} tickets?", func(p *play, a []string) error {
		list, _, err := p.store.ListTickets(p.ctx(), orchestrator.TicketFilter{}, orchestrator.Page{Limit: 100})
		if err != nil {
			return err
		}
		return same("tickets:", strconv.Itoa(len(list)), a[0])
	}},
	{"{t} is active", func(p *play, a []string) error {
		t, err := p.ticket(a[0])
		if err != nil {
			return err
		}
		return same(a[0]+" is", string(t.State), string(orchestrator.TicketActive))
	}},
	{"{t} ended as {word}[ by {words}]", func(p *play, a []string) error {
		t, err := p.ticket(a[0])
		if err != nil {
			return err
		}
		if t.End == nil {
			return errors.New("it is active")
		}
		if err := same(a[0]+" ended as", string(t.End.Reason), a[1]); err != nil || a[2] == "" {
			return err
		}
		return same("it ended by", t.End.By, p.fill(a[2]))
	}},
	{"the mandate of {t} is {word} by {word} under version {n}", func(p *play, a []string) error {
		t, err := p.ticket(a[0])
		if err != nil {
			return err
		}
		m := t.Mandate
		return same("its mandate is", fmt.Sprintf("%s by %s under version %d", m.Strength, m.Basis, m.PolicyVersion), fmt.Sprintf("%s by %s under version %s", a[1], a[2], a[3]))
	}},
	{"the mandate of {t} (?:is|was) {word}[ by {words}]", func(p *play, a []string) error {
		t, err := p.ticket(a[0])
		if err != nil {
			return err
		}
		if !strings.Contains(t.Mandate.RevokedReason, a[2]) {
			return fmt.Errorf("it was revoked since %s", t.Mandate.RevokedReason)
		}
		return same("its mandate is", t.Mandate.State.String(), a[1])
	}},
	{"the rules of {t} are {words}", func(p *play, a []string) error {
		t, err := p.ticket(a[0])
		if err != nil {
			return err
		}
		return same("its rules are", strings.Join(t.Mandate.Rules, ", "), a[1])
	}},
	{"the stage of {t} is {who}[ at place {n}]", func(p *play, a []string) error { return p.stage(a[0], a[1], a[2]) }},
	{"{q} is {who}[ as {who}]", func(p *play, a []string) error {
		q, err := p.question(a[0])
		if err != nil {
			return err
		}
		if err := same(a[0]+" is", strings.ReplaceAll(string(q.Status), "_", ""), a[1]); err != nil || a[2] == "" {
			return err
		}
		return same("its outcome is", strings.ReplaceAll(string(q.Outcome), "_", ""), a[2])
	}},
	{"version {n} of the policy is by {word}", func(p *play, a []string) error {
		number, err := strconv.Atoi(a[0])
		if err != nil {
			return err
		}
		v, err := p.store.PolicyVersion(p.ctx(), number)
		if err != nil {
			return err
		}
		if number > 1 && len(v.Diff) == 0 {
			return errors.New("it says not what it changed")
		}
		return same("it is by", v.By, a[1])
	}},
	{"the policy is version {n}", func(p *play, a []string) error {
		rec, err := p.store.PolicyInForce(p.ctx())
		if err != nil {
			return err
		}
		return same("it is version", strconv.Itoa(rec.Policy.Version), a[0])
	}},
}

// stage checks a Ticket's stage, and its place in the line of its executor.
func (p *play) stage(name, want, place string) error {
	t, err := p.ticket(name)
	if err != nil {
		return err
	}
	open, err := p.store.OpenQuestions(p.ctx(), approvals.SessionID(t.ID))
	if err != nil {
		return err
	}
	places, err := p.svc().Places(p.ctx(), []orchestrator.Ticket{t})
	if err != nil {
		return err
	}
	asks := slices.ContainsFunc(open, func(q approvals.Question) bool { return !orchestrator.OfBudget(q) })
	if err := same("its stage is", string(orchestrator.Stage(t, asks, places[t.ID], time.Now(), 0)), want); err != nil || place == "" {
		return err
	}
	return same("its place is", strconv.Itoa(places[t.ID]), place)
}
