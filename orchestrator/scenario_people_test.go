package orchestrator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// peopleVerbs are what people, bots and CI do. Who is called …bot is a bot, ci
// has no sender, and a text with @bot addresses the agent. A place is "in ops",
// "in a DM", "in the thread of m1", "on issue 7", "on pull request 8" or "on
// the CI of main".
var peopleVerbs = []verb{
	{"{who} says {text} {place} as {m}", func(p *play, a []string) error {
		return p.say(a[0], a[1], a[2], a[3], time.Now())
	}},
	{"{who} remarks {text} in review {word} on pull request {n} as {m}", func(p *play, a []string) error {
		at, err := p.arrival(a[0], a[1], "on pull request "+a[3], a[4], time.Now())
		if err != nil {
			return err
		}
		at.Trigger.Kind, at.Trigger.Bundle = gate.KindReviewComment, a[2]
		p.said[a[4]] = utterance{Arrival: at}
		return p.receiveIt(at)
	}},
	{"{who} said {text} {place} {d} ago as {m}", func(p *play, a []string) error {
		ago, err := time.ParseDuration(a[3])
		if err != nil {
			return err
		}
		return p.say(a[0], a[1], a[2], a[4], time.Now().Add(-ago))
	}},
	{"{m} is delivered again", func(p *play, a []string) error {
		return p.receiveIt(p.said[a[0]].Arrival)
	}},
	{"{m} is replayed by force as {m}", func(p *play, a []string) error {
		u := p.said[a[0]]
		id, _, err := p.svc().Replay(p.ctx(), u.Arrival, "ops")
		u.id = id
		p.said[a[1]] = u
		return err
	}},
	{"what feishu heard comes back", func(p *play, _ []string) error { return p.echo() }},
	{"the bot is (removed from|added to) {who}", func(p *play, a []string) error {
		lost := map[string]string{"removed from": "the bot was removed from the chat"}[a[0]]
		return p.reach(gate.PlaceID("feishu~"+a[1]), lost)
	}},
	{"{who} edits {m} to {text}", func(p *play, a []string) error { return p.change(gate.ChangeEdit, a[0], a[1], a[2]) }},
	{"{who} recalls {m}", func(p *play, a []string) error { return p.change(gate.ChangeRecall, a[0], a[1], "") }},
	{"{who} recalls {m}, which was said {place}", func(p *play, a []string) error {
		at, err := p.arrival(a[0], "", a[2], a[1], time.Now())
		if err != nil {
			return err
		}
		p.said[a[1]] = utterance{Arrival: at}
		return p.change(gate.ChangeRecall, a[0], a[1], "")
	}},
	{"{who} (approves|rejects) {q}", func(p *play, a []string) error {
		return p.answer(a[0], a[2], strings.TrimSuffix(a[1], "s"), "")
	}},
	{"{who} chooses {word} of {q}", func(p *play, a []string) error { return p.answer(a[0], a[2], a[1], "") }},
	{"{who} answers {q} with {text}", func(p *play, a []string) error { return p.answer(a[0], a[1], "", a[2]) }},
}

// utter is where a message of a scenario stands.
func (p *play) utter(place, name string) (gate.Trigger, error) {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(place, "in "), "on "), " ")
	t := gate.Trigger{Source: "feishu", Kind: gate.KindMessage, IDs: gate.PlatformIDs{Message: name}}
	switch {
	case strings.HasPrefix(place, "in the thread of "):
		return p.reply(t, strings.TrimPrefix(place, "in the thread of "))
	case place == "in a DM":
		t.Scope, t.Place, t.Addressing = gate.DirectChat, gate.Place{Chat: "dm"}, gate.Direct
	case strings.HasPrefix(place, "on the CI of "):
		branch := strings.TrimPrefix(place, "on the CI of ")
		t.Source, t.Kind, t.Scope, t.Place = "github", gate.KindCI, gate.CI, gate.Place{Chat: "acme/shop", Root: branch}
		t.Thread = gate.ThreadID("github~acme~shop~" + branch)
	case kind == "issue" || kind == "pull":
		p.onGitHub(&t, kind, strings.TrimPrefix(rest, "request "))
	case strings.HasPrefix(place, "in "):
		t.Scope, t.Place, t.Thread = gate.ChatScope(kind), gate.Place{Chat: kind, Root: name}, gate.ThreadID("feishu~"+kind+"~"+name)
		if p.set.sources["feishu"].Scopes[t.Scope] == gate.ReceiveOff {
			t.Scope = gate.OtherChats
		}
	default:
		return t, fmt.Errorf("there is no place %q", place)
	}
	return t, nil
}

