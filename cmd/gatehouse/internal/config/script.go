package config

import "regexp"

// Step is one step of an echo executor's script; exactly one field is set. In
// every text {{text}} stands for the text of the message.
type Step struct {
	Say     string   // reply with it
	Approve *Approve // ask a person for approval and wait for the answer
	Done    string   // report the work done, with this text; it ends the script
}

// Approve is the operation that a script asks approval for (AP-1).
type Approve struct {
	Tool    string
	Preview string
	Reason  string
}

var placeholder = regexp.MustCompile(`\{\{[^}]*\}\}`)

func readScript(n node, to *[]Step) {
	done := false
	n.list(func(item node) {
		if done {
			item.fault("comes after done; make done the last step")
		}
		item.object(func(o *object) {
			step := readStep(o)
			done = done || step.Done != ""
			*to = append(*to, step)
		})
	})
}

func readStep(o *object) Step {
	var s Step
	say, approve, done := o.key("say"), o.key("approve"), o.key("done")
	if len(o.value.keys) != 1 {
		o.fault("want exactly one of say, approve and done; make each a step of its own")
		return s
	}
	say.nonEmpty().template(&s.Say)
	done.nonEmpty().template(&s.Done)
	approve.object(func(o *object) {
		s.Approve = &Approve{}
		o.must("tool", "name what the approval is for").template(&s.Approve.Tool)
		o.key("preview").template(&s.Approve.Preview)
		o.key("reason").template(&s.Approve.Reason)
	})
	return s
}

// template decodes text whose one placeholder is {{text}}.
func (n node) template(to *string) {
	if !n.text(to) {
		return
	}
	for _, p := range placeholder.FindAllString(*to, -1) {
		if p != "{{text}}" {
			n.fault("%s stands for nothing; write {{text}} for the message's text", p)
		}
	}
}
