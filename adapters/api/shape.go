package api

import "github.com/gatehouse-bot/gatehouse/orchestrator"

// Shape returns a message, and its admission, in the shapes of page 07, for
// commands that print them.
func Shape(m orchestrator.Message) (trigger, admission any) {
	t := triggerOf(&m)
	return t, t.Admission
}
