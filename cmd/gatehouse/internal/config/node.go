package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Env looks an environment variable up, as os.LookupEnv does.
type Env func(name string) (value string, set bool)

// ReadFile reads the file that a key such as app_secret_file names.
type ReadFile func(name string) ([]byte, error)

// decoder reads one file and collects what is wrong with it.
type decoder struct {
	file    string
	env     Env      // nil: ${NAME} is plain text
	read    ReadFile // nil: no secret can come from a file
	visit   func(node)
	faults  Faults
	aliased int  // values that aliases added
	bombed  bool // too many of them
	refs    references
}

func (d *decoder) report(line, column int, text string) {
	d.faults = append(d.faults, Fault{File: d.file, Line: line, Column: column, Text: text})
}

// node is a place in the configuration: a key or an item of a list, and its
// value. A node whose value was left out decodes to nothing, so that the
// default stays.
type node struct {
	d       *decoder
	key     *value // nil in a list and at the top
	value   *value // nil when it was left out
	path    string // "admin.tokens[0].role", for messages
	pattern string // "admin.tokens[].role", for tables
	filled  bool   // an empty text is a fault
}

// set reports whether there is something to decode.
func (n node) set() bool { return n.value != nil && !n.value.broken }

// fault says what is wrong with the value.
func (n node) fault(format string, args ...any) { n.faultAt(n.value, format, args...) }

// faultKey says what is wrong with the key, or with something that is missing
// under it.
func (n node) faultKey(format string, args ...any) {
	if n.key != nil {
		n.faultAt(n.key, format, args...)
		return
	}
	n.faultAt(n.value, format, args...)
}

// warn is fault for what can be left as it is.
func (n node) warn(format string, args ...any) {
	n.faultKey(format, args...)
	n.d.faults[len(n.d.faults)-1].Warning = true
}

func (n node) faultAt(v *value, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if n.path != "" {
		text = n.path + ": " + text
	}
	n.d.report(v.line, v.column, text)
}

// got is a scalar in the words of a message: what is written, never what a
// variable stands for.
func (n node) got() string { return quote(n.value.written) }

// is reports whether the value has the kind, and complains when not. It quotes
// nothing: a secret may stand in the wrong place.
func (n node) is(k kind, want string) bool {
	switch {
	case !n.set():
		return false
	case n.value.tag == "!!null":
		n.fault("is empty; give it a value, or remove the key")
		return false
	case n.value.kind != k:
		n.fault("want %s, got %s", want, n.value.kind)
		return false
	}
	return true
}

// nonEmpty refuses an empty text.
func (n node) nonEmpty() node {
	n.filled = true
	return n
}

// child is a node under this one.
func (n node) child(key, v *value, path, pattern string) node {
	c := node{d: n.d, key: key, value: v, path: strings.TrimPrefix(n.path+path, "."), pattern: strings.TrimPrefix(n.pattern+pattern, ".")}
	n.d.visit(c)
	return c
}

// list decodes each item of a list.
func (n node) list(read func(item node)) {
	if !n.is(list, "a list ([a, b])") {
		return
	}
	for i, item := range n.value.items {
		read(n.child(nil, item, "["+strconv.Itoa(i)+"]", "[]"))
	}
}

// entries decodes a mapping whose keys are names.
func (n node) entries(read func(name string, entry node)) {
	if !n.is(mapping, "a mapping (name: value)") {
		return
	}
	for i, key := range n.value.keys {
		read(key.text, n.child(key, n.value.items[i], "."+brief(key.text), ".*"))
	}
}

// object decodes a mapping whose keys are fixed: those that read asks for. Any
// other key is a fault.
func (n node) object(read func(*object)) {
	if !n.is(mapping, "a mapping (key: value)") {
		return
	}
	o := &object{node: n}
	read(o)
	for _, key := range n.value.keys {
		if !slices.Contains(o.known, key.text) {
			o.d.report(key.line, key.column, fmt.Sprintf("unknown key %s; %s", quote(key.text), didYouMean(key.text, o.known)))
		}
	}
}

// object is a mapping with fixed keys.
type object struct {
	node
	known []string // the keys asked for
}

// key is the node of a key, set or left out.
func (o *object) key(name string) node {
	if !slices.Contains(o.known, name) {
		o.known = append(o.known, name)
	}
	for i, key := range o.value.keys {
		if key.text == name {
			return o.child(key, o.value.items[i], "."+name, "."+name)
		}
	}
	return o.child(nil, nil, "."+name, "."+name)
}

// has reports whether the key is written, with whatever value.
func (o *object) has(name string) bool {
	return slices.ContainsFunc(o.value.keys, func(k *value) bool { return k.text == name })
}

// must is key for one that cannot be left out or empty; why completes "… is
// missing; ".
func (o *object) must(name, why string) node {
	n := o.key(name).nonEmpty()
	if n.value == nil {
		o.missing(name, why)
	}
	return n
}

// written are the keys that the mapping has.
func (o *object) written() (keys []string) {
	for _, k := range o.value.keys {
		keys = append(keys, k.text)
	}
	return keys
}

func (o *object) missing(name, why string) { o.faultKey("%s is missing; %s", name, why) }
