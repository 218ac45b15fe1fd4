package orchestrator

import (
	"context"
	"fmt"
	"strings"

	"github.com/gatehouse-bot/gatehouse/approvals"
)

// ScriptStep is one step of an echo script; exactly one field is set. {{text}}
// stands for the text of the message that the script answers.
type ScriptStep struct {
	Say     string
	Approve *approvals.Operation
	Done    string
}

// Echo is the embedded default Executor (EX-1): it acknowledges, replies with
// what it was asked, and reports; or it plays a script. It keeps nothing in
// memory: each turn plays the script again from its start, and the keys of its
// actions make each step act once. So a crash between any two steps is
// harmless.
type Echo struct {
	Script []ScriptStep
	// Refused is the report when an approval of the script was not given.
	Refused string
}

// Turn takes all owned messages up, replies to those that came after the first,
// and plays the script for the first, which started or resumed the work.
func (e Echo) Turn(ctx context.Context, t Turn) error {
	owned := ownedOf(t)
	for _, in := range owned {
		if err := act(ctx, t, in, "ack", Command{Verb: VerbAck, Inputs: []Input{in.Input}}); err != nil {
			return err
		}
	}
	for i, in := range owned {
		if i == 0 {
			continue
		}
		if err := act(ctx, t, in, "echo", Command{Verb: VerbReply, Inputs: []Input{in.Input}, Text: fill("{{text}}", in)}); err != nil {
			return err
		}
	}
	if len(owned) == 0 {
		return nil
	}
	return e.play(ctx, t, owned[0])
}

func ownedOf(t Turn) []TurnInput {
	var owned []TurnInput
	for _, in := range t.Inputs {
		if in.Kind == InputMessage && in.Owned && in.Message != nil {
			owned = append(owned, in)
		}
	}
	return owned
}

// play runs the script for one message, up to an approval that nobody has
// answered yet.
func (e Echo) play(ctx context.Context, t Turn, in TurnInput) error {
	for i, step := range e.script() {
		key := fmt.Sprintf("step-%d", i)
		if step.Approve != nil {
			allowed, open, err := e.approve(ctx, t, in, key, *step.Approve)
			switch {
			case err != nil || open:
				return err
			case !allowed:
				return act(ctx, t, in, key+"-refused", e.done(t, e.Refused))
			}
			continue
		}
		cmd := Command{Verb: VerbReply, Inputs: []Input{in.Input}, Text: fill(step.Say, in)}
		if step.Done != "" {
			cmd = e.done(t, fill(step.Done, in))
		}
		if err := act(ctx, t, in, key, cmd); err != nil {
			return err
		}
	}
	return nil
}

// done ends the work; it covers all that the turn was given.
func (e Echo) done(t Turn, text string) Command {
	return Command{Verb: VerbReport, Kind: ReportDone, Text: text, Upto: t.Inputs[len(t.Inputs)-1].Seq}
}

func (e Echo) script() []ScriptStep {
	if len(e.Script) > 0 {
		return e.Script
	}
	return []ScriptStep{{Done: "{{text}}"}}
}

// approve asks for one operation. Asking again with the same key returns the
// same question, answered or not (DE-3).
func (e Echo) approve(ctx context.Context, t Turn, in TurnInput, key string, op approvals.Operation) (allowed, open bool, err error) {
	op.Preview, op.Reason = fill(op.Preview, in), fill(op.Reason, in)
	p, err := t.Act(ctx, Command{Verb: VerbAsk, Ask: &approvals.Request{
		RequestID: fmt.Sprintf("%d/%s", in.Seq, key), Kind: approvals.Approval,
		Prompt: op.Reason, Operation: &op, AsStated: true,
	}})
	if err != nil || p.Error != nil {
		return false, false, err
	}
	q, err := t.Question(ctx, p.Question)
	if err != nil {
		return false, false, fmt.Errorf("load question %s: %w", p.Question, err)
	}
	return q.Outcome.Allows(), !q.Status.Terminal(), nil
}

// act does an action once for a message; a refusal (the Ticket ended
// meanwhile) is no error.
func act(ctx context.Context, t Turn, in TurnInput, key string, cmd Command) error {
	cmd.Key = fmt.Sprintf("echo/%d/%s", in.Seq, key)
	_, err := t.Act(ctx, cmd)
	return err
}

func fill(text string, in TurnInput) string {
	return strings.ReplaceAll(text, "{{text}}", in.Message.Text)
}
