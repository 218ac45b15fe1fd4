package config

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Fault is one thing that is wrong with a configuration, where it is, and what
// to write instead. A Warning is worth saying and refuses nothing.
type Fault struct {
	File    string
	Line    int // 1 is the first; 0: the fault is about the file as a whole
	Column  int
	Warning bool
	Text    string
}

// String is the fault on one line: "gatehouse.yaml:12:5: unknown key …".
func (f Fault) String() string {
	where := f.File
	if f.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	}
	if f.Warning {
		return where + ": warning: " + f.Text
	}
	return where + ": " + f.Text
}

// Faults are all that is wrong with a configuration, in the order of the file.
type Faults []Fault

// Failed reports whether the configuration must not be used: one of the faults
// is more than a warning.
func (fs Faults) Failed() bool {
	return slices.ContainsFunc(fs, func(f Fault) bool { return !f.Warning })
}

// Err is nil when there are only warnings, else the faults as an error.
func (fs Faults) Err() error {
	if !fs.Failed() {
		return nil
	}
	return fs
}

// Error is the faults, one on a line, without a newline at the end.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Fprint writes the faults, one on a line.
func (fs Faults) Fprint(w io.Writer) error {
	for _, f := range fs {
		if _, err := fmt.Fprintln(w, f); err != nil {
			return fmt.Errorf("print faults: %w", err)
		}
	}
	return nil
}

// sorted gives the faults in the order of the file, each once: what an alias
// repeats is wrong in one place only.
func (fs Faults) sorted() Faults {
	slices.SortStableFunc(fs, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Text, b.Text))
	})
	return slices.Compact(fs)
}
