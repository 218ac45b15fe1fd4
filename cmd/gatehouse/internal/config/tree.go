package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// maxAliased bounds how many values aliases may add to a file: an alias bomb
// of some lines stands for billions.
const maxAliased = 10_000

// kind is the shape of a value.
type kind uint8

const (
	scalar kind = iota
	list
	mapping
)

// String is the kind in the words of a message.
func (k kind) String() string {
	switch k {
	case list:
		return "a list"
	case mapping:
		return "a mapping"
	case scalar:
	}
	return "text"
}

// value is one value of the file and its place: YAML without aliases,
// variables and duplicate keys. The decoder sees nothing else.
type value struct {
	line, column int
	kind         kind
	tag          string   // of a scalar: !!str, !!int, !!bool, !!null, …
	text         string   // of a scalar, variables replaced
	written      string   // of a scalar, as in the file: what messages quote
	vars         []string // the variables in it
	broken       bool     // already complained of: decode no further
	missing      bool     // the text says nothing: it is empty, or has only comments
	keys         []*value // of a mapping, as long as items
	items        []*value // of a list or a mapping
}

// tree reads YAML. It returns nil when there is nothing to decode: the text is
// no YAML at all, and d says so.
func (d *decoder) tree(data []byte) *value {
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return &value{line: 1, column: 1, kind: mapping, missing: true}
	case err != nil:
		d.syntax(err)
		return nil
	}
	root := d.convert(doc.Content[0], false)
	if d.bombed {
		return nil
	}
	if err := dec.Decode(&more); err == nil {
		d.report(more.Line, more.Column, "a second document; the file holds one: remove what follows ---")
	} else if !errors.Is(err, io.EOF) {
		d.syntax(err)
	}
	return root
}

// yamlLine is how the library says where a text stops being YAML; it has no
// other way.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func (d *decoder) syntax(err error) {
	text, line := err.Error(), 1
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
	}
	d.report(line, 1, fmt.Sprintf("not YAML: %s; mind indentation, colons and quotes", text))
}

// convert copies a node. What an alias stands for is copied in its place, and
// keeps the position where it is written.
func (d *decoder) convert(n *yaml.Node, aliased bool) *value {
	if n.Kind == yaml.AliasNode {
		n, aliased = n.Alias, true
	}
	v := &value{line: n.Line, column: n.Column, tag: n.ShortTag()}
	if aliased {
		d.aliased++
	}
	if d.aliased > maxAliased {
		v.broken = true
		d.bomb(v)
		return v
	}
	switch n.Kind {
	case yaml.MappingNode:
		d.convertMapping(n, v, aliased)
	case yaml.SequenceNode:
		v.kind = list
		for _, item := range n.Content {
			v.items = append(v.items, d.convert(item, aliased))
		}
	default:
		v.text, v.written = n.Value, n.Value
		d.replaceVars(v)
	}
	return v
}

// bomb complains once; from then on nothing is copied.
func (d *decoder) bomb(v *value) {
	if !d.bombed {
		d.report(v.line, v.column, fmt.Sprintf("aliases (*name) stand for more than %d values; write them out", maxAliased))
	}
	d.bombed = true
}

// convertMapping keeps the first of two equal keys.
func (d *decoder) convertMapping(n *yaml.Node, v *value, aliased bool) {
	v.kind = mapping
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		line, seen := first[k.Value]
		switch {
		case k.Kind != yaml.ScalarNode:
			d.report(k.Line, k.Column, "a key must be text; write it as name: value")
		case k.ShortTag() == "!!merge":
			d.report(k.Line, k.Column, "<< (merge) is not supported; write the keys out")
		case seen:
			d.report(k.Line, k.Column, fmt.Sprintf("duplicate key %s; it is already on line %d: keep one", quote(k.Value), line))
		default:
			first[k.Value] = k.Line
			v.keys = append(v.keys, &value{line: k.Line, column: k.Column, text: k.Value, written: k.Value})
			v.items = append(v.items, d.convert(n.Content[i+1], aliased))
		}
	}
}
