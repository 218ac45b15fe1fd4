package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
)

// A big file, whatever is in it, is read in about the time that its size asks
// for: nothing here is quadratic.
func TestHostileFilesAreBounded(t *testing.T) {
	t.Parallel()
	const most = 128 << 10
	var names strings.Builder
	for i := 0; names.Len() < most/2; i++ {
		fmt.Fprintf(&names, "a%d, ", i)
	}
	nest := strings.Repeat("[", 1_000) + strings.Repeat("]", 1_000)
	long := strings.Repeat("k", 1000) // YAML takes no longer key
	for name, text := range map[string]string{
		"many texts":              "orchestrator: {stop_words: [" + names.String() + "]}",
		"many unknown keys":       "loop: {" + strings.ReplaceAll(names.String(), ",", ": 1,") + "}",
		"deep":                    "links: " + nest,
		"long names":              "executors: {" + long + ": {kind: echo, script: [{}, {}, {}, {}, {}]}}",
		"many variables":          "data_dir: " + strings.Repeat("${OPS_TOKEN}", most/16),
		"many rows":               "sources: {" + long + ": {kind: feishu, receive: {chats: {" + strings.ReplaceAll(names.String(), ",", ": al,") + "}}}}",
		"aliases of aliases":      "team: [&a [x, x, x, x], &b [" + strings.Repeat("*a, ", 2000) + "], " + strings.Repeat("*b, ", 10_000) + "]",
		"aliases of a known list": "policy: {rules: [{id: x, executors: &e [" + strings.Repeat("x, ", 1_000) + "]}, " + strings.Repeat("{id: a, executors: *e}, ", 10_000) + "]}",
	} {
		start := time.Now()
		_, faults, _ := config.ParseAll("f", []byte(text), env, readFile)
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		if longest := longest(faults); longest > 2000 {
			t.Errorf("%s: a fault of %d bytes, want less", name, longest)
		}
	}
}

func longest(faults config.Faults) (n int) {
	for _, f := range faults {
		n = max(n, len(f.Text))
	}
	return n
}
