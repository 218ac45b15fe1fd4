package feishusim

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gatehouse-bot/gatehouse/adapters/internal/markdown"
)

// cardSchema is the structure of a card of JSON 2.0 (facts C.6): what of it the
// gateway uses, and nothing else, since the platform refuses unknown properties.
//
//go:embed card.schema.json
var cardSchema []byte

// What a schema cannot say (facts C.6, D.3).
const (
	maxDepth = 5
	// maxTables of a card, maxTablesHere of one of its texts.
	maxTables     = 5
	maxTablesHere = 4
)

// cardCheck tells why the platform would refuse a card.
type cardCheck struct {
	schema *jsonschema.Schema
	// divider is the line under a table's head.
	divider *regexp.Regexp
}

func newCardCheck() *cardCheck {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(cardSchema))
	if err != nil {
		panic(err) // the file is ours
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("card.schema.json", doc); err != nil {
		panic(err)
	}
	return &cardCheck{
		schema:  c.MustCompile("card.schema.json"),
		divider: regexp.MustCompile(`^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`),
	}
}

// CheckCard returns why the platform would refuse a card, or nil.
func CheckCard(card json.RawMessage) error {
	if fault := newCardCheck().check(string(card)); fault != nil {
		return fmt.Errorf("code %d: %s", fault.code, fault.msg)
	}
	return nil
}

func (c *cardCheck) check(content string) *apiReply {
	if len(content) > maxCard {
		return refuse(230025, "the card is too large")
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(content))
	if err == nil {
		err = c.schema.Validate(doc)
	}
	if err != nil {
		return refuse(230099, "Failed to create card content, ext=ErrCode: 200621; ErrMsg: "+err.Error())
	}
	w := cardWalk{cardCheck: c, names: map[string]bool{}}
	w.value(doc, 0, "")
	if w.elements > maxElements || w.tables > maxTables {
		return refuse(230099, "Failed to create card content, ext=ErrCode: 11310; ErrMsg: element or table exceeds the limit")
	}
	if w.fault != "" {
		return refuse(230099, "Failed to create card content, ext=ErrCode: 200621; ErrMsg: "+w.fault)
	}
	return nil
}

// cardWalk counts and checks what concerns the card as a whole.
type cardWalk struct {
	*cardCheck
	elements, tables int
	// names of components and element_ids: each once.
	names map[string]bool
	fault string
}

// value walks a card; form is the name of the form around it.
func (w *cardWalk) value(v any, depth int, form string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			w.value(e, depth, form)
		}
	case map[string]any:
		w.object(v, depth, form)
	}
}

func (w *cardWalk) object(v map[string]any, depth int, form string) {
	tag, _ := v["tag"].(string)
	if tag != "" {
		w.elements++
	}
	switch tag {
	case "markdown":
		content, _ := v["content"].(string)
		w.markdown(content)
	case "form":
		form, _ = v["name"].(string)
		w.once(form)
		if submits(v["elements"]) == 0 {
			w.fault = "form " + form + " has no submit button"
		}
	case "button", "input", "select_static":
		w.interactive(v, form)
	}
	if depth > maxDepth {
		w.fault = "nested too deep"
	}
	w.value(v["body"], depth, form)
	w.value(v["header"], depth, form)
	for _, key := range [...]string{"title", "text", "placeholder"} {
		w.value(v[key], depth, form)
	}
	for _, key := range [...]string{"columns", "elements", "options"} {
		w.value(v[key], depth+1, form)
	}
}

// markdown counts the tables of a text, and refuses images: their keys would
// have to be uploaded first (200570).
func (w *cardWalk) markdown(text string) {
	here, last := 0, ""
	markdown.Outside(text, func(line string) string {
		if strings.Contains(last, "|") && w.divider.MatchString(line) {
			here++
		}
		if strings.Contains(line, "![") {
			w.fault = "an image is not uploaded (200570)"
		}
		last = line
		return line
	})
	if w.tables += here; here > maxTablesHere {
		w.tables = maxTables + 1
	}
}

func (w *cardWalk) interactive(v map[string]any, form string) {
	name, named := v["name"].(string)
	switch {
	case form != "" && name == "":
		w.fault = "a component inside a form has an empty name (200530)"
	case form == "" && (v["form_action_type"] != nil || v["required"] != nil):
		w.fault = "only in a form something is required or submitted"
	}
	if named {
		w.once(name)
	}
}

func (w *cardWalk) once(name string) {
	if w.names[name] {
		w.fault = "the name " + name + " is used twice"
	}
	w.names[name] = true
}

// submits counts the submit buttons of a form.
func submits(v any) (n int) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += submits(e)
		}
	case map[string]any:
		if v["form_action_type"] == "submit" {
			return 1
		}
		return submits(v["columns"]) + submits(v["elements"])
	}
	return n
}
