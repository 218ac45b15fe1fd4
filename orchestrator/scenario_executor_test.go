package orchestrator_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// readVerbs are how an Executor that is an agent of its own reads its Inputs,
// and what they are. Inputs are told as "m1 (owned)", "m2 (context)",
// "m2 (edited)", "m2 (recalled)", "a policy change: …", "the note: …", "the
// answer of q1: approve".
var readVerbs = []verb{
	{"{t} reads again what it did not deal with: {words}", func(p *play, a []string) error {
		return p.reads(a[0], orchestrator.Reading{Unacked: true}, a[1])
	}},
	{"{t} reads all again: {words}", func(p *play, a []string) error {
		return p.reads(a[0], orchestrator.Reading{Again: true}, a[1])
	}},
	{"{t} reads {words}", func(p *play, a []string) error { return p.reads(a[0], orchestrator.Reading{}, a[1]) }},
}

// executorVerbs are what it does.
var executorVerbs = []verb{
	{"the question of {t} is {q}", func(p *play, a []string) error {
		open, err := p.store.OpenQuestions(p.ctx(), approvals.SessionID(p.tickets[a[0]]))
		if err != nil || len(open) != 1 {
			return fmt.Errorf("%d questions are open, %w", len(open), err)
		}
		p.questions[a[1]] = open[0].ID
		return nil
	}},
	{"{t} acks {ms}[ with key {word}]", func(p *play, a []string) error {
		return p.act(a[0], orchestrator.Command{Verb: orchestrator.VerbAck, Key: a[2]}, a[1])
	}},
	{"{t} replies {text}[ to {ms}][ with key {word}]", func(p *play, a []string) error {
		return p.act(a[0], orchestrator.Command{Verb: orchestrator.VerbReply, Text: a[1], Key: a[3]}, a[2])
	}},
	{"{t} hands back {ms} because {text}", func(p *play, a []string) error {
		return p.act(a[0], orchestrator.Command{Verb: orchestrator.VerbHandBack, Reason: a[2]}, a[1])
	}},
	{"{t} hands back the whole thread of {m} because {text}", func(p *play, a []string) error {
		th, err := p.thread(a[1])
		if err != nil {
			return err
		}
		return p.act(a[0], orchestrator.Command{Verb: orchestrator.VerbHandBack, Reason: a[2], Thread: th.ID}, "")
	}},
	{"{t} reports {who}[ {text}][ up to {m}]", func(p *play, a []string) error { return p.report(a, false) }},
	{"{t} reports {who} for good[ {text}][ up to {m}]", func(p *play, a []string) error { return p.report(a, true) }},
	{"{t} ends its turn[ up to {m}]", func(p *play, a []string) error {
		return p.act(a[0], orchestrator.Command{Verb: orchestrator.VerbTurnEnd, Upto: p.seq(a[0], a[1])}, "")
	}},
	{"{t} ends its turn after {n} tokens[ with key {word}]", func(p *play, a []string) error {
		used, err := strconv.ParseInt(a[1], 10, 64)
		return errors.Join(err, p.act(a[0], orchestrator.Command{Verb: orchestrator.VerbTurnEnd, Tokens: used, Key: a[2]}, ""))
	}},
	{"{t} (follows|unfollows) {words}", func(p *play, a []string) error {
		on, err := p.threadID(a[2])
		if err != nil {
			return err
		}
		return p.act(a[0], orchestrator.Command{Verb: orchestrator.Verb(strings.TrimSuffix(a[1], "s")), Thread: on}, "")
	}},
	{"{t} says that it opened pull request {n}", func(p *play, a []string) error {
		return p.act(a[0], orchestrator.Command{Verb: orchestrator.VerbOpened, URL: "https://github.com/acme/shop/pull/" + a[1]}, "")
	}},
	{"{t} asks to {word} as {q}", func(p *play, a []string) error {
		return p.ask(a[0], a[2], approvals.Request{
			Kind: approvals.Approval, Prompt: a[1] + "?", Operation: &approvals.Operation{Tool: a[1], Reason: "it is time"}, AsStated: true,
		})
	}},
	{"{t} asks {text} as {q}", func(p *play, a []string) error {
		return p.ask(a[0], a[2], approvals.Request{Kind: approvals.Clarification, Prompt: a[1], AllowFreeText: true})
	}},
	{"{t} tries to {word}", func(p *play, a []string) error {
		return p.act(a[0], orchestrator.Command{Verb: orchestrator.Verb(a[1])}, "")
	}},
	{"the executor of {t} dies", func(p *play, a []string) error {
		_, err := p.ticket(a[0])
		return err
	}},
}

