package config

import (
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// unbuilt is a part of the contract that this version does not do: the place,
// as a node's pattern, and which values of it.
type unbuilt struct {
	pattern string
	asks    func(*value) bool
}

// notBuilt is all that page 07 has and this version does not. It is the one
// place to change: who builds a thing removes its line.
var notBuilt = []unbuilt{
	{"approvals.approvers.*[]", lookup},
	{"executors.*.kind", oneOf("exec", "acp")},
	{"executors.*.max_output", notSize(1 << 20)},
	{"loop.limit", not("10")},
	{"loop.window", notDuration(10 * time.Minute)},
	{"orchestrator.driver", oneOf("llm")},
	{"orchestrator.llm.api_key", notEmpty},
	{"orchestrator.llm.base_url", notEmpty},
	{"orchestrator.llm.max_tokens", not("4096")},
	{"orchestrator.llm.model", notEmpty},
	{"orchestrator.llm.timeout", notDuration(time.Minute)},
	{"otlp.endpoint", notEmpty},
	{"policy.sources.*.allow[]", lookup},
	{"policy.sources.*.bots[]", lookup},
	{"sources.*.receive.addressing_labels", notEmpty},
	{"sources.*.transport", oneOf("websocket")},
}

// refuseUnbuilt complains of a value that asks for what is not built.
func refuseUnbuilt(n node) {
	if !n.set() {
		return
	}
	for _, u := range notBuilt {
		if u.pattern == n.pattern && u.asks(n.value) {
			n.fault("%s is not built yet (planned): remove it for now", n.asked())
		}
	}
}

// asked is the value in the words of that message: never a secret.
func (n node) asked() string {
	if n.value.kind != scalar || n.pattern == "orchestrator.llm.api_key" {
		return "this"
	}
	return n.got()
}

func oneOf(words ...string) func(*value) bool {
	return func(v *value) bool { return slices.Contains(words, v.text) }
}

func not(word string) func(*value) bool {
	return func(v *value) bool { return v.kind == scalar && v.text != word }
}

func notDuration(d time.Duration) func(*value) bool {
	return func(v *value) bool {
		got, err := ParseDuration(v.text)
		return err == nil && got != d
	}
}

func notSize(bytes int64) func(*value) bool {
	return func(v *value) bool {
		got, ok := parseSize(v.text)
		return ok && got != bytes
	}
}

func notEmpty(v *value) bool { return v.text != "" || len(v.items) > 0 }

func lookup(v *value) bool { return gate.NeedsLookup(v.text) }
