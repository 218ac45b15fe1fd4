package config_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
)

// FuzzParse: whatever the bytes, there is a configuration or a fault inside the
// file, never a panic; and a second look sees the same.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"full.yaml", "minimal.yaml", "ten-mistakes.yaml"} {
		f.Add(testdata(f, name))
	}
	files, _ := filepath.Glob("testdata/bad/*.txt")
	for _, file := range files {
		for _, c := range badCases(f, file) {
			f.Add(c.config())
		}
	}
	f.Add([]byte(config.Example()))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, faults, _ := config.ParseAll("f", data, env, readFile)
		if (c == nil) != faults.Failed() {
			t.Fatalf("config %v with faults %v", c, faults)
		}
		lines := bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r")) + bytes.Count(data, []byte("\u0085")) +
			bytes.Count(data, []byte("\u2028")) + bytes.Count(data, []byte("\u2029")) + 2
		for _, fault := range faults {
			if fault.Line < 1 || fault.Line > lines || fault.Column < 1 {
				t.Errorf("%v is outside of a file of %d lines", fault, lines)
			}
		}
		if _, again, _ := config.ParseAll("f", data, env, readFile); again.Error() != faults.Error() {
			t.Errorf("a second time: %v, want %v", again, faults)
		}
		if _, strict := config.Parse("f", data, env, readFile); len(strict) < len(faults) {
			t.Errorf("%d faults, and %d where not all is built", len(faults), len(strict))
		}
	})
}
