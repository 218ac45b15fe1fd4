package config

import (
	"fmt"
	"regexp"
	"strings"
)

// reference is ${NAME}; $${NAME} stands for the same text unreplaced.
var reference = regexp.MustCompile(`\$?\$\{[^}]*\}?`)

// variable is what a reference may name.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// replaceVars puts the environment's values in the place of the references of
// a scalar. A decoder without an environment leaves all as it is.
func (d *decoder) replaceVars(v *value) {
	if d.env == nil || !strings.Contains(v.text, "${") {
		return
	}
	v.text = reference.ReplaceAllStringFunc(v.text, func(ref string) string {
		if strings.HasPrefix(ref, "$$") {
			return ref[1:]
		}
		return d.variable(v, ref)
	})
}

// variable is what one reference stands for.
func (d *decoder) variable(v *value, ref string) string {
	name := strings.TrimSuffix(ref[len("${"):], "}")
	if !strings.HasSuffix(ref, "}") || !variable.MatchString(name) {
		v.broken = true
		d.report(v.line, v.column, fmt.Sprintf("%s names no environment variable; write ${NAME}, or $${ for a plain ${", ref))
		return ref
	}
	text, set := d.env(name)
	if !set {
		v.broken = true
		d.report(v.line, v.column, fmt.Sprintf("%s is not set; set the environment variable %s, or write the value here", ref, name))
	}
	v.vars = append(v.vars, name)
	return text
}
