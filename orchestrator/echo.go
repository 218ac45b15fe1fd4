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

// Turn answers each owned message among the Inputs.
func (e Echo) Turn(ctx context.Context, t Turn) error {
	for _, in := range t.Inputs {
		if in.Kind != InputMessage || !in.Owned || in.Message == nil {
			continue
		}
		open, err := e.play(ctx, t, in)
		if err != nil || open {
			return err
		}
	}
	return nil
}

// play runs the script for one message; open says that it waits for an answer.
func (e Echo) play(ctx context.Context, t Turn, in TurnInput) (open bool, err error) {
	if err := act(ctx, t, in, "ack", Command{Verb: VerbAck, Inputs: []Input{in.Input}}); err != nil {
		return false, err
	}
	for i, step := range e.script() {
		key := fmt.Sprintf("step-%d", i)
		switch {
		case step.Say != "":
			err = act(ctx, t, in, key, Command{Verb: VerbReply, Inputs: []Input{in.Input}, Text: fill(step.Say, in)})
		case step.Done != "":
			err = act(ctx, t, in, key, Command{Verb: VerbReport, Kind: ReportDone, Text: fill(step.Done, in), Upto: in.Seq})
		case step.Approve != nil:
			var allowed bool
			allowed, open, err = e.approve(ctx, t, in, key, *step.Approve)
			if err == nil && !open && !allowed {
				return false, act(ctx, t, in, key+"-refused", Command{Verb: VerbReport, Kind: ReportDone, Text: e.Refused, Upto: in.Seq})
			}
		}
		if err != nil || open {
			return open, err
		}
	}
	return false, nil
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
