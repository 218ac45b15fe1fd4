package feishusim

import (
	"encoding/json"
	"fmt"
)

// checkContent refuses what the platform would refuse, or returns nil.
func checkContent(in sendBody) *apiReply {
	if len(in.UUID) > maxUUID {
		return refuse(99992402, "field validation failed: uuid is longer than 50")
	}
	switch in.Type {
	case "text":
		return checkText(in.Content)
	case "post":
		return checkPost(in.Content)
	case "interactive":
		return checkCard(in.Content)
	}
	return refuse(230001, "msg_type is not supported by the simulation")
}

func refuse(code int, msg string) *apiReply {
	r := bad(code, msg)
	return &r
}

func checkText(content string) *apiReply {
	var t struct {
		Text *string `json:"text"`
	}
	switch {
	case json.Unmarshal([]byte(content), &t) != nil || t.Text == nil || *t.Text == "":
		return refuse(230001, "content is not a text")
	case len(content) > maxText:
		return refuse(230025, "the text is too long")
	}
	return nil
}

// checkPost wants the locale level that a post has when it is sent.
func checkPost(content string) *apiReply {
	var locales map[string]struct {
		Content [][]map[string]any `json:"content"`
	}
	if json.Unmarshal([]byte(content), &locales) != nil || len(locales) == 0 {
		return refuse(230001, "content is not a post")
	}
	for locale, post := range locales {
		if len(post.Content) == 0 {
			return refuse(230001, "post has no content under "+locale)
		}
	}
	if len(content) > maxCard {
		return refuse(230025, "the post is too long")
	}
	return nil
}

// checkCard wants a card of JSON 2.0 within its limits.
func checkCard(content string) *apiReply {
	var card struct {
		Schema string `json:"schema"`
		Config struct {
			UpdateMulti bool `json:"update_multi"`
		} `json:"config"`
		Body struct {
			Elements []any `json:"elements"`
		} `json:"body"`
	}
	if json.Unmarshal([]byte(content), &card) != nil || card.Schema != "2.0" || len(card.Body.Elements) == 0 {
		return refuse(230099, "Failed to create card content, ext=ErrCode: 200621; ErrMsg: parse card json err")
	}
	if !card.Config.UpdateMulti {
		return refuse(230099, "Failed to create card content, ext=ErrCode: 200621; ErrMsg: update_multi must be true")
	}
	if len(content) > maxCard {
		return refuse(230025, "the card is too large")
	}
	walk := cardWalk{names: map[string]bool{}}
	walk.list(card.Body.Elements, 1, false)
	switch {
	case walk.elements > maxElements:
		return refuse(230099, "Failed to create card content, ext=ErrCode: 11310; ErrMsg: element exceeds the limit")
	case walk.fault != "":
		return refuse(230099, "Failed to create card content, ext=ErrCode: 200621; ErrMsg: "+walk.fault)
	}
	return nil
}

// cardWalk counts and checks a card's components.
type cardWalk struct {
	elements int
	names    map[string]bool
	fault    string
}

const maxDepth = 5

func (w *cardWalk) list(elements []any, depth int, inForm bool) {
	for _, e := range elements {
		if v, ok := e.(map[string]any); ok {
			w.element(v, depth, inForm)
		}
	}
}

func (w *cardWalk) element(v map[string]any, depth int, inForm bool) {
	tag, _ := v["tag"].(string)
	w.elements++
	if depth > maxDepth {
		w.fault = "nested too deep"
	}
	switch tag {
	case "":
		w.fault = "an element has no tag"
	case "form":
		w.form(v, depth)
		return
	case "button", "input", "select_static":
		w.interactive(v, inForm)
	case "column_set", "column", "markdown", "div", "hr", "img", "collapsible_panel", "table":
	default:
		w.fault = fmt.Sprintf("tag %s is not allowed in 2.0", tag)
	}
	for _, key := range [...]string{"columns", "elements"} {
		inner, _ := v[key].([]any)
		w.list(inner, depth+1, inForm)
	}
}

func (w *cardWalk) form(v map[string]any, depth int) {
	if depth != 1 {
		w.fault = "a form is only allowed at the root"
	}
	inner, _ := v["elements"].([]any)
	submits := 0
	for _, e := range inner {
		if b, ok := e.(map[string]any); ok && b["form_action_type"] == "submit" {
			submits++
		}
	}
	if name, _ := v["name"].(string); name == "" || submits == 0 {
		w.fault = "a form needs a name and a submit button"
	}
	w.list(inner, depth+1, true)
}

func (w *cardWalk) interactive(v map[string]any, inForm bool) {
	name, _ := v["name"].(string)
	if inForm && name == "" {
		w.fault = "a component inside a form has an empty name (200530)"
	}
	if name != "" && w.names[name] {
		w.fault = "the name " + name + " is used twice"
	}
	w.names[name] = true
}

// CheckCard returns why the platform would refuse a card, or nil.
func CheckCard(card json.RawMessage) error {
	if fault := checkCard(string(card)); fault != nil {
		return fmt.Errorf("code %d: %s", fault.code, fault.msg)
	}
	return nil
}
