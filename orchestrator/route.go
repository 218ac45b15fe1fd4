package orchestrator

import "github.com/gatehouse-bot/gatehouse/gate"

type destination struct {
	source  gate.SourceID
	thread  gate.ThreadID
	place   gate.Place
	message string
	direct  bool
}