// onGitHub: the first message of an issue or pull request opens it, unless the
// agent did.
func (p *play) onGitHub(t *gate.Trigger, kind, number string) {
	thread := gate.ThreadID("github~acme~shop~" + number)
	t.Source, t.Thread, t.Place, t.Title = "github", thread, gate.Place{Chat: "acme/shop", Root: number}, "number "+number
	t.Scope, t.Kind = gate.Comments, gate.KindComment
	for _, u := range p.said {
		if u.Trigger.Thread == thread {
			return
		}
	}
	if _, opened := p.opens[number]; opened {
		return
	}
	t.Scope, t.Kind = gate.Issues, gate.KindIssue
	if kind == "pull" {
		t.Scope, t.Kind = gate.Pulls, gate.KindPullRequest
	}
}

func (p *play) reply(t gate.Trigger, to string) (gate.Trigger, error) {
	u, ok := p.said[to]
	if !ok {
		return t, fmt.Errorf("nobody said %s", to)
	}
	of := u.Trigger
	t.Source, t.Scope, t.Thread, t.Place, t.Kind = of.Source, of.Scope, of.Thread, of.Place, of.Kind
	if of.Scope == gate.DirectChat {
		t.Addressing, t.Place.Root = gate.Direct, to
	}
	if of.Source == "github" {
		t.Scope, t.Kind = gate.Comments, gate.KindComment
	}
	return t, nil
}

// arrival is what an adapter makes of the message.
func (p *play) arrival(who, text, place, name string, at time.Time) (gate.Arrival, error) {
	t, err := p.utter(place, name)
	t.Sender = gate.Sender{Kind: gate.Person, ID: who}
	switch {
	case who == "ci":
		t.Sender = gate.Sender{Kind: gate.NoSender}
	case strings.HasSuffix(who, "bot"):
		t.Sender.Kind = gate.Bot
	}
	if t.Addressing == gate.NotAddressed && strings.Contains(text, "@bot") {
		t.Addressing = gate.Mention
	}
	t.Text = strings.TrimSpace(strings.TrimPrefix(text, "@bot"))
	t.Plain, t.OccurredAt = t.Text, at
	lane := string(t.Thread)
	if t.Addressing == gate.Direct {
		lane = orchestrator.DirectLane(t.Source, t.Place.Chat)
	}
	takes := p.set.sources[t.Source].Receives(t.Scope).Takes(t.Addressing)
	return gate.Arrival{Trigger: t, Keys: []string{gate.MessageKey(t.Source, name)}, Lane: lane, OnlyIfLive: !takes}, err
}

func (p *play) say(who, text, place, name string, at time.Time) error {
	a, err := p.arrival(who, text, place, name, at)
	if err != nil {
		return err
	}
	p.said[name] = utterance{Arrival: a}
	return p.receiveIt(a)
}

// receiveIt hands an arrival to intake; the platform is answered 503 where that
// is refused as unavailable.
func (p *play) receiveIt(a gate.Arrival) error {
	err := p.svc().Receive(p.ctx(), a)
	if errors.Is(err, orchestrator.ErrUnavailable) {
		return refusal{"unavailable", err.Error()}
	}
	return err
}

// echo brings everything that the gateway said in the chat back as a message.
func (p *play) echo() error {
	on := p.on["feishu"]
	for _, o := range on.all() {
		on.mu.Lock()
		id := on.ids[o.ID]
		on.mu.Unlock()
		a, err := p.arrival("lin", "@bot "+o.Text, "in ops", id, time.Now())
		if err != nil {
			return err
		}
		if err := p.receiveIt(a); err != nil {
			return err
		}
	}
	return nil
}

// reach brings news of a chat: that the gateway lost it, or has it again.
func (p *play) reach(chat gate.PlaceID, lost string) error {
	id := p.ids("event_")
	return p.receiveIt(gate.Arrival{
		Trigger: gate.Trigger{Source: "feishu", IDs: gate.PlatformIDs{Event: id}, OccurredAt: time.Now()},
		Keys:    []string{"feishu:event:" + id}, Lane: string(chat),
		Change: gate.Change{Kind: gate.ChangeReach, Reach: []gate.Reached{{Place: chat, Lost: lost, Wide: true}}},
	})
}

// change brings news of a message.
func (p *play) change(kind gate.ChangeKind, who, name, text string) error {
	u, ok := p.said[name]
	if !ok {
		return fmt.Errorf("nobody said %s", name)
	}
	a := u.Arrival
	adds := strings.Contains(text, "@bot")
	a.Trigger.Sender = gate.Sender{Kind: gate.Person, ID: who}
	a.Trigger.Text = strings.TrimSpace(strings.TrimPrefix(text, "@bot"))
	a.Trigger.Plain, a.Trigger.OccurredAt = a.Trigger.Text, time.Now()
	if adds && a.Trigger.Addressing == gate.NotAddressed {
		a.Trigger.Addressing = gate.Mention
	}
	a.OnlyIfLive, a.Change = false, gate.Change{Kind: kind, Adds: adds && kind == gate.ChangeEdit}
	a.Keys = []string{fmt.Sprintf("%s:%s:%s:%s", a.Trigger.Source, kind, name, text)}
	return p.receiveIt(a)
}