// reads reads a Ticket's Inputs; "nothing" says that there are none.
func (p *play) reads(name string, r orchestrator.Reading, want string) error {
	t, err := p.ticket(name)
	if err != nil {
		return err
	}
	h, err := p.svc().Read(p.ctx(), t.ID, r)
	if err != nil {
		return err
	}
	got := []string{}
	want = strings.ReplaceAll(want, "its thread", string(t.Mandate.Thread))
	for i := range h.Inputs {
		got = append(got, inputWords(&h.Inputs[i]))
	}
	if len(got) == 0 {
		got = append(got, "nothing")
	}
	return same(name+" reads", strings.Join(got, "; "), p.fill(want))
}

// inputWords tells an Input in the story's words.
func inputWords(in *orchestrator.HandedInput) string {
	switch {
	case in.Kind == orchestrator.InputNote:
		return "the note: " + in.Note
	case in.Kind == orchestrator.InputAnswer:
		return answered(in.Question)
	case in.Kind == orchestrator.InputPolicyChanged:
		return "a policy change: " + policyNews(in.Policy)
	case in.Note == orchestrator.NoteEdited:
		return in.Message.IDs.Message + " (edited)"
	case in.Note == orchestrator.NoteRecalled:
		return in.Message.IDs.Message + " (recalled)"
	}
	how := "context"
	if in.Owned {
		how = "owned"
	}
	return in.Message.IDs.Message + " (" + how + ")"
}

// answered tells what a question came to; a line's q1 is its short id.
func answered(of *approvals.Question) string {
	said := string(of.Status)
	if of.Answer != nil {
		said = of.Answer.OptionID + of.Answer.Text
	}
	return fmt.Sprintf("the answer of %s: %s", of.ID.Short(), said)
}

// policyNews tells which of PV-4's three things a policy change says.
func policyNews(c *gate.PolicyChange) string {
	var news []string
	for _, r := range c.Rules {
		what := "changed"
		if r.Gone {
			what = "applies no more"
		}
		news = append(news, "rule "+r.ID+" "+what)
	}
	if c.Requester != "" {
		news = append(news, "the requester may not start work")
	}
	if c.Mode != "" {
		news = append(news, "proactive work is not accepted")
	}
	return strings.Join(news, ", ")
}

// inputsOf are the latest Inputs of a Ticket that carry the messages.
func (p *play) inputsOf(name, messages string) ([]orchestrator.Input, error) {
	if messages == "" {
		return nil, nil
	}
	all, err := p.store.Inputs(p.ctx(), p.tickets[name], 0)
	if err != nil {
		return nil, err
	}
	var list []orchestrator.Input
	for _, m := range names(messages) {
		i := slices.IndexFunc(all, func(in orchestrator.Input) bool { return p.messageName(in.Trigger) == m })
		if i < 0 {
			return nil, fmt.Errorf("%s was never given %s", name, m)
		}
		for j := i; j < len(all); j++ {
			if all[j].Trigger == all[i].Trigger {
				i = j
			}
		}
		list = append(list, all[i])
	}
	return list, nil
}

// seq is that of the message's Input, or 0.
func (p *play) seq(name, message string) int {
	list, err := p.inputsOf(name, message)
	if err != nil || len(list) == 0 {
		return 0
	}
	return list[0].Seq
}

// act does an action of the Executor; what had no effect is refused as
// "no_effect".
func (p *play) act(name string, cmd orchestrator.Command, messages string) error {
	list, err := p.inputsOf(name, messages)
	if err != nil {
		return err
	}
	for _, in := range list {
		cmd.Named = append(cmd.Named, in.ID)
	}
	done, err := p.svc().Act(p.ctx(), p.tickets[name], cmd)
	switch {
	case err != nil:
		return err
	case done.Error != nil:
		return refusal{done.Error.Code, done.Error.Message}
	case done.Note != "":
		return refusal{"no_effect", done.Note}
	case !done.OK:
		return errors.New("it was neither done nor refused")
	}
	return nil
}

func (p *play) report(a []string, final bool) error {
	return p.act(a[0], orchestrator.Command{
		Verb: orchestrator.VerbReport, Kind: orchestrator.ReportKind(a[1]), Final: final, Text: a[2], Upto: p.seq(a[0], a[3]),
	}, "")
}

func (p *play) ask(name, q string, r approvals.Request) error {
	r.RequestID = q
	id := p.tickets[name]
	p.questions[q] = approvals.IDFor("default", approvals.SessionID(id), q)
	return p.act(name, orchestrator.Command{Verb: orchestrator.VerbAsk, Ask: &r}, "")
}

// threadID is that of "the thread of m1", "issue 7" or "the thread x of ops".
func (p *play) threadID(words string) (gate.ThreadID, error) {
	if m, ok := strings.CutPrefix(words, "the thread of "); ok {
		u, said := p.said[m]
		if !said {
			return "", fmt.Errorf("nobody said %s", m)
		}
		if u.Trigger.Thread != "" {
			return u.Trigger.Thread, nil
		}
		th, err := p.thread(m)
		return th.ID, err
	}
	w := strings.Fields(words)
	return gate.ThreadID("github~acme~shop~" + w[len(w)-1]), nil
}
