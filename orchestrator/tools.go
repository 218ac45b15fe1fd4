package orchestrator

import (
	_ "embed"
	"encoding/json"
)

// Tool is something that the main Session can call. Over HTTP, over MCP and for
// the built-in model it is this one definition (RO-10).
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// InputSchema is a JSON schema that tells a model what to write. It demands
	// little, and no call is to be checked against it: each item is judged
	// alone, by ReadItem and Route (RO-1).
	InputSchema json.RawMessage `json:"inputSchema"`
}

// The names of the tools.
const (
	ToolNext       = "orchestrator_next"
	ToolRoute      = "orchestrator_route"
	ToolEvaluate   = "orchestrator_evaluate"
	ToolNote       = "note"
	ToolAckNotices = "ack_notices"
	ToolPolicy     = "policy_get"
)

//go:embed tools/tools.json
var toolsJSON []byte

// Tools are the main Session's, in the order in which they are explained.
func Tools() []Tool {
	var list []Tool
	_ = json.Unmarshal(toolsJSON, &list) // a file of ours: the tests read it too
	return list
}
