package feishu

import (
	"bytes"
	"encoding/json"
)

// obj is a JSON object of a card.
type obj = map[string]any

func plain(s string) obj { return obj{"tag": "plain_text", "content": s} }

func md(s string) obj { return obj{"tag": "markdown", "content": s} }

// text0 is a line in which nothing is markup.
func text0(s string) obj { return obj{"tag": "div", "text": plain(s)} }

func fact(label, s string) obj { return text0(label + ": " + s) }

// box sets what an agent wrote apart from what the host says.
func box(elements []any) obj {
	return obj{"tag": "column_set", "background_style": "grey", "columns": []any{
		obj{"tag": "column", "width": "weighted", "weight": 1, "elements": elements},
	}}
}

// marshal writes JSON without escaping <, > and &, which would inflate a card.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil // maps, strings and numbers always encode
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
