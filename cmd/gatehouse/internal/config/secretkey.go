package config

import (
	"errors"
	"fmt"
	"strings"
)

// maxSecret bounds a file that holds a secret; the longest are private keys.
const maxSecret = 64 << 10

// secret decodes a key that holds a secret, or the key with _file behind it
// that names a file with the secret in it. Empty is as if left out.
func (o *object) secret(name string, to *Secret) bool {
	return o.secretNode(name).secret(to)
}

// mustSecret is secret for one that cannot be left out or empty.
func (o *object) mustSecret(name, why string, to *Secret) bool {
	o.needSecret(name, why)
	return o.secretNode(name).nonEmpty().secret(to)
}

func (o *object) needSecret(name, why string) {
	if !o.has(name) && !o.has(name+"_file") {
		o.missing(name, why)
	}
}

// secretKey is the one of the two keys of a secret that is written.
func (o *object) secretKey(name string) node {
	if file := o.key(name + "_file"); file.value != nil {
		return file
	}
	return o.key(name)
}

// secretNode is the node of a secret, with the text of its file if it is in a
// file: the rest of the package need not know the difference.
func (o *object) secretNode(name string) node {
	plain, file := o.key(name), o.key(name+"_file")
	switch {
	case plain.value != nil && file.value != nil:
		file.faultKey("both %s and %s_file; keep one", name, name)
		return node{d: o.d}
	case file.value != nil:
		return file.contents()
	}
	plain.noteVars()
	return plain
}

// contents is the node of a secret whose file this node names.
func (n node) contents() node {
	var path string
	if !n.nonEmpty().text(&path) {
		return node{d: n.d}
	}
	text, err := n.d.readSecret(path)
	if err != nil {
		n.fault("%v; name a file that holds the secret and nothing else", err)
		return node{d: n.d}
	}
	v := *n.value
	v.text = strings.TrimRight(text, "\r\n")
	n.value, n.pattern = &v, strings.TrimSuffix(n.pattern, "_file")
	n.d.visit(n)
	return n
}

func (d *decoder) readSecret(path string) (string, error) {
	if d.read == nil {
		return "", errors.New("no file can be read here")
	}
	data, err := d.read(path)
	if err != nil {
		return "", err
	}
	if len(data) > maxSecret {
		return "", fmt.Errorf("read %s: larger than %d KiB", path, maxSecret>>10)
	}
	return string(data), nil
}

// secret decodes text that no message quotes.
func (n node) secret(to *Secret) bool {
	if !n.is(scalar, "text") {
		return false
	}
	switch {
	case n.value.tag != "!!str" && len(n.value.vars) == 0:
		n.fault("want text, got a number or such; put it in quotes")
	case strings.TrimSpace(n.value.text) != "":
		*to = NewSecret(n.value.text)
		return true
	case n.filled:
		n.fault("is empty%s; write a value", n.from())
	}
	return false
}

// noteVars remembers the variables of a secret: no child of the gateway may
// have them (EX-6).
func (n node) noteVars() {
	if n.value == nil {
		return
	}
	for _, v := range n.value.vars {
		n.d.refs.secretVars[v] = true
	}
}