// answerCodes are the words for what an answer is refused with.
var answerCodes = map[error]string{
	approvals.ErrNotAllowed: "not_allowed", approvals.ErrAnswered: "conflict", approvals.ErrClosed: "closed",
	approvals.ErrInvalid: "invalid", approvals.ErrWrongCard: "wrong_card",
}

// answer clicks on the question's card.
func (p *play) answer(who, name, option, text string) error {
	q, err := p.question(name)
	if err != nil {
		return err
	}
	if len(q.Messages) == 0 {
		return errors.New("its card was not shown")
	}
	_, err = p.house.broker.Answer(p.ctx(), approvals.AnswerRequest{
		ID: q.ID, OptionID: option, Text: text, Via: approvals.ViaCard, Source: q.Messages[0].Source,
		Who: gate.Sender{Kind: gate.Person, ID: who}, Message: &q.Messages[0],
	})
	for is, code := range answerCodes {
		if errors.Is(err, is) {
			return refusal{code, err.Error()}
		}
	}
	return err
}

// operatorVerbs are what operators do, and what happens to the process.
var operatorVerbs = []verb{
	{"{d} pass(?:es)?", func(_ *play, a []string) error {
		d, err := time.ParseDuration(a[0])
		if err == nil {
			time.Sleep(d) // fake time
		}
		return err
	}},
	{"the gateway is killed", func(p *play, _ []string) error {
		p.life.once.Do(func() { close(p.life.died) })
		p.stop()
		return nil
	}},
	{"the store goes away", func(p *play, _ []string) error {
		p.life.once.Do(func() { close(p.life.died) })
		return nil
	}},
	{"the gateway starts again", func(p *play, _ []string) error { p.start(); return nil }},
	{"an operator pauses {who}", func(p *play, a []string) error {
		_, err := p.svc().Pause(p.ctx(), sourceOrAll(a[0]), "api:ops")
		return err
	}},
	{"an operator resumes {who}", func(p *play, a []string) error {
		_, err := p.svc().Resume(p.ctx(), sourceOrAll(a[0]), "api:ops")
		return err
	}},
	{"an operator stops {t}", func(p *play, a []string) error { return p.svc().StopByCommand(p.ctx(), p.tickets[a[0]], "panel:ops") }},
	{"an operator sends {m} to eval", func(p *play, a []string) error {
		m, err := p.message(a[0])
		if err != nil {
			return err
		}
		return commanded(p.svc().SendToEval(p.ctx(), m.ID, "panel:ops"))
	}},
	{"an operator has the thread of {m} evaluated again", func(p *play, a []string) error {
		th, err := p.thread(a[0])
		if err != nil {
			return err
		}
		return commanded(p.svc().EvaluateAgain(p.ctx(), th.ID, "panel:ops"))
	}},
	{"an operator dismisses the thread of {m}", func(p *play, a []string) error {
		th, err := p.thread(a[0])
		if err != nil {
			return err
		}
		return commanded(p.svc().Dismiss(p.ctx(), th.ID, "panel:ops"))
	}},
	{"an operator removes {t} from the thread of {m}", func(p *play, a []string) error {
		th, err := p.thread(a[1])
		if err != nil {
			return err
		}
		return p.svc().Unsubscribe(p.ctx(), p.tickets[a[0]], th.ID, "panel:ops")
	}},
	{"{who}'s account opens pull request {n}", func(p *play, a []string) error {
		p.opens[a[1]] = orchestrator.Opened{
			Thread: gate.ThreadID("github~acme~shop~" + a[1]), Scope: gate.Pulls, Place: gate.Place{Chat: "acme/shop", Root: a[1]},
			Ours: a[0] == "agent", At: time.Now(),
		}
		return nil
	}},
	{"{who} refuses everything", func(p *play, a []string) error {
		return p.on[gate.SourceID(a[0])].refuse(&gate.SendError{Class: gate.SendRetry, Reason: "down"})
	}},
	{"{who} takes everything", func(p *play, a []string) error {
		return p.on[gate.SourceID(a[0])].refuse(nil)
	}},
}

// refuse makes the platform refuse everything, or nothing any more.
func (on *platform) refuse(why error) error {
	on.mu.Lock()
	defer on.mu.Unlock()
	on.fail = func(gate.Outgoing) error { return why }
	return nil
}

func sourceOrAll(word string) gate.SourceID {
	if word == "everything" {
		return ""
	}
	return gate.SourceID(word)
}

// commanded makes a refusal of what a person's command may be refused with.
func commanded(err error) error {
	var r *orchestrator.Refused
	if errors.As(err, &r) {
		return refusal{r.Code, r.Why}
	}
	return err
}

// Opened makes the play what tells who opened a pull request.
func (p *play) Opened(_ context.Context, url string) (orchestrator.Opened, error) {
	o, ok := p.opens[url[strings.LastIndex(url, "/")+1:]]
	if !ok {
		return orchestrator.Opened{}, orchestrator.ErrNotFound
	}
	return o, nil
}
