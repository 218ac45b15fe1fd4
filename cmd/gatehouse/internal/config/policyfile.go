package config

import (
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// PolicyJSON is a Policy as ParsePolicy reads it.
func PolicyJSON(p *gate.Policy) ([]byte, error) {
	data, err := json.Marshal(struct {
		Mode    gate.Mode                           `json:"mode"`
		Rules   []gate.Rule                         `json:"rules,omitempty"`
		Sources map[gate.SourceID]gate.SourcePolicy `json:"sources,omitempty"`
	}{p.Mode, p.Rules, p.Sources})
	if err != nil {
		return nil, fmt.Errorf("write policy: %w", err)
	}
	return data, nil
}

// YAML gives JSON the form that people edit, its keys in their order.
func YAML(data []byte) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	blocks(&doc)
	out, err := yaml.Marshal(&doc)
	if err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	return out, nil
}

// blocks lets the writer choose the style of a node and all below it.
func blocks(n *yaml.Node) {
	n.Style = 0
	for _, c := range n.Content {
		blocks(c)
	}
}

// HasPolicy reports whether a file is a configuration with a section policy,
// and not a Policy alone.
func HasPolicy(data []byte) bool {
	var top map[string]yaml.Node
	if yaml.Unmarshal(data, &top) != nil {
		return false
	}
	_, ok := top["policy"]
	return ok
}

// JSON gives YAML the form that JSON has on the wire.
func JSON(data []byte) ([]byte, error) {
	var v any
	if err := yaml.Unmarshal(data, &v); err != nil {
		return nil, fmt.Errorf("read YAML: %w", err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return out, nil
}
