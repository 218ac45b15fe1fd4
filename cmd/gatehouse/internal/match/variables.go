package match

import (
	"slices"
	"strings"

	"cel.dev/cel-go/cel"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// variable is a name that expressions know, and what it is of a message.
type variable struct {
	name string
	of   *cel.Type
	get  func(m *orchestrator.Message, listed bool) any
}

// all are the variables; docs/configuration.md lists them. Each has its own name and
// none is a map, so that a misspelt one is found when it is compiled.
var all = []variable{
	{"kind", cel.StringType, func(m *orchestrator.Message, _ bool) any { return string(m.Kind) }},
	{"text", cel.StringType, func(m *orchestrator.Message, _ bool) any { return cut(m.Text) }},
	{"title", cel.StringType, func(m *orchestrator.Message, _ bool) any { return cut(m.Title) }},
	{"source", cel.StringType, func(m *orchestrator.Message, _ bool) any { return string(m.Source) }},
	{"scope", cel.StringType, func(m *orchestrator.Message, _ bool) any { return string(m.Scope) }},
	{"thread", cel.StringType, func(m *orchestrator.Message, _ bool) any { return string(m.Thread) }},
	{"addressing", cel.StringType, func(m *orchestrator.Message, _ bool) any { return m.Addressing.String() }},
	{"strength", cel.StringType, func(m *orchestrator.Message, _ bool) any { return m.Admission.Strength.String() }},
	{"url", cel.StringType, func(m *orchestrator.Message, _ bool) any { return m.URL }},
	{"repo", cel.StringType, func(m *orchestrator.Message, _ bool) any { return repo(m) }},
	{"chat", cel.StringType, func(m *orchestrator.Message, _ bool) any { return chat(m) }},
	{"late", cel.BoolType, func(m *orchestrator.Message, _ bool) any { return m.Late }},
	{"occurred_at", cel.TimestampType, func(m *orchestrator.Message, _ bool) any { return m.OccurredAt }},
	{"sender.kind", cel.StringType, func(m *orchestrator.Message, _ bool) any { return m.Sender.Kind.String() }},
	{"sender.id", cel.StringType, func(m *orchestrator.Message, _ bool) any { return m.Sender.ID }},
	{"sender.name", cel.StringType, func(m *orchestrator.Message, _ bool) any { return m.Sender.Name }},
	{"sender.listed", cel.BoolType, func(_ *orchestrator.Message, listed bool) any { return listed }},
}

// variables are the values that a message has.
func variables(m *orchestrator.Message, listed bool) map[string]any {
	values := make(map[string]any, len(all))
	for _, v := range all {
		values[v.name] = v.get(m, listed)
	}
	return values
}

// Names are the variables' names, in the order of the docs.
func Names() []string {
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = v.name
	}
	return names
}

// repo is the repository of a message from GitHub, "owner/name", or "".
func repo(m *orchestrator.Message) string {
	if slices.Contains([]gate.Scope{gate.Issues, gate.Pulls, gate.Comments, gate.CI}, m.Scope) {
		return m.Place.Chat
	}
	return ""
}

// chat is the chat of a message from Feishu, or "".
func chat(m *orchestrator.Message) string {
	if repo(m) != "" {
		return ""
	}
	return m.Place.Chat
}

// cut bounds what one evaluation looks at. CEL takes no broken character.
func cut(s string) string {
	if len(s) > MaxText {
		s = s[:MaxText]
	}
	return strings.ToValidUTF8(s, "")
}
